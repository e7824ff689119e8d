//! Makes clients from settings: URLs, TLS, credentials. No message here contains a URL, because it may hold a password.

use std::path::Path;

use redis::io::tcp::TcpSettings;
use redis::{Client, ConnectionAddr, ConnectionInfo, IntoConnectionInfo, ProtocolVersion, RedisError, TlsCertificates};

use super::open::OpenError;

/// Clients for the URLs of the settings, in their order.
pub(super) fn clients(urls: &[String], tls_ca_file: &str) -> Result<Vec<Client>, OpenError> {
    let certificates = certificates(tls_ca_file)?;
    urls.iter()
        .enumerate()
        .map(|(index, url)| {
            let info = url
                .as_str()
                .into_connection_info()
                .map_err(|source| OpenError::InvalidUrl {
                    index,
                    reason: source.category().to_owned(),
                })?;
            client(info, certificates.as_ref()).map_err(|source| OpenError::InvalidUrl {
                index,
                reason: source.to_string(),
            })
        })
        .collect()
}

/// A client with the credentials of the primary that sentinels name, and its name there.
pub(super) fn primary(url: &str, tls_ca_file: &str) -> Result<(Client, String), OpenError> {
    let certificates = certificates(tls_ca_file)?;
    let refused = |reason: String| OpenError::InvalidPrimaryUrl { reason };
    let info = url.into_connection_info();
    let info = info.map_err(|source| refused(source.category().to_owned()))?;
    let client = client(info, certificates.as_ref()).map_err(|source| refused(source.to_string()))?;
    match host(&client).map(str::to_owned) {
        Some(name) => Ok((client, name)),
        None => Err(refused("it names no primary".to_owned())),
    }
}

/// A client for a server on a unix socket.
pub(super) fn socket_client(path: &Path) -> Result<Client, RedisError> {
    client(ConnectionAddr::Unix(path.to_owned()).into_connection_info()?, None)
}

/// A client for another node, with the credentials and TLS settings of `like`.
pub(super) fn sibling(like: &Client, host: &str, port: u16) -> Result<Client, RedisError> {
    let info = like.get_connection_info().clone();
    let addr = match info.addr() {
        ConnectionAddr::TcpTls {
            insecure, tls_params, ..
        } => ConnectionAddr::TcpTls {
            host: host.to_owned(),
            port,
            insecure: *insecure,
            tls_params: tls_params.clone(),
        },
        _ => ConnectionAddr::Tcp(host.to_owned(), port),
    };
    Client::open(info.set_addr(addr))
}

/// The host of a client's address, where it has one.
pub(super) fn host(client: &Client) -> Option<&str> {
    match client.get_connection_info().addr() {
        ConnectionAddr::Tcp(host, _) | ConnectionAddr::TcpTls { host, .. } => Some(host),
        _ => None,
    }
}

fn client(info: ConnectionInfo, certificates: Option<&TlsCertificates>) -> Result<Client, RedisError> {
    // RESP2, whatever the URL says: the form of script replies depends on it.
    let handshake = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP2);
    let info = info
        .set_tcp_settings(TcpSettings::default().set_nodelay(true))
        .set_redis_settings(handshake);
    if !matches!(info.addr(), ConnectionAddr::TcpTls { .. }) {
        return Client::open(info);
    }
    crate::tls::install_provider();
    match certificates {
        Some(certificates) => Client::build_with_tls(info, certificates.clone()),
        None => Client::open(info),
    }
}

fn certificates(tls_ca_file: &str) -> Result<Option<TlsCertificates>, OpenError> {
    if tls_ca_file.is_empty() {
        return Ok(None);
    }
    let root = std::fs::read(tls_ca_file).map_err(|source| OpenError::Io {
        what: format!("can't read redis.tls_ca_file {tls_ca_file}"),
        source,
    })?;
    Ok(Some(TlsCertificates {
        client_tls: None,
        root_cert: Some(root),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_url_is_named_by_its_place_and_its_password_is_not_shown() {
        for url in [
            "redis://user:hunter2@host:99999999",
            "http://user:hunter2@host",
            "hunter2",
        ] {
            let error = clients(&[String::from("redis://ok"), url.to_owned()], "").unwrap_err();
            assert!(error.to_string().contains("redis.urls[1]"), "{error}");
            assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
        }
    }

    #[test]
    fn the_url_of_a_primary_has_its_name_and_credentials() {
        let (client, name) = primary("redis://user:pw@my_master-1/3", "").unwrap();
        assert_eq!(name, "my_master-1");
        let at = sibling(&client, "10.0.0.1", 6380).unwrap();
        let info = at.get_connection_info();
        assert_eq!(info.addr().to_string(), "10.0.0.1:6380");
        assert_eq!(info.redis_settings().username(), Some("user"));
        assert_eq!(info.redis_settings().db(), 3);
        for url in ["redis+unix:///hunter2", "redis://user:hunter2@host:99999999", "hunter2"] {
            let error = primary(url, "").unwrap_err();
            assert!(error.to_string().contains("redis.primary_url"), "{error}");
            assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
        }
    }

    #[test]
    fn a_sibling_keeps_user_and_tls() {
        let seed = clients(&[String::from("rediss://user:pw@a:7000")], "")
            .unwrap()
            .remove(0);
        let other = sibling(&seed, "b", 7001).unwrap();
        assert_eq!(other.get_connection_info().addr().to_string(), "b:7001");
        assert!(matches!(
            other.get_connection_info().addr(),
            ConnectionAddr::TcpTls { .. }
        ));
        assert_eq!(other.get_connection_info().redis_settings().username(), Some("user"));
    }
}

//! TLS to brokers: the trust and the certificate of a connection.

use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};

use super::BrokerError;
use jackpot_kernel::settings::Connection;
use jackpot_kernel::tls;

/// The client's side. Files are read when a client is made: for Kafka again after each failure, for NATS once.
pub(super) fn config(settings: &Connection) -> Result<ClientConfig, BrokerError> {
    if settings.ca_file.is_empty() && settings.cert_file.is_empty() {
        return tls::client_config().map_err(BrokerError::new);
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(BrokerError::new)?;
    let builder = if settings.ca_file.is_empty() {
        use rustls_platform_verifier::BuilderVerifierExt;
        builder.with_platform_verifier().map_err(BrokerError::new)?
    } else {
        let mut roots = RootCertStore::empty();
        for certificate in certificates(&settings.ca_file)? {
            roots.add(certificate).map_err(BrokerError::new)?;
        }
        builder.with_root_certificates(roots)
    };
    if settings.cert_file.is_empty() {
        return Ok(builder.with_no_client_auth());
    }
    let key = PrivateKeyDer::from_pem_file(&settings.key_file).map_err(|error| named(&settings.key_file, error))?;
    builder
        .with_client_auth_cert(certificates(&settings.cert_file)?, key)
        .map_err(BrokerError::new)
}

fn certificates(file: &str) -> Result<Vec<CertificateDer<'static>>, BrokerError> {
    let read = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    match read {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) => Err(named(file, "holds no certificate")),
        Err(error) => Err(named(file, error)),
    }
}

fn named(file: &str, error: impl std::fmt::Display) -> BrokerError {
    BrokerError::new(format!("{file}: {error}"))
}

//! TLS: the versions, whose certificate is trusted, and a new certificate under load.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use jackpot::http::server::ServeError;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ProtocolVersion, RootCertStore, SupportedProtocolVersion, version};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::raw::{answer, closes, connect};
use super::support::{Options, Pair, TestServer, eventually, problem, server_with, try_server_with};
use crate::support::prelude::*;

pub async fn server() -> (TestServer, CertificateDer<'static>) {
    let pair = Pair::new();
    let certificate = pair.der();
    let options = Options {
        tls: Some(pair),
        ..Options::default()
    };
    (server_with(options).await, certificate)
}

/// A client that trusts these certificates.
pub async fn tls(
    address: SocketAddr,
    trusted: &[CertificateDer<'static>],
    versions: &[&'static SupportedProtocolVersion],
    alpn: &[&str],
) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    for certificate in trusted {
        roots.add(certificate.clone()).unwrap();
    }
    let mut config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_protocol_versions(versions)
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    let name = ServerName::try_from("localhost").unwrap();
    let stream = TcpStream::connect(address).await?;
    TlsConnector::from(Arc::new(config)).connect(name, stream).await
}

const BOTH: [&SupportedProtocolVersion; 2] = [&version::TLS12, &version::TLS13];
const REQUEST: &[u8] = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n";

#[tokio::test(flavor = "multi_thread")]
async fn both_versions_are_served_and_http_1_1_with_them() {
    let (server, certificate) = server().await;
    for (offered, agreed) in [
        (&version::TLS12, ProtocolVersion::TLSv1_2),
        (&version::TLS13, ProtocolVersion::TLSv1_3),
    ] {
        let trusted = [certificate.clone()];
        let mut connection = tls(server.address(), &trusted, &[offered], &["http/1.1"])
            .await
            .unwrap();
        assert_eq!(connection.get_ref().1.protocol_version(), Some(agreed));
        for _ in 0..2 {
            connection.write_all(REQUEST).await.unwrap();
            answer(&mut connection).await.is(200);
        }
    }
    assert!(server.running.as_ref().unwrap().is_https());
}

#[tokio::test(flavor = "multi_thread")]
async fn older_versions_and_plain_requests_are_refused() {
    let (server, certificate) = server().await;
    // A ClientHello of TLS 1.1: a random, no session, TLS_RSA_WITH_AES_128_CBC_SHA, no compression.
    let mut hello = vec![0x16, 3, 1, 0, 45, 1, 0, 0, 41, 3, 2];
    hello.extend([7; 32]);
    hello.extend([0, 0, 2, 0, 0x2f, 1, 0]);
    for bytes in [hello.as_slice(), REQUEST] {
        let mut connection = connect(server.address()).await;
        connection.write_all(bytes).await.unwrap();
        let mut alert = Vec::new();
        connection.read_to_end(&mut alert).await.unwrap();
        assert_eq!((alert[0], alert[5]), (0x15, 2), "a fatal alert: {alert:?}");
    }
    // A silent connection is closed without an answer, and delays nobody meanwhile.
    let mut silent = connect(server.address()).await;
    let mut connection = tls(server.address(), &[certificate], &BOTH, &[]).await.unwrap();
    connection.write_all(REQUEST).await.unwrap();
    answer(&mut connection).await.is(200);
    assert!(closes(&mut silent).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_heads_are_problems_over_tls_too() {
    let (server, certificate) = server().await;
    let mut connection = tls(server.address(), &[certificate], &BOTH, &[]).await.unwrap();
    connection.write_all(b"nonsense\r\n\r\n").await.unwrap();
    let answered = answer(&mut connection).await;
    answered.is(400);
    answered.body.says("malformed-request");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_certificate_is_taken_under_load_and_no_request_fails() {
    let (server, before) = server().await;
    let pair = Pair::new();
    let trusted = [before.clone(), pair.der()];
    let address = server.address();
    let (stop, asked) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let load: Vec<_> = (0..4)
        .map(|_| {
            let (trusted, stop, asked) = (trusted.clone(), Arc::clone(&stop), Arc::clone(&asked));
            tokio::spawn(async move {
                // Half of the requests are on new connections.
                let mut kept = tls(address, &trusted, &BOTH, &[]).await.unwrap();
                while !stop.load(Ordering::Relaxed) {
                    let mut new = tls(address, &trusted, &BOTH, &[]).await.unwrap();
                    for connection in [&mut kept, &mut new] {
                        connection.write_all(REQUEST).await.unwrap();
                        answer(connection).await.is(200);
                    }
                    asked.fetch_add(2, Ordering::Relaxed);
                }
            })
        })
        .collect();
    let asked_since = async |count: usize| asked.load(Ordering::Relaxed) >= count;
    eventually("a load", async || asked_since(20).await).await;
    pair.put(server.directory.path());
    let new = pair.der();
    eventually("the new certificate", async || {
        let connection = tls(address, &trusted, &BOTH, &[]).await.unwrap();
        connection.get_ref().1.peer_certificates().unwrap()[0] == new
    })
    .await;
    let count = asked.load(Ordering::Relaxed);
    eventually("more load", async || asked_since(count + 20).await).await;
    stop.store(true, Ordering::Relaxed);
    for one in load {
        one.await.expect("no request fails");
    }
    assert!(
        tls(address, &[before], &BOTH, &[]).await.is_err(),
        "the old one is gone"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_pair_leaves_the_certificate_that_was() {
    let (server, certificate) = server().await;
    let other = Pair::new();
    let directory = server.directory.path().to_owned();
    // This writes half of another pair, and later a whole pair. In between clients see only the first one.
    std::fs::write(directory.join("cert.pem"), &other.cert).unwrap();
    let until = tokio::time::Instant::now() + Duration::from_secs(2);
    while tokio::time::Instant::now() < until {
        tls(server.address(), std::slice::from_ref(&certificate), &BOTH, &[])
            .await
            .expect("the earlier certificate");
    }
    let third = Pair::new();
    third.put(&directory);
    eventually("the third certificate", async || {
        tls(server.address(), &[third.der()], &BOTH, &[]).await.is_ok()
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_with_a_wrong_pair_names_the_setting() {
    let wrong = Pair {
        key: Pair::new().key,
        ..Pair::new()
    };
    let options = Options {
        tls: Some(wrong),
        ..Options::default()
    };
    let Err(error @ ServeError::Tls(_)) = try_server_with(options).map(drop) else {
        panic!("it starts");
    };
    let text = error.to_string();
    assert!(
        text.starts_with("setting http.tls_key_file: ") && text.contains("does not match"),
        "{text}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_with_an_address_of_their_own_stay_plain() {
    let options = Options {
        tls: Some(Pair::new()),
        metrics_listen: "127.0.0.1:0",
        ..Options::default()
    };
    let server = server_with(options).await;
    let address = server.running.as_ref().unwrap().metrics_address().unwrap();
    let text = reqwest::get(format!("http://{address}/metrics"))
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    assert!(
        text.contains("jackpot_http_connections_closed") || text.contains("jackpot_http_connections "),
        "{text}"
    );
    problem(
        reqwest::get(format!("http://{address}/healthz")).await.unwrap(),
        404,
        "not-found",
    )
    .await;
}

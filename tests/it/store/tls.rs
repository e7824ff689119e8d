//! TLS: the store accepts a server whose certificate our authority signed, and no other.

use std::fs;

use jackpot::settings::RedisMode;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tempfile::TempDir;

use crate::store::support::{SAFE, Server, call, free_port, get, open, put, refusal, settings};

fn authority() -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

#[tokio::test]
async fn a_server_is_trusted_by_our_authority_alone() {
    let dir = TempDir::new().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let ours = authority();
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec![String::from("127.0.0.1")])
        .unwrap()
        .signed_by(&key, &ours)
        .unwrap();
    fs::write(path("ca.pem"), ours.pem()).unwrap();
    fs::write(path("other.pem"), authority().pem()).unwrap();
    fs::write(path("cert.pem"), certificate.pem()).unwrap();
    fs::write(path("key.pem"), key.serialize_pem()).unwrap();

    let port = free_port();
    let (port_text, ca, cert, key) = (port.to_string(), path("ca.pem"), path("cert.pem"), path("key.pem"));
    let mut args = vec!["--port", "0", "--tls-port", &port_text, "--tls-auth-clients", "no"];
    args.extend([
        "--tls-ca-cert-file",
        &ca,
        "--tls-cert-file",
        &cert,
        "--tls-key-file",
        &key,
    ]);
    args.extend(SAFE);
    let _server = Server::start_with(port, TempDir::new().unwrap(), &args).ready();

    let mut settings = settings(RedisMode::Standalone, &[format!("rediss://127.0.0.1:{port}")]);
    settings.tls_ca_file = path("ca.pem");
    let (store, _data) = open(&settings).await;
    call(&store, &put(), "k", "v").await.unwrap();
    assert_eq!(get(&store, "k").await.unwrap().as_deref(), Some("v"));
    store.close().await;

    settings.tls_ca_file = path("other.pem");
    assert!(refusal(&settings).await.contains("does not answer"));
    settings.tls_ca_file = path("missing.pem");
    assert!(refusal(&settings).await.contains("redis.tls_ca_file"));
}

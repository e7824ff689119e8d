//! Nobody makes the service talk to its neighbours.

use std::sync::Arc;

use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use super::receiver::{Receiver, Reply};
use super::{jackpot, play, service, shown, stream, subscribe};
use crate::support::prelude::*;

fn body(url: &str) -> Value {
    json!({"target": {"webhook": {"url": url}}, "types": ["*"], "subjects": ["jackpot:none"], "from": "now"})
}

async fn tried(service: &Service, name: &str, url: &str) -> Value {
    service
        .put(&format!("/v1/subscriptions/{name}"), body(url))
        .await
        .done();
    service
        .call(reqwest::Method::POST, &format!("/v1/subscriptions/{name}/test"), None)
        .await
        .body
}

#[tokio::test]
async fn private_addresses_are_refused_in_the_put_or_at_the_connect() {
    let service = Service::start().await;
    let receiver = Receiver::start().await;
    for host in [
        "127.0.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "0x7f.1",
        "169.254.169.254",
        "10.1.2.3",
    ] {
        let answer = service
            .put(
                "/v1/subscriptions/inside",
                body(&format!("http://{host}:{}/", receiver.port)),
            )
            .await;
        assert_eq!(
            (answer.status.as_u16(), &answer.body["errors"][0]["field"]),
            (422, &json!("target.webhook.url")),
            "{host}"
        );
    }
    // Its addresses are known only when the service connects.
    let answer = tried(&service, "named", &format!("http://localhost:{}/", receiver.port)).await;
    assert_has!(answer, {"delivered": false, "status": null});
    let error = answer["error"].as_str().expect("an error");
    error.says("allow_private_targets");
    assert!(receiver.got().is_empty());
}

#[tokio::test]
async fn a_redirect_is_a_failure_and_nobody_follows_it() {
    let service = service().await;
    let inside = Receiver::start().await;
    let (to, metadata) = (inside.url(), "http://169.254.169.254/latest/meta-data/".to_owned());
    for (name, to) in [("metadata", metadata), ("inside", to)] {
        let receiver = Receiver::answering(move |_| Reply::Redirect(to.clone())).await;
        let answer = tried(&service, name, &receiver.url()).await;
        assert_has!(answer, {"delivered": false, "status": 307});
        assert_eq!(receiver.got().len(), 1);
    }
    assert!(inside.got().is_empty());
}

#[tokio::test]
async fn a_certificate_that_nobody_trusts_is_a_failure() {
    let service = service().await;
    let signed = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let key = PrivateKeyDer::try_from(signed.signing_key.serialize_der()).expect("a key");
    let config = ServerConfig::builder_with_provider(Arc::new(tokio_rustls::rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![signed.cert.der().clone()], key)
        .expect("a certificate and its key");
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let server = tokio::spawn(async move {
        while let Ok((connection, _)) = listener.accept().await {
            assert!(acceptor.accept(connection).await.is_err(), "the client trusts nobody");
        }
    });
    let answer = tried(&service, "untrusted", &format!("https://localhost:{port}/")).await;
    assert_has!(answer, {"delivered": false, "status": null});
    let error = answer["error"].as_str().expect("an error");
    error.says("certificate");
    server.abort();
}

#[tokio::test]
async fn a_key_outlives_a_new_draw_secret() {
    let mut service = service().await;
    let receiver = Receiver::start().await;
    jackpot(&service, "rekeyed").await;
    let first = subscribe(
        &service,
        "rekeyed",
        &receiver.url(),
        &["payout.created"],
        &["jackpot:rekeyed"],
    )
    .await;
    let key = first["verification_key"].clone();
    let old = crate::support::service::MASTER_SECRET;
    service.stop().await;
    service.set("JACKPOT__FAIRNESS__MASTER_SECRET", &"6e".repeat(32));
    service.set("JACKPOT__FAIRNESS__PREVIOUS_SECRETS", old);
    service.restart().await;
    play(&service, "rekeyed", "e0").await;
    receiver.until("payout.created", 1).await;
    let same = subscribe(
        &service,
        "rekeyed",
        &receiver.url(),
        &["payout.created"],
        &["jackpot:rekeyed"],
    )
    .await;
    assert_eq!(same["verification_key"], key);
    let seen = shown(&service, "rekeyed", "nothing is left", |shown| {
        stream(shown, "jackpot:rekeyed")["lag"] == 0
    })
    .await;
    assert_eq!(seen["state"], "running");
}

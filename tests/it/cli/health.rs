//! `jackpot health`: what a container's health check runs.

use std::path::Path;
use std::process::Output;

use crate::http::support::Pair;
use crate::http::tls;
use crate::support::prelude::*;
use crate::support::service::{PATIENT, redis_at};

/// Asks the service at this address.
async fn health(data: &Path, address: &str, tls: bool, arguments: &[&str]) -> Output {
    let mut environment = vec![("JACKPOT__HTTP__LISTEN".to_owned(), address.to_owned())];
    if tls {
        for name in ["CERT", "KEY"] {
            let file = data.join(format!("{}.pem", name.to_lowercase())).display().to_string();
            environment.push((format!("JACKPOT__HTTP__TLS_{name}_FILE"), file));
        }
    }
    let (data, arguments) = (
        data.to_owned(),
        arguments.iter().map(|&text| text.to_owned()).collect::<Vec<_>>(),
    );
    // The server under test may run on the threads of this test.
    tokio::task::spawn_blocking(move || {
        let environment: Vec<_> = environment.iter().map(|(name, value)| (&**name, &**value)).collect();
        let arguments: Vec<_> = std::iter::once("health")
            .chain(arguments.iter().map(|text| &**text))
            .collect();
        Service::command_in(&data, &environment, &arguments)
    })
    .await
    .expect("the command ran")
}

fn address_of(service: &Service) -> String {
    service.url("").trim_start_matches("http://").to_owned()
}

#[tokio::test]
async fn an_instance_that_waits_for_redis_is_alive_and_not_ready() {
    let redis = own_redis(&[]).await;
    redis.freeze();
    let own = [&PATIENT[..], &redis_at(redis.url())].concat();
    let mut service = Service::begin_in(Service::directory(), &own).await;
    let address = address_of(&service);
    let alive = health(service.data_dir(), &address, false, &[]).await;
    assert!(
        alive.status.success() && alive.stdout == b"{\"status\":\"ok\"}\n",
        "{}",
        alive.words()
    );
    let ready = health(service.data_dir(), &address, false, &["--ready"]).await;
    let text = ready.words();
    assert!(ready.status.code() == Some(1) && text.contains("is starting"), "{text}");
    redis.thaw();
    service.wait_until_ready().await;
    let ready = health(service.data_dir(), &address, false, &["--ready"]).await;
    let text = ready.words();
    assert!(
        ready.status.success() && text.contains("\"status\":\"ready\""),
        "{text}"
    );
    assert!(service.stop().await.success());
    let gone = health(service.data_dir(), &address, false, &[]).await;
    assert_eq!(gone.status.code(), Some(1), "{}", gone.words());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_of_another_name_and_authority_does_not_matter() {
    let (server, _) = tls::server().await;
    let data = Service::directory();
    Pair::new().put(data.path());
    health(data.path(), &server.address().to_string(), true, &[])
        .await
        .done();
}

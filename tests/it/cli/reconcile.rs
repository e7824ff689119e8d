//! `jackpot reconcile` beside a running service asks that service.

use std::path::Path;

use jackpot::sql::Sql;

use crate::http::support::{Options, Pair, server_with};
use crate::support::ledger_db;
use crate::support::prelude::*;

/// What it says where a service with this certificate listens.
fn reconciled(data: &Path, listen: &str, pair: &Pair) -> String {
    pair.put(data);
    let file = |name: &str| data.join(name).display().to_string();
    let (cert, key) = (file("cert.pem"), file("key.pem"));
    let environment = [
        ("JACKPOT__HTTP__LISTEN", listen),
        ("JACKPOT__HTTP__TLS_CERT_FILE", &cert),
        ("JACKPOT__HTTP__TLS_KEY_FILE", &key),
    ];
    let output = Service::command_in(data, &environment, &["reconcile", "--key", "none"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    output.words().into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_with_tls_is_asked_by_https_and_known_by_its_certificate() {
    let pair = Pair::new();
    let tls = Some(Pair {
        cert: pair.cert.clone(),
        key: pair.key.clone(),
    });
    let server = server_with(Options {
        tls,
        ..Options::default()
    })
    .await;
    let data = Service::directory();
    let settings = ledger_db::settings("");
    // As a running service has it.
    let held = Sql::open(&settings, data.path()).await.expect("a ledger");
    let listen = server.address().to_string();
    let (own, other) = tokio::task::block_in_place(|| {
        let asked = |pair| reconciled(data.path(), &listen, pair);
        (asked(&pair), asked(&Pair::new()))
    });
    own.says(&format!("last comparison of https://{listen}"));
    // This server has no ledger. Its problem is an answer that came through TLS.
    own.says("no route has this path");
    other.hides("no route has this path");
    held.close().await;
}

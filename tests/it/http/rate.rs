//! The limit per key.

use jackpot::keys::{Limits, Role};

use super::support::{Options, problem, server_with};
use crate::support::prelude::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_key_beyond_its_rate_waits_and_the_others_do_not() {
    let limits = Limits {
        per_second: 1,
        burst: 4,
    };
    let server = server_with(Options {
        limits,
        ..Options::default()
    })
    .await;
    let eager = server.honoured_key(Role::Read, "eager").await;
    let calm = server.honoured_key(Role::Read, "calm").await;
    let mut refused = None;
    for _ in 0..5 {
        let answer = server.get("/test/read").bearer_auth(&eager).send().await.unwrap();
        if answer.status() == 429 {
            refused = Some(answer);
        }
    }
    let refused = refused.expect("more requests than the burst");
    assert_eq!(refused.headers()["retry-after"], "1");
    problem(refused, 429, "rate-limited").await;
    assert_eq!(
        server
            .get("/test/read")
            .bearer_auth(&calm)
            .send()
            .await
            .unwrap()
            .status(),
        200
    );
    let text = server.metrics.encode().unwrap();
    text.hides("jackpot_rate_limited_total 0");
}

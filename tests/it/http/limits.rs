//! Limits by address: requests without a key, wrong keys, and the clients of a trusted proxy.

use jackpot::keys::{Limits, Role};
use reqwest::Response;
use reqwest::header::HeaderMap;

use super::support::{Options, TestServer, eventually, problem, server_with};
use crate::support::prelude::*;

const NEIGHBOUR: [u8; 4] = [127, 0, 0, 2];

async fn server(settings: &'static str) -> TestServer {
    server_with(Options {
        settings,
        ..Options::default()
    })
    .await
}

/// The first answer with this status among `count`.
async fn first(status: u16, count: usize, send: impl AsyncFn() -> Response) -> Option<Response> {
    for _ in 0..count {
        let answer = send().await;
        if answer.status() == status {
            return Some(answer);
        }
    }
    None
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers
        .get(name)
        .unwrap_or_else(|| panic!("{name} in {headers:?}"))
        .to_str()
        .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_without_a_key_are_bounded_by_address_and_those_with_one_are_not() {
    let server = server("[auth]\npublic_requests_per_second_per_address = 5\n").await;
    let key = server.honoured_key(Role::Read, "reader").await;
    let ask = async || server.get("/test/id").send().await.unwrap();
    let refused = first(429, 50, ask).await.expect("more than the limit");
    assert_eq!(text(refused.headers(), "retry-after"), "1");
    assert_eq!(text(refused.headers(), "ratelimit-policy"), "\"public\";q=5;w=1");
    assert_eq!(text(refused.headers(), "ratelimit"), "\"public\";r=0;t=1");
    problem(refused, 429, "rate-limited").await;
    for _ in 0..20 {
        let keyed = server.get("/test/read").bearer_auth(&key).send().await.unwrap();
        assert_eq!(keyed.status(), 200);
    }
    let other = server.get_from(NEIGHBOUR, "/test/id").send().await.unwrap();
    assert_eq!(other.status(), 200, "another address");
    assert_eq!(text(other.headers(), "ratelimit"), "\"public\";r=4;t=1");
    let metrics = server.metrics.encode().unwrap();
    metrics.says("jackpot_rate_limited_total{limit=\"public\"}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_made_up_key_is_no_way_around_the_limit() {
    let server = server("[auth]\npublic_requests_per_second_per_address = 5\n").await;
    let ask = async || {
        let request = server.get("/test/id").bearer_auth("made-up");
        request.send().await.unwrap()
    };
    let refused = first(429, 50, ask)
        .await
        .expect("the route needs no key, and the key is none");
    problem(refused, 429, "rate-limited").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_keys_are_bounded_by_address_while_a_valid_one_works() {
    let server = server("[auth]\nfailed_keys_per_second_per_address = 10\n").await;
    let key = server.honoured_key(Role::Read, "reader").await;
    let guess = async || server.get("/test/read").bearer_auth("wrong").send().await.unwrap();
    let told = guess().await;
    assert_eq!(told.status(), 401);
    assert_eq!(text(told.headers(), "ratelimit-policy"), "\"failed-keys\";q=10;w=1");
    let refused = first(429, 500, guess).await.expect("more than the limit");
    assert!(text(refused.headers(), "retry-after").parse::<u32>().unwrap() >= 1);
    assert!(text(refused.headers(), "ratelimit").starts_with("\"failed-keys\";r=0;t="));
    problem(refused, 429, "rate-limited").await;
    for _ in 0..5 {
        let valid = server.get("/test/read").bearer_auth(&key).send().await.unwrap();
        assert_eq!(valid.status(), 200);
    }
    let other = server.get_from(NEIGHBOUR, "/test/read").bearer_auth("wrong");
    assert_eq!(other.send().await.unwrap().status(), 401, "another address");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_with_a_limit_is_told_what_is_left() {
    let limits = Limits {
        per_second: 1,
        burst: 3,
    };
    let server = server_with(Options {
        limits,
        ..Options::default()
    })
    .await;
    let key = server.key(Role::Read, "reader");
    let ask = async || server.get("/test/read").bearer_auth(&key).send().await.unwrap();
    // The service follows the file. Until it has read it, the key counts as a wrong one.
    let answer = first(200, 10_000, ask).await.expect("the key is honoured");
    assert_eq!(text(answer.headers(), "ratelimit-policy"), "\"key\";q=1;w=1");
    assert_eq!(text(answer.headers(), "ratelimit"), "\"key\";r=2;t=1");
    let refused = first(429, 5, ask).await.expect("more than the burst");
    assert_eq!(text(refused.headers(), "ratelimit"), "\"key\";r=0;t=1");
    assert_eq!(text(refused.headers(), "retry-after"), "1");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_load_balancer_sees_the_state_while_its_users_are_refused() {
    let server = server("[auth]\npublic_requests_per_second_per_address = 5\n").await;
    let ask = async || server.get("/test/id").send().await.unwrap();
    assert!(first(429, 50, ask).await.is_some());
    for path in ["/readyz", "/metrics", "/healthz"] {
        assert_eq!(server.get(path).send().await.unwrap().status(), 200, "{path}");
    }
    let look = async || server.get("/readyz").send().await.unwrap();
    assert!(
        first(429, 50, look).await.is_some(),
        "a look at all jackpots is not free"
    );
    let alive = async || server.get("/healthz").send().await.unwrap();
    assert!(first(429, 50, alive).await.is_none());
}

const BEHIND_A_PROXY: &str = "trusted_proxies = [\"127.0.0.1\"]\nmax_connections_per_address = 2\n\
                              [auth]\npublic_requests_per_second_per_address = 5\n";

#[tokio::test(flavor = "multi_thread")]
async fn clients_of_a_trusted_proxy_are_told_apart() {
    let server = server(BEHIND_A_PROXY).await;
    let ask = async |header: &str, value: &str| server.get("/test/id").header(header, value).send().await.unwrap();
    for (header, flood, other) in [
        ("x-forwarded-for", "198.51.100.7, 192.0.2.1", "192.0.2.2"),
        ("forwarded", "for=\"[2001:db8::1]:4711\"", "for=\"[2001:db8:0:1::1]\""),
    ] {
        let refused = first(429, 50, async || ask(header, flood).await).await;
        problem(refused.expect("more than the limit"), 429, "rate-limited").await;
        assert_eq!(ask(header, other).await.status(), 200, "{header}: another client");
    }
    assert_eq!(
        ask("x-forwarded-for", "198.51.100.7").await.status(),
        200,
        "the proxy did not name it"
    );
    let proxy = async || server.get("/test/id").send().await.unwrap();
    assert!(first(429, 50, proxy).await.is_none(), "the proxy itself is not bounded");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_no_trusted_proxy_names_nobody() {
    let server = server(BEHIND_A_PROXY).await;
    let mut named = 0_u8;
    for _ in 0..50 {
        named += 1;
        let request = server.get_from(NEIGHBOUR, "/test/id");
        let request = request.header("x-forwarded-for", format!("192.0.2.{named}"));
        let answer = request.send().await.unwrap();
        if answer.status() == 429 {
            return;
        }
    }
    panic!("50 requests of one address, each with another name");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_a_proxy_has_so_many_requests_in_flight_and_others_have_theirs() {
    let server = server(BEHIND_A_PROXY).await;
    let slow = || {
        let request = server.request(Method::GET, "/test/slow");
        tokio::spawn(request.header("x-forwarded-for", "192.0.2.1").send())
    };
    let first = slow();
    server.slow.reached.notified().await;
    let second = slow();
    server.slow.reached.notified().await;
    let third = slow().await.unwrap().unwrap();
    assert_eq!(text(third.headers(), "retry-after"), "1");
    problem(third, 429, "rate-limited").await;
    let other = server.get("/test/id").header("x-forwarded-for", "192.0.2.2");
    assert_eq!(other.send().await.unwrap().status(), 200);
    for answer in [first, second] {
        server.slow.release.notify_one();
        assert_eq!(answer.await.unwrap().unwrap().status(), 200);
    }
    eventually("places are given back", async || {
        let again = server.get("/test/id").header("x-forwarded-for", "192.0.2.1");
        again.send().await.unwrap().status() == 200
    })
    .await;
}

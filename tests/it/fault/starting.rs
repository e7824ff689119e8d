//! An instance whose Redis does not answer yet is alive and not ready, and goes on as soon as Redis answers.

use crate::support::prelude::*;
use crate::support::service::{PATIENT, redis_at};

#[tokio::test]
async fn while_redis_does_not_answer_an_instance_is_alive_and_not_ready() {
    let redis = own_redis(&[]).await;
    redis.freeze();
    let environment = [&PATIENT[..], &redis_at(redis.url())].concat();
    let mut service = Service::begin_in(Service::directory(), &environment).await;
    let alive = service.get("/healthz").await;
    assert_eq!(alive.is(200), &json!({"status": "ok"}));
    service.get("/metrics").await.is(200);
    let ready = service.get("/readyz").await;
    assert_eq!(ready.body["errors"][0]["field"], "instance", "{}", ready.text);
    let jackpot = ("/v1/jackpots/spring", Method::PUT, "store-unavailable");
    let document = ("/openapi.json", Method::GET, "store-unavailable");
    for (path, method, code) in [("/readyz", Method::GET, "not-ready"), jackpot, document] {
        let answer = service.call(method, path, None).await;
        assert_eq!(
            answer.status,
            StatusCode::SERVICE_UNAVAILABLE,
            "{path}: {}",
            answer.text
        );
        assert_eq!(answer.body["code"], code, "{path}: {}", answer.text);
        assert_eq!(answer.headers["retry-after"], "1", "{path}");
        // Its client connects again, and reaches the service.
        assert_eq!(answer.headers["connection"], "close", "{path}");
    }
    // A connection that the system keeps until somebody accepts it, and one that sends nothing.
    let idle = std::net::TcpStream::connect(service.url("").trim_start_matches("http://")).expect("it listens");
    redis.thaw();
    service.wait_until_ready().await;
    drop(idle);
    service.get("/v1/jackpots").await.is(200);
    let unknown = http_client().get(service.url("/no-such-path")).send().await;
    assert_eq!(unknown.expect("an answer").status(), StatusCode::NOT_FOUND);
    assert!(service.stop().await.success(), "{}", service.log());
}

/// Game servers repeat their requests until the service is ready: more often than an address may send wrong keys.
#[tokio::test]
async fn clients_that_wait_for_a_start_are_no_flood() {
    /// More than the wrong keys and the refusals that an address gets at once, and some seconds of both.
    const REQUESTS: usize = 100 + 1_000 + 400;
    let redis = own_redis(&[]).await;
    redis.freeze();
    let environment = [&PATIENT[..], &redis_at(redis.url())].concat();
    let mut service = Service::begin_in(Service::directory(), &environment).await;
    for _ in 0..REQUESTS {
        let answer = service.get("/v1/jackpots").await;
        assert_eq!(answer.body["code"], "store-unavailable", "{}", answer.text);
        assert!(!answer.headers.contains_key("ratelimit"), "{:?}", answer.headers);
    }
    let wrong = http_client().get(service.url("/v1/jackpots")).bearer_auth("wrong");
    let wrong = wrong.send().await.expect("an answer");
    assert_eq!(wrong.headers()["ratelimit-policy"], "\"failed-keys\";q=10;w=1");
    redis.thaw();
    service.wait_until_ready().await;
    assert!(service.stop().await.success(), "{}", service.log());
}

/// The address is taken before anything else, so its error comes without a start of Redis.
#[tokio::test]
async fn an_address_in_use_is_refused_before_redis_is_asked() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("an address").to_string();
    let data = Service::directory();
    let nobody = data.path().join("no-such-socket");
    let url = format!("redis+unix://{}", nobody.display());
    let environment = [&PATIENT[..], &redis_at(&url), &[("JACKPOT__HTTP__LISTEN", &address)]];
    let (status, log) = Service::refused(data.path(), &environment.concat()).await;
    assert!(!status.success() && log.contains("http.listen"), "{log}");
}

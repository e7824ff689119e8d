//! Reads that need no key: what they cost Redis, how old they may be, and what may be kept of them.

use std::time::Duration;

use reqwest::Response;
use reqwest::header::IF_NONE_MATCH;

use crate::fault::support::{entry, redrawing};
use crate::room::page::support::room;
use crate::support::local::LocalServer;
use crate::support::postgres_local::PrivatePostgres;
use crate::support::prelude::*;

/// Commands that reads use. The projector and recovery send some too, all the time.
const READS: [&str; 4] = ["fcall", "eval", "hgetall", "zrangebylex"];

async fn service() -> (Service, LocalServer) {
    let redis = own_redis(&[]).await;
    (service_on(redis.url(), &[]).await, redis)
}

fn definition(id: &str, public: bool) -> Value {
    let mut definition = redrawing(id);
    definition["public_meter"] = json!(public);
    definition
}

async fn create(service: &Service, id: &str, public: bool) {
    service
        .put(&format!("/v1/jackpots/{id}"), definition(id, public))
        .await
        .is(201);
}

async fn fund(service: &Service, adjustment_id: &str) {
    let fund =
        json!({"adjustment_id": adjustment_id, "tier": "grand", "meter": "pool", "amount": 7, "reason": "a test"});
    service.post("/v1/jackpots/shown/adjustments", fund).await.is(201);
}

/// Calls of Redis so far, of the kinds that reads make.
async fn calls(redis: &LocalServer) -> u64 {
    let mut connection = redis.connection().await;
    let info: String = redis::cmd("INFO")
        .arg("commandstats")
        .query_async(&mut connection)
        .await
        .expect("INFO");
    let of = |line: &str| {
        let (name, rest) = line.strip_prefix("cmdstat_")?.split_once(":calls=")?;
        let count = rest.split(',').next()?.parse::<u64>().ok()?;
        READS.contains(&name).then_some(count)
    };
    info.lines().filter_map(of).sum()
}

struct Stranger<'a> {
    service: &'a Service,
    client: reqwest::Client,
}

impl<'a> Stranger<'a> {
    fn of(service: &'a Service) -> Self {
        Self {
            service,
            client: http_client(),
        }
    }

    async fn send(&self, method: Method, path: &str, tag: Option<&str>) -> Response {
        let mut request = self.client.request(method, self.service.url(path));
        if let Some(tag) = tag {
            request = request.header(IF_NONE_MATCH, tag);
        }
        request.send().await.expect("an answer")
    }

    async fn get(&self, path: &str) -> Response {
        self.send(Method::GET, path, None).await
    }

    async fn json(&self, path: &str) -> Value {
        let answer = self.get(path).await;
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
        answer.json().await.expect("JSON")
    }
}

fn header<'a>(answer: &'a Response, name: &str) -> &'a str {
    answer
        .headers()
        .get(name)
        .map_or("", |value| value.to_str().expect("text"))
}

#[tokio::test(flavor = "multi_thread")]
async fn made_up_ids_are_answered_from_memory() {
    let (service, redis) = service().await;
    create(&service, "shown", true).await;
    let stranger = Stranger::of(&service);
    let before = calls(&redis).await;
    for nth in 0..250 {
        for (path, status) in [
            (format!("/v1/jackpots/made-up-{nth}/meter"), 401),
            (format!("/v1/jackpots/made-up-{nth}/meter/stream"), 401),
            (format!("/v1/jackpots/made-up-{nth}/fairness"), 404),
            (format!("/v1/jackpots/made-up-{nth}/definitions/1"), 401),
            (format!("/v1/jackpots/shown/definitions/{}", nth + 2), 404),
            (format!("/v1/rooms/made-up-{nth}/status"), 404),
        ] {
            assert_eq!(stranger.get(&path).await.status(), status, "{path}");
        }
    }
    let cost = calls(&redis).await - before;
    assert!(cost < 500, "1,500 requests made {cost} calls");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_readers_of_a_quiet_jackpot_cost_a_call_a_second() {
    let (service, redis) = service().await;
    create(&service, "shown", true).await;
    room(&service, "busy", 1, &json!({})).await;
    let stranger = Stranger::of(&service);
    let before = calls(&redis).await;
    for _ in 0..300 {
        stranger.json("/v1/jackpots/shown/meter").await;
        stranger.json("/v1/jackpots/shown/fairness").await;
        stranger.json("/v1/rooms/busy/status").await;
    }
    let cost = calls(&redis).await - before;
    assert!(cost < 450, "900 requests made {cost} calls");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_this_instance_has_acknowledged_shows_at_once() {
    let (service, _redis) = service().await;
    create(&service, "shown", true).await;
    let stranger = Stranger::of(&service);
    let meter = async || stranger.json("/v1/jackpots/shown/meter").await;
    for _ in 0..20 {
        let before = meter().await;
        fund(&service, &format!("a{}", before["meters"][0]["pool"])).await;
        let pool = before["meters"][0]["pool"].as_u64().expect("a pool");
        assert_eq!(meter().await["meters"][0]["pool"], pool + 7);
    }
    for nth in 0..20 {
        service
            .post("/v1/jackpots/shown/entries", entry(&format!("e{nth}")))
            .await
            .is(201);
        let own = service.get("/v1/jackpots/shown").await;
        assert_eq!(meter().await["meters"][0]["pool"], own.body["meters"][0]["pool"]);
    }
    let reason = json!({"reason": "a test"});
    for (call, status) in [("pause", "paused"), ("resume", "open"), ("close", "closed")] {
        assert_ne!(meter().await["status"], status);
        service
            .post(&format!("/v1/jackpots/shown/{call}"), reason.clone())
            .await
            .is(200);
        assert_eq!(meter().await["status"], status);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_epoch_that_this_instance_opens_and_a_meter_that_it_hides_show_at_once() {
    let (service, _redis) = service().await;
    create(&service, "shown", true).await;
    let stranger = Stranger::of(&service);
    for epochs in 1..=5 {
        let fairness = stranger.json("/v1/jackpots/shown/fairness").await;
        assert_eq!(fairness["epochs"].as_array().map(Vec::len), Some(epochs));
        assert_eq!(fairness["cycles"], json!([]));
        let rotated = service
            .post("/v1/jackpots/shown/fairness/rotate", json!({"reason": "a test"}))
            .await;
        rotated.is(200);
        assert_eq!(rotated.body["epochs"].as_array().map(Vec::len), Some(epochs + 1));
    }
    assert_eq!(stranger.get("/v1/jackpots/shown/meter").await.status(), StatusCode::OK);
    service
        .put("/v1/jackpots/shown", definition("shown", false))
        .await
        .is(200);
    assert_eq!(
        stranger.get("/v1/jackpots/shown/meter").await.status(),
        StatusCode::UNAUTHORIZED
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_a_client_has_is_not_sent_again() {
    let (service, _redis) = service().await;
    create(&service, "shown", true).await;
    room(&service, "busy", 1, &json!({})).await;
    let stranger = Stranger::of(&service);
    for (path, keep) in [
        ("/v1/jackpots/shown/meter", "public, max-age=1"),
        ("/v1/jackpots/shown/fairness", "public, max-age=1"),
        ("/v1/rooms/busy/status", "public, max-age=1"),
        ("/v1/jackpots/shown/definitions/1", "public, max-age=60"),
        ("/v1/keys", "public, max-age=60"),
        ("/openapi.json", "public, max-age=60"),
        ("/problems/rate-limited", "public, max-age=3600"),
    ] {
        let answer = stranger.get(path).await;
        assert_eq!(header(&answer, "cache-control"), keep, "{path}");
        // What was just made may change once more as the ledger takes it, at one thread of the service after the other.
        let (tag, again) = eventually(PATIENCE, path, async || {
            let tag = header(&stranger.get(path).await, "etag").to_owned();
            let again = [Method::GET, Method::HEAD].map(|method| stranger.send(method, path, Some(&tag)));
            let again = futures_util::future::join_all(again).await;
            let is_known = again.iter().all(|answer| answer.status() == StatusCode::NOT_MODIFIED);
            is_known.then_some((tag, again))
        })
        .await;
        assert!(tag.starts_with("W/\""), "{path}: {tag:?}");
        for answer in again {
            assert_eq!(
                (header(&answer, "etag"), header(&answer, "cache-control")),
                (&*tag, keep),
                "{path}"
            );
            assert_eq!(answer.text().await.expect("no body"), "");
        }
        let other = stranger.send(Method::GET, path, Some("W/\"0123456789abcdef\"")).await;
        assert_eq!(other.status(), StatusCode::OK, "{path}");
    }
    let tag = header(&stranger.get("/v1/jackpots/shown/meter").await, "etag").to_owned();
    fund(&service, "a1").await;
    let changed = stranger.send(Method::GET, "/v1/jackpots/shown/meter", Some(&tag)).await;
    assert_eq!(changed.status(), StatusCode::OK);
    assert_eq!(header(&changed, "vary"), "Authorization, Origin");
    let keyed = service.get("/v1/jackpots/shown/meter").await;
    assert_eq!(keyed.headers["cache-control"], "no-store");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_key_a_private_meter_and_one_that_is_not_there_look_alike() {
    let (service, _redis) = service().await;
    create(&service, "hidden", false).await;
    let stranger = Stranger::of(&service);
    for call in ["meter", "meter/stream"] {
        let mut seen = Vec::new();
        for id in ["hidden", "made-up"] {
            let answer = stranger.get(&format!("/v1/jackpots/{id}/{call}")).await;
            assert_eq!(answer.status(), StatusCode::UNAUTHORIZED, "{id} {call}");
            let mut names: Vec<_> = answer.headers().keys().map(ToString::to_string).collect();
            names.sort();
            seen.push((names, answer.text().await.expect("a body")));
        }
        assert_eq!(seen[0], seen[1]);
    }
    service.get("/v1/jackpots/hidden/meter").await.is(200);
    let missing = service.get("/v1/jackpots/made-up/meter").await;
    assert_eq!(
        (missing.status, missing.body["code"].as_str()),
        (StatusCode::NOT_FOUND, Some("jackpot-not-found"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_instance_does_is_seen_soon_and_with_a_key_at_once() {
    let postgres = PrivatePostgres::start().await.expect("apt-get install postgresql");
    let redis = own_redis(&[]).await;
    let url = postgres.url();
    let ledger = [("JACKPOT__LEDGER__URL", url.as_str())];
    let one = service_on(redis.url(), &ledger).await;
    let other = service_on(redis.url(), &ledger).await;
    let stranger = Stranger::of(&other);
    // This reads the names before the jackpot is among them.
    assert_eq!(
        stranger.get("/v1/jackpots/shown/meter").await.status(),
        StatusCode::UNAUTHORIZED
    );
    create(&one, "shown", true).await;
    let pool =
        async |service: &Service| service.get("/v1/jackpots/shown/meter").await.body["meters"][0]["pool"].clone();
    assert_eq!(pool(&other).await, 0, "with a key");
    let seen = async |wanted: u64| {
        eventually(PATIENCE, "a stranger sees it at the other one", async || {
            let answer = stranger.get("/v1/jackpots/shown/meter").await;
            let body: Value = answer.json().await.expect("JSON");
            (body["meters"][0]["pool"] == wanted).then_some(())
        })
        .await;
    };
    seen(0).await;
    for n in 1..=3 {
        one.post("/v1/jackpots/shown/entries", entry(&format!("e{n}"))).await;
        let exact = pool(&one).await;
        assert_eq!(pool(&other).await, exact, "with a key");
        seen(exact.as_u64().expect("a pool")).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn while_redis_is_away_strangers_are_told_so_within_its_limit() {
    let (service, mut redis) = service().await;
    create(&service, "shown", true).await;
    redis.kill9();
    let stranger = Stranger::of(&service);
    let ask = |path: &'static str| {
        let stranger = &stranger;
        async move { stranger.get(path).await.status() }
    };
    let begun = std::time::Instant::now();
    let paths = [
        "/v1/jackpots/shown/meter",
        "/v1/jackpots/made-up/meter",
        "/v1/jackpots/shown/meter/stream",
    ];
    let all = futures_util::future::join_all((0..300).map(|nth| ask(paths[nth % paths.len()]))).await;
    let unavailable = |status: &&StatusCode| **status == StatusCode::SERVICE_UNAVAILABLE;
    // The first requests may still get what was read before.
    assert!(all.iter().filter(unavailable).count() > 250, "{all:?}");
    assert!(
        begun.elapsed() < Duration::from_secs(10),
        "one reading for all, not one after the other"
    );
}

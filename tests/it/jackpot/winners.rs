//! The list of winners: who sees what, what it costs, and its stream.

use std::time::Duration;

use reqwest::header::IF_NONE_MATCH;
use sqlx::{Connection, Row};

use crate::support::client_builder;
use crate::support::postgres_local::PrivatePostgres;
use crate::support::prelude::*;
use crate::support::service::LIMITS;

/// Everybody wins 40, from a pool that has enough.
fn definition(id: &str, change: &Value) -> Value {
    let mut definition = json!({"id": id, "name": "Winners", "currency": "KRW", "contribution": {"fixed": 1},
        "tiers": [{"tier": "grand", "share_ppm": 1_000_000, "min_payout": 1}], "public_meter": true,
        "odds": {"total": 1, "ranks": [{"rank": 1, "weight": 1, "prize": {"fixed": {"tier": "grand", "amount": 40}}}]}});
    for (field, value) in change.as_object().expect("an object") {
        definition[field] = value.clone();
    }
    definition
}

async fn put(service: &Service, id: &str, change: &Value) -> Answer {
    let answer = service.put(&format!("/v1/jackpots/{id}"), definition(id, change)).await;
    answer.done();
    answer
}

async fn funded(service: &Service, id: &str, change: &Value) {
    put(service, id, change).await;
    let fund = json!({"adjustment_id": "f", "tier": "grand", "meter": "pool", "amount": 100_000, "reason": "a test"});
    service
        .post(&format!("/v1/jackpots/{id}/adjustments"), fund)
        .await
        .is(201);
}

/// Enters as this player.
async fn enter(service: &Service, id: &str, player: &str) -> Value {
    let entry = json!({"entry_id": format!("of-{player}"), "player_id": player, "stake": 100});
    let answer = service.post(&format!("/v1/jackpots/{id}/entries"), entry).await;
    answer.is(201);
    answer.body
}

/// As somebody without a key.
async fn stranger(service: &Service, path: &str) -> (StatusCode, Value) {
    let answer = http_client().get(service.url(path)).send().await.expect("an answer");
    let status = answer.status();
    (status, answer.json().await.unwrap_or_default())
}

fn players(list: &Value) -> Vec<String> {
    let items = list["items"].as_array().expect("items");
    let player = |item: &Value| item["player"].as_str().expect("a text").to_owned();
    items.iter().map(player).collect()
}

async fn shows(service: &Service, id: &str, wanted: &[&str]) -> Value {
    let path = format!("/v1/jackpots/{id}/winners");
    eventually(PATIENCE, "the list shows the winners", async || {
        let (status, list) = stranger(service, &path).await;
        (status == StatusCode::OK && players(&list) == wanted).then_some(list)
    })
    .await
}

/// A stream, event by event.
struct Events {
    answer: reqwest::Response,
    text: String,
}

impl Events {
    async fn open(service: &Service, id: &str, key: Option<&str>) -> Self {
        // The stream outlives the limit of other requests.
        let client = client_builder().build().expect("a client");
        let request = client.get(service.url(&format!("/v1/jackpots/{id}/winners/stream")));
        let request = match key {
            Some(key) => request.bearer_auth(key),
            None => request,
        };
        let answer = request.send().await.expect("an answer");
        assert_eq!(answer.status(), StatusCode::OK);
        assert_eq!(answer.headers()["content-type"], "text/event-stream");
        Self {
            answer,
            text: String::new(),
        }
    }

    /// The next event; `None` at the end.
    async fn next(&mut self) -> Option<Value> {
        let waited = tokio::time::timeout(PATIENCE, async {
            loop {
                if let Some((event, rest)) = self.text.split_once("\n\n") {
                    let (event, rest) = (event.to_owned(), rest.to_owned());
                    self.text = rest;
                    if let Some(data) = event.strip_prefix("event: winners\ndata: ") {
                        return Some(serde_json::from_str(data).expect("JSON"));
                    }
                    assert_eq!(event, ":", "a comment");
                    continue;
                }
                let chunk = self.answer.chunk().await.ok().flatten()?;
                self.text.push_str(std::str::from_utf8(&chunk).expect("UTF-8"));
            }
        });
        waited.await.expect("an event, or the end")
    }

    async fn until(&mut self, wanted: &[&str]) -> Value {
        loop {
            let list = self.next().await.expect("an event");
            if players(&list) == wanted {
                return list;
            }
        }
    }
}

#[tokio::test]
async fn the_definition_decides_what_the_list_shows() {
    let service = Service::start().await;
    funded(&service, "shown", &json!({"winners": "full"})).await;
    assert_eq!(
        stranger(&service, "/v1/jackpots/shown/winners").await.1,
        json!({"items": []})
    );
    let outcome = enter(&service, "shown", "secretive-player").await["outcome"].clone();
    let list = shows(&service, "shown", &["secretive-player"]).await;
    let receipt = service
        .get(&format!(
            "/v1/payouts/{}",
            outcome["payout_id"].as_str().expect("an id")
        ))
        .await;
    assert_eq!(
        list["items"][0],
        json!({"tier": "grand", "amount": 40, "at": receipt.body["paid_at"], "player": "secretive-player"})
    );
    // A change applies at once, for this instance's callers.
    put(&service, "shown", &json!({})).await;
    let (_, masked) = stranger(&service, "/v1/jackpots/shown/winners").await;
    assert_eq!(players(&masked), ["secr…"], "masked by default");
    let keyed = service.get("/v1/jackpots/shown/winners").await;
    assert_eq!(keyed.body, masked, "for a caller with a key too");
    assert_eq!(keyed.headers["cache-control"], "no-store");
    put(&service, "shown", &json!({"winners": "off"})).await;
    for path in ["/v1/jackpots/shown/winners", "/v1/jackpots/shown/winners/stream"] {
        let (status, problem) = stranger(&service, path).await;
        assert_eq!(
            (status, &problem["code"]),
            (StatusCode::NOT_FOUND, &json!("winners-not-shown")),
            "{path}"
        );
        service.get(path).await.refused(404, "winners-not-shown");
    }
    put(&service, "shown", &json!({"winners": "full"})).await;
    shows(&service, "shown", &["secretive-player"]).await;
}

#[tokio::test]
async fn a_definition_that_waits_decides_nothing_yet() {
    let service = Service::start().await;
    funded(&service, "waits", &json!({"winners": "masked"})).await;
    enter(&service, "waits", "secretive-player").await;
    shows(&service, "waits", &["secr…"]).await;
    let answer = put(
        &service,
        "waits",
        &json!({"winners": "full", "contribution": {"fixed": 2}}),
    )
    .await;
    assert_eq!(answer.body["pending"]["winners"], "full");
    assert_eq!(answer.body["pending"]["origins"], json!([]));
    assert_eq!(answer.body["winners"], "masked");
    enter(&service, "waits", "other-player-1").await;
    shows(&service, "waits", &["othe…", "secr…"]).await;
}

#[tokio::test]
async fn what_is_masked_is_in_no_event_either() {
    let service = Service::start().await;
    funded(&service, "masked", &json!({})).await;
    enter(&service, "masked", "secretive-player").await;
    shows(&service, "masked", &["secr…"]).await;
    let mut stream = Events::open(&service, "masked", None).await;
    assert_eq!(players(&stream.next().await.expect("at once")), ["secr…"]);
    enter(&service, "masked", "another-secret").await;
    let list = stream.until(&["anot…", "secr…"]).await;
    assert!(!list.to_string().contains("secret"), "{list}");
    assert_eq!(list, stranger(&service, "/v1/jackpots/masked/winners").await.1);
    // Whole while it says so, and no more.
    put(&service, "masked", &json!({"winners": "full"})).await;
    stream.until(&["another-secret", "secretive-player"]).await;
    put(&service, "masked", &json!({"winners": "off"})).await;
    assert_eq!(stream.next().await, None, "it ends");
    put(&service, "masked", &json!({})).await;
    let mut stream = Events::open(&service, "masked", None).await;
    assert_eq!(players(&stream.next().await.expect("at once")), ["anot…", "secr…"]);
    let mut keyed = Events::open(&service, "masked", Some(service.operator_key())).await;
    keyed.next().await.expect("at once");
    put(&service, "masked", &json!({"public_meter": false, "winners": "full"})).await;
    assert_eq!(stream.next().await, None, "private: it ends for strangers");
    keyed.until(&["another-secret", "secretive-player"]).await;
}

#[tokio::test]
async fn a_private_jackpot_and_none_look_alike_to_strangers() {
    let service = Service::start().await;
    funded(&service, "hidden", &json!({"public_meter": false, "winners": "off"})).await;
    for call in ["winners", "winners/stream", "meter/history?tier=grand&step=hour"] {
        let mut seen = Vec::new();
        for id in ["hidden", "made-up"] {
            let url = service.url(&format!("/v1/jackpots/{id}/{call}"));
            let answer = http_client().get(url).send().await.expect("an answer");
            assert_eq!(answer.status(), StatusCode::UNAUTHORIZED, "{id} {call}");
            let mut names: Vec<_> = answer.headers().keys().map(ToString::to_string).collect();
            names.sort();
            seen.push((names, answer.text().await.expect("a body")));
        }
        assert_eq!(seen[0], seen[1]);
    }
    service
        .get("/v1/jackpots/made-up/winners")
        .await
        .refused(404, "jackpot-not-found");
    let play = service.command(&["key", "new", "--role", "play", "--name", "game"]);
    let play = String::from_utf8(play.stdout).expect("a key").trim().to_owned();
    let status = async |path: &str| {
        let request = http_client().get(service.url(path)).bearer_auth(&play);
        request.send().await.expect("an answer").status()
    };
    eventually(PATIENCE, "the key is known", async || {
        (status("/v1/jackpots/hidden/winners").await == StatusCode::FORBIDDEN).then_some(())
    })
    .await;
    for path in ["winners/stream", "meter/history?tier=grand&step=day"] {
        assert_eq!(
            status(&format!("/v1/jackpots/hidden/{path}")).await,
            StatusCode::FORBIDDEN
        );
    }
    let history = service
        .get("/v1/jackpots/hidden/meter/history?tier=grand&step=day")
        .await;
    assert_answer!(history, 200, {"step_s": 86_400});
    for query in [
        "tier=nope&step=day",
        "tier=grand",
        "step=day",
        "tier=grand&step=week",
        "tier=grand&step=day&x=1",
    ] {
        let answer = service.get(&format!("/v1/jackpots/hidden/meter/history?{query}")).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{query}");
    }
}

#[tokio::test]
async fn shared_caches_may_keep_it_for_a_second() {
    let service = Service::start().await;
    funded(&service, "kept", &json!({})).await;
    enter(&service, "kept", "ann").await;
    shows(&service, "kept", &["a…"]).await;
    for path in [
        "/v1/jackpots/kept/winners",
        "/v1/jackpots/kept/meter/history?tier=grand&step=day",
    ] {
        let ask = async |method: Method, tag: &str| {
            let request = http_client().request(method, service.url(path));
            request.header(IF_NONE_MATCH, tag).send().await.expect("an answer")
        };
        let first = ask(Method::GET, "\"none\"").await;
        assert_eq!(first.headers()["cache-control"], "public, max-age=1", "{path}");
        assert_eq!(first.headers()["vary"], "Authorization, Origin");
        let tag = first.headers()["etag"].to_str().expect("text").to_owned();
        for method in [Method::GET, Method::HEAD] {
            let again = ask(method.clone(), &tag).await;
            assert_eq!(again.status(), StatusCode::NOT_MODIFIED, "{method} {path}");
            assert_eq!(again.headers()["vary"], "Authorization, Origin");
        }
        let keyed = service.get(path).await;
        assert_eq!(
            (keyed.status, &keyed.headers["cache-control"]),
            (StatusCode::OK, &"no-store".parse().expect("text"))
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_win_at_one_instance_shows_at_another() {
    let postgres = PrivatePostgres::start().await.expect("apt-get install postgresql");
    let redis = own_redis(&[]).await;
    let url = postgres.url();
    let ledger = [("JACKPOT__LEDGER__URL", url.as_str())];
    let one = service_on(redis.url(), &ledger).await;
    let other = service_on(redis.url(), &ledger).await;
    funded(&one, "shown", &json!({"winners": "full"})).await;
    shows(&other, "shown", &[]).await;
    let mut stream = Events::open(&other, "shown", None).await;
    assert_eq!(stream.next().await.expect("at once"), json!({"items": []}));
    enter(&one, "shown", "zoe").await;
    stream.until(&["zoe"]).await;
    shows(&other, "shown", &["zoe"]).await;
    let history = async |service: &Service| {
        let (_, history) = stranger(service, "/v1/jackpots/shown/meter/history?tier=grand&step=day").await;
        let points = history["points"].as_array().expect("points");
        points.last().map(|point| point["pool"].clone())
    };
    eventually(PATIENCE, "the history of the other shows it", async || {
        (history(&other).await == Some(json!(100_000 + 1 - 40))).then_some(())
    })
    .await;
}

/// How often the list was read in SQL.
async fn reads(url: &str) -> i64 {
    let mut connection = sqlx::PgConnection::connect(url).await.expect("a connection");
    let text = "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = 'payouts_by_order'";
    let row = sqlx::query(text).fetch_one(&mut connection).await.expect("a row");
    row.get(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn readers_cost_sql_nothing_while_nobody_wins() {
    let postgres = PrivatePostgres::start().await.expect("apt-get install postgresql");
    let url = postgres.url();
    let service = Service::start_with(&[("JACKPOT__LEDGER__URL", &url)]).await;
    let losing = json!({"odds": {"total": 1, "ranks": []}});
    funded(&service, "quiet", &json!({})).await;
    enter(&service, "quiet", "ann-of-the-hill").await;
    shows(&service, "quiet", &["ann-…"]).await;
    service
        .post("/v1/jackpots/quiet/pause", json!({"reason": "a test"}))
        .await;
    put(&service, "quiet", &losing).await;
    service
        .post("/v1/jackpots/quiet/resume", json!({"reason": "a test"}))
        .await;
    let mut streams = Vec::new();
    for _ in 0..20 {
        let mut stream = Events::open(&service, "quiet", None).await;
        stream.next().await.expect("at once");
        streams.push(stream);
    }
    // PostgreSQL counts a read when its connection has been idle for a second.
    let mut before = -1;
    eventually(PATIENCE, "all reads so far are counted", async || {
        let now = reads(&url).await;
        let same = now == before && now > 0;
        before = now;
        tokio::time::timeout(Duration::from_millis(1_500), std::future::pending::<()>())
            .await
            .ok();
        same.then_some(())
    })
    .await;
    let begun = tokio::time::Instant::now();
    let mut asked = 0;
    while begun.elapsed() < Duration::from_secs(3) {
        asked += 1;
        enter(&service, "quiet", &format!("loser-{asked}")).await;
        let (status, list) = stranger(&service, "/v1/jackpots/quiet/winners").await;
        assert_eq!((status, players(&list)), (StatusCode::OK, vec!["ann-…".to_owned()]));
    }
    assert!(asked > 20, "{asked}");
    tokio::time::timeout(Duration::from_millis(1_500), std::future::pending::<()>())
        .await
        .ok();
    assert_eq!(
        reads(&url).await,
        before,
        "{asked} readers, 20 streams and {asked} entries without a win"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn while_sql_is_away_streams_wait_and_then_go_on() {
    let mut postgres = PrivatePostgres::start().await.expect("apt-get install postgresql");
    let url = postgres.url();
    let service = Service::start_with(&[&LIMITS[..], &[("JACKPOT__LEDGER__URL", &url)]].concat()).await;
    funded(&service, "away", &json!({"winners": "full"})).await;
    enter(&service, "away", "zoe").await;
    shows(&service, "away", &["zoe"]).await;
    let mut stream = Events::open(&service, "away", None).await;
    assert_eq!(players(&stream.next().await.expect("at once")), ["zoe"]);
    postgres.stop_immediate();
    enter(&service, "away", "yan").await;
    for path in ["winners", "meter/history?tier=grand&step=minute"] {
        eventually(PATIENCE, "SQL is asked, and does not answer", async || {
            let (status, problem) = stranger(&service, &format!("/v1/jackpots/away/{path}")).await;
            (status == StatusCode::SERVICE_UNAVAILABLE && problem["code"] == "store-unavailable").then_some(())
        })
        .await;
    }
    let meter = stranger(&service, "/v1/jackpots/away/meter").await;
    assert_eq!(meter.0, StatusCode::OK, "which needs no SQL");
    postgres.start_again().await;
    stream.until(&["yan", "zoe"]).await;
    shows(&service, "away", &["yan", "zoe"]).await;
    eventually(PATIENCE, "the history goes on", async || {
        let path = "/v1/jackpots/away/meter/history?tier=grand&step=minute";
        let (status, history) = stranger(&service, path).await;
        let last = history["points"].as_array()?.last()?["pool"].clone();
        (status == StatusCode::OK && last == 100_000 + 2 - 80).then_some(())
    })
    .await;
}

#[tokio::test]
async fn the_history_is_the_same_after_a_kill() {
    let mut service = Service::start().await;
    funded(&service, "killed", &json!({})).await;
    enter(&service, "killed", "zoe").await;
    let path = "/v1/jackpots/killed/meter/history?tier=grand&step=day";
    let last = async |service: &Service| {
        let (status, history) = stranger(service, path).await;
        let points = history["points"].as_array()?;
        (status == StatusCode::OK).then(|| points.last().map(|point| point["pool"].clone()))?
    };
    let wanted = json!(100_000 + 1 - 40);
    eventually(PATIENCE, "the ledger has it", async || {
        (last(&service).await.as_ref() == Some(&wanted)).then_some(())
    })
    .await;
    service.kill9();
    service.restart().await;
    assert_eq!(last(&service).await, Some(wanted));
}

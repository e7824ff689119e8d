//! Definitions as the API takes and shows them: what cannot work is refused, and every version can be read.

use std::path::Path;

use crate::fault::support::connection;
use crate::support::given::{document, rank, tier};
use crate::support::prelude::*;

const PATIENCE: std::time::Duration = std::time::Duration::from_secs(20);

fn never() -> Value {
    json!({"total": 9, "ranks": []})
}

fn odds(prize: &Value) -> Value {
    json!({"total": 9, "ranks": [rank(1, prize)]})
}

fn fixed(amount: u64) -> Value {
    odds(&json!({"fixed": {"tier": "grand", "amount": amount}}))
}

fn share(ppm: u64) -> Value {
    odds(&json!({"pool": {"tier": "grand", "take": {"share_ppm": ppm}}}))
}

fn whole() -> Value {
    json!({"total": 1, "ranks": [rank(1, &json!({"pool": {"tier": "grand", "take": "all"}}))]})
}

/// Odds by stake whose one weight counts once a stake of `per_stake`.
fn by_stake(per_stake: u64, max_stake: &Value) -> Value {
    let ranks = json!([rank(1, &json!({"pool": {"tier": "grand", "take": "all"}}))]);
    json!({"max_stake": max_stake, "odds": {"total": 100, "per_stake": per_stake, "ranks": ranks}})
}

fn grand(change: &Value) -> Value {
    json!([tier("grand", 1_000_000, change)])
}

/// Definitions that cannot work, the field that the refusal names, and the nearest definition that works.
fn refused() -> Vec<(Value, &'static str, Value)> {
    let capped = |change: Value| {
        let mut change = change;
        change["cap"] = json!(100);
        grand(&change)
    };
    let most = 9_007_199_254_740_991_u64;
    vec![
        (
            json!({"tiers": capped(json!({"min_payout": 101}))}),
            "tiers[0].min_payout",
            json!({"tiers": capped(json!({"min_payout": 100}))}),
        ),
        (
            json!({"tiers": capped(json!({"seed": 101}))}),
            "tiers[0].seed",
            json!({"tiers": capped(json!({"seed": 100}))}),
        ),
        (
            json!({"tiers": capped(json!({})), "odds": fixed(101)}),
            "odds.ranks[0].prize.fixed.amount",
            json!({"tiers": capped(json!({})), "odds": fixed(100)}),
        ),
        (
            json!({"tiers": capped(json!({"min_payout": 51})), "odds": share(500_000)}),
            "odds.ranks[0].prize.pool.take.share_ppm",
            json!({"tiers": capped(json!({"min_payout": 50})), "odds": share(500_000)}),
        ),
        // Without a cap the largest pool is 2^53 - 1. A share of it that is rounded down to nothing does not work
        // either.
        (
            json!({"tiers": grand(&json!({"min_payout": most})), "odds": share(999_999)}),
            "odds.ranks[0].prize.pool.take.share_ppm",
            json!({"tiers": grand(&json!({"min_payout": most})), "odds": share(1_000_000)}),
        ),
        (
            json!({"tiers": capped(json!({"min_payout": 0})), "odds": share(9_999)}),
            "odds.ranks[0].prize.pool.take.share_ppm",
            json!({"tiers": capped(json!({"min_payout": 0})), "odds": share(10_000)}),
        ),
        (
            json!({"contribution": {"fixed": 0}}),
            "contribution.fixed",
            json!({"contribution": {"fixed": 1}}),
        ),
        (
            json!({"contribution": {"rate_ppm": 0}}),
            "contribution.rate_ppm",
            json!({"contribution": {"rate_ppm": 1}}),
        ),
        (
            json!({"tiers": [tier("grand", 0, &json!({}))]}),
            "tiers",
            json!({"tiers": [tier("grand", 1, &json!({}))]}),
        ),
        // Half a millionth of a unit for each play is nothing, however many plays there are.
        (
            json!({"contribution": {"rate_ppm": 1}, "max_stake": 1, "tiers": [tier("grand", 500_000, &json!({}))]}),
            "contribution.rate_ppm",
            json!({"contribution": {"rate_ppm": 1}, "max_stake": 2, "tiers": [tier("grand", 500_000, &json!({}))]}),
        ),
        (
            json!({"min_stake": 11, "max_stake": 10}),
            "min_stake",
            json!({"min_stake": 10, "max_stake": 10}),
        ),
        (
            json!({"contribution": {"rate_ppm": 10_000}, "min_stake": 0}),
            "min_stake",
            json!({"contribution": {"rate_ppm": 10_000}, "min_stake": 1}),
        ),
        (
            json!({"contribution": {"rate_ppm": 10_000}, "max_stake": 0}),
            "min_stake",
            json!({"contribution": {"rate_ppm": 10_000}, "max_stake": 1}),
        ),
        (by_stake(10, &json!(1010)), "odds.ranks", by_stake(10, &json!(1009))),
        (by_stake(0, &json!(1000)), "odds.per_stake", by_stake(1, &json!(100))),
        (by_stake(10, &json!(null)), "max_stake", by_stake(10, &json!(10))),
        (json!({"room": "nowhere"}), "room", json!({"room": "lobby"})),
        (
            json!({"odds": odds(&json!({"coupon": {"coupon_id": "nothing"}}))}),
            "odds.ranks[0].prize.coupon.coupon_id",
            json!({"odds": odds(&json!({"coupon": {"coupon_id": "coffee"}}))}),
        ),
    ]
}

async fn with_lobby_and_coffee() -> Service {
    let service = Service::start().await;
    let coupon = json!({"name": "Coffee", "stock": 1, "per_user": 1, "per_user_window_s": null,
        "starts_at": "2020-01-01T00:00:00Z", "ends_at": "2100-01-01T00:00:00Z"});
    let room = json!({"capacity": 1, "session_s": 60, "waiting_timeout_s": 60, "admissions_per_minute": null});
    for (path, body) in [("/v1/coupons/coffee", coupon), ("/v1/rooms/lobby", room)] {
        assert_eq!(service.put(path, body).await.status, StatusCode::CREATED, "{path}");
    }
    service
}

#[tokio::test]
async fn a_definition_that_cannot_work_is_refused_with_the_field_and_the_reason() {
    let service = with_lobby_and_coffee().await;
    for (i, (wrong, field, right)) in refused().into_iter().enumerate() {
        let (id, with_no_odds) = (format!("cannot-{i}"), |change: &Value| {
            let mut all = json!({"odds": never()});
            for (name, value) in change.as_object().expect("an object") {
                all[name] = value.clone();
            }
            all
        });
        let path = format!("/v1/jackpots/{id}");
        let answer = service.put(&path, document(&id, &with_no_odds(&wrong))).await;
        assert_eq!(
            answer.status,
            StatusCode::UNPROCESSABLE_ENTITY,
            "{wrong}: {}",
            answer.text
        );
        assert_eq!(answer.body["code"], "invalid-request", "{wrong}");
        let errors = answer.body["errors"].as_array().expect("errors").clone();
        let fields: Vec<_> = errors.iter().map(|e| e["field"].as_str().unwrap_or_default()).collect();
        assert_eq!(fields, [field], "{wrong}: {errors:?}");
        assert_eq!(service.get(&path).await.status, StatusCode::NOT_FOUND, "{wrong}");
        let answer = service.put(&path, document(&id, &with_no_odds(&right))).await;
        assert_eq!(answer.status, StatusCode::CREATED, "{right}: {}", answer.text);
    }
}

async fn enter(service: &Service, jackpot: &str, entry_id: &str, stake: u64) -> Answer {
    let body = json!({"entry_id": entry_id, "player_id": "p", "stake": stake});
    service.post(&format!("/v1/jackpots/{jackpot}/entries"), body).await
}

async fn batch(service: &Service, jackpot: &str, batch_id: &str, stakes: &[u64]) -> Answer {
    let entries: Vec<_> = stakes
        .iter()
        .map(|stake| json!({"player_id": "p", "stake": stake}))
        .collect();
    let body = json!({"batch_id": batch_id, "entries": entries});
    service
        .post(&format!("/v1/jackpots/{jackpot}/entry-batches"), body)
        .await
}

#[tokio::test]
async fn a_stake_below_the_smallest_is_refused_and_what_was_taken_before_is_answered() {
    let service = Service::start().await;
    let rate = json!({"rate_ppm": 10_000});
    for (id, change, least) in [
        ("rate", json!({"contribution": rate}), 1),
        ("fixed", json!({}), 0),
        ("five", json!({"contribution": rate, "min_stake": 5}), 5),
    ] {
        let path = format!("/v1/jackpots/{id}");
        let created = service.put(&path, document(id, &change)).await;
        assert_answer!(created, 201, {"min_stake": least}, "{id}");
        assert_eq!(
            enter(&service, id, "a", least).await.status,
            StatusCode::CREATED,
            "{id}"
        );
        assert_eq!(
            batch(&service, id, "b", &[least]).await.status,
            StatusCode::CREATED,
            "{id}"
        );
        let before = service.get(&path).await.body["meters"].clone();
        if let Some(less) = least.checked_sub(1) {
            let one = enter(&service, id, "low", less).await;
            let many = batch(&service, id, "lows", &[least, less]).await;
            for (answer, field) in [(one, "stake"), (many, "entries[1].stake")] {
                answer.is(422);
                assert_eq!(answer.body["errors"][0]["field"], field);
            }
        }
        // The limit rises: entries that were taken below it are answered as before.
        let mut raised = change.clone();
        raised["min_stake"] = json!(50);
        assert_eq!(
            service.put(&path, document(id, &raised)).await.status,
            StatusCode::OK,
            "{id}"
        );
        assert_eq!(enter(&service, id, "a", least).await.status, StatusCode::OK, "{id}");
        assert_eq!(batch(&service, id, "b", &[least]).await.status, StatusCode::OK, "{id}");
        enter(&service, id, "c", least).await.is(422);
        assert_eq!(service.get(&path).await.body["meters"], before, "{id}");
    }
}

async fn act(service: &Service, path: &str, what: &str) {
    service
        .post(&format!("{path}/{what}"), json!({"reason": "a test"}))
        .await
        .is(200);
}

#[tokio::test]
async fn a_cap_below_the_pool_waits_for_the_next_take_also_while_paused() {
    let service = Service::start().await;
    let path = "/v1/jackpots/capped";
    let put = async |change: Value| service.put(path, document("capped", &change)).await;
    let always = |change: &Value| json!({"odds": whole(), "tiers": grand(change)});
    put(always(&json!({"min_payout": 20}))).await;
    let fund = json!({"adjustment_id": "f", "tier": "grand", "meter": "pool", "amount": 18, "reason": "a test"});
    service.post(&format!("{path}/adjustments"), fund).await.is(201);
    act(&service, path, "pause").await;
    let lower = put(always(&json!({"min_payout": 10, "cap": 10}))).await;
    assert_eq!(
        (lower.status, &lower.body["pending"]["tiers"][0]["cap"]),
        (StatusCode::OK, &json!(10))
    );
    // The next pause does not put it in force either.
    act(&service, path, "resume").await;
    act(&service, path, "pause").await;
    let shown = service.get(path).await.body;
    assert_eq!(
        (&shown["pending"]["tiers"][0]["cap"], &shown["meters"][0]["pool"]),
        (&json!(10), &json!(18))
    );
    act(&service, path, "resume").await;
    for (entry_id, amount) in [("a", Value::Null), ("b", json!(20))] {
        assert_eq!(
            enter(&service, "capped", entry_id, 1).await.body["outcome"]["amount"],
            amount
        );
    }
    let shown = service.get(path).await.body;
    assert_eq!(
        (&shown["pending"], &shown["tiers"][0]["cap"]),
        (&Value::Null, &json!(10))
    );
    // A definition that can hold what is in the pool is in force at once.
    act(&service, path, "pause").await;
    let lower = put(always(&json!({"min_payout": 1, "cap": 1}))).await;
    assert_eq!(
        (&lower.body["pending"], &lower.body["tiers"][0]["cap"]),
        (&Value::Null, &json!(1))
    );
}

/// An open jackpot with money, whose version 2 waits.
async fn with_waiting_definition(path: &str, id: &str) -> Service {
    let service = Service::start().await;
    service.put(path, document(id, &json!({}))).await;
    let fund = json!({"adjustment_id": "f", "tier": "grand", "meter": "pool", "amount": 18, "reason": "a test"});
    service.post(&format!("{path}/adjustments"), fund).await.is(201);
    let put = service.put(path, document(id, &json!({"odds": fixed(7)}))).await;
    assert_eq!(versions(&put.body), (&json!(1), &json!(2)), "{}", put.text);
    service
}

/// The version in force and the one that waits.
fn versions(shown: &Value) -> (&Value, &Value) {
    (&shown["version"], &shown["pending"]["version"])
}

#[tokio::test]
async fn a_pause_puts_a_waiting_definition_in_force_unless_it_keeps_it_waiting() {
    let path = "/v1/jackpots/waits";
    let service = with_waiting_definition(path, "waits").await;
    for (keep_waiting, in_force, waiting) in [(true, 1, json!(2)), (false, 2, Value::Null)] {
        let pause = json!({"reason": "a test", "keep_waiting": keep_waiting});
        let paused = service.post(&format!("{path}/pause"), pause).await;
        assert_eq!(paused.body["status"], "paused", "{}", paused.text);
        assert_eq!(versions(&paused.body), (&json!(in_force), &waiting), "{}", paused.text);
        act(&service, path, "resume").await;
    }
}

#[tokio::test]
async fn the_audit_row_of_a_pause_names_the_version_that_it_puts_in_force() {
    let path = "/v1/jackpots/audited";
    let service = with_waiting_definition(path, "audited").await;
    let pause = json!({"reason": "a test", "keep_waiting": true});
    let paused = service.post(&format!("{path}/pause"), pause).await;
    paused.is(200);
    for what in ["resume", "pause"] {
        act(&service, path, what).await;
    }
    let rows = eventually(PATIENCE, "both pauses are in the audit trail", async || {
        let page = service.get("/v1/audit?action=pause&jackpot_id=audited").await.body;
        page["items"].as_array().filter(|rows| rows.len() == 2).cloned()
    })
    .await;
    let changes: Vec<_> = rows.iter().map(|row| (&row["before"], &row["after"])).collect();
    let (open, paused) = (json!("open"), json!("paused"));
    let (before, after) = (
        json!({"status": "open", "version": 1}),
        json!({"status": "paused", "version": 2}),
    );
    assert_eq!(
        changes,
        [(&before, &after), (&open, &paused)],
        "the newest row is first"
    );
}

/// `GET` without a key.
async fn stranger(service: &Service, path: &str) -> (StatusCode, Value) {
    let answer = http_client().get(service.url(path)).send().await.expect("an answer");
    let status = answer.status();
    (status, answer.json().await.unwrap_or_default())
}

#[tokio::test]
async fn anyone_reads_each_version_that_was_ever_in_force() {
    let service = Service::start().await;
    let room = json!({"capacity": 1, "session_s": 60, "waiting_timeout_s": 60, "admissions_per_minute": null});
    service.put("/v1/rooms/lobby", room).await.is(201);
    let path = "/v1/jackpots/glass";
    for total in 9..14 {
        let change = json!({"public_meter": true, "room": "lobby", "odds": {"total": total, "ranks": []}});
        service.put(path, document("glass", &change)).await.done();
    }
    eventually(PATIENCE, "the ledger has the last definition", async || {
        let head = service.get(&format!("{path}/ledger/head")).await.body;
        (head["n"].as_u64()? >= 5).then_some(())
    })
    .await;
    // As after the records that needed them were dropped.
    let socket = service.data_dir().join("redis/redis.sock");
    let mut redis = connection(&format!("redis+unix://{}", socket.display())).await;
    for version in 1..=3 {
        let dropped: i64 = redis::cmd("HDEL")
            .arg("jp:{glass}:definitions")
            .arg(version)
            .query_async(&mut redis)
            .await
            .expect("done");
        assert_eq!(dropped, 1);
    }
    for version in 1..=5 {
        let at = format!("{path}/definitions/{version}");
        let (status, shown) = stranger(&service, &at).await;
        assert_eq!(
            (status, &shown["version"]),
            (StatusCode::OK, &json!(version)),
            "{shown}"
        );
        assert_eq!(shown["odds"]["total"], 8 + version);
        assert_has!(shown, {"min_stake": 0, "id": "glass"});
        for hidden in ["room", "sources", "approval_above", "reverse_by", "meters", "pending"] {
            assert!(shown.get(hidden).is_none(), "{hidden}");
        }
        assert_eq!(service.get(&at).await.body, shown);
    }
    for unknown in ["6", "0", "99999999999999999"] {
        service
            .get(&format!("{path}/definitions/{unknown}"))
            .await
            .refused(404, "definition-not-found");
    }
    assert_eq!(
        stranger(&service, "/v1/jackpots/nobody/definitions/1").await.0,
        StatusCode::UNAUTHORIZED,
        "as one that is not public"
    );
    let hidden = document("curtain", &json!({"public_meter": false}));
    service.put("/v1/jackpots/curtain", hidden).await.is(201);
    let at = "/v1/jackpots/curtain/definitions/1";
    assert_eq!(stranger(&service, at).await.0, StatusCode::UNAUTHORIZED);
    service.get(at).await.is(200);
}

#[tokio::test]
async fn each_entry_says_who_drew_it() {
    let service = Service::start().await;
    service
        .put("/v1/jackpots/drawn", document("drawn", &json!({})))
        .await
        .is(201);
    let entry = enter(&service, "drawn", "a", 1).await.body;
    assert_eq!(entry["draw"]["by"], "service", "{entry}");
    assert_eq!(enter(&service, "drawn", "a", 1).await.body, entry);
    assert_eq!(service.get("/v1/jackpots/drawn/entries/a").await.body, entry);
    batch(&service, "drawn", "b", &[1, 2]).await.is(201);
    let derived = service.get("/v1/jackpots/drawn/entries/b:2").await.body;
    assert_eq!(derived["draw"]["by"], "service", "{derived}");
}

fn write(directory: &Path, name: &str, text: &str) {
    std::fs::create_dir_all(directory).expect("a directory can be made");
    std::fs::write(directory.join(name), text).expect("a file can be written");
}

#[tokio::test]
async fn a_file_that_defines_what_cannot_work_keeps_the_service_from_starting() {
    let head = "id = \"filed\"\nname = \"Filed\"\ncurrency = \"KRW\"\ncontribution = { fixed = 1 }\n";
    let tiers = "tiers = [{ tier = \"grand\", share_ppm = 1_000_000, min_payout = 2 }]\n";
    let none = "odds = { total = 1, ranks = [] }\n";
    let coupon =
        "[odds]\ntotal = 9\n[[odds.ranks]]\nrank = 1\nweight = 1\nprize = { coupon = { coupon_id = \"nothing\" } }\n";
    for (text, words) in [
        (format!("{head}{tiers}room = \"nowhere\"\n{none}"), ["room", "nowhere"]),
        (
            format!("{head}{tiers}{coupon}"),
            ["odds.ranks[0].prize.coupon.coupon_id", "nothing"],
        ),
        (
            format!(
                "{head}{}{none}",
                tiers.replace("min_payout = 2", "min_payout = 2, cap = 1")
            ),
            ["tiers[0].min_payout", "cap"],
        ),
    ] {
        let data = tempfile::tempdir().expect("a directory");
        let jackpots = data.path().join("jackpots");
        write(&jackpots, "filed.toml", &text);
        let directory = jackpots.to_str().expect("text");
        let (status, log) = Service::refused(data.path(), &[("JACKPOT__JACKPOTS__DIRECTORY", directory)]).await;
        assert!(!status.success(), "{log}");
        for word in words {
            log.says(word);
        }
    }
}

#[tokio::test]
async fn a_jackpot_whose_file_names_what_is_there_is_defined_and_keeps_its_definition() {
    let mut service = with_lobby_and_coffee().await;
    let jackpots = service.data_dir().join("jackpots");
    let text = |room: &str| {
        format!(
            "id = \"filed\"\nname = \"Filed\"\ncurrency = \"KRW\"\ncontribution = {{ fixed = 1 }}\nroom = \"{room}\"\n\
             tiers = [{{ tier = \"grand\", share_ppm = 1_000_000, min_payout = 2 }}]\nodds = {{ total = 1, ranks = [] }}\n"
        )
    };
    write(&jackpots, "filed.toml", &text("lobby"));
    service.set("JACKPOT__JACKPOTS__DIRECTORY", jackpots.to_str().expect("text"));
    for room in ["lobby", "nowhere"] {
        // A file about an existing jackpot has no effect, so that it may name what does not exist.
        write(&jackpots, "filed.toml", &text(room));
        assert!(service.stop().await.success());
        service.restart().await;
        let shown = service.call(Method::GET, "/v1/jackpots/filed", None).await;
        assert_eq!(shown.body["room"], "lobby", "{}", shown.text);
    }
}

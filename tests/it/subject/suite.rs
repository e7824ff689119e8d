//! The tests that every capability passes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jackpot::subject::kinds::KindName;
use redis::Cmd;
use reqwest::header::{ETAG, IF_MATCH, IF_NONE_MATCH};
use tokio::task::JoinSet;

use crate::fault::ledger_support::COMPARED_OFTEN;
use crate::support::prelude::*;
use crate::support::service::{Caller, PROGRAM};

/// Callers at the same time, and so the requests that a kill cuts.
const CALLERS: u64 = 4;
/// Kills of the service.
const KILLS: u64 = 3;
/// Requests acknowledged before each kill.
const BEFORE_A_KILL: u64 = 40;
/// Each such request is a PUT, the others are events.
const PUT_EVERY: u64 = 5;

/// What the suite must know of a capability.
pub trait Case: 'static {
    const KIND: KindName;

    /// The program that serves it, when it is not the service.
    fn program(_: &Path) -> Option<PathBuf> {
        None
    }
    /// A definition, another one for each `change`.
    fn definition(id: &str, change: u64) -> Value;
    /// A request that makes an event of the capability's own: path and body. Each number is another event.
    fn event(id: &str, number: u64) -> (String, Value);
    /// The number of these events that the subject has had.
    fn count(subject: &Value) -> u64;
    /// The part of a subject that is the same after Redis was lost.
    fn lasting(subject: &Value) -> Value {
        subject.clone()
    }
    /// Adds to a value in Redis that the ledger has too.
    fn tamper(id: &str, by: i64) -> Cmd;
    /// A request that opens a suspended subject, if the service does not open it.
    fn resume(_: &str) -> Option<(String, Value)> {
        None
    }
}

fn path<C: Case>(id: &str) -> String {
    format!("/v1/{}/{id}", C::KIND.plural)
}

async fn start<C: Case>(db: &LedgerDb, environment: &[(&str, &str)]) -> Service {
    let data = Service::directory();
    let program = C::program(data.path());
    let program = program.as_deref().and_then(Path::to_str).map(|path| (PROGRAM, path));
    let all: Vec<_> = [db.environment(), COMPARED_OFTEN]
        .into_iter()
        .chain(environment.iter().copied())
        .chain(program)
        .collect();
    Service::start_in(data, &all).await
}

async fn put<C: Case>(
    service: &Service,
    id: &str,
    change: u64,
    condition: Option<(reqwest::header::HeaderName, &str)>,
) -> (StatusCode, Option<String>, Value) {
    let request = http_client()
        .put(service.url(&path::<C>(id)))
        .bearer_auth(service.operator_key())
        .json(&C::definition(id, change));
    let request = condition
        .into_iter()
        .fold(request, |request, (name, value)| request.header(name, value));
    let answer = request.send().await.expect("an answer");
    let tag = answer
        .headers()
        .get(ETAG)
        .map(|tag| tag.to_str().expect("text").to_owned());
    (answer.status(), tag, answer.json().await.expect("JSON"))
}

/// The subject's row in `GET /v1/reconciliation`, with the answer's status.
async fn compared<C: Case>(service: &Service, id: &str) -> (StatusCode, Value) {
    let answer = service.get("/v1/reconciliation").await;
    let rows = answer.body[C::KIND.compared_as].as_array().cloned().unwrap_or_default();
    let row = rows.into_iter().find(|row| row[C::KIND.id_field()] == id);
    (answer.status, row.unwrap_or_default())
}

async fn until_clean<C: Case>(service: &Service, id: &str) {
    eventually(PATIENCE, "the ledger has all events, and agrees", async || {
        let (status, row) = compared::<C>(service, id).await;
        (status == StatusCode::OK && row["clean"] == true && row["lag"] == 0).then_some(())
    })
    .await;
}

/// The rows of the audit trail of one subject, the newest first, once there are `count` with this action.
async fn audit<C: Case>(service: &Service, id: &str, action: &str, count: usize) -> Vec<Value> {
    let path = format!("/v1/audit?{}={id}&action={action}&limit=1000", C::KIND.id_field());
    eventually(PATIENCE, "the audit trail has the action", async || {
        let rows = service.get(&path).await.body["items"].as_array().cloned()?;
        (rows.len() >= count).then_some(rows)
    })
    .await
}

/// `If-Match` and `If-None-Match`; repeats; pages of the list; the audit trail of what was put.
pub async fn puts_keep_their_preconditions<C: Case>(db: LedgerDb) {
    let service = start::<C>(&db, &[]).await;
    let created = put::<C>(&service, "a", 0, Some((IF_NONE_MATCH, "*"))).await;
    assert_eq!(
        (created.0, created.1.as_deref()),
        (StatusCode::CREATED, Some("\"1\"")),
        "{}",
        created.2
    );
    let same = put::<C>(&service, "a", 0, None).await;
    assert_eq!(
        (same.0, same.1.as_deref()),
        (StatusCode::OK, Some("\"1\"")),
        "{}",
        same.2
    );
    let changed = put::<C>(&service, "a", 1, Some((IF_MATCH, "\"1\""))).await;
    assert_eq!(
        (changed.0, changed.1.as_deref()),
        (StatusCode::OK, Some("\"2\"")),
        "{}",
        changed.2
    );
    let repeated = put::<C>(&service, "a", 1, Some((IF_MATCH, "\"1\""))).await;
    assert_eq!(
        (repeated.0, repeated.1.as_deref()),
        (StatusCode::OK, Some("\"2\"")),
        "{}",
        repeated.2
    );
    for (id, condition) in [
        ("a", (IF_NONE_MATCH, "*")),
        ("a", (IF_MATCH, "\"1\"")),
        ("z", (IF_MATCH, "*")),
    ] {
        let refused = put::<C>(&service, id, 2, Some(condition.clone())).await;
        let (status, code) = (refused.0, &refused.2["code"]);
        assert_eq!(
            (status, code),
            (StatusCode::PRECONDITION_FAILED, &json!("precondition-failed")),
            "{condition:?}"
        );
    }
    let read = service.get(&path::<C>("a")).await;
    assert_eq!(
        (read.status, read.headers["etag"].to_str().ok()),
        (StatusCode::OK, Some("\"2\"")),
        "a 412 changes nothing"
    );
    service.get(&path::<C>("z")).await.is(404);

    for id in ["c", "b"] {
        assert_eq!(put::<C>(&service, id, 0, None).await.0, StatusCode::CREATED);
    }
    let list = format!("/v1/{}?limit=2", C::KIND.plural);
    let first = service.get(&list).await.body;
    let next = first["next_cursor"].as_str().expect("a second page").to_owned();
    let second = service.get(&format!("{list}&cursor={next}")).await.body;
    let ids = |page: &Value| {
        page["items"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|item| item["id"].clone())
            .collect()
    };
    let (one, two): (Vec<Value>, Vec<Value>) = (ids(&first), ids(&second));
    assert_eq!((one, two), (vec![json!("a"), json!("b")], vec![json!("c")]));
    assert_eq!(second["next_cursor"], Value::Null);

    let rows = audit::<C>(&service, "a", "define", 2).await;
    assert_eq!(
        rows.len(),
        2,
        "one for each change, none for repeats and refusals: {rows:?}"
    );
    for (row, version) in rows.iter().zip([2, 1]) {
        let is_named = row["who"] == "operator" && row["request_id"].as_str().is_some_and(|id| !id.is_empty());
        assert!(is_named && row["target"] == "a", "{row}");
        assert_eq!(row["after"]["version"], version, "{row}");
        assert!(row["after"]["definition"].is_object(), "{row}");
    }
    assert_eq!(rows[0]["before"]["version"], 1);
    assert_eq!(rows[1]["before"], Value::Null);
}

/// What callers got acknowledged before a kill.
#[derive(Default)]
struct Answered {
    /// Numbers of requests so far.
    sent: AtomicU64,
    /// Events that were acknowledged.
    events: AtomicU64,
    /// The highest acknowledged version.
    version: AtomicU64,
}

/// Sends events, and a PUT now and then, until an answer does not come.
async fn call_until_cut<C: Case>(caller: Caller, answered: Arc<Answered>) {
    loop {
        let number = answered.sent.fetch_add(1, Ordering::Relaxed);
        if number.is_multiple_of(PUT_EVERY) {
            let body = C::definition("a", number + 1);
            let Ok(answer) = caller.put(&path::<C>("a"), &body).await else {
                return;
            };
            answer.is(200);
            let tag = answer.headers["etag"]
                .to_str()
                .expect("text")
                .trim_matches('"')
                .to_owned();
            answered
                .version
                .fetch_max(tag.parse().expect("a version"), Ordering::Relaxed);
        } else {
            let (path, body) = C::event("a", number);
            let Ok(answer) = caller.post(&path, &body).await else {
                return;
            };
            answer.done();
            answered.events.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// `kill -9` during PUTs and events: what was acknowledged is there, and each event counts once.
pub async fn a_kill_loses_nothing_acknowledged<C: Case>(db: LedgerDb) {
    let mut service = start::<C>(&db, &[]).await;
    assert_eq!(put::<C>(&service, "a", 0, None).await.0, StatusCode::CREATED);
    let answered = Arc::new(Answered::default());
    for kill in 1..=KILLS {
        let mut callers = JoinSet::new();
        for _ in 0..CALLERS {
            callers.spawn(call_until_cut::<C>(service.caller(), Arc::clone(&answered)));
        }
        eventually(PATIENCE, "requests are acknowledged", async || {
            (answered.sent.load(Ordering::Relaxed) >= kill * BEFORE_A_KILL).then_some(())
        })
        .await;
        service.kill9();
        while let Some(ended) = callers.join_next().await {
            ended.expect("a caller ends without a panic");
        }
        service.restart().await;
        let subject = service.get(&path::<C>("a")).await.body;
        let (least, count) = (answered.events.load(Ordering::Relaxed), C::count(&subject));
        assert!(
            (least..=least + kill * CALLERS).contains(&count),
            "{least} events were acknowledged, {count} are there: {subject}"
        );
        let version = subject["version"].as_u64().expect("a version");
        let acknowledged = answered.version.load(Ordering::Relaxed);
        assert!(
            (acknowledged..=acknowledged + CALLERS).contains(&version),
            "version {acknowledged} was acknowledged, {version} is there"
        );
    }
    until_clean::<C>(&service, "a").await;
    let version = service.get(&path::<C>("a")).await.body["version"]
        .as_u64()
        .expect("a version");
    let rows = audit::<C>(&service, "a", "define", usize::try_from(version).expect("few")).await;
    assert_eq!(rows.len() as u64, version, "each version was put once");
}

/// FLUSHALL, and a value changed by hand: the service rebuilds the subject, and suspends it.
pub async fn a_lost_redis_is_rebuilt_and_a_changed_one_is_suspended<C: Case>(db: LedgerDb) {
    let redis = TestRedis::own(&[]).await;
    let environment = [
        ("JACKPOT__REDIS__MODE", "standalone"),
        ("JACKPOT__REDIS__URLS", redis.url()),
        ("JACKPOT__LEDGER__AUTO_RESTORE", "on"),
    ];
    let service = start::<C>(&db, &environment).await;
    assert_eq!(put::<C>(&service, "a", 0, None).await.0, StatusCode::CREATED);
    for number in 0..3 {
        let (path, body) = C::event("a", number);
        service.post(&path, body).await.done();
    }
    assert_eq!(put::<C>(&service, "a", 1, None).await.1.as_deref(), Some("\"2\""));
    until_clean::<C>(&service, "a").await;
    let before = service.get(&path::<C>("a")).await.body;
    let mut connection = redis.connection().await;

    redis::cmd("FLUSHALL")
        .exec_async(&mut connection)
        .await
        .expect("FLUSHALL");
    let restored = audit::<C>(&service, "a", "restore", 1).await;
    let row = &restored[0];
    assert!(row["who"].as_str().is_some_and(|who| !who.is_empty()), "{row}");
    assert_eq!(
        (&row["before"]["redis_event"], &row["after"]["restores"]),
        (&Value::Null, &json!(1)),
        "{row}"
    );
    service
        .until(&path::<C>("a"), "the state is as before", |after| {
            C::lasting(after) == C::lasting(&before)
        })
        .await;
    until_clean::<C>(&service, "a").await;

    C::tamper("a", 1)
        .exec_async(&mut connection)
        .await
        .expect("a value changes");
    let status = async |wanted: &str| {
        service
            .until(&path::<C>("a"), "the status follows", |shown| shown["status"] == wanted)
            .await;
    };
    status("suspended").await;
    let (answer, row) = compared::<C>(&service, "a").await;
    assert_eq!((answer, &row["clean"]), (StatusCode::CONFLICT, &json!(false)), "{row}");
    let suspended = audit::<C>(&service, "a", "suspend", 1).await;
    let row = &suspended[0];
    assert_has!(row, {"before": "open", "after": "suspended"});
    assert!(
        row["who"].as_str().is_some_and(|who| !who.is_empty()) && row["reason"] != "",
        "{row}"
    );
    let (path, body) = C::event("a", 9);
    service.post(&path, body).await.is(409);

    C::tamper("a", -1)
        .exec_async(&mut connection)
        .await
        .expect("a value changes");
    if let Some((path, body)) = C::resume("a") {
        eventually(PATIENCE, "the operator resumes it", async || {
            let answer = service.call(Method::POST, &path, Some(body.clone())).await;
            answer.status.is_success().then_some(())
        })
        .await;
    }
    status("open").await;
    audit::<C>(&service, "a", "resume", 1).await;
    until_clean::<C>(&service, "a").await;
}

/// The emergency stop: nothing new is taken, also after a restart and a restore, and by a subject that is made meanwhile.
pub async fn the_emergency_stop_holds_until_its_end<C: Case>(db: LedgerDb) {
    let redis = TestRedis::own(&[]).await;
    let environment = [
        ("JACKPOT__REDIS__MODE", "standalone"),
        ("JACKPOT__REDIS__URLS", redis.url()),
        ("JACKPOT__LEDGER__AUTO_RESTORE", "on"),
    ];
    let mut service = start::<C>(&db, &environment).await;
    assert_eq!(put::<C>(&service, "a", 0, None).await.0, StatusCode::CREATED);
    let (path, body) = C::event("a", 0);
    service.post(&path, body).await.done();
    let refused = async |service: &Service, id: &str, number: u64| {
        let (path, body) = C::event(id, number);
        let answer = service.post(&path, body).await;
        assert_eq!(
            answer.body["code"], "stopped",
            "{id}: {} {}",
            answer.status, answer.text
        );
    };
    let decide = async |service: &Service, verb: &str| {
        service
            .post(&format!("/v1/emergency-{verb}"), json!({"reason": "a test"}))
            .await
            .is(200);
    };

    decide(&service, "stop").await;
    refused(&service, "a", 1).await;
    assert_eq!(
        put::<C>(&service, "a", 1, None).await.1.as_deref(),
        Some("\"2\""),
        "operators work"
    );
    assert_eq!(put::<C>(&service, "b", 0, None).await.0, StatusCode::CREATED);
    refused(&service, "b", 2).await;
    until_clean::<C>(&service, "a").await;
    until_clean::<C>(&service, "b").await;
    service.restart().await;
    refused(&service, "a", 3).await;
    refused(&service, "b", 4).await;

    let mut connection = redis.connection().await;
    redis::cmd("FLUSHALL")
        .exec_async(&mut connection)
        .await
        .expect("FLUSHALL");
    for id in ["a", "b"] {
        audit::<C>(&service, id, "restore", 1).await;
        until_clean::<C>(&service, id).await;
        refused(&service, id, 5).await;
    }
    assert_eq!(service.get("/v1/emergency-stop").await.body["stopped"], true);

    decide(&service, "start").await;
    for id in ["a", "b"] {
        let (path, body) = C::event(id, 6);
        eventually(PATIENCE, "it takes requests again", async || {
            service
                .post(&path, body.clone())
                .await
                .status
                .is_success()
                .then_some(())
        })
        .await;
        until_clean::<C>(&service, id).await;
    }
    let rows = audit::<C>(&service, "a", "emergency-stop", 1).await;
    assert_has!(rows[0], {"reason": "a test", "after": "stopped"});
}

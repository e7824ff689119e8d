//! What every script answers before it looks at anything else: a subject that Redis has not, or lost a part of, or that is
//! being restored; and a caller who knows another epoch or definition than there is.

use std::sync::Arc;

use jackpot::room::scripts::{ScriptError, Wanted};
use jackpot::subject::Named;
use redis::{FromRedisValue, Value as Reply, from_redis_value};

use crate::coupon::fixture::CouponFixture;
use crate::jackpot::fixture::JackpotFixture;
use crate::room::fixture::RoomFixture;
use crate::store::sources::{Source, sources};
use crate::support::fixture::{Capability, Fixture};
use crate::support::prelude::*;

/// More keys and arguments than any script reads before it answers so.
const KEYS: usize = 16;
const ARGUMENTS: usize = 48;
/// They answer a lost subject otherwise, because they make one or must know of it, or look at their arguments first: their
/// own tests have that.
const OTHERS: [&str; 5] = ["define", "obey", "restore_end", "restore_begin", "enter_expected"];
/// A mark far above that of any test.
const LATER: u64 = 1 << 39;

/// Scripts of a capability whose first words are these.
fn scripts(room: &str) -> Vec<Source> {
    let is_other = |source: &Source| OTHERS.iter().any(|name| source.script.name().ends_with(name));
    let all: Vec<_> = sources(room).into_iter().filter(|source| !is_other(source)).collect();
    assert!(all.len() >= 7, "{room}: {}", all.len());
    all
}

/// Calls a script with its state and keys that are not there. The arguments after the first ones are all "-".
async fn call<C: Capability>(fixture: &Fixture<C>, source: &Source, first: &[String]) -> Vec<Reply> {
    let state = fixture.stream_keys().state;
    let others = (1..KEYS).map(|number| format!("{state}-{number}"));
    let more = ARGUMENTS - first.len();
    let mut eval = redis::cmd("EVAL");
    eval.arg(source.script.sources()[0]).arg(KEYS).arg(state);
    eval.arg(others.collect::<Vec<_>>()).arg(first).arg(vec!["-"; more]);
    let reply = eval.query_async(&mut fixture.connection()).await;
    let reply = reply.unwrap_or_else(|error| panic!("{}: {error}", source.script.name()));
    Vec::from_redis_value(reply).expect("a list")
}

fn texts(reply: Vec<Reply>) -> Vec<String> {
    let text = |value| from_redis_value(value).expect("a text");
    reply.into_iter().map(text).collect()
}

async fn assert_refusals<C: Capability>(fixture: &Fixture<C>, room: &str) {
    let scripts = scripts(room);
    let n: u64 = fixture.field("n").await;
    let before = fixture.dump().await;
    for source in &scripts {
        let reply = texts(call(fixture, source, &[LATER.to_string()]).await);
        assert_eq!(reply, ["behind", &n.to_string()], "{}", source.script.name());
    }
    assert_eq!(fixture.dump().await, before);
    let state = fixture.stream_keys().state.to_owned();
    fixture.raw::<()>(redis::cmd("DEL").arg(&state)).await;
    for source in &scripts {
        let reply = texts(call(fixture, source, &["0".to_owned()]).await);
        assert_eq!(reply, ["unknown"], "{}", source.script.name());
    }
    let restoring = [("n", "7"), ("restores", "2"), ("status", "restoring")];
    fixture.raw::<()>(redis::cmd("HSET").arg(&state).arg(&restoring)).await;
    let before = fixture.dump().await;
    let mark = ((2_u64 << 40) + 7).to_string();
    for source in &scripts {
        let reply = texts(call(fixture, source, &["0".to_owned()]).await);
        assert_eq!(reply, ["restoring", &mark], "{}", source.script.name());
    }
    assert_eq!(fixture.dump().await, before);
}

#[tokio::test]
async fn every_script_says_whether_redis_has_the_subject_as_the_caller_knows_it() {
    assert_refusals(&JackpotFixture::with(&json!({})).await, "jackpot").await;
    assert_refusals(&CouponFixture::with(&json!({})).await, "coupon").await;
    assert_refusals(&RoomFixture::with(&json!({})).await, "room").await;
}

/// The subject takes nothing when it is back, because the decision was kept.
#[tokio::test]
async fn a_decision_about_the_emergency_is_kept_where_a_subject_is_lost_and_the_answer_names_what_there_is() {
    assert_keeps_decision(&JackpotFixture::with(&json!({})).await, "jackpot").await;
    assert_keeps_decision(&CouponFixture::with(&json!({})).await, "coupon").await;
    assert_keeps_decision(&RoomFixture::with(&json!({})).await, "room").await;
}

async fn assert_keeps_decision<C: Capability>(fixture: &Fixture<C>, room: &str) {
    let obey = sources(room)
        .into_iter()
        .find(|source| source.script.name().ends_with("obey"));
    let obey = obey.expect("a script");
    let state = fixture.stream_keys().state.to_owned();
    let decide = async |known: u64, order: u64| {
        let first = [&known.to_string(), &order.to_string(), "a test", "tester", "r"].map(ToOwned::to_owned);
        texts(call(fixture, &obey, &first).await)
    };
    let n: u64 = fixture.field("n").await;
    assert_eq!(decide(LATER, 3).await, ["held", &n.to_string()]);
    assert_eq!(fixture.field::<String>("status").await, "stopped open");
    assert_eq!(decide(LATER, 2).await, ["newer", &n.to_string()]);
    fixture.raw::<()>(redis::cmd("DEL").arg(&state)).await;
    assert_eq!(decide(0, 5).await, ["held", "0"]);
    assert_eq!(decide(0, 4).await, ["newer", "0"]);
    let restoring = [("n", "7"), ("restores", "2"), ("status", "restoring")];
    fixture.raw::<()>(redis::cmd("HSET").arg(&state).arg(&restoring)).await;
    let mark = ((2_u64 << 40) + 7).to_string();
    assert_eq!(decide(0, 7).await, ["held", &mark]);
    assert_eq!(decide(0, 6).await, ["newer", &mark]);
    assert_eq!(fixture.field::<String>("emergency").await, "7 a test");
    assert_eq!(
        fixture.stream().await.len(),
        1,
        "no event of a subject that is not there"
    );
}

/// Otherwise a PUT would end a restore half-way.
#[tokio::test]
async fn no_definition_creates_what_is_being_restored() {
    let coupon = CouponFixture::undefined(Arc::new(TestRedis::start().await)).await;
    let room = RoomFixture::undefined(Arc::clone(&coupon.redis)).await;
    for state in [coupon.stream_keys().state, room.stream_keys().state] {
        let restoring = [("n", "7"), ("restores", "2"), ("status", "restoring")];
        coupon.raw::<()>(redis::cmd("HSET").arg(state).arg(&restoring)).await;
    }
    let before = (coupon.dump().await, room.dump().await);
    let put = coupon.put(&json!({}), Wanted::Any, None, "n").await;
    assert!(matches!(put, Err(ScriptError::Restoring)), "{put:?}");
    let put = room.put(&json!({}), Wanted::Any, None, "n").await;
    assert!(matches!(put, Err(ScriptError::Restoring)), "{put:?}");
    assert_eq!((coupon.dump().await, room.dump().await), before);
}

/// Names of values that scripts read before they look at the fence.
const NAMES: [&str; 8] = [
    "adjustment",
    "approves",
    "digest",
    "from",
    "limit",
    "owner",
    "reversal",
    "transfer",
];
/// They read what they got, or answer a repeat, before they look at the fence: their own tests have that.
const READ_FIRST: [&str; 4] = ["define", "enter", "enter_batch", "withdraw"];

/// Also the scripts that would find nothing to do: otherwise an answer of theirs could be of another history.
#[tokio::test]
async fn every_script_with_a_fence_refuses_a_caller_who_knows_another_epoch_or_definition() {
    let fixture = JackpotFixture::with(&json!({})).await;
    let (known, view) = fixture.fresh().await;
    let own = known.fence(&view);
    let own = [
        own.known.packed().to_string(),
        own.epoch.to_string(),
        own.commitment,
        own.definition,
        NAMES
            .iter()
            .fold(Named::new(), |all, name| all.with(name, "-"))
            .as_str()
            .to_owned(),
    ];
    let fenced = sources("jackpot").into_iter().filter(|source| {
        let says_so = source.body.contains("fence(state)") || source.body.contains("fenced_state(");
        says_so && !READ_FIRST.contains(&source.script.name())
    });
    let fenced: Vec<_> = fenced.collect();
    assert!(fenced.len() >= 13, "{}", fenced.len());
    let before = fixture.dump().await;
    for source in &fenced {
        for other in 1..4 {
            let mut first = own.clone();
            first[other].push('0');
            let reply = texts(call(&fixture, source, &first).await);
            assert_eq!(reply, ["stale", &own[0]], "{} {other}", source.script.name());
        }
    }
    assert_eq!(fixture.dump().await, before);
}

/// A caller with a bug: the script counts what it got before it reads any of it.
#[tokio::test]
async fn a_call_with_too_few_arguments_or_a_status_that_there_is_not_ends_before_it_writes() {
    let coupon = CouponFixture::with(&json!({})).await;
    let room = RoomFixture::with(&json!({})).await;
    let named = Named::new().with("wanted", "opened").with_flag("reconciled", false);
    let opened = named.as_str();
    assert_argument(
        &coupon,
        "coupon",
        "coupon_serve",
        &["1", "token", "5", "take", "1", "2", "id"],
        "requests",
    )
    .await;
    assert_argument(&coupon, "coupon", "coupon_status", &["1", opened], "status").await;
    assert_argument(
        &room,
        "room",
        "room_visit",
        &["1", "0", "0", "1000", "", "j", "ticket"],
        "visits",
    )
    .await;
    assert_argument(&room, "room", "room_join", &["1", "0", "0", "1000", "", "k"], "visits").await;
    assert_argument(&room, "room", "room_status", &["1", opened], "status").await;
    assert_argument(&room, "room", "room_status", &["1", ""], "wanted").await;
    assert_argument(&coupon, "coupon", "coupon_define", &["1", ""], "stock").await;
}

async fn assert_argument<C: Capability>(
    fixture: &Fixture<C>,
    room: &str,
    name: &str,
    arguments: &[&str],
    argument: &str,
) {
    let before = fixture.dump().await;
    let source = sources(room).into_iter().find(|source| source.script.name() == name);
    let state = fixture.stream_keys().state;
    let others = (1..KEYS).map(|number| format!("{state}-{number}"));
    let mut eval = redis::cmd("EVAL");
    eval.arg(source.expect(name).script.sources()[0]).arg(KEYS).arg(state);
    eval.arg(others.collect::<Vec<_>>()).arg(arguments);
    let reply: redis::RedisResult<Reply> = eval.query_async(&mut fixture.connection()).await;
    let error = reply.expect_err(name).to_string();
    assert!(
        error.contains("JP_ARGUMENT") && error.contains(argument),
        "{name}: {error}"
    );
    assert_eq!(fixture.dump().await, before, "{name}");
}

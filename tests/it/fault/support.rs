//! What the tests of faults share: jackpots whose draws are known beforehand, services with short time limits, and the
//! books as seen from outside.

use std::collections::BTreeMap;
use std::time::Duration;

use jackpot_core::ids::Id;
use jackpot_core::jackpot::draw::EpochSeed;
use jackpot_core::jackpot::odds::Odds;
use jackpot_core::money::Minor;
use jackpot_core::secret::MasterSecret;
use redis::aio::MultiplexedConnection;

use crate::jackpot::by_hand;
use crate::support::local::connect;
use crate::support::prelude::*;
use crate::support::service::{Caller, LIMITS};

/// No entry may be pending for longer, once an instance runs and Redis answers.
pub const RECOVERED_WITHIN: Duration = Duration::from_secs(10);

/// The total limit of [`LIMITS`], and a margin of 3.5 s for a machine that runs other tests at the same time.
pub const ANSWERED_WITHIN: Duration = Duration::from_secs(5);

const MICRO: i64 = 1_000_000;

/// The secret of the published test vectors, that [`Service`] runs with.
const SECRET: MasterSecret = MasterSecret::new([0x5f; 32]);

/// A service with its embedded Redis and [`LIMITS`], and the URL of that Redis.
pub async fn embedded(more: &[(&str, &str)]) -> (Service, String) {
    let service = Service::start_with(&[&LIMITS[..], more].concat()).await;
    let url = embedded_url(&service);
    (service, url)
}

/// The URL of the service's embedded Redis.
pub fn embedded_url(service: &Service) -> String {
    let socket = service.data_dir().join("redis/redis.sock");
    format!("redis+unix://{}", socket.display())
}

/// A connection to a server that may be starting again.
pub async fn connection(url: &str) -> MultiplexedConnection {
    eventually(PATIENCE, "Redis answers", async || {
        let mut connection = connect(url).await.ok()?;
        redis::cmd("PING").exec_async(&mut connection).await.ok()?;
        Some(connection)
    })
    .await
}

fn definition(id: &str, min_payout: u64, odds: &Value) -> Value {
    json!({
        "id": id, "name": "A fault", "currency": "KRW", "status": "open", "contribution": {"fixed": 1},
        "tiers": [{"tier": "grand", "share_ppm": 1_000_000, "min_payout": min_payout, "seed": 0, "reserve_ppm": 0,
                   "cap": null, "must_hit_by": null}],
        "odds": odds,
    })
}

/// Half of the tickets draw rank 1: all of the pool from a million on, a size that it never has, so `retry`. The other
/// half draw rank 2, one unit. [`entry_drawing`] finds entries by what they draw.
pub fn redrawing(id: &str) -> Value {
    definition(
        id,
        1_000_000,
        &json!({"total": 2, "ranks": [
            {"rank": 1, "weight": 1, "prize": {"pool": {"tier": "grand", "take": "all"}}},
            {"rank": 2, "weight": 1, "prize": {"fixed": {"tier": "grand", "amount": 1}}}]}),
    )
}

/// Winners, redraws and losers in quick succession, for players under load.
pub fn lively(id: &str) -> Value {
    definition(
        id,
        20,
        &json!({"total": 10, "ranks": [
            {"rank": 1, "weight": 1, "prize": {"pool": {"tier": "grand", "take": "all"}}},
            {"rank": 2, "weight": 2, "prize": {"fixed": {"tier": "grand", "amount": 2}}}]}),
    )
}

/// Creates a jackpot. A machine with other work may need several tries.
pub async fn create(service: &Service, definition: Value) {
    let path = format!("/v1/jackpots/{}", definition["id"].as_str().expect("an id"));
    eventually(PATIENCE, "the jackpot is created", async || {
        let answer = service.put(&path, definition.clone()).await;
        let is_away = answer.status == StatusCode::SERVICE_UNAVAILABLE;
        assert!(is_away || answer.status.is_success(), "{:?}", answer.body);
        (!is_away).then_some(())
    })
    .await;
}

/// An id whose attempts of [`redrawing`] draw these ranks, the first of `<stem>0`, `<stem>1`, … that does.
pub async fn entry_drawing(service: &Service, jackpot: &str, stem: &str, ranks: &[u32]) -> String {
    let fairness = service.get(&format!("/v1/jackpots/{jackpot}/fairness")).await.body;
    let epoch = fairness["epochs"]
        .as_array()
        .and_then(|all| all.last())
        .expect("an epoch");
    let (number, nonce) = (
        epoch["epoch"].as_u64().expect("a number"),
        epoch["nonce"].as_str().expect("a nonce"),
    );
    let odds = Odds::new(2, [(1, 1), (2, 1)]).expect("a table");
    let seed = EpochSeed::derive(&SECRET, &Id::parse(jackpot).expect("an id"), number, nonce);
    let draws = |id: &String| {
        (0..)
            .zip(ranks)
            .all(|(attempt, rank)| seed.rank(id, None, attempt, odds.at(Minor::ZERO)) == *rank)
    };
    (0..1000)
        .map(|i| format!("{stem}{i}"))
        .find(draws)
        .expect("every second id draws a rank")
}

/// The body of an entry.
pub fn entry(id: &str) -> Value {
    json!({"entry_id": id, "player_id": "p1", "stake": 100})
}

/// Enters an entry until it is answered, as a good client does.
pub async fn entered(service: &Service, jackpot: &str, id: &str) -> Answer {
    let path = format!("/v1/jackpots/{jackpot}/entries");
    until_done(&[service.caller()], 0, &path, &entry(id)).await.0
}

pub async fn enter(service: &Service, jackpot: &str, id: &str) -> Answer {
    service
        .post(&format!("/v1/jackpots/{jackpot}/entries"), entry(id))
        .await
}

/// Repeats a request until it succeeds, at these instances in turn from the `first` on, as a good client does. Returns
/// the answer, and the number of tries that were cut off, or refused because Redis is away or is being rebuilt. No other
/// answer may come.
pub async fn until_done(callers: &[Caller], first: usize, path: &str, body: &Value) -> (Answer, usize) {
    let mut tries = first..;
    eventually(PATIENCE, "the request succeeds", async || {
        let number = tries.next().expect("there is always a next number");
        let answer = callers[number % callers.len()].post(path, body).await.ok()?;
        let is_rebuilt = answer.body["code"] == "jackpot-suspended";
        if answer.status == StatusCode::SERVICE_UNAVAILABLE || is_rebuilt {
            return None;
        }
        assert!(
            answer.status.is_success(),
            "{path} {body}: {} {}",
            answer.status,
            answer.text
        );
        Some((answer, number - first))
    })
    .await
}

/// The answer is 503 with `Retry-After`, and came in time.
pub fn assert_unavailable(answer: &Answer, took: Duration) {
    answer.is(503);
    assert_eq!(answer.body["code"], "store-unavailable");
    let retry = answer.headers.get("retry-after").expect("a 503 says when to try again");
    let seconds: u32 = retry.to_str().expect("text").parse().expect("whole seconds");
    assert!(seconds >= 1, "{retry:?}");
    assert!(took < ANSWERED_WITHIN, "it took {took:?}");
}

/// Enters an entry and demands a 503 in time.
pub async fn enter_unavailable(service: &Service, jackpot: &str, id: &str) {
    let began_at = tokio::time::Instant::now();
    let answer = enter(service, jackpot, id).await;
    assert_unavailable(&answer, began_at.elapsed());
}

/// The meters of the first tier, after a check that each tier's balance holds: contributed + funded = pool + reserve +
/// overflow + remainder + paid. `contributed` is rounded down, so the check holds to less than one unit of fraction.
pub async fn balanced(service: &Service, jackpot: &str) -> Value {
    let answer = service.get(&format!("/v1/jackpots/{jackpot}")).await;
    answer.is(200);
    let meters = answer.body["meters"].as_array().expect("meters");
    assert_eq!(meters.len(), 1);
    let of = |name: &str| meters[0][name].as_i64().expect("an integer");
    let came = (of("contributed") + of("funded")) * MICRO;
    let is = (of("pool") + of("reserve") + of("overflow") + of("paid")) * MICRO + of("remainder_micro");
    // Fixed contributions of whole units leave no fraction.
    assert_eq!(came, is, "money was made or lost: {}", meters[0]);
    meters[0].clone()
}

/// A key of a jackpot, as `crates/kernel/src/store/keys.rs` builds it.
pub fn key(jackpot: &str, name: &str) -> String {
    format!("jp:{{{jackpot}}}:{name}")
}

/// Waits until no entry of the jackpot is pending, looking only into Redis.
pub async fn until_nothing_is_pending(redis: &mut MultiplexedConnection, jackpot: &str) {
    eventually(RECOVERED_WITHIN, "no entry is pending", async || {
        let pending: Result<u64, _> = redis::cmd("ZCARD")
            .arg(key(jackpot, "pending"))
            .query_async(redis)
            .await;
        (pending.ok()? == 0).then_some(())
    })
    .await;
}

/// Number of entries that Redis has numbered, which it does in the step that counts them.
pub async fn sequence(redis: &mut MultiplexedConnection, jackpot: &str) -> u64 {
    let state = key(jackpot, "state");
    let found: Option<u64> = by_hand::get(&state, "seq").query_async(redis).await.expect("a number");
    found.expect("the jackpot is there")
}

/// Everything that Redis holds of a jackpot, byte for byte, but for the age of its records: every instance that runs adds
/// to it.
pub async fn everything(redis: &mut MultiplexedConnection, jackpot: &str) -> BTreeMap<String, Vec<u8>> {
    let keys: Vec<String> = redis::cmd("KEYS")
        .arg(key(jackpot, "*"))
        .query_async(redis)
        .await
        .expect("KEYS");
    let mut all = BTreeMap::new();
    for name in keys {
        let held = if name == key(jackpot, "state") {
            let mut fields: BTreeMap<String, String> = by_hand::all(&name).query_async(redis).await.expect("a state");
            fields.retain(|field, _| !["gen_age", "gen_looked"].contains(&field.as_str()));
            format!("{fields:?}").into_bytes()
        } else {
            redis::cmd("DUMP").arg(&name).query_async(redis).await.expect("DUMP")
        };
        all.insert(name, held);
    }
    all
}

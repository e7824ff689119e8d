//! Reversals under faults: an entry's contribution is taken back once, whatever is killed, lost, repeated or
//! restored. What the ledger does not have of them when Redis is lost is in `jackpot::ledger::reversals`.

use crate::fault::ledger_support::{COMPARED_OFTEN, history, outside, until_clean};
use crate::fault::support::{connection, create, entered, key};
use crate::support::local::LocalServer;
use crate::support::postgres::TestPostgres;
use crate::support::prelude::*;
use crate::support::proxy::ChaosProxy;

on_both_databases!(
    a_service_killed_before_or_after_the_script_takes_back_once,
    a_lost_redis_does_not_take_back_twice,
);

const JACKPOT: &str = "undone";
/// Entries of each test, each of three units.
const ENTRIES: u64 = 5;

/// Each entry adds three units. Nobody draws a prize.
fn plain() -> Value {
    json!({
        "id": JACKPOT, "name": "Undone", "currency": "KRW", "status": "open", "contribution": {"fixed": 3},
        "tiers": [{"tier": "grand", "share_ppm": 1_000_000, "min_payout": 1, "seed": 0, "reserve_ppm": 0, "cap": null,
                   "must_hit_by": null}],
        "odds": {"total": 1, "ranks": []},
    })
}

/// A Redis, a proxy in front of it, and a service with `ENTRIES` entries in its jackpot: `e0`, `e1`, ...
struct Given {
    redis: LocalServer,
    proxy: ChaosProxy,
    service: Service,
}

impl Given {
    async fn on(db: &LedgerDb) -> Self {
        let redis = own_redis(&[]).await;
        let proxy = ChaosProxy::in_front_of(redis.url()).await;
        let restore = ("JACKPOT__LEDGER__AUTO_RESTORE", "on");
        let service = service_on(proxy.url(), &[db.environment(), restore, COMPARED_OFTEN]).await;
        create(&service, plain()).await;
        for number in 0..ENTRIES {
            entered(&service, JACKPOT, &format!("e{number}")).await;
        }
        Self { redis, proxy, service }
    }

    async fn flush(&self) {
        let flushed = redis::cmd("FLUSHALL")
            .exec_async(&mut connection(self.redis.url()).await)
            .await;
        flushed.expect("FLUSHALL");
    }

    async fn all_in_sql(&self, db: &LedgerDb) {
        let sql = outside(&self.service, db.environment().1).await;
        until_clean(&self.service, &sql, JACKPOT).await;
        let history = history(&sql, JACKPOT).await;
        let entries: u64 = history.entries.len() as u64;
        assert_eq!(entries, ENTRIES);
        sql.close().await;
    }
}

/// One try.
async fn try_reverse(service: &Service, entry: &str, reversal: &str) -> Answer {
    let path = format!("/v1/jackpots/{JACKPOT}/entries/{entry}/reverse");
    let body = json!({"reversal_id": reversal, "reason": "round cancelled"});
    service.post(&path, body).await
}

/// What a reversal answers that gave back all of an entry.
fn whole(entry: &str, reversal: &str) -> Value {
    let part = json!({"tier": "grand", "amount": 3, "amount_micro": 0, "uncovered": 0, "uncovered_micro": 0});
    json!({"reversal_id": reversal, "entry_id": entry, "reversed": [part]})
}

/// Repeats a reversal until it is answered, as a good client does.
async fn reverse(service: &Service, entry: &str, reversal: &str) -> Answer {
    eventually(PATIENCE, "the reversal is answered", async || {
        let answer = try_reverse(service, entry, reversal).await;
        let is_refused = answer.status == StatusCode::SERVICE_UNAVAILABLE || answer.body["code"] == "jackpot-suspended";
        (!is_refused).then_some(answer)
    })
    .await
}

/// So many entries are reversed, each once, and the pool has the rest.
async fn assert_reversed(service: &Service, count: u64) {
    let meter = service.get(&format!("/v1/jackpots/{JACKPOT}")).await.body["meters"][0].clone();
    let of = |name: &str| meter[name].as_u64().expect("an integer");
    assert_eq!(
        ["contributed", "pool", "reversed", "funded", "paid", "remainder_micro"].map(of),
        [3 * ENTRIES, 3 * (ENTRIES - count), 3 * count, 0, 0, 0],
        "{meter}"
    );
}

/// So many reversals have a record in Redis.
async fn assert_reversed_in_redis(redis: &LocalServer, count: usize) {
    let mut names = redis::cmd("HKEYS");
    let names: Vec<String> = names
        .arg(key(JACKPOT, "seen:a"))
        .query_async(&mut redis.connection().await)
        .await
        .expect("HKEYS");
    assert_eq!(
        names.iter().filter(|name| name.starts_with('!')).count(),
        count,
        "{names:?}"
    );
}

/// A repeat answers the same, and another id is refused. Neither changes anything.
async fn assert_final(service: &Service, entry: &str, reversal: &str) {
    let again = reverse(service, entry, reversal).await;
    assert_eq!(again.is(200), &whole(entry, reversal));
    assert!(again.is_replay());
    reverse(service, entry, &format!("not-{reversal}"))
        .await
        .refused(409, "entry-reversed");
    let shown = service.get(&format!("/v1/jackpots/{JACKPOT}/entries/{entry}")).await;
    assert_eq!(shown.body["reversed"]["reversal_id"], reversal, "{}", shown.text);
}

#[tokio::test]
async fn a_lost_reply_of_the_script_is_asked_for_again_and_takes_back_once() {
    let db = LedgerDb::sqlite();
    let given = Given::on(&db).await;
    given.proxy.lose_reply(&["FCALL", "lost-1"], 0);
    let answer = reverse(&given.service, "e1", "lost-1").await;
    assert_eq!(given.proxy.lost(), 1);
    // The service cannot tell its own repeat from an earlier request of the client, so the status may be 200.
    answer.done();
    assert_eq!(answer.body, whole("e1", "lost-1"));
    assert_final(&given.service, "e1", "lost-1").await;
    assert_reversed(&given.service, 1).await;
    given.all_in_sql(&db).await;
}

/// The steps are the look-up of the entry, the script, and the event in SQL.
async fn a_service_killed_before_or_after_the_script_takes_back_once(db: LedgerDb) {
    let mut given = Given::on(&db).await;
    for (entry, reversal, needle, reversed) in [("e0", "r0", "e0", 0), ("e1", "r1", "r1", 2)] {
        given.proxy.lose_reply_and_go_down(&["FCALL", needle], 0);
        try_reverse(&given.service, entry, reversal).await.is(503);
        given.service.kill9();
        assert_reversed_in_redis(&given.redis, reversed).await;
        given.proxy.pass();
        given.service.restart().await;
        let answer = reverse(&given.service, entry, reversal).await;
        answer.done();
        assert_eq!(answer.body, whole(entry, reversal));
        assert_final(&given.service, entry, reversal).await;
    }
    assert_eq!(given.proxy.lost(), 2);
    assert_reversed(&given.service, 2).await;
    given.all_in_sql(&db).await;
}

async fn a_lost_redis_does_not_take_back_twice(db: LedgerDb) {
    let given = Given::on(&db).await;
    let done = reverse(&given.service, "e2", "r2").await;
    assert_eq!(done.body, whole("e2", "r2"), "{}", done.text);
    given.all_in_sql(&db).await;
    given.flush().await;
    let answer = reverse(&given.service, "e2", "r2").await;
    assert_eq!(answer.is(200), &whole("e2", "r2"));
    assert_final(&given.service, "e2", "r2").await;
    assert_reversed(&given.service, 1).await;
    given.all_in_sql(&db).await;
}

/// Two instances reverse each entry at the same time: by the same id, and by two.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_instances_that_race_reverse_each_entry_once() {
    const RACES: u64 = 40;
    let (redis, postgres) = (own_redis(&[]).await, TestPostgres::start().await);
    let environment = [("JACKPOT__LEDGER__URL", postgres.url()), COMPARED_OFTEN];
    let one = service_on(redis.url(), &environment).await;
    let other = service_on(redis.url(), &environment).await;
    create(&one, plain()).await;
    for number in 0..RACES {
        let entry = format!("e{number}");
        entered(&one, JACKPOT, &entry).await;
        let ids = [
            format!("r{number}"),
            format!("{}{number}", if number % 2 == 0 { "r" } else { "s" }),
        ];
        let (first, second) = tokio::join!(reverse(&one, &entry, &ids[0]), reverse(&other, &entry, &ids[1]));
        let done: Vec<_> = [&first, &second].map(|answer| answer.status.is_success()).to_vec();
        if ids[0] == ids[1] {
            assert_eq!(done, [true, true], "{} {}", first.text, second.text);
            assert_eq!(
                [first.body, second.body],
                [whole(&entry, &ids[0]), whole(&entry, &ids[0])]
            );
            continue;
        }
        assert!(done[0] != done[1], "{} {}", first.text, second.text);
        let (winner, id, loser) = if done[0] {
            (first, &ids[0], second)
        } else {
            (second, &ids[1], first)
        };
        assert_eq!(winner.body, whole(&entry, id));
        loser.refused(409, "entry-reversed");
    }
    let meter = other.get(&format!("/v1/jackpots/{JACKPOT}")).await.body["meters"][0].clone();
    assert_has!(meter, {"pool": 0, "reversed": 3 * RACES, "funded": 0});
    let sql = outside(&one, postgres.url()).await;
    until_clean(&one, &sql, JACKPOT).await;
    let text = "SELECT COUNT(*) FROM events WHERE kind = 'jackpot' AND type = 'reverse'";
    let events: i64 = sqlx::query_scalar(text).fetch_one(sql.reader()).await.expect("a count");
    assert_eq!(events.unsigned_abs(), RACES);
    sql.close().await;
}

/// The winner has what the entry contributed, so it is funded, once; money of later entries stays.
#[tokio::test]
async fn a_lost_reply_after_a_take_of_all_funds_the_contribution_once() {
    let redis = own_redis(&[]).await;
    let proxy = ChaosProxy::in_front_of(redis.url()).await;
    let service = service_on(proxy.url(), &[]).await;
    // Each third entry takes the pool: the amount lies between 6 and 7.
    let mut definition = plain();
    definition["tiers"][0]["must_hit_by"] = json!({"amount": {"low": 6, "high": 7}});
    create(&service, definition).await;
    for (number, entry) in ["a", "b", "won", "later"].into_iter().enumerate() {
        let answer = entered(&service, JACKPOT, entry).await;
        let expected = if number == 2 { json!(9) } else { Value::Null };
        assert_eq!(answer.body["outcome"]["amount"], expected, "{}", answer.text);
    }
    proxy.lose_reply(&["FCALL", "r-a"], 0);
    let answer = reverse(&service, "a", "r-a").await;
    assert_eq!(proxy.lost(), 1);
    let part = json!({"tier": "grand", "amount": 3, "amount_micro": 0, "uncovered": 3, "uncovered_micro": 0});
    assert_eq!(answer.body["reversed"], json!([part]), "{}", answer.text);
    let again = reverse(&service, "a", "r-a").await;
    assert_eq!(again.is(200), &answer.body);
    let refused = reverse(&service, "won", "r-won").await;
    assert_eq!(refused.body["code"], "entry-has-prize", "{}", refused.text);
    let meter = service.get(&format!("/v1/jackpots/{JACKPOT}")).await.body["meters"][0].clone();
    let of = |name: &str| meter[name].as_u64().expect("an integer");
    assert_eq!(
        ["contributed", "funded", "pool", "paid", "reversed"].map(of),
        [12, 3, 3, 9, 3]
    );
}

//! The history of a meter: a point for each minute, hour and day, from rows that follow the events, and are made again when
//! they are missing.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jackpot::jackpot::ledger::books::Books;
use jackpot::jackpot::ledger::postings::{self, Account};
use jackpot::jackpot::ledger::projector::Jackpots;
use jackpot::jackpot::ledger::queries::Queries;
use jackpot::jackpot::ledger::queries::history::History;
use jackpot::jackpot::ledger::steps::{MAX_POINTS, Step};
use jackpot::ledger::projector::Projector;
use jackpot::ledger::queries::LedgerError;
use jackpot::sql::copy;
use jackpot_core::chain::ChainHash;
use jackpot_core::ids::Id;
use sqlx::{AssertSqlSafe, Row};

use crate::jackpot::ledger::fixture::JackpotLedger;
use crate::jackpot::ledger::projector::{live, project_after};
use crate::support::fixture::Fixture;
use crate::support::ledger_fixture::Texts;
use crate::support::prelude::*;
use crate::support::shifted_clock::ShiftedClock;

on_both_databases!(
    each_step_ends_with_what_its_last_event_left,
    what_is_missing_is_made_from_the_events,
    a_program_that_does_not_know_the_history_leaves_no_hole_in_it,
    of_a_long_history_the_last_thousand_points_are_right,
    a_copy_of_the_ledger_has_the_history_or_makes_it,
    heavy_of_many_events_an_answer_reads_a_thousand_rows,
);

const DEADLINE: Duration = Duration::from_secs(30);
const MINUTE_MS: i64 = 60_000;

async fn asked(fixture: &JackpotLedger, tier: &str, step: Step) -> Result<History, LedgerError> {
    let queries = Queries::new(fixture.ledger.sql.clone(), 7);
    queries
        .meter_history(&fixture.id, &Id::parse(tier).expect("an id"), step)
        .await
}

/// The rows of the history, with their columns in order.
async fn rows(fixture: &JackpotLedger) -> Vec<Texts> {
    fixture
        .own_rows("meter_steps", "step_s at_s n pools", "step_s at_s")
        .await
}

/// Time and pool of a tier after each event, in order.
async fn events(fixture: &JackpotLedger, tier: &str) -> Vec<(i64, i64)> {
    let rows = fixture.own_rows("events", "at_ms moved", "n").await;
    let mut pool = 0;
    let after = |row: &Texts| {
        let postings = postings::parse(&row[1]).expect("postings");
        let own = postings
            .iter()
            .filter(|p| p.account == Account::Pool && p.tier.as_str() == tier);
        pool += own.map(|p| p.amount).sum::<i64>();
        (row[0].parse().expect("ms"), pool)
    };
    rows.iter().map(after).collect()
}

/// The history says what a look at every event says, for each step.
async fn assert_follows(fixture: &JackpotLedger, tiers: &[&str]) {
    for tier in tiers {
        let events = events(fixture, tier).await;
        let (created, last) = (events[0].0, events[events.len() - 1]);
        for step in Step::ALL {
            let shown = asked(fixture, tier, step).await.expect("a history").points;
            // Of events in one step the last one counts.
            let ends: BTreeMap<i64, i64> = events.iter().map(|(at, pool)| (step.of(*at), *pool)).collect();
            let times: Vec<i64> = shown.iter().map(|(at, _)| *at).collect();
            let every = times.windows(2).all(|pair| pair[1] - pair[0] == step.seconds());
            assert!(every, "one point a step");
            assert!(times.len() <= 1_000);
            let (first, current) = (times[0], times[times.len() - 1]);
            let oldest = step.of(created).max(current - (MAX_POINTS - 1) * step.seconds());
            assert_eq!(first, oldest, "from the creation, or the last thousand");
            assert!(current >= step.of(last.0), "to the current one");
            for (at, pool) in &shown {
                let held = ends.range(..=at).next_back().map_or(0, |(_, pool)| *pool);
                assert_eq!(*pool, held, "{tier} {step:?} {at}");
            }
            assert_eq!(shown[shown.len() - 1].1, last.1);
        }
    }
}

/// Rounds until the rows have all events.
async fn until_whole(fixture: &JackpotLedger, projector: &mut Projector<Jackpots>) {
    eventually(DEADLINE, "the history is whole", async || {
        projector.round().await.expect("SQL answers");
        asked(fixture, "grand", Step::Minute).await.is_ok().then_some(())
    })
    .await;
}

async fn projected(fixture: &JackpotLedger, projector: &mut Projector<Jackpots>) {
    let n = fixture.snapshot().await.mark.n();
    eventually(DEADLINE, "the events are in SQL", async || {
        projector.round().await.expect("SQL answers");
        (fixture.n().await == n).then_some(())
    })
    .await;
}

async fn by(clock: &Arc<ShiftedClock>, db: LedgerDb) -> JackpotLedger {
    let redis = Arc::new(TestRedis::by(clock).await);
    let fixture = JackpotLedger::of(db, Fixture::on(redis, &json!({})).await).await;
    fixture.ledger.claim(&fixture.store).await.expect("a Redis of its own");
    fixture
}

async fn each_step_ends_with_what_its_last_event_left(db: LedgerDb) {
    let clock = Arc::new(ShiftedClock::new());
    let fixture = by(&clock, db).await;
    let mut projector = fixture.projector();
    until_whole(&fixture, &mut projector).await;
    let mut written = Vec::new();
    // Gaps of minutes, hours and days; several minutes in one commit; a clock that goes back and on again.
    for (nth, shift_s) in [
        0, 20, 61, 62, 125, 600, 660, 540, 605, 700, 3_700, 3_800, 11_000, 90_000, 90_061, 200_000,
    ]
    .into_iter()
    .enumerate()
    {
        clock.set_s(shift_s);
        fixture.fund(&format!("a{nth}"), 100 + nth as u64).await;
        if nth % 4 == 3 {
            fixture.take(&format!("e{nth}"), 2).await;
        }
        if nth % 3 != 1 {
            projected(&fixture, &mut projector).await;
            assert_follows(&fixture, &["grand", "nothing"]).await;
            let now = rows(&fixture).await;
            assert!(now.len() >= written.len());
            written = now;
        }
    }
    projected(&fixture, &mut projector).await;
    assert_follows(&fixture, &["grand"]).await;
    assert!(rows(&fixture).await.len() > 15);
    // A restart takes over between two minutes.
    drop(projector);
    fixture.change("UPDATE streams SET holder = ''").await;
    clock.set_s(200_070);
    fixture.fund("later", 5).await;
    let mut next = fixture.projector();
    projected(&fixture, &mut next).await;
    until_whole(&fixture, &mut next).await;
    clock.set_s(200_140);
    fixture.fund("still-later", 5).await;
    projected(&fixture, &mut next).await;
    assert_follows(&fixture, &["grand"]).await;
}

/// As if the events had come with these many ms between them, the last one just now.
async fn spread(fixture: &JackpotLedger, between_ms: i64) {
    let (n, at_ms) = last(fixture).await;
    let begin = at_ms - n * between_ms;
    let events = format!(
        "UPDATE events SET at_ms = {begin} + n * {between_ms} WHERE kind = 'jackpot' AND id = '{}'",
        fixture.id
    );
    run(fixture, events).await;
    run(fixture, "DELETE FROM meter_steps".to_owned()).await;
}

async fn last(fixture: &JackpotLedger) -> (i64, i64) {
    let books: Books = serde_json::from_str(&fixture.place("books").await).expect("books");
    (i64::try_from(books.n).expect("a number"), books.at_ms)
}

async fn run(fixture: &JackpotLedger, sql: String) {
    let done = fixture.ledger.sql.execute(sqlx::query(AssertSqlSafe(sql))).await;
    done.expect("done");
}

async fn what_is_missing_is_made_from_the_events(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    live(&fixture).await;
    fixture.project().await;
    spread(&fixture, 7 * MINUTE_MS).await;
    let behind = asked(&fixture, "grand", Step::Day).await.expect_err("rows are missing");
    assert!(matches!(behind, LedgerError::NoHistory(_)), "{behind}");
    let mut projector = fixture.projector();
    until_whole(&fixture, &mut projector).await;
    assert_follows(&fixture, &["grand", "mini"]).await;
    let made = rows(&fixture).await;
    assert!(made.len() > 15, "{made:?}");
    // The next holder finds it whole and changes nothing; one without the last rows makes them.
    drop(projector);
    for delete in ["n > 8", "n > 0"] {
        fixture.change("UPDATE streams SET holder = ''").await;
        let mut next = fixture.projector();
        projected(&fixture, &mut next).await;
        assert_eq!(rows(&fixture).await, made);
        drop(next);
        run(&fixture, format!("DELETE FROM meter_steps WHERE {delete}")).await;
        fixture.change("UPDATE streams SET holder = ''").await;
        let mut next = fixture.projector();
        until_whole(&fixture, &mut next).await;
        assert_eq!(rows(&fixture).await, made);
    }
}

async fn a_program_that_does_not_know_the_history_leaves_no_hole_in_it(db: LedgerDb) {
    let clock = Arc::new(ShiftedClock::new());
    let fixture = by(&clock, db).await;
    let mut projector = fixture.projector();
    until_whole(&fixture, &mut projector).await;
    projector.finish().await;
    let before = rows(&fixture).await;
    // It commits events, and no rows of the history.
    for minute in 1..=5 {
        clock.set_s(minute * 61);
        fixture.fund(&format!("old-{minute}"), 10).await;
    }
    let n = usize::try_from(fixture.n().await).expect("a number");
    let keys = &fixture.operate.views.registry.known(&fixture.id).keys;
    let raw: u64 = fixture.raw(redis::cmd("XLEN").arg(&keys.events)).await;
    let missing = usize::try_from(raw).expect("a number") - n;
    assert_eq!(missing, 5);
    run(
        &fixture,
        format!("UPDATE streams SET lease_token = 0 WHERE id = '{}'", fixture.id),
    )
    .await;
    project_after(&fixture, n, &[2]).await;
    assert_eq!(rows(&fixture).await, before);
    let behind = asked(&fixture, "grand", Step::Minute).await;
    assert!(matches!(behind, Err(LedgerError::NoHistory(_))), "{behind:?}");
    fixture.change("UPDATE streams SET holder = ''").await;
    let mut next = fixture.projector();
    until_whole(&fixture, &mut next).await;
    assert_follows(&fixture, &["grand"]).await;
    assert!(rows(&fixture).await.len() >= before.len() + 5);
}

async fn of_a_long_history_the_last_thousand_points_are_right(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    for nth in 0..1_300 {
        fixture.fund(&format!("a{nth}"), 1 + nth % 7).await;
    }
    fixture.project().await;
    for between_ms in [MINUTE_MS, 11 * MINUTE_MS, 1_300 * MINUTE_MS] {
        spread(&fixture, between_ms).await;
        fixture.change("UPDATE streams SET holder = ''").await;
        let (n, at_ms) = last(&fixture).await;
        let old = |step: Step| step.of(at_ms - n * between_ms) - 2 * MAX_POINTS * step.seconds();
        for step in Step::ALL {
            let row = format!(
                "INSERT INTO meter_steps (jackpot_id, step_s, at_s, n, pools) VALUES ('{}', {}, {}, 0, '{{}}')",
                fixture.id,
                step.seconds(),
                old(step)
            );
            run(&fixture, row).await;
        }
        let mut projector = fixture.projector();
        until_whole(&fixture, &mut projector).await;
        assert_follows(&fixture, &["grand"]).await;
        let mut kept: BTreeMap<String, Vec<i64>> = BTreeMap::new();
        eventually(DEADLINE, "old rows are dropped", async || {
            projector.round().await.expect("SQL answers");
            kept.clear();
            for row in rows(&fixture).await {
                kept.entry(row[0].clone())
                    .or_default()
                    .push(row[1].parse().expect("seconds"));
            }
            (kept["60"][0] > old(Step::Minute)).then_some(())
        })
        .await;
        assert!(kept["60"].len() <= 1_060, "{}", kept["60"].len());
        assert!(
            kept.get("3600")
                .is_none_or(|hours| hours.len() <= 1_024 && hours[0] > old(Step::Hour))
        );
        assert_eq!(kept["86400"][0], old(Step::Day), "days stay");
        run(&fixture, "DELETE FROM meter_steps WHERE n = 0".to_owned()).await;
        assert_follows(&fixture, &["grand"]).await;
    }
}

async fn a_copy_of_the_ledger_has_the_history_or_makes_it(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    live(&fixture).await;
    fixture.project().await;
    spread(&fixture, 7 * MINUTE_MS).await;
    fixture.change("UPDATE streams SET holder = ''").await;
    let mut projector = fixture.projector();
    until_whole(&fixture, &mut projector).await;
    projector.finish().await;
    let made = rows(&fixture).await;
    for only_earlier_programs in [false, true] {
        if only_earlier_programs {
            run(&fixture, "DROP TABLE meter_steps".to_owned()).await;
        }
        let target = LedgerDb::sqlite();
        let staging = copy::staging(&target.settings(), target.data_dir()).expect("a path");
        copy::copy_to_file(&fixture.settings, fixture.db.data_dir(), &staging)
            .await
            .expect("copied");
        copy::make_ready(&staging).await.expect("ready");
        copy::put(&target.settings(), target.data_dir(), &staging)
            .await
            .expect("put");
        let sql = target.open().await;
        let found = sqlx::query("SELECT step_s, at_s, n, pools FROM meter_steps ORDER BY step_s, at_s");
        let found = found.fetch_all(sql.reader()).await.expect("rows");
        let texts = |row: &sqlx::any::AnyRow| {
            let number = |i: usize| row.get::<i64, _>(i).to_string();
            vec![number(0), number(1), number(2), row.get::<String, _>(3)]
        };
        let found: Vec<Texts> = found.iter().map(texts).collect();
        assert_eq!(
            found,
            if only_earlier_programs {
                Vec::new()
            } else {
                made.clone()
            }
        );
        sql.close().await;
    }
}

/// Events of a large ledger: enough to tell a scan of all from a read of a thousand rows. docs/decisions/0047 was measured
/// with a million.
const MANY: i64 = 100_000;

/// Puts events between those of the jackpot and the ledger's end, a hundred ms apart, that add 1 each. The chain is whole
/// as far as a takeover looks.
async fn lengthen(fixture: &JackpotLedger) {
    let mut books: Books = serde_json::from_str(&fixture.place("books").await).expect("books");
    let (first, begin) = (i64::try_from(books.n).expect("a number") + 1, books.at_ms - MANY * 100);
    run(
        fixture,
        format!("UPDATE events SET at_ms = {begin} WHERE id = '{}'", fixture.id),
    )
    .await;
    for from in (first..=MANY).step_by(100_000) {
        let to = MANY.min(from + 99_999);
        let rows = format!(
            "INSERT INTO events (kind, id, n, stream_id, at_ms, type, last_sequence, hash, moved, body) \
             WITH RECURSIVE g(i) AS (SELECT CAST({from} AS BIGINT) UNION ALL SELECT i + 1 FROM g WHERE i < {to}) \
             SELECT 'jackpot', '{}', i, '0-' || i, {begin} + i * 100, 'enter', i, '', 'grand c-1,p1', '{{}}' FROM g",
            fixture.id
        );
        run(fixture, rows).await;
    }
    let mut hash = ChainHash::parse(&fixture.place("hash").await).expect("a hash");
    let mut tx = fixture.ledger.sql.begin().await.expect("a transaction");
    for n in MANY - 1_100..=MANY {
        hash = hash.next("{}");
        let set = format!(
            "UPDATE events SET hash = '{hash}' WHERE id = '{}' AND n = {n}",
            fixture.id
        );
        sqlx::query(AssertSqlSafe(set))
            .execute(&mut *tx)
            .await
            .expect("changed");
    }
    tx.commit().await.expect("committed");
    let meters = books
        .meters
        .get_mut(&Id::parse("grand").expect("an id"))
        .expect("meters");
    meters.pool += MANY - first + 1;
    meters.contributed += MANY - first + 1;
    (books.n, books.at_ms) = (MANY.unsigned_abs(), begin + MANY * 100);
    let books = serde_json::to_string(&books).expect("JSON");
    let set = format!(
        "UPDATE streams SET n = {MANY}, indexed_n = {MANY}, hash = '{hash}', books = '{books}', holder = '' WHERE id = '{}'",
        fixture.id
    );
    fixture.change(&set).await;
}

/// `cargo nextest run --test it heavy_of_many --no-capture` prints the times (docs/decisions/0047).
async fn heavy_of_many_events_an_answer_reads_a_thousand_rows(db: LedgerDb) {
    let mut fixture = JackpotLedger::with(db, &json!({})).await;
    fixture.settings.entry_index_days = 0;
    fixture.fund("fund", 500).await;
    fixture.project().await;
    let begun = Instant::now();
    lengthen(&fixture).await;
    let filled = begun.elapsed();
    let mut projector = fixture.projector();
    let (begun, mut longest, mut rounds) = (Instant::now(), Duration::ZERO, 0);
    while asked(&fixture, "grand", Step::Day).await.is_err() {
        let round = Instant::now();
        projector.round().await.expect("SQL answers");
        longest = longest.max(round.elapsed());
        rounds += 1;
        assert!(begun.elapsed() < DEADLINE, "{rounds} rounds");
    }
    println!(
        "{MANY} events in {filled:?}; their steps in {:?}, {rounds} rounds of at most {longest:?}, {} rows",
        begun.elapsed(),
        rows(&fixture).await.len()
    );
    for step in Step::ALL {
        let mut times = Vec::new();
        for _ in 0..20 {
            let begun = Instant::now();
            let history = asked(&fixture, "grand", step).await.expect("a history");
            times.push(begun.elapsed());
            assert_eq!(history.points.last().map(|(_, pool)| *pool), Some(500 + MANY - 2));
        }
        times.sort_unstable();
        println!("{step:?}: p50 {:?}, most {:?}", times[10], times[19]);
        assert!(times[10] < Duration::from_millis(150), "not a scan of all: {times:?}");
    }
}

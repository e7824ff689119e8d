//! Daily reports: days of random operations equal the postings, whichever instance made their rows and however often.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jackpot::jackpot::ledger::daily::{Row, SourceRow, TierRow};
use jackpot::jackpot::ledger::event::{Event, Kind};
use jackpot::jackpot::ledger::postings::{self, Account};
use jackpot::jackpot::ledger::projector::Jackpots;
use jackpot::jackpot::ledger::queries::Queries;
use jackpot::jackpot::scripts::Given;
use jackpot::jackpot::transfer::Transfer;
use jackpot::ledger::kind::Subjects as _;
use jackpot::ledger::projector::Projector;
use jackpot::ledger::queries::LedgerError;
use jackpot_api::jackpot::Status;
use jackpot_core::day::{self, Days};
use jackpot_core::ids::Id;
use jackpot_core::wire::Field as _;
use jiff::civil::Date;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use sqlx::AssertSqlSafe;

use crate::jackpot::conservation;
use crate::jackpot::fixture::{JackpotFixture, entry, operator, tier};
use crate::jackpot::ledger::fixture::JackpotLedger;
use crate::support::fixture::Fixture;
use crate::support::ledger_fixture::Texts;
use crate::support::prelude::*;
use crate::support::shifted_clock::ShiftedClock;
use crate::support::size;

on_both_databases!(
    random_days_add_up_and_equal_the_postings,
    a_day_without_events_holds_what_the_one_before_it_left,
    a_restore_within_a_day_counts_what_is_in_the_ledger,
    an_uncovered_reversal_is_funded,
    a_redraw_is_paid_to_the_source_of_its_entry,
    a_transfer_goes_out_on_one_day_and_comes_in_on_the_next,
    a_program_that_does_not_know_the_figures_leaves_no_hole_in_them,
    heavy_of_a_million_entries_a_day_is_read_at_once,
);

const DEADLINE: Duration = Duration::from_mins(1);
const MICRO: i128 = 1_000_000;
const COLUMNS: &str = "first_n n at_s high_s version totals";

async fn day(
    fixture: &JackpotLedger,
    id: &Id,
    days: &Days,
    date: Date,
) -> Result<(Vec<TierRow>, Vec<SourceRow>), LedgerError> {
    let queries = Queries::new(fixture.ledger.sql.clone(), 7);
    let (begin, end) = days.bounds(date).expect("a day");
    let found = queries.days_of(std::slice::from_ref(id), begin, end).await?;
    let (mut tiers, mut sources) = (Vec::new(), Vec::new());
    for row in found.into_iter().flat_map(|day| day.rows) {
        match row {
            Row::Tier(row) => tiers.push(row),
            Row::Source(row) => sources.push(row),
        }
    }
    Ok((tiers, sources))
}

async fn runs(fixture: &JackpotLedger, id: &Id) -> Vec<Texts> {
    let columns: Vec<_> = COLUMNS.split(' ').map(|name| format!("CAST({name} AS TEXT)")).collect();
    let text = format!(
        "SELECT {} FROM report_runs WHERE jackpot_id = '{id}' ORDER BY first_n",
        columns.join(", ")
    );
    fixture.rows(text).await
}

/// Rounds until the ledger has all events of Redis, and the figures have all of the ledger.
async fn until_whole(fixture: &JackpotLedger, jackpot: &JackpotFixture, projector: &mut Projector<Jackpots>) {
    let n = jackpot.snapshot().await.mark.n();
    eventually(DEADLINE, "the figures are whole", async || {
        projector.round().await.expect("SQL answers");
        let last = format!(
            "SELECT CAST(COALESCE(MAX(n), 0) AS TEXT) FROM report_runs WHERE jackpot_id = '{}'",
            jackpot.id
        );
        (fixture.rows(last).await[0][0] == n.to_string()).then_some(())
    })
    .await;
}

async fn run(fixture: &JackpotLedger, sql: String) {
    let done = fixture.ledger.sql.execute(sqlx::query(AssertSqlSafe(sql))).await;
    done.expect("done");
}

/// A ledger on a Redis with this clock.
async fn by(clock: &Arc<ShiftedClock>, db: LedgerDb) -> JackpotLedger {
    let redis = Arc::new(TestRedis::by(clock).await);
    let fixture = JackpotLedger::of(db, Fixture::on(redis, &json!({})).await).await;
    fixture.ledger.claim(&fixture.store).await.expect("a Redis of its own");
    fixture
}

/// What the machine's clock lacks to this time.
fn shift_to(text: &str) -> i64 {
    let now = jiff::Timestamp::now().as_second();
    text.parse::<jiff::Timestamp>().expect("a time").as_second() - now
}

fn date(text: &str) -> Date {
    day::date(text).expect("a date")
}

/// Sums of postings, in millionths.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    held: i128,
    contributed: i128,
    funded: i128,
    reversed: i128,
    came: i128,
    went: i128,
    paid: i128,
    voided: i128,
    wins: i128,
}

/// By tier, of all events before a time.
fn sums(events: &[Event], before_ms: i64) -> BTreeMap<String, Sums> {
    let mut all = BTreeMap::<String, Sums>::new();
    for event in events.iter().filter(|event| event.at_ms < before_ms) {
        for posting in postings::parse(&postings::moved(&event.changes)).expect("postings") {
            let of = all.entry(posting.tier.to_string()).or_default();
            let moved = i128::from(posting.amount) * MICRO + i128::from(posting.micro);
            match posting.account {
                Account::Pool | Account::Reserve | Account::Overflow => of.held += moved,
                Account::Contributions => of.contributed -= moved,
                Account::Funding => of.funded -= moved,
                Account::Reversals => of.reversed += moved,
                Account::Payouts => of.paid += moved,
                Account::Voids => of.voided -= moved,
                // An event receives, or gives.
                Account::Transfers if moved < 0 => of.came -= moved,
                Account::Transfers => of.went += moved,
                Account::Remainder | Account::Skipped => {}
            }
        }
        for change in event.changes.iter().filter(|change| &*change.meter == "wins") {
            all.entry(change.tier.to_string()).or_default().wins += i128::from(change.delta);
        }
    }
    all
}

fn whole(begin: i128, end: i128) -> i64 {
    i64::try_from(end.div_euclid(MICRO) - begin.div_euclid(MICRO)).expect("a number")
}

/// What entries of a source did, in events of a time.
fn played(events: &[Event], begin_ms: i64, end_ms: i64, source: Option<&str>) -> (i64, i128, i64) {
    let (mut entries, mut stakes, mut reversed) = (0, 0, [0_i128; 2]);
    for event in events {
        let is_of = |of: Option<&Id>| of.map(Id::as_str) == source;
        let is_in = (begin_ms..end_ms).contains(&event.at_ms);
        match &event.kind {
            Kind::Enter(enter) if is_in => {
                for entry in enter
                    .call
                    .entries
                    .iter()
                    .filter(|entry| is_of(entry.sent.source.as_ref()))
                {
                    entries += 1;
                    stakes += i128::from(entry.sent.stake.get());
                }
            }
            Kind::Reverse(reverse) if is_of(reverse.source_id.as_ref()) => {
                for part in &reverse.reversed {
                    let moved = i128::from(part.amount) * MICRO + i128::from(part.amount_micro);
                    reversed[0] += if event.at_ms < begin_ms { moved } else { 0 };
                    reversed[1] += if event.at_ms < end_ms { moved } else { 0 };
                }
            }
            _ => {}
        }
    }
    (entries, stakes, whole(reversed[0], reversed[1]))
}

/// Compares each of these days with all events and payouts.
async fn compare(fixture: &JackpotLedger, id: &Id, days: &Days, dates: &[&str]) {
    let events = fixture.events_of(id).await;
    let text =
        format!("SELECT tier, CAST(paid_at_ms AS TEXT), CAST(amount AS TEXT) FROM payouts WHERE jackpot_id = '{id}'");
    let payouts = fixture.rows(text).await;
    let text = format!("SELECT source_id, CAST(at_ms AS TEXT), moved FROM source_postings WHERE jackpot_id = '{id}'");
    let by_source = fixture.rows(text).await;
    let mut closing = BTreeMap::<String, i64>::new();
    let (mut off, mut seen) = (BTreeMap::<String, i64>::new(), 0);
    for text in dates {
        let (begin, end) = days.bounds(date(text)).expect("a day");
        let (begin_ms, end_ms) = (begin * 1_000, end * 1_000);
        let (tiers, sources) = day(fixture, id, days, date(text)).await.expect("a report");
        let (before, after) = (sums(&events, begin_ms), sums(&events, end_ms));
        for row in &tiers {
            let of = |all: &BTreeMap<String, Sums>| all.get(&row.tier).copied().unwrap_or_default();
            let (b, e) = (of(&before), of(&after));
            let moved = (
                row.reversed,
                row.funded,
                row.transferred_in,
                row.transferred_out,
                row.voided,
                row.paid,
            );
            let expected = (
                whole(b.reversed, e.reversed),
                whole(b.funded, e.funded),
                whole(b.came, e.came),
                whole(b.went, e.went),
                whole(b.voided, e.voided),
                whole(b.paid, e.paid),
            );
            assert_eq!(moved, expected, "{text} {row:?}");
            assert_eq!(
                (row.opening, row.closing),
                (whole(0, b.held), whole(0, e.held)),
                "{text} {row:?}"
            );
            let sum = row.opening + row.contributed - row.reversed + row.funded + row.transferred_in
                - row.transferred_out
                + row.voided
                - row.paid;
            assert_eq!(sum, row.closing, "{text} {row:?}");
            assert_eq!(i128::from(row.wins), e.wins - b.wins);
            let paid = payouts.iter().filter(|p| p[0] == row.tier);
            let paid = paid.filter(|p| (begin_ms..end_ms).contains(&p[1].parse().expect("ms")));
            assert_eq!(row.payouts, i64::try_from(paid.count()).expect("few"));
            if let Some(left) = closing.insert(row.tier.clone(), row.closing) {
                assert_eq!(row.opening, left, "what the day before left: {text} {row:?}");
            }
            // Fractions on the way to pool and reserve, and those of the other figures: below a unit each, for ever.
            let off = off.entry(row.tier.clone()).or_default();
            *off += row.contributed - whole(b.contributed, e.contributed);
            assert!(off.abs() <= 5, "{text} {row:?}: {off}");
            seen += i32::from(row.contributed != 0);
        }
        for row in &sources {
            let expected = played(&events, begin_ms, end_ms, row.source_id.as_deref());
            assert_eq!((row.entries, row.stakes, row.reversed), expected, "{text} {row:?}");
            let Some(source) = &row.source_id else { continue };
            let mut moved = [(0_i128, 0_i128); 2];
            for posted in by_source.iter().filter(|posted| posted[0] == *source) {
                let at_ms: i64 = posted[1].parse().expect("ms");
                for posting in postings::parse(&posted[2]).expect("postings") {
                    let amount = i128::from(posting.amount) * MICRO + i128::from(posting.micro);
                    for (place, until) in [begin_ms, end_ms].into_iter().enumerate() {
                        match posting.account {
                            Account::Contributions if at_ms < until => moved[place].0 -= amount,
                            Account::Payouts if at_ms < until => moved[place].1 += amount,
                            _ => {}
                        }
                    }
                }
            }
            let [(c0, p0), (c1, p1)] = moved;
            assert_eq!(
                (row.contributed, row.paid),
                (whole(c0, c1), whole(p0, p1)),
                "{text} {row:?}"
            );
        }
        let all_paid: i64 = sources.iter().map(|row| row.paid).sum();
        assert_eq!(all_paid, tiers.iter().map(|row| row.paid).sum::<i64>());
    }
    assert!(events.len() < 20 || seen > 0, "nothing was compared");
}

const DATES: [&str; 9] = [
    "2027-03-25",
    "2027-03-26",
    "2027-03-27",
    "2027-03-28",
    "2027-03-29",
    "2027-03-30",
    "2027-03-31",
    "2027-04-01",
    "2027-04-02",
];

fn zones() -> [Days; 4] {
    let of = |at, zone| {
        Days::new(
            day::time_of_day(at).expect("a time"),
            day::zone_named(zone).expect("a zone"),
        )
    };
    // In Berlin 2027-03-28 has 23 hours.
    [
        Days::default(),
        of("06:00", "Asia/Seoul"),
        of("00:00", "Europe/Berlin"),
        of("02:30", "Europe/Berlin"),
    ]
}

#[expect(
    clippy::await_holding_refcell_ref,
    reason = "one task; the projector and what is before a step take turns"
)]
async fn random_days_add_up_and_equal_the_postings(db: LedgerDb) {
    let clock = Arc::new(ShiftedClock::new());
    let fixture = by(&clock, db).await;
    let projector = RefCell::new(fixture.own_projector());
    let mut random = TestRunner::deterministic();
    for case in 0..4 {
        // Cases with few steps say little.
        let (rules, rate, mut steps) = loop {
            let drawn = conservation::case().new_tree(&mut random).expect("a case").current();
            if drawn.2.len() > 25 {
                break drawn;
            }
        };
        let shift = RefCell::new(shift_to("2027-03-26T20:00:00Z"));
        let before = async |jackpot: &JackpotFixture, step: usize| {
            if step == 0 {
                let registry = fixture.kind.registry();
                let ids = std::slice::from_ref(&jackpot.id);
                registry.add_to_index(ids).await.expect("in the index");
            }
            // Forward over quarters of an hour, and sometimes back.
            let by = [0, 400, 1_700, 9_000, -1_900, 40_000][(step * 7 + case) % 6];
            *shift.borrow_mut() += by;
            clock.set_s(*shift.borrow());
            if step % (3 + case) == 2 {
                projector.borrow_mut().round().await.expect("SQL answers");
            }
        };
        // They are of no payout that the ledger has.
        steps.retain(|step| !matches!(step, conservation::Step::Void(..)));
        let jackpot = conservation::play_between(&fixture.redis, &rules, rate, &steps, before).await;
        until_whole(&fixture, &jackpot, &mut projector.borrow_mut()).await;
        for days in &zones() {
            compare(&fixture, &jackpot.id, days, &DATES).await;
        }
        // Another instance makes the same rows from the events, from the first or the middle on.
        let made = runs(&fixture, &jackpot.id).await;
        assert!(made.len() > 3, "{made:?}");
        for delete in ["n > 12", "n > 0"] {
            run(&fixture, format!("DELETE FROM report_runs WHERE {delete}")).await;
            run(&fixture, "UPDATE streams SET holder = ''".to_owned()).await;
            let mut next = fixture.own_projector();
            until_whole(&fixture, &jackpot, &mut next).await;
            assert_eq!(runs(&fixture, &jackpot.id).await, made);
            projector.replace(next);
        }
    }
}

async fn a_day_without_events_holds_what_the_one_before_it_left(db: LedgerDb) {
    let clock = Arc::new(ShiftedClock::new());
    clock.set_s(shift_to("2027-03-26T12:00:00Z"));
    let fixture = by(&clock, db).await;
    let mut projector = fixture.projector();
    fixture.fund("f", 70).await;
    until_whole(&fixture, &fixture, &mut projector).await;
    clock.set_s(shift_to("2027-03-29T12:00:00Z"));
    fixture.fund("g", 5).await;
    until_whole(&fixture, &fixture, &mut projector).await;
    let days = Days::default();
    for (text, opening, funded) in [
        ("2027-03-26", 0, 70),
        ("2027-03-27", 70, 0),
        ("2027-03-28", 70, 0),
        ("2027-03-29", 70, 5),
        ("2027-03-30", 75, 0),
    ] {
        let (tiers, sources) = day(&fixture, &fixture.id, &days, date(text)).await.expect("a report");
        let [row] = &tiers[..] else { panic!("{tiers:?}") };
        assert_eq!(
            (row.opening, row.funded, row.closing),
            (opening, funded, opening + funded),
            "{text}"
        );
        assert_eq!((row.tier.as_str(), row.currency.as_str()), ("grand", "KRW"));
        assert_eq!(
            (sources.len(), sources[0].source_id.as_deref(), sources[0].entries),
            (1, None, 0)
        );
    }
    let before = day(&fixture, &fixture.id, &days, date("2027-03-25"))
        .await
        .expect("a report");
    assert_eq!(before, (Vec::new(), Vec::new()), "there was no jackpot");
}

/// Redis loses what SQL does not have.
async fn a_restore_within_a_day_counts_what_is_in_the_ledger(db: LedgerDb) {
    let clock = Arc::new(ShiftedClock::new());
    clock.set_s(shift_to("2027-03-26T12:00:00Z"));
    let fixture = by(&clock, db).await;
    let mut projector = fixture.projector();
    fixture.fund("f", 700).await;
    for i in 0..5 {
        fixture.take(&format!("a{i}"), 0).await;
    }
    until_whole(&fixture, &fixture, &mut projector).await;
    projector.finish().await;
    for i in 0..3 {
        fixture.take(&format!("lost{i}"), 0).await;
    }
    fixture.wipe().await;
    fixture.heal().await;
    for i in 0..4 {
        fixture.take(&format!("b{i}"), 0).await;
    }
    run(&fixture, "UPDATE streams SET holder = ''".to_owned()).await;
    let mut projector = fixture.projector();
    until_whole(&fixture, &fixture, &mut projector).await;
    let (tiers, sources) = day(&fixture, &fixture.id, &Days::default(), date("2027-03-26"))
        .await
        .expect("a report");
    assert_eq!(
        (
            tiers[0].opening,
            tiers[0].contributed,
            tiers[0].funded,
            tiers[0].closing
        ),
        (0, 9, 700, 709)
    );
    assert_eq!((sources[0].entries, sources[0].stakes), (9, 900));
    compare(&fixture, &fixture.id, &Days::default(), &DATES).await;
}

async fn an_uncovered_reversal_is_funded(db: LedgerDb) {
    let clock = Arc::new(ShiftedClock::new());
    clock.set_s(shift_to("2027-03-26T23:50:00Z"));
    let redis = Arc::new(TestRedis::by(&clock).await);
    let change = json!({"contribution": {"fixed": 3}, "reverse_within_s": 3600, "tiers": [tier("grand", 1_000_000, &json!({}))]});
    let fixture = JackpotLedger::of(db, Fixture::on(redis, &change).await).await;
    fixture.ledger.claim(&fixture.store).await.expect("a Redis of its own");
    let mut projector = fixture.projector();
    fixture.take("gone", 0).await;
    fixture.take("win", 1).await;
    // The winner has its money; the reversal is on the next day.
    clock.set_s(shift_to("2027-03-27T00:10:00Z"));
    fixture.reverse("gone", "r1").await.expect("reversed");
    until_whole(&fixture, &fixture, &mut projector).await;
    let days = Days::default();
    let (first, _) = day(&fixture, &fixture.id, &days, date("2027-03-26"))
        .await
        .expect("a report");
    assert_eq!(
        (
            first[0].contributed,
            first[0].paid,
            first[0].payouts,
            first[0].wins,
            first[0].closing
        ),
        (6, 6, 1, 1, 0)
    );
    let (second, sources) = day(&fixture, &fixture.id, &days, date("2027-03-27"))
        .await
        .expect("a report");
    assert_eq!(
        (
            second[0].opening,
            second[0].reversed,
            second[0].funded,
            second[0].closing
        ),
        (0, 3, 3, 0)
    );
    assert_eq!((sources[0].entries, sources[0].reversed), (0, 3));
    compare(&fixture, &fixture.id, &days, &DATES).await;
}

/// The entry and its payout are in two events, and on two days.
async fn a_redraw_is_paid_to_the_source_of_its_entry(db: LedgerDb) {
    let clock = Arc::new(ShiftedClock::new());
    clock.set_s(shift_to("2027-03-26T23:50:00Z"));
    let redis = Arc::new(TestRedis::by(&clock).await);
    let change = json!({"sources": {"web": {}, "app": {}}});
    let fixture = JackpotLedger::of(db, Fixture::on(redis, &change).await).await;
    fixture.ledger.claim(&fixture.store).await.expect("a Redis of its own");
    let mut projector = fixture.projector();
    fixture.fund("f", 20).await;
    let mut one = entry("e", 1);
    one.sent.source = Some(Id::parse("app").expect("an id"));
    fixture.enter(&[one]).await;
    until_whole(&fixture, &fixture, &mut projector).await;
    clock.set_s(shift_to("2027-03-27T00:10:00Z"));
    fixture.claim("e", 1, 3).await;
    until_whole(&fixture, &fixture, &mut projector).await;
    let made = runs(&fixture, &fixture.id).await;
    let days = Days::default();
    let (_, first) = day(&fixture, &fixture.id, &days, date("2027-03-26"))
        .await
        .expect("a report");
    let (_, second) = day(&fixture, &fixture.id, &days, date("2027-03-27"))
        .await
        .expect("a report");
    let of = |rows: &[SourceRow], source: &str| {
        let row = rows
            .iter()
            .find(|row| row.source_id.as_deref() == Some(source))
            .expect("a row");
        (row.entries, row.contributed, row.paid, row.payouts)
    };
    assert_eq!((first.len(), second.len()), (2, 2), "those of the definition");
    assert_eq!((of(&first, "app"), of(&first, "web")), ((1, 1, 0, 0), (0, 0, 0, 0)));
    assert_eq!((of(&second, "app"), of(&second, "web")), ((0, 0, 7, 1), (0, 0, 0, 0)));
    run(&fixture, "DELETE FROM report_runs".to_owned()).await;
    run(&fixture, "UPDATE streams SET holder = ''".to_owned()).await;
    let mut next = fixture.projector();
    until_whole(&fixture, &fixture, &mut next).await;
    assert_eq!(runs(&fixture, &fixture.id).await, made);
}

/// Between the two days the money is in neither jackpot.
async fn a_transfer_goes_out_on_one_day_and_comes_in_on_the_next(db: LedgerDb) {
    let clock = Arc::new(ShiftedClock::new());
    clock.set_s(shift_to("2027-03-26T23:50:00Z"));
    let fixture = by(&clock, db).await;
    let other = JackpotFixture::on(Arc::clone(&fixture.redis), &json!({})).await;
    let ids = std::slice::from_ref(&other.id);
    fixture.kind.registry().add_to_index(ids).await.expect("in the index");
    let mut projector = fixture.own_projector();
    fixture.fund("f", 70).await;
    other.fund("g", 5).await;
    fixture.status(Status::Paused).await;
    let grand = Id::parse("grand").expect("an id");
    let wish = Transfer {
        transfer_id: Id::parse("t").expect("an id"),
        to: other.id.clone(),
        tiers: vec![(grand.clone(), grand)],
        reason: "a test".to_owned(),
        is_approval: false,
    };
    let (operate, by) = (&fixture.operate, operator());
    let looked = operate.give(&fixture.id, &wish, None, &by).await.expect("a reply");
    let Given::Holds(holds) = looked else {
        panic!("{looked:?}")
    };
    other
        .operate
        .expect(&fixture.id, &wish, &holds, &by)
        .await
        .expect("room");
    operate
        .give(&fixture.id, &wish, Some(&holds), &by)
        .await
        .expect("given");
    until_whole(&fixture, &fixture, &mut projector).await;
    clock.set_s(shift_to("2027-03-27T00:10:00Z"));
    let parts = holds.parts.text();
    let receiving = other.operate.receive(&other.id, &fixture.id, &wish.transfer_id, &parts);
    let received = receiving.await;
    assert!(received.expect("received"));
    until_whole(&fixture, &other, &mut projector).await;
    let days = Days::default();
    let of = async |id: &Id, text: &str| {
        let (tiers, _) = day(&fixture, id, &days, date(text)).await.expect("a report");
        let row = &tiers[0];
        (
            row.opening,
            row.funded,
            row.transferred_in,
            row.transferred_out,
            row.closing,
        )
    };
    assert_eq!(of(&fixture.id, "2027-03-26").await, (0, 70, 0, 70, 0));
    assert_eq!(of(&other.id, "2027-03-26").await, (0, 5, 0, 0, 5), "room is no money");
    assert_eq!(of(&fixture.id, "2027-03-27").await, (0, 0, 0, 0, 0));
    assert_eq!(of(&other.id, "2027-03-27").await, (5, 0, 70, 0, 75));
    for id in [&fixture.id, &other.id] {
        compare(&fixture, id, &days, &DATES).await;
    }
}

async fn a_program_that_does_not_know_the_figures_leaves_no_hole_in_them(db: LedgerDb) {
    let clock = Arc::new(ShiftedClock::new());
    clock.set_s(shift_to("2027-03-26T12:00:00Z"));
    let fixture = by(&clock, db).await;
    let mut projector = fixture.projector();
    fixture.fund("f", 700).await;
    until_whole(&fixture, &fixture, &mut projector).await;
    projector.finish().await;
    let before = runs(&fixture, &fixture.id).await;
    for i in 0..4 {
        clock.set_s(shift_to("2027-03-26T12:00:00Z") + i * 1_000);
        fixture.take(&format!("e{i}"), 0).await;
    }
    let n = usize::try_from(fixture.n().await).expect("a number");
    run(&fixture, "UPDATE streams SET lease_token = 0, holder = ''".to_owned()).await;
    super::projector::project_after(&fixture, n, &[2]).await;
    assert_eq!(runs(&fixture, &fixture.id).await, before);
    let behind = day(&fixture, &fixture.id, &Days::default(), date("2027-03-26")).await;
    assert!(matches!(behind, Err(LedgerError::NoReport(_))), "{behind:?}");
    run(&fixture, "UPDATE streams SET holder = ''".to_owned()).await;
    let mut next = fixture.projector();
    until_whole(&fixture, &fixture, &mut next).await;
    compare(&fixture, &fixture.id, &Days::default(), &DATES).await;
    assert!(runs(&fixture, &fixture.id).await.len() > before.len());
}

/// `cargo nextest run --profile nightly --test it heavy_of_a_million --no-capture` prints the times.
async fn heavy_of_a_million_entries_a_day_is_read_at_once(db: LedgerDb) {
    // Of one entry each; docs/decisions/0058 was measured with a million.
    let calls = size(20_000, 1_000_000);
    let fixture = JackpotLedger::with(db, &json!({})).await;
    fixture.status(Status::Paused).await;
    fixture.status(Status::Open).await;
    fixture.take("first", 0).await;
    fixture.project().await;
    let begun = Instant::now();
    let today = Days::default().date_of(lengthen(&fixture, calls).await);
    let filled = begun.elapsed();
    let mut projector = fixture.projector();
    let begun = Instant::now();
    let (mut longest, mut rounds) = (Duration::ZERO, 0);
    while day(&fixture, &fixture.id, &Days::default(), today).await.is_err() {
        let round = Instant::now();
        projector.round().await.expect("SQL answers");
        longest = longest.max(round.elapsed());
        rounds += 1;
    }
    println!(
        "{calls} calls in {filled:?}; their figures in {:?}, {rounds} rounds of at most {longest:?}, {} rows",
        begun.elapsed(),
        runs(&fixture, &fixture.id).await.len()
    );
    let mut times = Vec::new();
    for _ in 0..20 {
        let begun = Instant::now();
        let (_, sources) = day(&fixture, &fixture.id, &Days::default(), today)
            .await
            .expect("a report");
        times.push(begun.elapsed());
        assert_eq!(sources[0].entries.unsigned_abs(), calls + 1);
    }
    times.sort_unstable();
    println!("a report: p50 {:?}, most {:?}", times[10], times[19]);
}

/// Adds calls of one entry each to the ledger's events, as the projector has them, up to its last event and on the same day:
/// 40 ms apart, or less where the day is younger. Returns the time of that event.
async fn lengthen(fixture: &JackpotLedger, calls: u64) -> i64 {
    let events = fixture.chained(&fixture.id).await;
    let last = events.last().expect("an event").clone();
    assert_eq!(last["type"], "enter");
    let mut books: jackpot::jackpot::ledger::books::Books =
        serde_json::from_str(&fixture.place("books").await).expect("books");
    let now_ms = books.at_ms;
    let mut hash = jackpot_core::chain::ChainHash::parse(&fixture.place("hash").await).expect("a hash");
    let (mut n, mut sequence) = (books.n, books.sequence);
    let of_day_ms = u64::try_from(now_ms.rem_euclid(86_400_000)).expect("ms");
    let spread_ms = of_day_ms.min(calls * 40);
    let mut left = calls;
    while left > 0 {
        let mut tx = fixture.ledger.sql.begin().await.expect("a transaction");
        let page = left.min(10_000);
        let mut rows = Vec::new();
        for _ in 0..page {
            (n, sequence, left) = (n + 1, sequence + 1, left - 1);
            let mut fields = last.clone();
            fields.insert("n".to_owned(), n.to_string());
            fields.insert("first".to_owned(), sequence.to_string());
            fields.insert("block".to_owned(), format!("e{sequence} p 100 *"));
            let at_ms = now_ms - i64::try_from(left * spread_ms / calls).expect("ms");
            fields.insert("at".to_owned(), at_ms.to_string());
            let body = jackpot_core::chain::body(&(&fields).into());
            hash = hash.next(&body);
            rows.push((n, at_ms, sequence, hash.to_string(), body));
        }
        let moved = "grand c-1,p1";
        let values: Vec<jackpot::sql::Value<'_>> = rows
            .iter()
            .flat_map(|(n, at_ms, sequence, hash, body)| {
                use jackpot::sql::Value::{Int, Text};
                let int = |value: u64| Int(i64::try_from(value).expect("a number"));
                [
                    Text("jackpot"),
                    Text(fixture.id.as_str()),
                    int(*n),
                    Text("0-1"),
                    Int(*at_ms),
                    Text("enter"),
                    int(*sequence),
                    Text(hash),
                    Text(moved),
                    Text(body),
                ]
            })
            .collect();
        let columns = [
            "kind",
            "id",
            "n",
            "stream_id",
            "at_ms",
            "type",
            "last_sequence",
            "hash",
            "moved",
            "body",
        ];
        jackpot::sql::insert_rows(&mut tx, "events", &columns, &values)
            .await
            .expect("inserted");
        tx.commit().await.expect("committed");
    }
    let meters = books
        .meters
        .get_mut(&Id::parse("grand").expect("an id"))
        .expect("meters");
    let added = i64::try_from(calls).expect("a number");
    meters.pool += added;
    meters.contributed += added;
    (books.n, books.sequence) = (n, sequence);
    let text = serde_json::to_string(&books).expect("JSON");
    let set = format!(
        "UPDATE streams SET n = {n}, indexed_n = {n}, hash = '{hash}', books = '{text}', holder = '' WHERE id = '{}'",
        fixture.id
    );
    fixture.change(&set).await;
    now_ms
}

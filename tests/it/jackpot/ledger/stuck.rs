//! The way out of a stream that an event stops. Nothing that was answered is forgotten or paid again.

use futures_util::TryStreamExt;
use jackpot::jackpot::ledger::event::{Event, Kind};
use jackpot::jackpot::ledger::postings::{self, Account};
use jackpot::jackpot::ledger::projector::Jackpots;
use jackpot::jackpot::ledger::restore::restore;
use jackpot::jackpot::metrics::PlayMetrics;
use jackpot::jackpot::scripts::{EnterEntry, EntryReply, Settle, Stepped, Wanted, settle};
use jackpot::jackpot::transfer::worker::Transfers;
use jackpot::ledger::projector::lease::Leases;
use jackpot::ledger::restore::{Replace, Restorer};
use jackpot::ledger::stuck::{self, At, Found, Plan, Skip, StuckError};
use jackpot::proof::export::Export;
use jackpot::proof::verify;
use jackpot::subject::kinds::JACKPOT;
use jackpot_api::jackpot::Status;
use jackpot_core::ids::{ClientSeed, Id};
use jackpot_core::jackpot::derived::payout_id;
use jackpot_core::jackpot::settlement::{Attempt, Ended, Standing, State, Step};
use jackpot_core::money::Minor;
use jackpot_core::wire::Field as _;

use crate::jackpot::by_hand;
use crate::jackpot::fixture::{JackpotFixture, entry, operator, put};
use crate::jackpot::ledger::fixture::JackpotLedger;
use crate::jackpot::must_hit::{open, ruled};
use crate::jackpot::transfer::Pair;
use crate::support::fixture::Fields;
use crate::support::prelude::*;
use crate::support::size::size;

on_both_databases!(
    whatever_event_is_unreadable_or_missing_can_be_skipped_and_nothing_it_did_is_lost,
    parts_of_an_event_that_can_be_read_give_receipts,
    money_that_an_event_makes_is_booked_as_skipped,
    an_event_that_the_database_refuses_is_found_among_others,
    only_the_stuck_event_is_skipped,
    cycles_that_a_skipped_event_ends_or_begins_are_carried_on,
    a_skipped_event_of_a_transfer_leaves_its_row_and_its_money,
    a_skipped_step_of_a_payout_leaves_its_row_and_its_money,
    the_id_of_a_skipped_settlement_is_used,
);

/// Entries of the story, and what they drew in the end.
const ENTRIES: [(&str, u32); 9] = [
    ("l1", 0),
    ("l2", 0),
    ("w1", 3),
    ("l3", 0),
    ("w2", 1),
    ("r1", 1),
    ("r2", 1),
    ("r3", 1),
    ("l4", 0),
];

/// Two small wins and one of all, redraws that are paid, end, and stay pending; an operator's acts in between.
async fn story(fixture: &JackpotLedger) -> JackpotFixture {
    let jackpot = JackpotFixture::on(fixture.redis.clone(), &json!({})).await;
    jackpot.fund("a1", 500).await;
    jackpot
        .enter(&[entry("l1", 0), entry("l2", 0), entry("w1", 3), entry("l3", 0)])
        .await;
    for (id, rank) in &ENTRIES[4..8] {
        jackpot.enter(&[entry(id, *rank)]).await;
    }
    jackpot.fund("a2", 50).await;
    jackpot.claim("r1", 1, 3).await;
    jackpot.finish("r2", 1).await;
    put(&jackpot, &json!({"name": "another"}), Wanted::Any)
        .await
        .expect("put");
    jackpot
        .operate
        .end_epoch(&jackpot.id, "a test".to_owned(), &operator())
        .await
        .expect("rotated");
    for status in [Status::Paused, Status::Open] {
        let by = operator();
        let set = jackpot
            .operate
            .set_status(&jackpot.id, status, "a test".to_owned(), &by);
        set.await.expect("set");
    }
    jackpot.enter(&[loser(&jackpot, "l4").await]).await;
    jackpot
}

/// An entry that draws nothing. A restore ends its epoch, the epoch's seed is published then, and `verify` draws again.
async fn loser(fixture: &JackpotFixture, id: &str) -> EnterEntry {
    let (_, view) = fixture.operate.views.refresh(&fixture.id).await.expect("a view");
    let draws_nothing = |seed: &ClientSeed| {
        view.seed
            .rank(id, Some(seed), 0, view.definition.odds().at(Minor::ZERO))
            == 0
    };
    let mut seeds = (0..).map(|i| ClientSeed::parse(&format!("s{i}")).expect("a seed"));
    let mut entry = entry(id, 0);
    entry.sent.client_seed = seeds.find(draws_nothing);
    entry
}

async fn place(fixture: &JackpotLedger, jackpot: &JackpotFixture) -> (u64, String) {
    let n = fixture.place_of(&jackpot.id, "n").await.parse().expect("a number");
    (n, fixture.place_of(&jackpot.id, "stopped").await)
}

/// Takes the lease of its stream, as the command line does.
async fn lease(fixture: &JackpotLedger, jackpot: &JackpotFixture) -> (Leases, i64) {
    let leases = Leases::of(JACKPOT, fixture.ledger.sql.clone(), "a-test".to_owned(), 10_000);
    let token = leases.take(&jackpot.id).await.expect("an answer").expect("there");
    (leases, token)
}

fn at<'a>(fixture: &'a JackpotLedger, jackpot: &'a JackpotFixture, token: i64) -> At<'a> {
    At {
        ledger: &fixture.ledger,
        store: &jackpot.store,
        id: &jackpot.id,
        token,
        index: true,
        skip: None,
    }
}

async fn plan(at: &At<'_>, jackpot: &JackpotFixture) -> (Found<Jackpots>, Option<Plan>) {
    let kind = Jackpots {
        operate: jackpot.operate.clone(),
    };
    stuck::plan(&kind, at).await.expect("found")
}

/// Skips the stuck event; returns the command's lines.
async fn skip(fixture: &JackpotLedger, jackpot: &JackpotFixture, n: u64) -> Vec<String> {
    let (leases, token) = lease(fixture, jackpot).await;
    let at = at(fixture, jackpot, token);
    let (found, plan) = plan(&at, jackpot).await;
    let plan = plan.unwrap_or_else(|| panic!("event {n} of {} is not stuck", jackpot.id));
    assert_eq!(found.stuck.as_ref().expect("stuck").n, n);
    let (_, stop) = stuck::outlook(&at, &found, &plan);
    assert_eq!(stop, None, "event {n}");
    let lines = plan.lines.clone();
    let wish = Skip {
        n,
        by: &operator(),
        reason: "a test",
    };
    let done = stuck::skip(&at, &found, plan, &wish, 1).await;
    done.unwrap_or_else(|error| panic!("event {n} is not skipped: {error}"));
    leases.release().await.expect("given back");
    lines
}

/// All of it is in SQL, each event follows from the one before, and SQL agrees with Redis, record by record.
async fn assert_right(fixture: &JackpotLedger, jackpot: &JackpotFixture) -> Vec<Event> {
    let events = fixture.events_of(&jackpot.id).await;
    assert_eq!(
        place(fixture, jackpot).await,
        (jackpot.snapshot().await.mark.n(), String::new())
    );
    jackpot.assert_follows_from(&events).await;
    events
}

async fn assert_clean(fixture: &JackpotLedger, jackpot: &JackpotFixture) {
    jackpot.operate.checkpoint(&jackpot.id).await.expect("a checkpoint");
    fixture.project().await;
    let sql = format!(
        "SELECT CAST(clean AS TEXT), report FROM reconciliations WHERE kind = 'jackpot' AND id = '{}'",
        jackpot.id
    );
    let rows = fixture.rows(sql).await;
    assert_eq!(rows[0][0], "1", "{}", rows[0][1]);
}

/// What a client is answered when it repeats all entries. Nothing is taken twice.
async fn repeats(fixture: &JackpotFixture) -> Vec<String> {
    let mut all = Vec::new();
    for (id, rank) in ENTRIES {
        let mut replies = fixture.enter(&[entry(id, rank)]).await.replies;
        match replies.remove(0) {
            EntryReply::Seen(record) => all.push(record.to_string()),
            other => panic!("'{id}' is a new entry: {other:?}"),
        }
    }
    all
}

async fn payouts(fixture: &JackpotLedger, jackpot: &JackpotFixture) -> Vec<Vec<String>> {
    let sql = format!(
        "SELECT CAST(claim_order AS TEXT), entry_id, player_id, CAST(amount AS TEXT), CAST(pool_before AS TEXT) \
         FROM payouts WHERE jackpot_id = '{}'",
        jackpot.id
    );
    fixture.rows(sql).await
}

/// The jackpot answers as before when it is restored from SQL alone.
async fn assert_survives_a_restore(fixture: &JackpotLedger, jackpot: &JackpotFixture) {
    let before = repeats(jackpot).await;
    let restorer = Restorer::new(fixture.ledger.sql.clone(), jackpot.store.clone());
    let secrets = &jackpot.operate.views.secrets;
    let done = restore(&restorer, secrets, &jackpot.id, Replace::Stopped, &operator(), "a test").await;
    done.expect("rebuilt");
    assert_eq!(repeats(jackpot).await, before);
    fixture.project().await;
    assert_right(fixture, jackpot).await;
    assert_clean(fixture, jackpot).await;
}

async fn whatever_event_is_unreadable_or_missing_can_be_skipped_and_nothing_it_did_is_lost(db: LedgerDb) {
    let is_postgres = db.is_postgres();
    let fixture = JackpotLedger::with(db, &json!({})).await;
    let right = story(&fixture).await;
    fixture.project().await;
    let (all, paid) = (place(&fixture, &right).await.0, payouts(&fixture, &right).await);
    assert_eq!((all, paid.len()), (15, 3));
    let mut stuck = Vec::new();
    // Each event once; `make nightly` has all of them both ways. The other database has the other way.
    let ways = size(1, 2);
    for n in 2..=all {
        let first = (n % 2 == 0) == is_postgres;
        for missing in [first, !first].into_iter().take(ways) {
            let jackpot = story(&fixture).await;
            let at = usize::try_from(n - 1).expect("small");
            jackpot
                .rewrite(|events| {
                    if missing {
                        events.remove(at);
                    } else {
                        events[at].1 = [("n", "\u{0}"), ("rubbish", "\u{1b}[1m")]
                            .map(|(name, value)| (name.to_owned(), value.to_owned()))
                            .into();
                    }
                })
                .await;
            stuck.push((jackpot, n, missing));
        }
    }
    fixture.project().await;
    for (jackpot, n, missing) in stuck {
        // A missing last event is not noticed before another event follows.
        jackpot.operate.checkpoint(&jackpot.id).await.expect("a checkpoint");
        fixture.project().await;
        assert_eq!(
            place(&fixture, &jackpot).await.0,
            n - 1,
            "stuck at {n}, missing: {missing}"
        );
        skip(&fixture, &jackpot, n).await;
        fixture.project().await;
        let events = assert_right(&fixture, &jackpot).await;
        let at = usize::try_from(n - 1).expect("small");
        assert!(matches!(events[at].kind, Kind::Skipped(_)));
        assert_clean(&fixture, &jackpot).await;
        assert_survives_a_restore(&fixture, &jackpot).await;
        // Each paid entry is known as paid. An entry that cannot be read has no receipt, or one that says so where a
        // later event paid.
        let rows = payouts(&fixture, &jackpot).await;
        let same = |row: &Vec<String>, paid: &Vec<String>| {
            row[..2] == paid[..2] && row[3..] == paid[3..] && (row[2] == paid[2] || row[2] == "unknown")
        };
        assert!(
            rows.iter().all(|row| paid.iter().any(|paid| same(row, paid))),
            "{rows:?}"
        );
        assert!(rows.len() >= paid.len() - 1, "event {n}: {rows:?}");
    }
}

async fn parts_of_an_event_that_can_be_read_give_receipts(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    let right = story(&fixture).await;
    fixture.project().await;
    let paid = payouts(&fixture, &right).await;
    // Event 3 took four entries in one call, event 4 the one that took all, event 9 paid a redraw.
    for (n, field, value) in [
        (3, "claims", "\u{0}"),
        (3, "amounts", "rubbish"),
        (3, "meters", "grand pool:x;"),
        (3, "first", "7"),
        (3, "block", "l1 p 100 *\n\u{0}\nw1 p 100 *\nl3 p 100 *"),
        (4, "at", "noon"),
        (4, "epoch", "9"),
        (4, "type", "rubbish"),
        (9, "claims", "rubbish"),
        (9, "entry", "another"),
    ] {
        let jackpot = story(&fixture).await;
        jackpot
            .rewrite(|events| {
                events[n - 1].1.insert(field.to_owned(), value.to_owned());
            })
            .await;
        fixture.project().await;
        assert_eq!(place(&fixture, &jackpot).await.0, n as u64 - 1, "{field}");
        let lines = skip(&fixture, &jackpot, n as u64).await;
        fixture.project().await;
        assert_right(&fixture, &jackpot).await;
        assert_clean(&fixture, &jackpot).await;
        assert_eq!(payouts(&fixture, &jackpot).await, paid, "event {n}, {field}: {lines:?}");
        assert_survives_a_restore(&fixture, &jackpot).await;
        assert_verifies(&fixture, &jackpot, n as u64).await;
    }
}

/// An export says that the event was skipped and why, and everything else holds.
async fn assert_verifies(fixture: &JackpotLedger, jackpot: &JackpotFixture, n: u64) {
    let key = fixture.ledger.signing.current();
    let export = Export::begin(fixture.ledger.sql.clone(), jackpot.id.clone(), &key)
        .await
        .expect("a head");
    let secrets = fixture.operate.views.secrets.clone();
    let lines: Vec<_> = export.lines(secrets, |_, _| false).try_collect().await.expect("lines");
    let report = verify::verify(&lines.concat()[..], verify::Trusted::default()).expect("an export");
    assert!(report.is_right(), "{report}");
    let said = report
        .unchecked
        .iter()
        .any(|line| line.starts_with(&format!("event {n} was skipped (a test)")));
    assert!(said, "{report}");
}

async fn money_that_an_event_makes_is_booked_as_skipped(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    let jackpot = story(&fixture).await;
    // The pool was raised by hand: 1,000 that nobody paid in. The next event takes them for the pool's own.
    let pool = format!("jp:{{{}}}:pool:grand", jackpot.id);
    jackpot.raw::<i64>(redis::cmd("INCRBY").arg(&pool).arg(1_000)).await;
    let state = format!("jp:{{{}}}:state", jackpot.id);
    jackpot.raw::<()>(&mut by_hand::add(&state, "grand:pool", 1_000)).await;
    jackpot.enter(&[entry("w9", 1)]).await;
    fixture.project().await;
    let (n, stopped) = place(&fixture, &jackpot).await;
    stopped.says("falls below zero");
    let lines = skip(&fixture, &jackpot, n + 1).await;
    assert!(
        lines.iter().any(|line| line == "money: grand skipped +1000"),
        "{lines:?}"
    );
    fixture.project().await;
    assert_clean(&fixture, &jackpot).await;
    let sql = format!(
        "SELECT moved FROM events WHERE kind = 'jackpot' AND id = '{}'",
        jackpot.id
    );
    let rows = fixture.rows(sql).await;
    let postings = rows.iter().flat_map(|row| postings::parse(&row[0]).expect("postings"));
    let postings: Vec<_> = postings.collect();
    let skipped = postings.iter().filter(|posting| posting.account == Account::Skipped);
    assert_eq!(skipped.map(|posting| posting.amount).collect::<Vec<_>>(), [-1000]);
    let sum: i64 = postings
        .iter()
        .map(|posting| posting.amount * 1_000_000 + posting.micro)
        .sum();
    assert_eq!(sum, 0);
    let sql = format!(
        "SELECT report FROM reconciliations WHERE kind = 'jackpot' AND id = '{}'",
        jackpot.id
    );
    let report = fixture.rows(sql).await[0][0].clone();
    report.says(r#"{"term":"skipped","redis":1000,"ledger":1000}"#);
    report.says(r#""identity_holds":true"#);
}

async fn an_event_that_the_database_refuses_is_found_among_others(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    let jackpot = story(&fixture).await;
    fixture.project().await;
    let n = place(&fixture, &jackpot).await.0;
    fixture
        .change(&format!(
            "INSERT INTO adjustments (jackpot_id, adjustment_id, n, at_ms, digest) VALUES ('{}', 'twice', 1, 1, 'd')",
            jackpot.id
        ))
        .await;
    jackpot.enter(&[entry("before", 3)]).await;
    jackpot.fund("twice", 10).await;
    jackpot.enter(&[entry("behind", 3)]).await;
    fixture.project().await;
    place(&fixture, &jackpot).await.1.says("refuses its next events");
    skip(&fixture, &jackpot, n + 2).await;
    fixture.project().await;
    assert_eq!(place(&fixture, &jackpot).await.1, "");
    assert_clean(&fixture, &jackpot).await;
    let entries: Vec<_> = payouts(&fixture, &jackpot)
        .await
        .into_iter()
        .map(|row| row[1].clone())
        .collect();
    assert!(
        ["before", "behind"]
            .iter()
            .all(|id| entries.iter().any(|entry| entry == id)),
        "{entries:?}"
    );
}

async fn only_the_stuck_event_is_skipped(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    let jackpot = story(&fixture).await;
    fixture.project().await;
    let before = fixture.everything().await;
    let (leases, token) = lease(&fixture, &jackpot).await;
    let (found, nothing) = plan(&at(&fixture, &jackpot, token), &jackpot).await;
    assert!(found.stuck.is_none() && nothing.is_none());
    leases.release().await.expect("given back");
    assert_eq!(fixture.everything().await, before);
    // The plan of a holder that lost its lease changes nothing.
    jackpot.enter(&[entry("w9", 3)]).await;
    jackpot
        .rewrite(|events| {
            let last = events.len() - 1;
            events[last].1.insert("type".to_owned(), "rubbish".to_owned());
        })
        .await;
    let (_, token) = lease(&fixture, &jackpot).await;
    let at = at(&fixture, &jackpot, token);
    let (found, plan) = plan(&at, &jackpot).await;
    let before = place(&fixture, &jackpot).await.0;
    lease(&fixture, &jackpot).await;
    let wish = Skip {
        n: before + 1,
        by: &operator(),
        reason: "late",
    };
    let late = stuck::skip(&at, &found, plan.expect("stuck"), &wish, 1).await;
    assert!(matches!(late, Err(StuckError::Write(_))), "{late:?}");
    assert_eq!(place(&fixture, &jackpot).await.0, before);
}

/// The event of the story of cycles that reverses an entry.
const REVERSAL: u64 = 3;

/// The resume of that story.
const RESUME: u64 = 9;

/// Hits, a reversal, a resume and a rotation that end and begin cycles. `is_slow`: in another second than before it.
async fn story_of_cycles(fixture: &JackpotLedger, is_slow: bool) -> JackpotFixture {
    let rule = json!({"amount": {"low": 2, "high": 4}, "time": {"after_s": 80_000, "within_s": 86_400}});
    let jackpot = JackpotFixture::on(fixture.redis.clone(), &ruled(&rule)).await;
    let enter = async |name: &str, count: u32| {
        for i in 0..count {
            jackpot.enter(&[loser(&jackpot, &format!("{name}{i}")).await]).await;
        }
    };
    enter("a", 1).await;
    jackpot.reverse("a0", "r1").await.expect("reversed");
    enter("b", 4).await;
    jackpot.status(Status::Paused).await;
    jackpot.status(Status::Open).await;
    enter("c", 1).await;
    let second = async || {
        let (second, _): (u64, u64) = jackpot.raw(&mut redis::cmd("TIME")).await;
        second
    };
    let before = second().await;
    if is_slow {
        eventually(PATIENCE, "another second", async || {
            (second().await != before).then_some(())
        })
        .await;
    }
    let by = operator();
    let rotated = jackpot
        .operate
        .end_epoch_with(&jackpot.id, "a test".to_owned(), &by, true);
    rotated.await.expect("rotated");
    enter("d", 3).await;
    jackpot
}

/// Each event in turn is missing or unreadable by turns, and unreadable but for what it did with cycles.
async fn cycles_that_a_skipped_event_ends_or_begins_are_carried_on(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    let right = story_of_cycles(&fixture, false).await;
    fixture.project().await;
    let all = place(&fixture, &right).await.0;
    assert_eq!(all, 14);
    for n in 2..=all {
        for damage in [["missing", "unreadable"][usize::from(n % 2 == 0)], "partly"] {
            if n == REVERSAL && damage != "partly" {
                continue; // which entry it reversed is in the event alone (decision 0053)
            }
            let jackpot = story_of_cycles(&fixture, n == RESUME).await;
            let at = usize::try_from(n - 1).expect("small");
            jackpot
                .rewrite(|events| match damage {
                    "missing" => drop(events.remove(at)),
                    "partly" => drop(events[at].1.insert("at".to_owned(), "noon".to_owned())),
                    _ => {
                        let rubbish = [("n", "\u{0}"), ("rubbish", "x")];
                        events[at].1 = rubbish.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
                    }
                })
                .await;
            jackpot.operate.checkpoint(&jackpot.id).await.expect("a checkpoint");
            fixture.project().await;
            assert_eq!(place(&fixture, &jackpot).await.0, n - 1, "{damage}");
            let lines = skip(&fixture, &jackpot, n).await;
            fixture.project().await;
            assert_right(&fixture, &jackpot).await;
            assert_clean(&fixture, &jackpot).await;
            assert_verifies(&fixture, &jackpot, n).await;
            let open = open(&jackpot).await;
            let sql = format!(
                "SELECT CAST(cycle AS TEXT), commitment, CAST(ended_n AS TEXT) FROM cycles \
                 WHERE jackpot_id = '{}' ORDER BY cycle",
                jackpot.id
            );
            let rows = fixture.rows(sql).await;
            let last = rows.last().expect("cycles");
            assert_eq!(
                (&*last[0], &*last[1], &*last[2]),
                (&*open.cycle.to_string(), &*open.commitment.0.expect("open"), "0"),
                "event {n}, {damage}: {lines:?}"
            );
            let ended = rows[..rows.len() - 1].iter();
            assert!(ended.clone().all(|row| row[2] != "0"), "event {n}, {damage}: {rows:?}");
        }
    }
}

/// What Redis keeps of a transfer says what its event did.
async fn a_skipped_event_of_a_transfer_leaves_its_row_and_its_money(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    for (kind, is_done) in [("expect", true), ("give", false), ("receive", true)] {
        let on = async || JackpotFixture::on(fixture.redis.clone(), &json!({})).await;
        let pair = Pair {
            source: on().await,
            target: on().await,
        };
        pair.source.fund("f", 70).await;
        pair.source.status(Status::Paused).await;
        let parts = pair.transfer("t", &[("grand", "grand")]).await;
        let records = async |jackpot: &JackpotFixture| jackpot.hash(&jackpot.keys.adjustments).await;
        let kept = [records(&pair.source).await, records(&pair.target).await];
        let jackpot = if kind == "give" { &pair.source } else { &pair.target };
        let mut n = 0;
        jackpot
            .rewrite(|events| {
                let is_it = |(_, fields): &(String, Fields)| fields["type"] == kind;
                let at = events.iter().position(is_it).expect("there");
                n = at as u64 + 1;
                events[at].1 = [("rubbish".to_owned(), "\u{1b}[1m".to_owned())].into();
            })
            .await;
        jackpot.operate.checkpoint(&jackpot.id).await.expect("a checkpoint");
        fixture.project().await;
        assert_eq!(place(&fixture, jackpot).await.0, n - 1, "{kind}");
        skip(&fixture, jackpot, n).await;
        fixture.project().await;
        let row = fixture
            .rows(format!(
                "SELECT transfer_id, to_id, parts, CAST(done_ms > 0 AS TEXT) FROM transfers WHERE jackpot_id = '{}'",
                pair.source.id
            ))
            .await;
        let expected = ["t".to_owned(), pair.target.id.to_string(), parts.text()];
        assert_eq!(row[0][..3], expected, "{kind}");
        // The target's event was read before the row was there: a worker ends it.
        assert_eq!(["1", "true"].contains(&&*row[0][3]), is_done, "{kind}");
        let worker = Transfers {
            operate: pair.target.operate.clone(),
            sql: fixture.ledger.sql.clone(),
            metrics: PlayMetrics::new(fixture.metrics.clone()),
        };
        let shows = |count: usize| {
            let text = fixture.metrics.encode().expect("text");
            text.contains(&format!("jackpot_transfers_in_transit {count}\n"))
        };
        worker.look(true).await.expect("SQL answers");
        assert!(shows(usize::from(!is_done)), "{kind}: what it found");
        worker.look(true).await.expect("SQL answers");
        assert!(shows(0), "{kind}: nothing is left");
        let open = fixture
            .rows("SELECT transfer_id FROM transfers WHERE done_ms = 0".to_owned())
            .await;
        assert!(open.is_empty(), "{kind}: {open:?}");
        assert_right(&fixture, jackpot).await;
        // It is suspended still, so it can be restored: it knows the transfer from SQL alone then.
        let restorer = Restorer::new(fixture.ledger.sql.clone(), jackpot.store.clone());
        let secrets = &jackpot.operate.views.secrets;
        let done = restore(&restorer, secrets, &jackpot.id, Replace::Stopped, &operator(), "a test").await;
        done.expect("rebuilt");
        fixture.project().await;
        for side in [&pair.source, &pair.target] {
            assert_right(&fixture, side).await;
            assert_clean(&fixture, side).await;
        }
        assert_eq!(
            [records(&pair.source).await, records(&pair.target).await],
            kept,
            "{kind}"
        );
        assert_eq!(
            (pair.source.money().await.0, pair.target.money().await.0),
            (0, 70),
            "{kind}"
        );
        assert_verifies(&fixture, jackpot, n).await;
    }
}

/// Takes a step of a payout of seven units, as a call does that has read the ledger up to the last event.
async fn step(jackpot: &JackpotFixture, payout_id: &str, step: Step, before: State, after: &Standing) {
    let (known, view) = jackpot.fresh().await;
    let wish = Settle {
        payout_id,
        seen: known.mark().n(),
        step,
        before,
        after,
        tier: &Id::parse("grand").expect("an id"),
        amount: 7,
        reason: "a test",
        by: &operator(),
    };
    let (fence, tiers) = (known.fence(&view), view.definition.tiers());
    let stepped = settle(&jackpot.store, &known.keys, &fence, tiers, &wish).await;
    assert_eq!(stepped.expect("a reply").1, Stepped::Done);
}

/// A jackpot uses the id of a settlement once, whatever became of its event.
async fn the_id_of_a_skipped_settlement_is_used(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    let settled = Standing {
        attempt: Some(Attempt {
            ended: Ended::Settled,
            settlement_id: "s1".to_owned(),
            text: "bank 1".to_owned(),
            at_ms: 0,
        }),
        ..Standing::new(State::Settled)
    };
    let requested = Standing {
        asked: Some(operator().owner),
        ..Standing::new(State::VoidRequested)
    };
    // The other step has no id.
    for (done, after, used) in [
        (Step::Settle, &settled, &["s1"][..]),
        (Step::VoidRequest, &requested, &[]),
    ] {
        let jackpot = JackpotFixture::on(fixture.redis.clone(), &json!({"settlement": "tracked"})).await;
        jackpot.fund("f", 100).await;
        let record = jackpot.take("w", 3).await;
        let payout_id = payout_id(&jackpot.id, &jackpot.snapshot().await.history, "w", record.sequence);
        step(&jackpot, &payout_id, done, State::Due, after).await;
        let n = jackpot.snapshot().await.mark.n();
        jackpot
            .rewrite(|events| {
                let fields = &mut events.last_mut().expect("there").1;
                fields.insert("meters".to_owned(), "rubbish, of no form;".to_owned());
            })
            .await;
        jackpot.operate.checkpoint(&jackpot.id).await.expect("a checkpoint");
        fixture.project().await;
        skip(&fixture, &jackpot, n).await;
        fixture.project().await;
        let id = &jackpot.id;
        let rows = format!("SELECT settlement_id FROM settlement_ids WHERE jackpot_id = '{id}'");
        assert_eq!(fixture.rows(rows).await.concat(), used);
    }
}

/// Redis has no more than the number of a step, so what its event says is carried on, as far as it can be read.
async fn a_skipped_step_of_a_payout_leaves_its_row_and_its_money(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    for (damaged, state, line) in [
        ("meters", "void", "carried on"),
        ("tier", "void-requested", "the payout STAYS as it was"),
    ] {
        let jackpot = JackpotFixture::on(fixture.redis.clone(), &json!({"settlement": "tracked"})).await;
        jackpot.fund("f", 100).await;
        let record = jackpot.take("w", 3).await;
        let payout_id = payout_id(&jackpot.id, &jackpot.snapshot().await.history, "w", record.sequence);
        let [requested, void] = [State::VoidRequested, State::Void].map(|state| Standing {
            asked: Some(operator().owner),
            ..Standing::new(state)
        });
        step(&jackpot, &payout_id, Step::VoidRequest, State::Due, &requested).await;
        step(&jackpot, &payout_id, Step::Void, State::VoidRequested, &void).await;
        let n = jackpot.snapshot().await.mark.n();
        jackpot
            .rewrite(|events| {
                let fields = &mut events.last_mut().expect("there").1;
                fields.insert(damaged.to_owned(), "rubbish, of no form;".to_owned());
            })
            .await;
        jackpot.operate.checkpoint(&jackpot.id).await.expect("a checkpoint");
        fixture.project().await;
        assert_eq!(place(&fixture, &jackpot).await.0, n - 1, "{damaged}");
        let lines = skip(&fixture, &jackpot, n).await;
        assert!(
            lines
                .iter()
                .any(|said| said.contains(&payout_id) && said.contains(line)),
            "{lines:?}"
        );
        fixture.project().await;
        let rows = fixture
            .rows(format!(
                "SELECT state, CAST(void_signature <> '' AS TEXT) FROM payout_states WHERE payout_id = '{payout_id}'"
            ))
            .await;
        let is_signed = ["1", "true"].contains(&&*rows[0][1]);
        assert_eq!((&*rows[0][0], is_signed), (state, state == "void"), "{damaged}");
        assert_right(&fixture, &jackpot).await;
        assert_clean(&fixture, &jackpot).await;
        let meter = jackpot.snapshot().await.meters.remove(0);
        assert_eq!((meter.voided, meter.overflow, meter.funded), (7, 7, 100), "{damaged}");
        assert_verifies(&fixture, &jackpot, n).await;
    }
}

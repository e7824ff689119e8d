//! The projector: every kind of event reaches its tables, in any batches.

use std::collections::BTreeMap;

use jackpot::jackpot::kept::{self, Epochs};
use jackpot::jackpot::ledger::lookup::entry_taken;
use jackpot::jackpot::ledger::postings;
use jackpot::jackpot::ledger::projector::Jackpots;
use jackpot::jackpot::ledger::projector::index::go_on;
use jackpot::jackpot::scripts::{EntryReply, Rotated};
use jackpot::ledger::projector::batch::{Batch, Raw, With};
use jackpot::ledger::projector::lease::Leases;
use jackpot::ledger::projector::load;
use jackpot::ledger::projector::stream::Stream;
use jackpot::ledger::projector::write;
use jackpot::signing::published;
use jackpot::subject::kinds::JACKPOT;
use jackpot_api::jackpot::Status;
use jackpot_core::signing::Jwks;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use crate::jackpot::conservation;
use crate::jackpot::fixture::{JackpotFixture, entry, operator, tier};
use crate::jackpot::ledger::fixture::JackpotLedger;
use crate::support::fixture::by_name;
use crate::support::prelude::*;

on_both_databases!(
    every_kind_of_event_reaches_its_tables,
    an_entry_that_is_settled_later_is_so_in_the_index,
    without_index_days_there_is_no_index,
    batches_of_any_size_give_the_same_rows,
);

/// Everything that can happen to a jackpot, except a restore. At the end one entry is pending, and one definition
/// waits.
pub async fn live(fixture: &JackpotFixture) {
    fixture.fund("fund", 500).await;
    fixture.take("win", 1).await;
    fixture
        .enter(&[entry("a", 0), entry("refused", 1), entry("b", 0), entry("ended", 1)])
        .await;
    fixture.reverse("a", "cancelled").await.expect("reversed");
    fixture.claim("refused", 1, 2).await;
    fixture.fund("more", 300).await;
    fixture.claim("refused", 2, 3).await;
    fixture.finish("ended", 1).await;
    fixture.define(&json!({"name": "another name"})).await;
    let two = [
        tier("grand", 900_000, &json!({"min_payout": 100, "reserve_ppm": 100_000})),
        tier("mini", 100_000, &json!({})),
    ];
    fixture
        .define(&json!({"contribution": {"rate_ppm": 12_345}, "tiers": two}))
        .await;
    fixture.status(Status::Paused).await;
    fixture.status(Status::Open).await;
    fixture.take("under-another-definition", 1).await;
    let by = operator();
    let end = fixture.operate.end_epoch(&fixture.id, "a test".to_owned(), &by);
    end.await.expect("done");
    let dropped = fixture.operate.rotate_by_retention(&fixture.id, 0).await.expect("done");
    assert_eq!(dropped, Some(Rotated::Opened(3)));
    fixture.operate.checkpoint(&fixture.id).await.expect("done");
    fixture.take("pending", 1).await;
    fixture
        .define(&json!({"contribution": {"fixed": 2}, "tiers": two}))
        .await;
}

fn fields(row: &[String], at: usize) -> Value {
    serde_json::from_str(&row[at]).expect("JSON")
}

async fn every_kind_of_event_reaches_its_tables(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    live(&fixture).await;
    fixture.project().await;
    fixture.assert_complete().await;
    let types = fixture.table("events", "type").await;
    for kind in [
        "define",
        "enter",
        "claim",
        "finish",
        "status",
        "adjust",
        "reverse",
        "rotate",
        "checkpoint",
    ] {
        assert!(types.iter().any(|row| row[0] == kind), "{kind}");
    }
    assert_postings(&fixture).await;
    assert_payouts(&fixture).await;

    let audit = fixture
        .table("audit", "n who action target before after reason request_id")
        .await;
    let actions: Vec<_> = audit.iter().map(|row| row[2].as_str()).collect();
    for action in ["define", "pause", "resume", "adjust", "rotate"] {
        assert!(actions.contains(&action), "{action}: {actions:?}");
    }
    assert!(audit.iter().all(|row| row[1] == "tester"));
    let funded = audit.iter().find(|row| row[3].ends_with("/more")).expect("audited");
    assert_eq!((&*funded[6], &*funded[7]), ("a test", "r"));
    let (before, after) = (fields(funded, 4), fields(funded, 5));
    assert_eq!(
        after["pool"].as_i64().expect("units") - before["pool"].as_i64().expect("units"),
        300
    );
    assert_eq!((&before["funded"], &after["funded"]), (&json!(500), &json!(800)));

    let kept = |row: &Vec<String>| (row[0].clone(), row[1].clone());
    let definitions = fixture.table("definitions", "version kept").await;
    let in_redis = fixture.events().await;
    assert_eq!(definitions.len(), 4, "{in_redis:?}");
    assert!(
        definitions
            .iter()
            .map(kept)
            .any(|(version, kept)| version == "4" && kept == "1")
    );
    let epochs: Epochs = kept::epochs(&fixture.ledger.sql, &fixture.id).await.expect("epochs");
    assert_eq!(epochs.all, fixture.operate.epochs(&fixture.id).await.expect("epochs"));
    assert!(epochs.seed(1).is_some() && epochs.seed(2).is_some() && epochs.seed(3).is_none());
    let adjustments = fixture.table("adjustments", "adjustment_id digest").await;
    assert_eq!(adjustments, [["fund", "fund-500"], ["more", "fund-300"]]);
    assert_eq!(fixture.table("reconciliations", "clean").await, [["1"]]);
}

/// The postings of each event and tier sum to zero. All postings of a tier sum to what its meters hold.
async fn assert_postings(fixture: &JackpotLedger) {
    let (mut events, mut accounts) = (BTreeMap::<_, i64>::new(), BTreeMap::<_, i64>::new());
    for row in fixture.table("events", "n moved").await {
        for posting in postings::parse(&row[1]).expect("postings") {
            let (tier, account) = (posting.tier.to_string(), posting.account.as_str());
            let micro = posting.amount * 1_000_000 + posting.micro;
            *events.entry((row[0].clone(), tier.clone())).or_default() += micro;
            *accounts.entry((tier, account.to_owned())).or_default() += micro;
        }
    }
    assert!(events.len() > 8 && events.values().all(|sum| *sum == 0), "{events:?}");
    for meter in fixture.snapshot().await.meters {
        let held = |account: &str| {
            accounts
                .get(&(meter.tier.to_string(), account.to_owned()))
                .copied()
                .unwrap_or_default()
        };
        let units = |value: u64| i64::try_from(value).expect("below 2^53") * 1_000_000;
        let (contributed, micro) = (
            units(meter.contributed),
            i64::try_from(meter.contributed_micro).expect("small"),
        );
        let remainder = i64::try_from(meter.remainder_micro).expect("small");
        assert_eq!(held("contributions"), -contributed - micro);
        assert_eq!(held("funding"), -meter.funded * 1_000_000);
        assert_eq!(
            (held("pool"), held("reserve"), held("overflow")),
            (units(meter.pool), units(meter.reserve), units(meter.overflow))
        );
        assert_eq!((held("remainder"), held("payouts")), (remainder, units(meter.paid)));
    }
}

/// The payouts are in the order of the claims, each signed by a published key.
async fn assert_payouts(fixture: &JackpotLedger) {
    let columns = "claim_order payout_id entry_id player_id tier amount currency pool_before pool_after event_id";
    let rows = fixture.table("payouts", columns).await;
    let short: Vec<_> = rows
        .iter()
        .map(|row| (&*row[0], &*row[2], &*row[5], &*row[6], &*row[7]))
        .collect();
    assert_eq!(
        short,
        [
            ("1", "win", "501", "KRW", "501"),
            ("2", "refused", "7", "KRW", "303"),
            ("3", "under-another-definition", "296", "KRW", "296")
        ]
    );
    let keys = published(&fixture.ledger.sql).await.expect("keys");
    let keys = Jwks::new(keys);
    for row in &rows {
        let receipt = fixture.receipt(&row[1]).await;
        assert_eq!(receipt.verify(&keys), Ok(()));
    }
}

async fn an_entry_that_is_settled_later_is_so_in_the_index(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    fixture.fund("f", 50).await;
    fixture
        .enter(&[
            entry("lost", 0),
            entry("wins-later", 1),
            entry("paid", 3),
            entry("ends", 1),
        ])
        .await;
    fixture.project().await;
    let rows = async || -> Vec<(String, String, String)> {
        let all = fixture.indexed().await;
        let mut rows: Vec<_> = all
            .into_iter()
            .map(|row| (row[4].clone(), row[10].clone(), row[11].clone()))
            .collect();
        rows.sort();
        rows
    };
    let row = |id: &str, rank: &str, settled: &str| (id.to_owned(), rank.to_owned(), settled.to_owned());
    let first = [
        row("ends", "0", "0"),
        row("lost", "0", "1"),
        row("paid", "3", "1"),
        row("wins-later", "0", "0"),
    ];
    assert_eq!(rows().await, first);
    fixture.fund("g", 100).await;
    fixture.claim("wins-later", 1, 3).await;
    fixture.finish("ends", 1).await;
    fixture.project().await;
    let then = [
        row("ends", "0", "1"),
        row("lost", "0", "1"),
        row("paid", "3", "1"),
        row("wins-later", "3", "1"),
    ];
    assert_eq!(rows().await, then);
}

async fn without_index_days_there_is_no_index(db: LedgerDb) {
    let mut fixture = JackpotLedger::with(db, &json!({})).await;
    fixture.settings.entry_index_days = 0;
    live(&fixture).await;
    fixture.project().await;
    fixture.assert_complete().await;
    assert_eq!(fixture.table("entry_days", "day").await.len(), 0);
    assert_eq!(fixture.table("payouts", "n").await.len(), 3);
}

/// Projects what is in the stream in batches of these sizes, with a new holder of the lease for each, which dies before
/// it writes the index.
pub async fn project_in(fixture: &JackpotLedger, sizes: &[usize]) {
    project_after(fixture, 0, sizes).await;
}

/// The same for what Redis has after event `n`. Its holder knows nothing of the history of meters, and writes none.
pub async fn project_after(fixture: &JackpotLedger, n: usize, sizes: &[usize]) {
    let keys = &fixture.operate.views.registry.known(&fixture.id).keys;
    let mut all = redis::cmd("XRANGE");
    let raw = fixture.raw(all.arg(&keys.events).arg("-").arg("+")).await;
    let raw = by_name(raw);
    let raw: Vec<_> = raw
        .iter()
        .map(|(id, fields)| Raw::from((id.clone(), fields.into())))
        .collect();
    let leases = Leases::of(JACKPOT, fixture.ledger.sql.clone(), "a test".to_owned(), 60_000);
    leases.add(std::slice::from_ref(&fixture.id)).await.expect("added");
    let (mut rest, mut sizes) = (&raw[n..], sizes.iter().cycle());
    while !rest.is_empty() {
        let (now, later) = rest.split_at((*sizes.next().expect("endless")).min(rest.len()));
        rest = later;
        let token = leases.take(&fixture.id).await.expect("an answer").expect("there");
        let loaded = load::load::<Jackpots>(&fixture.ledger.sql, &fixture.id)
            .await
            .expect("loaded");
        let mut stream = Stream::new(fixture.id.clone(), token, loaded);
        let key = fixture.ledger.signing.current();
        let with = With {
            key: &key,
            index_entries: true,
        };
        let batch = Batch::build(&stream.start(with), now);
        assert!(batch.stop.is_none(), "{:?}", batch.stop);
        write::commit(&fixture.ledger.sql, &[(&batch, token)])
            .await
            .expect("committed");
        stream.advance(batch, 0);
    }
}

/// Completes the index of entries, as the next holder does.
async fn index(fixture: &JackpotLedger) {
    let token = fixture.place("lease_token").await.parse().expect("a number");
    let mut loaded = load::load::<Jackpots>(&fixture.ledger.sql, &fixture.id)
        .await
        .expect("loaded");
    go_on(&fixture.ledger, &fixture.id, token, &mut loaded)
        .await
        .expect("indexed");
}

async fn batches_of_any_size_give_the_same_rows(db: LedgerDb) {
    let mut fixture = JackpotLedger::with(db, &json!({})).await;
    let mut runner = TestRunner::deterministic();
    for round in 0..4 {
        let case = conservation::case().new_tree(&mut runner).expect("a case");
        let (rules, rate, mut steps) = case.current();
        // They are of no payout that the ledger has.
        steps.retain(|step| !matches!(step, conservation::Step::Void(..)));
        let subject = conservation::play(&fixture.redis, &rules, rate, &steps).await;
        let at_once = JackpotLedger::of(LedgerDb::sqlite(), subject).await;
        project_in(&at_once, &[usize::MAX]).await;
        index(&at_once).await;
        let expected = at_once.everything().await;
        assert!(expected["events"].len() > 2);
        fixture.subject = at_once.subject;
        project_in(&fixture, &[1, 3, 2, 7, 1 + round]).await;
        index(&fixture).await;
        fixture.assert_complete().await;
        assert_eq!(fixture.everything().await, expected);
    }
}

#[tokio::test]
async fn a_reply_that_was_taken_is_in_the_ledger() {
    let fixture = JackpotLedger::with(LedgerDb::sqlite(), &json!({})).await;
    let entered = fixture.enter(&[entry("e", 0)]).await;
    let EntryReply::Taken(record) = &entered.replies[0] else {
        panic!("{entered:?}")
    };
    fixture.project().await;
    let taken = entry_taken(&fixture.ledger.sql, &fixture.id, "e", record.sequence)
        .await
        .expect("taken");
    assert_eq!((taken.sent, &taken.record), (entry("e", 0).sent, record));
}

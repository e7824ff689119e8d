//! `lua/jackpot/enter.lua` on a real Redis.

use jackpot::jackpot::scripts::{Entered, EntryReply, Refusal, Rotate, ScriptError};
use jackpot_api::jackpot::Status;
use jackpot_core::jackpot::record::{Record, State};
use jackpot_core::mark::Mark;
use jackpot_core::money::MAX_MINOR;

use crate::jackpot::fixture::{JackpotFixture, entry, rank, sent, tier};
use crate::support::given::person;
use crate::support::prelude::*;

pub fn taken(entered: &Entered, i: usize) -> &Record {
    match &entered.replies[i] {
        EntryReply::Taken(record) => record,
        other => panic!("reply {i}: {other:?}"),
    }
}

pub fn paid(record: &Record) -> Option<(u64, u64)> {
    match &record.state {
        State::Paid { payout, .. } => Some((payout.amount, payout.claim_order)),
        _ => None,
    }
}

#[tokio::test]
async fn a_loser_adds_its_contribution_and_leaves_a_short_record() {
    let fixture = JackpotFixture::with(&json!({})).await;
    let record = fixture.take("e1", 0).await;
    assert_eq!(
        (
            record.sequence,
            record.contributions[0].pool,
            record.contributions[0].amount
        ),
        (1, 1, 1)
    );
    assert_eq!(record.state, State::Lost);
    assert!(record.to_string().len() < 24, "'{record}' is no short record");
    assert_eq!(fixture.money().await, (1, 0, 0));
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn the_first_claims_of_a_call_are_made_in_sequence() {
    let fixture = JackpotFixture::with(&json!({"tiers": [tier("grand", 1_000_000, &json!({"min_payout": 3}))]})).await;
    let entered = fixture
        .enter(&[
            entry("a", 0),
            entry("b", 0),
            entry("c", 1),
            entry("d", 1),
            entry("e", 0),
        ])
        .await;
    assert_eq!(entered.refusal, None);
    assert_eq!(paid(taken(&entered, 2)), Some((3, 1)));
    assert!(
        matches!(taken(&entered, 3).state, State::Pending { .. }),
        "one unit is below the minimum of three"
    );
    assert_eq!(taken(&entered, 4).contributions[0].pool, 2);
    assert_eq!(
        fixture.events().await.len(),
        2,
        "one event for the definition and one for the call"
    );
    fixture.assert_rebuilds().await;
}

/// Any text of a record may look like one of the record's own marks.
#[tokio::test]
async fn names_that_look_like_marks_are_no_marks() {
    for name in ["p", "n", "w"] {
        let prize = json!({"pool": {"tier": name, "take": "all"}});
        let odds = json!({"total": 1, "ranks": [rank(1, &prize)]});
        let fixture = JackpotFixture::with(&json!({"tiers": [tier(name, 1_000_000, &json!({}))], "odds": odds})).await;
        let mut entry = entry(name, 1);
        entry.sent.player = person(name);
        entry.sent.client_seed = Some(jackpot_core::ids::ClientSeed::parse(name).expect("a seed"));
        let entered = fixture.enter(&[entry]).await;
        assert_eq!(paid(taken(&entered, 0)), Some((1, 1)));
        assert_eq!(fixture.snapshot().await.pending, 0);
        fixture.assert_rebuilds().await;
    }
}

#[tokio::test]
async fn a_repeated_id_answers_as_before_and_changes_nothing() {
    let fixture = JackpotFixture::with(&json!({})).await;
    fixture.fund("f", 500).await;
    let first = fixture.enter(&[entry("lost", 0), entry("won", 1)]).await;
    let before = fixture.dump().await;
    let again = fixture.enter(&[entry("won", 1), entry("lost", 1)]).await;
    assert_eq!(again.replies[0], EntryReply::Seen(taken(&first, 1).clone()));
    assert_eq!(again.replies[1], EntryReply::Seen(taken(&first, 0).clone()));
    assert_eq!(fixture.dump().await, before);
}

#[tokio::test]
async fn the_same_id_twice_in_one_call_counts_once() {
    let fixture = JackpotFixture::with(&json!({})).await;
    fixture.fund("f", 500).await;
    let entered = fixture
        .enter(&[entry("x", 1), entry("y", 0), entry("x", 1), entry("x", 0)])
        .await;
    let first = taken(&entered, 0).clone();
    assert_eq!(paid(&first), Some((501, 1)));
    assert_eq!(entered.replies[2], EntryReply::Seen(first.clone()));
    assert_eq!(entered.replies[3], EntryReply::Seen(first));
    let meter = &fixture.snapshot().await.meters[0];
    assert_eq!((meter.contributed, meter.paid, meter.wins, meter.pool), (2, 501, 1, 1));
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn new_ids_beside_known_ones_are_taken_and_found_again_by_their_sequence() {
    let fixture = JackpotFixture::with(&json!({})).await;
    fixture.take("old", 0).await;
    let entered = fixture
        .enter(&[entry("n1", 0), entry("old", 0), entry("n1", 0), entry("n2", 0)])
        .await;
    assert_eq!((taken(&entered, 0).sequence, taken(&entered, 3).sequence), (2, 3));
    fixture.assert_rebuilds().await;
    let known = fixture.operate.views.registry.known(&fixture.id);
    for id in ["old", "n1", "n2"] {
        let found = jackpot::jackpot::scripts::lookup(&fixture.store, &known.keys, Mark::ZERO, id)
            .await
            .expect("a reply");
        assert_eq!(found.expect("remembered").sent, Some(sent("p", 100)), "{id}");
    }
}

#[tokio::test]
async fn each_status_but_open_refuses_new_entries_and_answers_repeats() {
    let fixture = JackpotFixture::with(&json!({})).await;
    let first = fixture.take("old", 0).await;
    for (status, refusal) in [(Status::Paused, Refusal::Paused), (Status::Closed, Refusal::Closed)] {
        fixture.status(status).await;
        let before = fixture.dump().await;
        let entered = fixture.enter(&[entry("new", 0), entry("old", 0)]).await;
        assert_eq!(
            (&entered.replies[0], entered.refusal),
            (&EntryReply::NotTaken, Some(refusal))
        );
        assert_eq!(entered.replies[1], EntryReply::Seen(first.clone()));
        assert_eq!(fixture.dump().await, before);
    }
}

#[tokio::test]
async fn a_caller_that_is_behind_the_definition_or_the_epoch_writes_nothing() {
    let fixture = JackpotFixture::with(&json!({})).await;
    let (known, old) = fixture.fresh().await;
    fixture.define(&json!({"contribution": {"fixed": 5}})).await;
    let before = fixture.dump().await;
    let stale = fixture
        .enter_as(&known.fence(&old), &old.definition, &[entry("e", 0)])
        .await
        .expect("a reply");
    assert_eq!(
        (&stale.replies[0], stale.refusal),
        (&EntryReply::NotTaken, Some(Refusal::Stale))
    );
    assert_eq!(fixture.dump().await, before);

    let (known, old) = fixture.fresh().await;
    fixture
        .operate
        .end_epoch(&fixture.id, "a test".to_owned(), &crate::jackpot::fixture::operator())
        .await
        .expect("done");
    let before = fixture.dump().await;
    let stale = fixture
        .enter_as(&known.fence(&old), &old.definition, &[entry("e", 0)])
        .await
        .expect("a reply");
    assert_eq!(stale.refusal, Some(Refusal::Stale));
    assert_eq!(fixture.dump().await, before);
}

#[tokio::test]
async fn another_epoch_and_a_redis_that_lost_events_are_refused() {
    let fixture = JackpotFixture::with(&json!({})).await;
    let (known, view) = fixture.fresh().await;
    let before = fixture.dump().await;
    let mut foreign = known.fence(&view);
    foreign.commitment = "00".repeat(32);
    let refused = fixture
        .enter_as(&foreign, &view.definition, &[entry("e", 0)])
        .await
        .expect("a reply");
    assert_eq!(
        (&refused.replies[0], refused.refusal),
        (&EntryReply::NotTaken, Some(Refusal::Stale))
    );
    let mut ahead = known.fence(&view);
    ahead.known = Mark::new(0, ahead.known.n() + 1).expect("a mark");
    let behind = fixture.enter_as(&ahead, &view.definition, &[entry("e", 0)]).await;
    assert!(
        matches!(behind, Err(ScriptError::Behind { at, known }) if (at.n(), known.n()) == (1, 2)),
        "{behind:?}"
    );
    assert_eq!(fixture.dump().await, before);
}

#[tokio::test]
async fn a_definition_that_comes_into_force_within_a_call_ends_it() {
    let fixture = JackpotFixture::with(&json!({"tiers": [tier("grand", 1_000_000, &json!({}))]})).await;
    fixture.take("live", 0).await;
    fixture.define(&json!({"contribution": {"fixed": 9}})).await;
    let entered = fixture.enter(&[entry("a", 1), entry("b", 0), entry("c", 0)]).await;
    assert_eq!(paid(taken(&entered, 0)), Some((2, 1)));
    assert_eq!(entered.replies[1..], [EntryReply::NotTaken, EntryReply::NotTaken]);
    assert_eq!(entered.refusal, Some(Refusal::Stale));
    assert_eq!(fixture.take("b", 0).await.contributions[0].amount, 9);
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn what_would_pass_the_largest_amount_is_refused_before_any_write() {
    let fixture = JackpotFixture::with(&json!({})).await;
    fixture.fund("f", MAX_MINOR - 2).await;
    let entered = fixture
        .enter(&[entry("a", 0), entry("b", 0), entry("c", 0), entry("a", 0)])
        .await;
    assert_eq!(entered.refusal, Some(Refusal::TooLarge));
    assert_eq!(entered.replies[2], EntryReply::NotTaken);
    assert_eq!(taken(&entered, 1).contributions[0].pool, MAX_MINOR);
    assert!(
        matches!(entered.replies[3], EntryReply::Seen(_)),
        "a repeat is answered even then"
    );
    let before = fixture.dump().await;
    assert_eq!(fixture.enter(&[entry("c", 0)]).await.refusal, Some(Refusal::TooLarge));
    assert_eq!(fixture.dump().await, before);
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn the_whole_pool_of_the_largest_amount_is_paid_to_the_unit() {
    let fixture = JackpotFixture::with(&json!({})).await;
    fixture.fund("f", MAX_MINOR - 1).await;
    assert_eq!(paid(&fixture.take("w", 1).await), Some((MAX_MINOR, 1)));
    assert_eq!(fixture.money().await, (0, 0, 0));
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn a_share_of_a_large_pool_is_rounded_down_exactly() {
    let odds =
        json!({"total": 2, "ranks": [rank(1, &json!({"pool": {"tier": "grand", "take": {"share_ppm": 999_999}}}))]});
    let fixture = JackpotFixture::with(&json!({"odds": odds})).await;
    fixture.fund("f", MAX_MINOR - 1).await;
    let expected = u64::try_from(u128::from(MAX_MINOR) * 999_999 / 1_000_000).expect("fits");
    assert_eq!(paid(&fixture.take("w", 1).await), Some((expected, 1)));
    assert_eq!(fixture.money().await.0, MAX_MINOR - expected);
}

#[tokio::test]
async fn fractions_are_carried_from_entry_to_entry_and_call_to_call() {
    let fixture = JackpotFixture::with(&json!({"contribution": {"rate_ppm": 15_000}})).await;
    let of_33 = |id: &str| jackpot::jackpot::scripts::EnterEntry {
        sent: sent("p", 33),
        ..entry(id, 0)
    };
    let mut amounts = Vec::new();
    for call in 0..20 {
        let entries = (0..10).map(|i| of_33(&format!("e{call}-{i}"))).collect::<Vec<_>>();
        let entered = fixture.enter(&entries).await;
        amounts.extend((0..10).map(|i| taken(&entered, i).contributions[0].amount));
    }
    assert_eq!(amounts.iter().sum::<u64>(), 99);
    assert_eq!(amounts[..5], [0, 0, 1, 0, 1], "0.495, 0.99, 1.485, 1.98, 2.475");
    let meter = &fixture.snapshot().await.meters[0];
    assert_eq!((meter.pool, meter.contributed, meter.remainder_micro), (99, 99, 0));
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn an_id_is_remembered_over_one_rotation_and_new_after_two() {
    let fixture = JackpotFixture::with(&json!({})).await;
    let first = fixture.take("same", 0).await;
    let now = Rotate::Retention { retention_s: 0 };
    let rotate = async || {
        let (known, view) = fixture.fresh().await;
        let next = fixture
            .operate
            .views
            .opening(&fixture.id, view.epoch + 1)
            .expect("an opening");
        jackpot::jackpot::scripts::rotate(&fixture.store, &known.keys, &known.fence(&view), &next, &now)
            .await
            .expect("a reply")
            .1
    };
    assert_eq!(rotate().await, jackpot::jackpot::scripts::Rotated::Opened(2));
    assert_eq!(
        fixture.enter(&[entry("same", 0)]).await.replies[0],
        EntryReply::Seen(first)
    );
    assert_eq!(rotate().await, jackpot::jackpot::scripts::Rotated::Opened(3));
    let again = fixture.take("same", 0).await;
    assert_eq!((again.sequence, again.epoch), (2, 3));
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn a_call_that_fails_at_its_first_write_leaves_nothing_to_the_next() {
    let fixture = JackpotFixture::with(&json!({})).await;
    for id in ["a", "b"] {
        fixture.take(id, 0).await;
    }
    let events = &fixture.keys.events;
    let last: Vec<(String, Vec<String>)> = fixture
        .raw(redis::cmd("XREVRANGE").arg(events).arg(&["+", "-", "COUNT", "1"]))
        .await;
    let later: String = fixture
        .raw(redis::cmd("XADD").arg(events).arg("999-1").arg(&["e", ""]))
        .await;
    let (known, view) = fixture.fresh().await;
    let refused = fixture
        .enter_as(&known.fence(&view), &view.definition, &[entry("c", 0)])
        .await;
    refused.expect_err("the event's id does not grow");
    let _: i64 = fixture.raw(redis::cmd("XDEL").arg(events).arg(later)).await;
    let _: () = fixture.raw(redis::cmd("XSETID").arg(events).arg(&last[0].0)).await;
    assert_eq!(fixture.take("c", 0).await.sequence, 3);
    fixture.assert_rebuilds().await;
}

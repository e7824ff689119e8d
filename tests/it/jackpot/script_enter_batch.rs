//! `lua/jackpot/enter_batch.lua` on a real Redis: each reply, and that a refusal writes nothing.

use std::sync::Arc;

use jackpot::jackpot::batch::Batch;
use jackpot::jackpot::scripts::{self, BatchCall, BatchReply, Refusal, ScriptError};
use jackpot_api::jackpot::Status;
use jackpot_core::jackpot::definition::Definition;
use jackpot_core::jackpot::record::{Record, Sent, State};
use jackpot_core::mark::Mark;
use jackpot_core::money::MAX_MINOR;

use crate::jackpot::batch::support::{batch, call, call_whole, drawn, taken};
use crate::jackpot::fixture::{JackpotFixture, definition, document, rank, sent, tier};
use crate::support::prelude::*;

const HALF_AND_SEVEN: &str = "0 2;1 3;2 0;";

fn four() -> Arc<Batch> {
    let all = ["p1", "p2", "p3", "p4"].map(|player| sent(player, 100));
    batch("b", &all)
}

fn paid(record: &Record) -> Option<(u64, u64, usize)> {
    match &record.state {
        State::Paid { payout, refusals } => Some((payout.amount, payout.claim_order, refusals.len())),
        _ => None,
    }
}

#[tokio::test]
async fn a_batch_is_its_entries_in_sequence() {
    let fixture = JackpotFixture::with(&json!({"tiers": [tier("grand", 1_000_000, &json!({"min_payout": 2}))]})).await;
    fixture.take("before", 0).await;
    // The first takes both units. The second finds one, retries twice and ends. The fourth takes its own unit and the
    // two before it.
    let prizes = [(1, "0 1;1 0;"), (2, "0 1;2 2;3 0;"), (4, "0 3;1 1;2 0;")];
    let found = taken(call_whole(&fixture, &four(), &prizes).await);
    assert_eq!(found.record.to_string().split(' ').count(), 6);
    assert_eq!((found.record.first, found.record.count), (2, 4));
    assert_eq!(found.record.winners, [1, 2, 4]);
    let totals = &found.record.totals[0];
    assert_eq!((totals.tier.as_str(), totals.amount, totals.pool), ("grand", 4, 0));
    assert_eq!(paid(&found.winners[0]), Some((2, 1, 0)));
    assert!(matches!(&found.winners[1].state, State::Ended { refusals } if refusals.len() == 2));
    assert_eq!(paid(&found.winners[2]), Some((3, 2, 1)));
    assert_eq!(found.winners.iter().map(|w| w.sequence).collect::<Vec<_>>(), [2, 3, 5]);
    assert_eq!(fixture.money().await, (0, 0, 0));
    assert_eq!(fixture.snapshot().await.pending, 0);
    assert_eq!(fixture.events().await.len(), 3, "the definition, the entry, the batch");
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn a_batch_is_kept_in_the_newer_generation() {
    let fixture = JackpotFixture::with(&json!({})).await;
    fixture.fund("f", 500).await;
    fixture.take("before", 0).await;
    fixture.operate.rotate_by_retention(&fixture.id, 0).await.expect("done");
    assert_eq!(fixture.field::<String>("gen").await, "b");
    taken(call_whole(&fixture, &four(), &[(2, "0 1;1 0;")]).await);
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn a_repeat_answers_as_before_and_changes_nothing() {
    let fixture = JackpotFixture::with(&json!({})).await;
    fixture.fund("f", 500).await;
    let first = taken(call_whole(&fixture, &four(), &[(2, "0 1;1 0;"), (3, HALF_AND_SEVEN)]).await);
    let before = fixture.dump().await;
    // The same with other draws, as under a later definition.
    for prizes in [&[][..], &[(1, "0 1;1 0;")]] {
        let BatchReply::Found(again) = call_whole(&fixture, &four(), prizes).await else {
            panic!("it is known")
        };
        assert!(again.replayed);
        assert_eq!((&again.record, &again.winners), (&first.record, &first.winners));
    }
    let (known, _) = fixture.fresh().await;
    let found = scripts::lookup_batch(&fixture.store, &known.keys, Mark::ZERO, "b").await;
    assert_eq!(found.expect("a reply").expect("remembered").winners, first.winners);
    let missing = scripts::lookup_batch(&fixture.store, &known.keys, Mark::ZERO, "a").await;
    assert_eq!(missing.expect("a reply"), None);
    assert_eq!(fixture.dump().await, before);
}

#[tokio::test]
async fn a_batch_and_an_entry_of_the_same_name_are_two() {
    let fixture = JackpotFixture::with(&json!({})).await;
    let entry = fixture.take("b", 0).await;
    let found = taken(call_whole(&fixture, &four(), &[]).await);
    assert_eq!((entry.sequence, found.record.first), (1, 2));
    assert_eq!(fixture.snapshot().await.sequence, 5);
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn each_status_but_open_refuses_a_new_batch_and_answers_a_repeat() {
    let fixture = JackpotFixture::with(&json!({})).await;
    taken(call_whole(&fixture, &four(), &[]).await);
    let new = batch("new", &[sent("p", 1)]);
    for (status, refusal) in [(Status::Paused, Refusal::Paused), (Status::Closed, Refusal::Closed)] {
        fixture.status(status).await;
        let before = fixture.dump().await;
        let refused = call_whole(&fixture, &new, &[(1, "0 1;1 0;")]).await;
        assert!(matches!(refused, BatchReply::Refused(r) if r == refusal), "{refused:?}");
        let again = call_whole(&fixture, &four(), &[]).await;
        assert!(matches!(again, BatchReply::Found(found) if found.replayed));
        assert_eq!(fixture.dump().await, before);
    }
}

#[tokio::test]
async fn who_is_behind_or_has_another_secret_writes_nothing() {
    let fixture = JackpotFixture::with(&json!({})).await;
    let (known, old) = fixture.fresh().await;
    let all = four();
    let segment = drawn(&all, 0..4, &old.definition, &old.stamp, &[]);
    let fingerprint = all.fingerprint();
    let call = BatchCall {
        batch: &all,
        fingerprint: &fingerprint,
        segments: &[(&segment, &old.definition)],
        cancels: "",
    };
    fixture.define(&json!({"contribution": {"fixed": 5}})).await;
    let before = fixture.dump().await;
    let mut fence = known.fence(&old);
    let stale = scripts::enter_batch(&fixture.store, &known.keys, &fence, &call).await;
    assert!(
        matches!(stale, Ok((_, BatchReply::Refused(Refusal::Stale)))),
        "{stale:?}"
    );
    fence.commitment = "00".repeat(32);
    let secret = scripts::enter_batch(&fixture.store, &known.keys, &fence, &call).await;
    assert!(
        matches!(secret, Ok((_, BatchReply::Refused(Refusal::Stale)))),
        "{secret:?}"
    );
    fence.known = Mark::new(0, 9).expect("a mark");
    let behind = scripts::enter_batch(&fixture.store, &known.keys, &fence, &call).await;
    assert!(matches!(behind, Err(ScriptError::Behind { .. })), "{behind:?}");
    assert_eq!(fixture.dump().await, before);
}

#[tokio::test]
async fn what_would_pass_the_largest_amount_is_refused_whole() {
    let fixture = JackpotFixture::with(&json!({})).await;
    fixture.fund("f", MAX_MINOR - 3).await;
    let before = fixture.dump().await;
    // This holds although the first entry would take all: the bound is on what came in, not on what is there.
    let refused = call_whole(&fixture, &four(), &[(1, "0 1;1 0;")]).await;
    assert!(matches!(refused, BatchReply::Refused(Refusal::TooLarge)), "{refused:?}");
    assert_eq!(fixture.dump().await, before);
    let three = batch("three", &["p1", "p2", "p3"].map(|player| sent(player, 0)));
    let found = taken(call_whole(&fixture, &three, &[(3, "0 1;1 0;")]).await);
    assert_eq!(paid(&found.winners[0]), Some((MAX_MINOR, 1, 0)));
    fixture.assert_rebuilds().await;
}

/// A jackpot with a unit in it and a waiting definition: five units for each entry, and another tier in front.
async fn waiting() -> (JackpotFixture, Definition, String) {
    let fixture = JackpotFixture::with(&json!({"tiers": [tier("grand", 1_000_000, &json!({}))]})).await;
    fixture.take("live", 0).await;
    let change: Value = json!({"contribution": {"fixed": 5},
        "tiers": [tier("mini", 400_000, &json!({})), tier("grand", 600_000, &json!({}))]});
    fixture.define(&change).await;
    let next = definition(document(fixture.id.as_str(), &change));
    let stamp = format!("2 {}", next.money_digest());
    (fixture, next, stamp)
}

#[tokio::test]
async fn entries_behind_a_take_of_all_are_drawn_under_the_definition_that_waited() {
    let (fixture, next, stamp) = waiting().await;
    let (_, view) = fixture.fresh().await;
    let (all, now) = (four(), view.definition.clone());
    let before = fixture.dump().await;
    let split = call_whole(&fixture, &all, &[(1, "0 1;1 0;"), (2, "0 1;1 0;")]).await;
    assert!(matches!(split, BatchReply::Split(1)), "{split:?}");

    let first = drawn(&all, 0..1, &now, &view.stamp, &[(1, "0 1;1 0;")]);
    let second = drawn(&all, 1..4, &next, &stamp, &[(3, "0 3;1 1;2 0;")]);
    let foreign = drawn(&all, 1..4, &next, "2 other", &[]);
    let other = call(&fixture, &all, &[(&first, &now), (&foreign, &next)]).await;
    assert!(matches!(other, Ok(BatchReply::Refused(Refusal::Stale))), "{other:?}");
    let none = drawn(&all, 0..1, &now, &view.stamp, &[]);
    let not_yet = call(&fixture, &all, &[(&none, &now), (&second, &next)]).await;
    assert!(
        matches!(not_yet, Ok(BatchReply::Refused(Refusal::Stale))),
        "{not_yet:?}"
    );
    let long = drawn(&all, 0..2, &now, &view.stamp, &[(1, "0 1;1 0;")]);
    let short = drawn(&all, 2..4, &next, &stamp, &[]);
    let earlier = call(&fixture, &all, &[(&long, &now), (&short, &next)]).await;
    assert!(matches!(earlier, Ok(BatchReply::Split(1))), "{earlier:?}");
    assert_eq!(fixture.dump().await, before);

    let found = taken(
        call(&fixture, &all, &[(&first, &now), (&second, &next)])
            .await
            .expect("a reply"),
    );
    let totals = found
        .record
        .totals
        .iter()
        .map(|total| (total.tier.as_str(), total.amount, total.pool));
    assert_eq!(totals.collect::<Vec<_>>(), [("mini", 6, 6), ("grand", 10, 3)]);
    assert_eq!(found.winners.iter().map(|w| w.version).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(
        (paid(&found.winners[0]), paid(&found.winners[1])),
        (Some((2, 1, 0)), Some((6, 2, 1)))
    );
    let events = fixture.events().await;
    assert_eq!(events.len(), 4, "two definitions, an entry, the batch");
    assert_eq!(events[3].applied, Some(2));
    let again = call(&fixture, &all, &[(&first, &now), (&second, &next)])
        .await
        .expect("a reply");
    assert!(matches!(again, BatchReply::Found(again) if again.replayed && again.winners == found.winners));
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn a_definition_behind_the_last_entry_splits_nothing() {
    let (fixture, ..) = waiting().await;
    let found = taken(call_whole(&fixture, &four(), &[(4, "0 1;1 0;")]).await);
    let totals = found
        .record
        .totals
        .iter()
        .map(|total| (total.tier.as_str(), total.amount, total.pool));
    assert_eq!(totals.collect::<Vec<_>>(), [("grand", 4, 0)]);
    assert_eq!((fixture.snapshot().await.version, fixture.events().await.len()), (2, 4));
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn a_record_of_a_batch_stays_as_long_as_those_of_entries() {
    let fixture = JackpotFixture::with(&json!({})).await;
    fixture.fund("f", 500).await;
    let first = taken(call_whole(&fixture, &four(), &[(2, "0 1;1 0;")]).await);
    let rotate = async || fixture.operate.rotate_by_retention(&fixture.id, 0).await.expect("done");
    assert!(rotate().await.is_some());
    let again = call_whole(&fixture, &four(), &[]).await;
    assert!(matches!(again, BatchReply::Found(again) if again.replayed && again.winners == first.winners));
    fixture.assert_rebuilds().await;
    assert!(rotate().await.is_some());
    let anew = taken(call_whole(&fixture, &four(), &[]).await);
    assert_eq!((anew.record.first, anew.record.epoch), (5, 3));
    fixture.assert_rebuilds().await;
}

/// A prize that is not money leaves its entry pending. The scripts that end pending entries know it by its derived id.
#[tokio::test]
async fn what_is_not_for_money_is_left_pending_and_ended_by_the_usual_scripts() {
    let fixture = JackpotFixture::with(&json!({})).await;
    let all = (0..4).map(|i| four().entries.sent(i)).collect::<Vec<Sent>>();
    let found = taken(call_whole(&fixture, &batch("b", &all), &[(2, "0 1;1 9;"), (3, "0 9;")]).await);
    let pending = |record: &Record| matches!(&record.state, State::Pending { sent, .. } if sent.stake == all[0].stake);
    assert!(found.winners.iter().all(pending), "{found:?}");
    fixture.assert_rebuilds().await;
    let (known, _) = fixture.fresh().await;
    let page = scripts::pending(&fixture.store, &known.keys, Mark::ZERO, 0, 0, 10)
        .await
        .expect("a reply");
    let ids = page.entries.into_iter().map(|entry| entry.expect("readable").entry_id);
    assert_eq!(ids.collect::<Vec<_>>(), ["b:2", "b:3"]);
    fixture.fund("f", 200).await;
    let claimed = fixture.claim("b:2", 2, 1).await.record.expect("remembered");
    claimed.to_string().says(" p 1r"); // rank 1 refused it before
    assert_eq!(
        paid(&fixture.claim("b:2", 2, 2).await.record.expect("remembered")),
        Some((102, 1, 1))
    );
    let ended = fixture.finish("b:3", 1).await.record.expect("remembered");
    assert!(matches!(ended.state, State::Ended { .. }));
    assert_eq!(fixture.snapshot().await.pending, 0);
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn a_share_and_a_fixed_prize_obey_their_guards() {
    let odds = json!({"total": 10, "ranks": [rank(1, &json!({"pool": {"tier": "grand", "take": "all"}})),
        rank(2, &json!({"pool": {"tier": "grand", "take": {"share_ppm": 500_000}}})),
        rank(3, &json!({"fixed": {"tier": "grand", "amount": 7}}))]});
    let fixture = JackpotFixture::with(&json!({"odds": odds})).await;
    fixture.fund("f", 197).await;
    let prizes = [(1, "0 2;1 0;"), (2, "0 2;1 0;"), (3, HALF_AND_SEVEN), (4, "0 1;1 0;")];
    let found = taken(call_whole(&fixture, &four(), &prizes).await);
    // 198: half is 99, below the minimum. 199: the same. 200: half is 100. After it 101: all.
    assert!(matches!(found.winners[0].state, State::Ended { .. }));
    assert!(matches!(found.winners[1].state, State::Ended { .. }));
    assert_eq!(paid(&found.winners[2]), Some((100, 1, 0)));
    assert_eq!(paid(&found.winners[3]), Some((101, 2, 0)));
    fixture.assert_rebuilds().await;
}

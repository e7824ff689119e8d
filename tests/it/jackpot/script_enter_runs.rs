//! `lua/jackpot/enter.lua`: entries that are taken as a run, by their sum, and the record that they share.

use jackpot::jackpot::scripts::{EnterEntry, EntryReply, Refusal};
use jackpot_core::jackpot::record::Record;
use jackpot_core::mark::Mark;
use jackpot_core::money::MAX_MINOR;

use crate::jackpot::fixture::{JackpotFixture, entry, sent};
use crate::jackpot::script_enter::{paid, taken};
use crate::support::prelude::*;

/// The raw record that Redis keeps of an entry, or of a call.
async fn raw_record(fixture: &JackpotFixture, field: &str) -> Option<String> {
    let seen = fixture.operate.views.registry.known(&fixture.id).keys.seen_a.clone();
    fixture.raw(redis::cmd("HGET").arg(seen).arg(field)).await
}

async fn look_up(fixture: &JackpotFixture, id: &str) -> Record {
    let keys = fixture.operate.views.registry.known(&fixture.id).keys.clone();
    let found = jackpot::jackpot::scripts::lookup(&fixture.store, &keys, Mark::ZERO, id).await;
    let found = found.expect("a reply").expect("remembered");
    let record = found.record.expect("kept");
    assert_eq!(found.sequence, record.sequence, "{id}");
    assert!(found.sent.is_some(), "the event of {id} has its request");
    record
}

#[tokio::test]
async fn entries_of_a_run_share_what_they_have_in_common() {
    let fixture = JackpotFixture::with(&json!({"contribution": {"rate_ppm": 15_000}})).await;
    let stakes = [33, 100, 33, 7, 100, 33, 250];
    let entries = stakes.iter().enumerate().map(|(i, stake)| EnterEntry {
        sent: sent("p", *stake),
        ..entry(&format!("e{i}"), u32::from(i == 5))
    });
    let entries = entries.collect::<Vec<_>>();
    let entered = fixture.enter(&entries).await;
    let call = raw_record(&fixture, "e0").await.expect("kept");
    let call = call.split(' ').next().expect("a first part");
    for (i, entry) in entries.iter().enumerate() {
        let record = taken(&entered, i);
        assert_eq!(record.sequence, i as u64 + 1);
        let raw = raw_record(&fixture, &entry.entry_id).await.expect("kept");
        assert_eq!(
            raw.starts_with(call),
            i < 5,
            "{raw}: the first five are a run, the others have their own"
        );
        assert_eq!(&look_up(&fixture, &entry.entry_id).await, record);
    }
    assert!(raw_record(&fixture, call).await.is_some());
    fixture.assert_rebuilds().await;

    let again = fixture.enter(&entries).await;
    for i in 0..entries.len() {
        assert_eq!(again.replies[i], EntryReply::Seen(taken(&entered, i).clone()));
    }
}

#[tokio::test]
async fn a_run_with_repeats_in_it_is_taken_without_them() {
    let fixture = JackpotFixture::with(&json!({})).await;
    let old = fixture.take("old", 0).await;
    let ids = ["a", "b", "old", "c", "a", "d", "e"];
    let entered = fixture.enter(&ids.map(|id| entry(id, 0))).await;
    let sequences = [0, 1, 3, 5, 6].map(|i| taken(&entered, i).sequence);
    assert_eq!(sequences, [2, 3, 4, 5, 6]);
    assert_eq!(entered.replies[2], EntryReply::Seen(old));
    assert_eq!(entered.replies[4], EntryReply::Seen(taken(&entered, 0).clone()));
    for (i, id) in ids.iter().enumerate().filter(|(i, _)| ![2, 4].contains(i)) {
        assert_eq!(&look_up(&fixture, id).await, taken(&entered, i));
    }
    assert_eq!(fixture.money().await.0, 6);
    fixture.assert_rebuilds().await;
}

/// The name of a call comes from its first entry, which an earlier call took here.
#[tokio::test]
async fn a_call_that_begins_with_a_repeat_leaves_the_records_of_the_first_alone() {
    let fixture = JackpotFixture::with(&json!({})).await;
    let first = fixture.enter(&["a", "b", "c", "d"].map(|id| entry(id, 0))).await;
    let ids = ["a", "e", "f", "g", "h"];
    let second = fixture.enter(&ids.map(|id| entry(id, 0))).await;
    assert_eq!(second.replies[0], EntryReply::Seen(taken(&first, 0).clone()));
    for (i, id) in ["a", "b", "c", "d"].into_iter().enumerate() {
        assert_eq!(&look_up(&fixture, id).await, taken(&first, i));
    }
    for (i, id) in ids.into_iter().enumerate().skip(1) {
        assert_eq!(&look_up(&fixture, id).await, taken(&second, i));
    }
    fixture.assert_rebuilds().await;
}

/// Which entries of the call were repeats is in the record that they share, before and after the run.
#[tokio::test]
async fn an_entry_of_a_run_between_repeats_is_found_with_its_number() {
    let fixture = JackpotFixture::with(&json!({})).await;
    let old = fixture.take("old", 0).await;
    let ids = ["old", "won", "a", "b", "c", "d", "again", "old"];
    let entries = ids.map(|id| entry(id, u32::from(["won", "again"].contains(&id))));
    let entered = fixture.enter(&entries).await;
    for place in [0, 7] {
        assert_eq!(entered.replies[place], EntryReply::Seen(old.clone()));
    }
    for (place, id) in ids.into_iter().enumerate().take(7).skip(1) {
        let record = taken(&entered, place);
        assert_eq!(record.sequence, place as u64 + 1);
        assert_eq!(&look_up(&fixture, id).await, record);
        let raw = raw_record(&fixture, id).await.expect("kept");
        assert_eq!(raw.starts_with(':'), (2..6).contains(&place), "{raw}");
    }
    fixture.assert_rebuilds().await;
}

/// A run after a winner would share a record with the call that has its name.
#[tokio::test]
async fn a_run_whose_call_has_the_name_of_an_earlier_one_is_taken_entry_by_entry() {
    let fixture = JackpotFixture::with(&json!({})).await;
    let first = fixture.enter(&["a", "b", "c", "d"].map(|id| entry(id, 0))).await;
    let ids = ["a", "won", "e", "f", "g", "h"];
    let second = fixture.enter(&ids.map(|id| entry(id, u32::from(id == "won")))).await;
    for (i, id) in ["a", "b", "c", "d"].into_iter().enumerate() {
        assert_eq!(&look_up(&fixture, id).await, taken(&first, i));
    }
    for (i, id) in ids.into_iter().enumerate().skip(1) {
        assert_eq!(&look_up(&fixture, id).await, taken(&second, i));
        assert!(!raw_record(&fixture, id).await.expect("kept").starts_with(':'), "{id}");
    }
    fixture.assert_rebuilds().await;
}

/// Earlier versions wrote events of several fields.
#[tokio::test]
async fn an_entry_is_found_in_an_event_of_several_fields() {
    let fixture = JackpotFixture::with(&json!({})).await;
    let entered = fixture.enter(&["a", "b", "c", "d"].map(|id| entry(id, 0))).await;
    fixture.rewrite(|_| {}).await;
    assert_eq!(&look_up(&fixture, "c").await, taken(&entered, 2));
}

#[tokio::test]
async fn an_entry_whose_call_is_lost_is_damaged_alone() {
    let fixture = JackpotFixture::with(&json!({})).await;
    fixture.enter(&["a", "b", "c", "d"].map(|id| entry(id, 0))).await;
    let call = raw_record(&fixture, "a").await.expect("kept");
    let seen = fixture.operate.views.registry.known(&fixture.id).keys.seen_a.clone();
    let call = call.split(' ').next().expect("a first part").to_owned();
    fixture.raw::<i64>(redis::cmd("HDEL").arg(seen).arg(call)).await;
    let entered = fixture.enter(&[entry("b", 0), entry("new", 0)]).await;
    assert!(matches!(&entered.replies[0], EntryReply::Damaged(_)), "{entered:?}");
    assert_eq!(taken(&entered, 1).sequence, 5);
}

#[tokio::test]
async fn a_run_that_does_not_fit_is_taken_as_far_as_it_goes() {
    let fixture = JackpotFixture::with(&json!({})).await;
    fixture.fund("f", MAX_MINOR - 3).await;
    let entered = fixture.enter(&["a", "b", "c", "d", "e"].map(|id| entry(id, 0))).await;
    assert_eq!(entered.refusal, Some(Refusal::TooLarge));
    assert_eq!(taken(&entered, 2).contributions[0].pool, MAX_MINOR);
    assert_eq!(entered.replies[3..], [EntryReply::NotTaken, EntryReply::NotTaken]);
    fixture.assert_rebuilds().await;
}

/// A run begins after a paid claim. When nothing follows the claim, the event must not contain the run.
#[tokio::test]
async fn a_refusal_right_behind_a_paid_claim_leaves_no_run() {
    let fixture = JackpotFixture::with(&json!({})).await;
    fixture.fund("f", MAX_MINOR - 2).await;
    let entered = fixture.enter(&[entry("a", 0), entry("b", 1), entry("c", 0)]).await;
    assert_eq!(paid(taken(&entered, 1)), Some((MAX_MINOR, 1)));
    assert_eq!(
        (&entered.replies[2], entered.refusal),
        (&EntryReply::NotTaken, Some(Refusal::TooLarge))
    );
    fixture.assert_rebuilds().await;
    let nothing = fixture.enter(&["c", "d", "e", "f"].map(|id| entry(id, 0))).await;
    assert_eq!(nothing.refusal, Some(Refusal::TooLarge));
    assert!(nothing.replies.iter().all(|reply| *reply == EntryReply::NotTaken));
}

//! Epochs over restores and installations: no draw is foreseen, and nothing of a lost future is mistaken for what came
//! after.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jackpot::jackpot::scripts::EntryReply;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::derived::payout_id;
use jackpot_core::jackpot::record::{Record, State};

use crate::jackpot::by_hand;
use crate::jackpot::fixture::{JackpotFixture, entry, operator};
use crate::jackpot::ledger::fixture::JackpotLedger;
use crate::support::prelude::*;

on_both_databases!(
    a_restore_never_opens_an_epoch_whose_seed_is_known,
    an_entry_that_was_pending_at_a_restore_is_finished_under_its_own_epoch,
    a_payout_of_a_lost_future_keeps_its_id_to_itself,
    an_event_of_another_history_stops_the_stream,
);

/// The ledger is an older one, in which epoch 1 is open. Its seed, and those of the epochs after it, were published
/// since.
async fn a_restore_never_opens_an_epoch_whose_seed_is_known(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    let id = &fixture.id;
    fixture.take("kept", 0).await;
    fixture.project().await;
    for _ in 0..3 {
        fixture
            .operate
            .end_epoch(id, "a test".to_owned(), &operator())
            .await
            .expect("done");
    }
    let before = fixture.operate.epochs(id).await.expect("readable");
    let known: BTreeSet<_> = before.iter().map(|epoch| epoch.opening.commitment.clone()).collect();
    assert_eq!((before.len(), known.len()), (4, 4));
    for restores in 1..=3_u64 {
        fixture.wipe().await;
        fixture.heal().await;
        let (_, view) = fixture.fresh().await;
        assert!(
            !known.contains(&view.commitment),
            "epoch {} is open again, and its seed is public",
            view.epoch
        );
        assert_eq!(view.restores, restores);
        assert!(view.epoch > 1_700_000_000, "{}", view.epoch);
        assert_eq!(fixture.take(&format!("new{restores}"), 0).await.epoch, view.epoch);
        let epochs = fixture.operate.epochs(id).await.expect("readable");
        let open = epochs.iter().filter(|epoch| epoch.closed_ms.is_none());
        assert_eq!(open.map(|epoch| epoch.epoch).collect::<Vec<_>>(), [view.epoch]);
        assert!(epochs.is_sorted_by(|a, b| a.epoch < b.epoch));
        fixture.project().await;
    }
    fixture
        .operate
        .end_epoch(id, "a test".to_owned(), &operator())
        .await
        .expect("done");
    fixture.project().await;
    let epochs = jackpot::jackpot::kept::epochs(&fixture.ledger.sql, id)
        .await
        .expect("epochs");
    let nonces: BTreeSet<_> = epochs.all.iter().map(|epoch| &epoch.opening.nonce).collect();
    assert_eq!(nonces.len(), 5);
    let (open, closed) = epochs.all.split_last().expect("epochs");
    assert_eq!(open.epoch, closed[3].epoch + 1);
    assert_eq!(epochs.seed(open.epoch), None);
    for epoch in closed {
        let seed = epoch.opening.seed(&fixture.operate.views.secrets, id, epoch.epoch);
        let seed = seed.expect("its secret is known");
        assert_eq!(seed.commitment(), epoch.opening.commitment);
        assert_eq!(epochs.seed(epoch.epoch), Some(&*seed.reveal()), "epoch {}", epoch.epoch);
    }
}

async fn an_entry_that_was_pending_at_a_restore_is_finished_under_its_own_epoch(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    let id = &fixture.id;
    assert!(matches!(fixture.take("owed", 1).await.state, State::Pending { .. }));
    fixture.project().await;
    let (_, before) = fixture.fresh().await;
    fixture.wipe().await;
    fixture.heal().await;
    fixture.project().await;
    let (_, view) = fixture.fresh().await;
    let again = fixture.enter(&[entry("owed", 1)]).await;
    let [EntryReply::Seen(record)] = &again.replies[..] else {
        panic!("{again:?}")
    };
    assert_eq!(record.epoch, 1);
    let seed = fixture.operate.views.seed_of(id, &view, 1).await.expect("known");
    assert_eq!(seed.commitment(), before.commitment);
    let epochs = jackpot::jackpot::kept::epochs(&fixture.ledger.sql, id)
        .await
        .expect("epochs");
    assert!(
        epochs.all[0].closed_ms.is_some() && epochs.seed(1).is_none(),
        "its seed is still needed"
    );
    assert!(fixture.finish("owed", 1).await.done_now);
    fixture.project().await;
    let epochs = jackpot::jackpot::kept::epochs(&fixture.ledger.sql, id)
        .await
        .expect("epochs");
    assert_eq!(epochs.seed(1), Some(&*seed.reveal()));
}

fn paid(fixture: &JackpotFixture, entry_id: &str, record: &Record) -> String {
    let State::Paid { payout, .. } = &record.state else {
        panic!("{record:?}")
    };
    payout_id(&fixture.id, &payout.history, entry_id, record.sequence)
}

async fn a_payout_of_a_lost_future_keeps_its_id_to_itself(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    fixture.fund("f", 1_000).await;
    let kept = fixture.take("kept", 3).await;
    fixture.project().await;
    let lost = fixture.take("later", 3).await;
    fixture.wipe().await;
    fixture.heal().await;
    let again = fixture.enter(&[entry("kept", 3)]).await;
    let [EntryReply::Seen(repeated)] = &again.replies[..] else {
        panic!("{again:?}")
    };
    assert_eq!(*repeated, kept, "a repeat is answered as before");
    let anew = fixture.take("later", 3).await;
    assert_eq!(anew.sequence, lost.sequence);
    let ids = [("kept", &kept), ("later", &lost), ("later", &anew)].map(|(id, record)| paid(&fixture, id, record));
    assert_ne!(
        ids[1], ids[2],
        "the same entry, sequence and claim order, in another history"
    );
    fixture.project().await;
    let rows = fixture.table("payouts", "payout_id history event_id").await;
    let mut histories = BTreeSet::new();
    for row in &rows {
        let receipt = fixture.receipt(&row[0]).await;
        assert!(
            row[2].starts_with(&format!("jackpot:{}:{}:", fixture.id, row[1])),
            "{row:?}"
        );
        // The block of entries is number 0.
        assert!(row[2].ends_with(":1"), "{row:?}");
        assert_eq!((&receipt.history, &receipt.event_id), (&row[1], &row[2]));
        histories.insert(row[1].clone());
    }
    let in_sql: BTreeSet<_> = rows.iter().map(|row| row[0].clone()).collect();
    assert_eq!(in_sql, BTreeSet::from([ids[0].clone(), ids[2].clone()]));
    assert_eq!(histories.len(), 2);
}

/// An event of another history stops the stream, as the same number with another content does.
async fn an_event_of_another_history_stops_the_stream(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    let id = &fixture.id;
    fixture.take("one", 0).await;
    fixture.project().await;
    let known = fixture.operate.views.registry.known(id);
    let mut other = by_hand::set(&known.keys.state, "history", "00000000000000ff");
    fixture.raw::<()>(&mut other).await;
    fixture.take("two", 0).await;
    fixture.project().await;
    assert_eq!(fixture.n().await, 2);
    let stopped = fixture.place("stopped").await;
    stopped.says("it belongs to another history");
    let suspended = fixture.snapshot().await.status;
    assert_eq!(suspended.as_str(), "suspended");
}

#[tokio::test]
async fn two_installations_with_one_secret_and_one_id_share_no_seed() {
    let id = Id::parse("twin").expect("an id");
    let mut commitments = BTreeSet::new();
    for _ in 0..2 {
        let redis = Arc::new(TestRedis::own(&[]).await);
        let fixture = JackpotFixture::named(redis, id.clone()).await;
        fixture.define(&json!({})).await;
        fixture
            .operate
            .end_epoch(&id, "a test".to_owned(), &operator())
            .await
            .expect("done");
        for epoch in fixture.operate.epochs(&id).await.expect("readable") {
            assert_eq!(epoch.opening.secret_id, "abc44bcf0634a438");
            commitments.insert(epoch.opening.commitment);
        }
    }
    assert_eq!(commitments.len(), 4);
}

/// Each restore waits for a second to pass. One after the other, the restores would take as many seconds as there are
/// jackpots.
#[tokio::test]
async fn many_jackpots_that_are_lost_together_wait_for_one_second_together() {
    const JACKPOTS: usize = 12;
    let fixture = JackpotLedger::with(LedgerDb::sqlite(), &json!({})).await;
    let mut ids = vec![fixture.id.clone()];
    for _ in 1..JACKPOTS {
        let other = JackpotFixture::on(Arc::clone(&fixture.redis), &json!({})).await;
        ids.push(other.id.clone());
    }
    let index = fixture.operate.views.registry.add_to_index(&ids);
    index.await.expect("named");
    fixture.project().await;
    fixture.wipe().await;
    let began_at = Instant::now();
    fixture.heal().await;
    let took = began_at.elapsed();
    for id in &ids {
        fixture.operate.views.refresh(id).await.expect("rebuilt");
    }
    assert!(took < Duration::from_secs(JACKPOTS as u64 / 2), "{took:?}");
}

//! Reversals whose events, or those of their entries, the ledger does not have: when Redis is lost, and when it is not.

use std::cell::Cell;

use jackpot::jackpot::error::PlayError;
use jackpot::jackpot::ledger::lookup::entry_taken;
use jackpot::jackpot::reverse::{ReversalWish, Round};
use jackpot::jackpot::scripts::lookup;
use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;

use crate::jackpot::fixture::operator;
use crate::jackpot::ledger::fixture::JackpotLedger;
use crate::support::prelude::*;

on_both_databases!(
    what_redis_lost_of_a_reversal_is_taken_back_once,
    an_entry_that_sql_does_not_have_is_reversed,
    a_restore_between_look_and_script_takes_nothing_back,
);

async fn given(db: LedgerDb) -> JackpotLedger {
    JackpotLedger::with(db, &json!({"contribution": {"fixed": 3}})).await
}

/// Finds an entry as the API does: in Redis, or in the ledger once its event has left the stream.
async fn look(fixture: &JackpotLedger, entry_id: &str) -> Result<Round, PlayError> {
    let found = lookup(&fixture.store, &fixture.keys, Mark::ZERO, entry_id).await;
    let found = found?.ok_or_else(|| PlayError::EntryNotFound(entry_id.to_owned()))?;
    let (sent, record, entered_ms) =
        if let (Some(sent), Some(record), Some(at_ms)) = (found.sent, found.record, found.at_ms) {
            (sent, record, at_ms)
        } else {
            let taken = entry_taken(&fixture.ledger.sql, &fixture.id, entry_id, found.sequence).await;
            let taken = taken.expect("in the ledger");
            (taken.sent, taken.record, taken.at_ms)
        };
    Ok(Round {
        sequence: record.sequence,
        entered_ms,
        stake: sent.stake,
        source: sent.source,
        version: record.version,
        state: record.state,
    })
}

/// Whether this call, and no earlier one, took the entry's three units back.
async fn reverse(fixture: &JackpotLedger, entry_id: &str, reversal_id: &str) -> Result<bool, PlayError> {
    let round = look(fixture, entry_id).await?;
    let (now, record) = fixture.reverse_round(entry_id, reversal_id, round).await?;
    assert_eq!((record.tiers[0].amount, record.tiers[0].uncovered), (3, 0));
    Ok(now)
}

/// Redis loses all, and is rebuilt from what the ledger has.
async fn lose(fixture: &JackpotLedger) {
    fixture.wipe().await;
    fixture.heal().await;
}

async fn what_redis_lost_of_a_reversal_is_taken_back_once(db: LedgerDb) {
    let fixture = given(db).await;
    for entry in ["a", "b"] {
        fixture.take(entry, 0).await;
    }
    fixture.project().await;
    assert!(reverse(&fixture, "a", "r1").await.expect("reversed"));
    lose(&fixture).await;
    assert_eq!(fixture.money().await, (6, 0, 0), "it never was");
    assert!(reverse(&fixture, "a", "r1").await.expect("reversed"));
    assert!(!reverse(&fixture, "a", "r1").await.expect("done before"));
    assert_eq!(fixture.money().await, (3, 0, 0));
    fixture.project().await;
    lose(&fixture).await;
    assert!(!reverse(&fixture, "a", "r1").await.expect("done before"));
    let other = reverse(&fixture, "a", "r2").await;
    assert!(matches!(other, Err(PlayError::EntryReversed { .. })), "{other:?}");
    assert_eq!(fixture.money().await, (3, 0, 0));
    fixture.project().await;
    fixture.assert_complete().await;
}

async fn an_entry_that_sql_does_not_have_is_reversed(db: LedgerDb) {
    let fixture = given(db).await;
    fixture.project().await;
    let before = fixture.n().await;
    fixture.take("a", 0).await;
    assert!(reverse(&fixture, "a", "r1").await.expect("reversed"));
    assert_eq!(fixture.n().await, before);
    fixture.project().await;
    fixture.assert_complete().await;
    lose(&fixture).await;
    assert!(!reverse(&fixture, "a", "r1").await.expect("done before"));
    assert_eq!(fixture.money().await, (0, 0, 0));
}

/// The restore does not have the entry, and gives its number to another one, which is reversed under the same id.
async fn a_restore_between_look_and_script_takes_nothing_back(db: LedgerDb) {
    let fixture = given(db).await;
    fixture.project().await;
    fixture.take("lost", 0).await;
    let looks = Cell::new(0);
    let wish = ReversalWish {
        entry_id: "lost",
        reversal_id: &Id::parse("r1").expect("an id"),
        reason: "a test",
        by: &operator(),
        operates: true,
    };
    let reversed = fixture.operate.reverse(&fixture.id, &wish, async || {
        looks.set(looks.get() + 1);
        let found = look(&fixture, "lost").await;
        if looks.get() == 1 {
            lose(&fixture).await;
            assert_eq!(fixture.take("other", 0).await.sequence, 1);
            assert!(reverse(&fixture, "other", "r1").await.expect("reversed"));
        }
        found.map(Some)
    });
    let reversed = reversed.await;
    assert!(matches!(reversed, Err(PlayError::EntryNotFound(_))), "{reversed:?}");
    assert_eq!((looks.get(), fixture.money().await), (2, (0, 0, 0)));
    fixture.project().await;
    fixture.assert_complete().await;
}

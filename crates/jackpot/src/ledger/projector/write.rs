//! Writes the tables of jackpots, in the transaction of their events.

use super::Jackpots;
use super::rows::Rows;
use super::{cycles, daily, moves, sources, steps, transfers};
use jackpot_core::ids::Id;
use jackpot_kernel::ledger::projector::batch::Batch;
use jackpot_kernel::sql::{Tx, cells, insert, int};

/// Writes all of them.
pub(super) async fn write(tx: &mut Tx<'_>, batches: &[&Batch<Jackpots>]) -> Result<(), sqlx::Error> {
    payouts(tx, batches).await?;
    coupons(tx, batches).await?;
    epochs(tx, batches).await?;
    adjustments(tx, batches).await?;
    sources::write(tx, batches).await?;
    cycles::write(tx, batches).await?;
    transfers::write(tx, batches).await?;
    moves::write(tx, batches).await?;
    let ended = batches.iter().map(|batch| (&batch.id, &batch.rows.steps));
    steps::write(tx, ended).await?;
    let runs = batches
        .iter()
        .filter_map(|batch| Some((&batch.id, batch.rows.daily.as_ref()?)));
    daily::write(tx, runs).await?;
    changes(tx, batches).await
}

async fn epochs(tx: &mut Tx<'_>, batches: &[&Batch<Jackpots>]) -> Result<(), sqlx::Error> {
    let rows = all(batches, |rows| &rows.epochs).map(|(jackpot, (epoch, opening, opened_ms))| {
        cells! {
            jackpot_id: jackpot,
            epoch: *epoch,
            commitment: &opening.commitment,
            nonce: &opening.nonce,
            secret_id: &opening.secret_id,
            opened_ms: *opened_ms,
            closed_ms: 0,
            closed_n: 0,
        }
    });
    insert(tx, "epochs", rows).await
}

async fn adjustments(tx: &mut Tx<'_>, batches: &[&Batch<Jackpots>]) -> Result<(), sqlx::Error> {
    let rows = all(batches, |rows| &rows.adjustments).map(|(jackpot, (id, n, at_ms, digest))| {
        cells! { jackpot_id: jackpot, adjustment_id: id, n: *n, at_ms: *at_ms, digest: digest }
    });
    insert(tx, "adjustments", rows).await
}

/// The rows of one table in all batches, each with its jackpot.
pub(super) fn all<'a, R: 'a>(
    batches: &'a [&'a Batch<Jackpots>],
    of: impl Fn(&'a Rows) -> &'a [R],
) -> impl Iterator<Item = (&'a Id, &'a R)> {
    let of_batch = move |batch: &'a &'a Batch<Jackpots>| of(&batch.rows).iter().map(move |row| (&batch.id, row));
    batches.iter().flat_map(of_batch)
}

async fn payouts(tx: &mut Tx<'_>, batches: &[&Batch<Jackpots>]) -> Result<(), sqlx::Error> {
    let rows = all(batches, |rows| &rows.payouts).map(|(jackpot, row)| {
        let receipt = &row.receipt;
        cells! {
            payout_id: &receipt.payout_id,
            jackpot_id: jackpot,
            claim_order: receipt.claim_order,
            n: row.n,
            sequence: row.sequence,
            entry_id: &receipt.entry_id,
            player_id: &receipt.player_id,
            rank: row.rank,
            tier: &receipt.tier,
            amount: receipt.amount.get(),
            currency: receipt.currency.as_str(),
            pool_before: receipt.pool_before.get(),
            pool_after: receipt.pool_after.get(),
            paid_at_ms: row.paid_at_ms,
            history: &receipt.history,
            event_id: &receipt.event_id,
            key_id: &receipt.key_id,
            signature: &receipt.signature,
        }
    });
    insert(tx, "payouts", rows).await
}

/// Changes rows that are there, perhaps since this very transaction.
async fn changes(tx: &mut Tx<'_>, batches: &[&Batch<Jackpots>]) -> Result<(), sqlx::Error> {
    for batch in batches {
        for version in &batch.rows.dropped_versions {
            sqlx::query("UPDATE definitions SET kept = 0 WHERE kind = 'jackpot' AND id = $1 AND version = $2")
                .bind(batch.id.as_str())
                .bind(int(*version))
                .execute(&mut **tx)
                .await?;
        }
        for (epoch, n, at_ms) in &batch.rows.closed_epochs {
            sqlx::query(
                "UPDATE epochs SET closed_ms = $1, closed_n = $2 WHERE jackpot_id = $3 AND epoch = $4 AND closed_n = 0",
            )
            .bind(*at_ms)
            .bind(int(*n))
            .bind(batch.id.as_str())
            .bind(int(*epoch))
            .execute(&mut **tx)
            .await?;
        }
    }
    Ok(())
}

async fn coupons(tx: &mut Tx<'_>, batches: &[&Batch<Jackpots>]) -> Result<(), sqlx::Error> {
    let rows = all(batches, |rows| &rows.coupons).map(|(jackpot, row)| {
        cells! {
            jackpot_id: jackpot,
            sequence: row.sequence,
            n: row.n,
            entry_id: &row.entry_id,
            player_id: &row.player_id,
            rank: row.rank,
            coupon_id: &row.coupon_id,
            coupon_sequence: row.coupon_sequence,
            code: &row.code,
            issued_at_ms: row.issued_at_ms,
        }
    });
    insert(tx, "coupon_prizes", rows).await
}

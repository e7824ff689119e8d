//! Writes the tables of jackpots, in the transaction of their events.

use super::Jackpots;
use super::rows::Rows;
use super::{cycles, daily, moves, sources, steps, transfers};
use jackpot_kernel::ledger::projector::batch::Batch;
use jackpot_kernel::ledger::projector::write::{insert, int};
use jackpot_kernel::sql::{Tx, Value};

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
        [
            jackpot,
            Value::Int(int(*epoch)),
            Value::Text(&opening.commitment),
            Value::Text(&opening.nonce),
            Value::Text(&opening.secret_id),
            Value::Int(*opened_ms),
            Value::Int(0),
            Value::Int(0),
        ]
    });
    let columns = [
        "jackpot_id",
        "epoch",
        "commitment",
        "nonce",
        "secret_id",
        "opened_ms",
        "closed_ms",
        "closed_n",
    ];
    insert(tx, "epochs", &columns, rows).await
}

async fn adjustments(tx: &mut Tx<'_>, batches: &[&Batch<Jackpots>]) -> Result<(), sqlx::Error> {
    let rows = all(batches, |rows| &rows.adjustments).map(|(jackpot, (id, n, at_ms, digest))| {
        let (id, n) = (Value::Text(id), Value::Int(int(*n)));
        [jackpot, id, n, Value::Int(*at_ms), Value::Text(digest)]
    });
    let columns = ["jackpot_id", "adjustment_id", "n", "at_ms", "digest"];
    insert(tx, "adjustments", &columns, rows).await
}

/// The rows of one table in all batches, each with its jackpot.
pub(super) fn all<'a, R: 'a>(
    batches: &'a [&'a Batch<Jackpots>],
    of: impl Fn(&'a Rows) -> &'a [R],
) -> impl Iterator<Item = (Value<'a>, &'a R)> {
    let of_batch = move |batch: &'a &'a Batch<Jackpots>| {
        let jackpot = Value::Text(batch.id.as_str());
        of(&batch.rows).iter().map(move |row| (jackpot, row))
    };
    batches.iter().flat_map(of_batch)
}

async fn payouts(tx: &mut Tx<'_>, batches: &[&Batch<Jackpots>]) -> Result<(), sqlx::Error> {
    let rows = all(batches, |rows| &rows.payouts).map(|(jackpot, row)| {
        let receipt = &row.receipt;
        [
            Value::Text(&receipt.payout_id),
            jackpot,
            Value::Int(int(receipt.claim_order)),
            Value::Int(int(row.n)),
            Value::Int(int(row.sequence)),
            Value::Text(&receipt.entry_id),
            Value::Text(receipt.player_id.as_str()),
            Value::Int(i64::from(row.rank)),
            Value::Text(receipt.tier.as_str()),
            Value::Int(int(receipt.amount.get())),
            Value::Text(receipt.currency.as_str()),
            Value::Int(int(receipt.pool_before.get())),
            Value::Int(int(receipt.pool_after.get())),
            Value::Int(row.paid_at_ms),
            Value::Text(&receipt.history),
            Value::Text(&receipt.event_id),
            Value::Text(&receipt.key_id),
            Value::Text(&receipt.signature),
        ]
    });
    let columns = [
        "payout_id",
        "jackpot_id",
        "claim_order",
        "n",
        "sequence",
        "entry_id",
        "player_id",
        "rank",
        "tier",
        "amount",
        "currency",
        "pool_before",
        "pool_after",
        "paid_at_ms",
        "history",
        "event_id",
        "key_id",
        "signature",
    ];
    insert(tx, "payouts", &columns, rows).await
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
        [
            jackpot,
            Value::Int(int(row.sequence)),
            Value::Int(int(row.n)),
            Value::Text(&row.entry_id),
            Value::Text(row.player_id.as_str()),
            Value::Int(i64::from(row.rank)),
            Value::Text(row.coupon_id.as_str()),
            Value::Int(int(row.coupon_sequence)),
            Value::Text(&row.code),
            Value::Int(row.issued_at_ms),
        ]
    });
    let columns = [
        "jackpot_id",
        "sequence",
        "n",
        "entry_id",
        "player_id",
        "rank",
        "coupon_id",
        "coupon_sequence",
        "code",
        "issued_at_ms",
    ];
    insert(tx, "coupon_prizes", &columns, rows).await
}

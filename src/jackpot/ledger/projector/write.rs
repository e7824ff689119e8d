//! Writes the tables of jackpots, in the transaction of their events.

use super::Jackpots;
use super::rows::{CouponRow, PayoutRow};
use crate::ledger::projector::batch::Batch;
use crate::ledger::projector::write::{insert, int};
use crate::sql::{Tx, Value};

/// Writes all of them.
pub(super) async fn write(tx: &mut Tx<'_>, batches: &[&Batch<Jackpots>]) -> Result<(), sqlx::Error> {
    postings(tx, batches).await?;
    tables(tx, batches).await?;
    changes(tx, batches).await
}

async fn postings(tx: &mut Tx<'_>, batches: &[&Batch<Jackpots>]) -> Result<(), sqlx::Error> {
    let rows = batches
        .iter()
        .flat_map(|b| b.rows.postings.iter().map(|row| (&b.id, row)));
    let rows = rows.map(|(jackpot, (n, at_ms, line, posting))| {
        [
            Value::Text(jackpot.as_str()),
            Value::Int(*at_ms),
            Value::Int(int(*n)),
            Value::Int(int(*line as u64)),
            Value::Text(posting.tier.as_str()),
            Value::Text(posting.account.as_str()),
            Value::Int(posting.amount),
            Value::Int(posting.micro),
        ]
    });
    let columns = ["jackpot_id", "at_ms", "n", "line", "tier", "account", "amount", "micro"];
    insert(tx, "postings", &columns, rows).await
}

/// Writes the rows that are only ever added.
async fn tables(tx: &mut Tx<'_>, batches: &[&Batch<Jackpots>]) -> Result<(), sqlx::Error> {
    for batch in batches {
        let (jackpot, rows) = (Value::Text(batch.id.as_str()), &batch.rows);
        payouts(tx, jackpot, &rows.payouts).await?;
        coupons(tx, jackpot, &rows.coupons).await?;
        let epochs = rows.epochs.iter().map(|(epoch, opening, opened_ms)| {
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
        insert(tx, "epochs", &columns, epochs).await?;
        let adjustments = rows.adjustments.iter().map(|(id, n, at_ms, digest)| {
            let (id, n) = (Value::Text(id), Value::Int(int(*n)));
            [jackpot, id, n, Value::Int(*at_ms), Value::Text(digest)]
        });
        let columns = ["jackpot_id", "adjustment_id", "n", "at_ms", "digest"];
        insert(tx, "adjustments", &columns, adjustments).await?;
    }
    Ok(())
}

async fn payouts(tx: &mut Tx<'_>, jackpot: Value<'_>, rows: &[PayoutRow]) -> Result<(), sqlx::Error> {
    let rows = rows.iter().map(|row| {
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
            Value::Text(&receipt.currency),
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
            sqlx::query("UPDATE epochs SET closed_ms = $1, closed_n = $2 WHERE jackpot_id = $3 AND epoch = $4")
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

async fn coupons(tx: &mut Tx<'_>, jackpot: Value<'_>, rows: &[CouponRow]) -> Result<(), sqlx::Error> {
    let rows = rows.iter().map(|row| {
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

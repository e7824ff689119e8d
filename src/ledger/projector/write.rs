//! One transaction: the cursor of each batch, moved only if it still stands where the batch begins, and its rows.

use sqlx::Any;

use super::batch::Batch;
use super::rows::{CouponRow, Cursor, PayoutRow};
use crate::ids::Id;
use crate::ledger::audit::Action;
use crate::ledger::reconcile;
use crate::ledger::sql::{Sql, Tx, Value, insert_rows};

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// Another holder has moved this cursor.
    #[error("jackpot '{0}' is read by another instance now")]
    Moved(Id),
    /// The database.
    #[error("{0}")] // not transparent: whoever asks whether the database is down must find it as a source
    Sql(#[from] sqlx::Error),
}

/// Writes the batches, all or none. Each comes with the token of its lease.
pub async fn commit(sql: &Sql, batches: &[(&Batch, i64)]) -> Result<(), WriteError> {
    sql.writing(commit_all(sql, batches)).await
}

async fn commit_all(sql: &Sql, batches: &[(&Batch, i64)]) -> Result<(), WriteError> {
    let mut tx = sql.begin().await?;
    for (batch, token) in batches {
        move_cursor(&mut tx, batch, *token).await?;
    }
    let batches: Vec<&Batch> = batches.iter().map(|(batch, _)| *batch).collect();
    record(&mut tx, &batches).await?;
    tables(&mut tx, &batches).await?;
    changes(&mut tx, &batches).await?;
    for batch in batches {
        if let Some((n, at_ms, report)) = &batch.rows.report {
            reconcile::store::save(&mut tx, &batch.jackpot, (*n, *at_ms), report).await?;
        }
    }
    tx.commit().await?;
    Ok(())
}

/// Compare and set on place, hash and token.
async fn move_cursor(tx: &mut Tx<'_>, batch: &Batch, token: i64) -> Result<(), WriteError> {
    let Cursor { n, hash, stream_id } = &batch.to;
    let books = serde_json::to_string(&batch.books).expect("plain data is JSON");
    let moved = sqlx::query::<Any>(
        "UPDATE jackpots SET n = $1, hash = $2, stream_id = $3, restores = $4, books = $5, indexed_n = $6, stopped = '' \
         WHERE jackpot_id = $7 AND n = $8 AND hash = $9 AND indexed_n = $10 AND lease_token = $11",
    )
    .bind(int(*n))
    .bind(hash.to_string())
    .bind(stream_id.as_str())
    .bind(int(batch.books.restores))
    .bind(books)
    .bind(int(batch.indexed_to))
    .bind(batch.jackpot.as_str())
    .bind(int(batch.from.n))
    .bind(batch.from.hash.to_string())
    .bind(int(batch.indexed_n))
    .bind(token)
    .execute(&mut **tx)
    .await?;
    if moved.rows_affected() == 1 {
        Ok(())
    } else {
        Err(WriteError::Moved(batch.jackpot.clone()))
    }
}

/// Events and postings.
async fn record(tx: &mut Tx<'_>, batches: &[&Batch]) -> Result<(), sqlx::Error> {
    let mut hashes = Vec::new();
    let events: Vec<_> = batches
        .iter()
        .flat_map(|b| b.rows.events.iter().map(|e| (&b.jackpot, e)))
        .collect();
    hashes.extend(events.iter().map(|(_, event)| event.cursor.hash.to_string()));
    let rows = events.iter().zip(&hashes).map(|((jackpot, event), hash)| {
        [
            Value::Text(jackpot.as_str()),
            Value::Int(int(event.cursor.n)),
            Value::Text(&event.cursor.stream_id),
            Value::Int(event.at_ms),
            Value::Text(&event.kind),
            Value::Int(int(event.last_sequence)),
            Value::Text(hash),
            Value::Text(&event.body),
        ]
    });
    let columns = [
        "jackpot_id",
        "n",
        "stream_id",
        "at_ms",
        "type",
        "last_sequence",
        "hash",
        "body",
    ];
    insert(tx, "events", &columns, rows).await?;

    let rows = batches
        .iter()
        .flat_map(|b| b.rows.postings.iter().map(|row| (&b.jackpot, row)));
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

/// What else is only added.
async fn tables(tx: &mut Tx<'_>, batches: &[&Batch]) -> Result<(), sqlx::Error> {
    for batch in batches {
        let (jackpot, rows) = (Value::Text(batch.jackpot.as_str()), &batch.rows);
        payouts(tx, jackpot, &rows.payouts).await?;
        actions(tx, jackpot, &rows.actions).await?;
        coupons(tx, jackpot, &rows.coupons).await?;
        let definitions = rows.definitions.iter().map(|(version, n, at_ms, json)| {
            let (version, n) = (Value::Int(int(*version)), Value::Int(int(*n)));
            [
                jackpot,
                version,
                n,
                Value::Int(*at_ms),
                Value::Text(json),
                Value::Int(1),
            ]
        });
        let columns = ["jackpot_id", "version", "n", "at_ms", "json", "kept"];
        insert(tx, "definitions", &columns, definitions).await?;
        let epochs = rows.epochs.iter().map(|(epoch, commitment, opened_ms)| {
            let (epoch, commitment) = (Value::Int(int(*epoch)), Value::Text(commitment));
            [
                jackpot,
                epoch,
                commitment,
                Value::Int(*opened_ms),
                Value::Int(0),
                Value::Int(0),
            ]
        });
        let columns = [
            "jackpot_id",
            "epoch",
            "commitment",
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
        "event_id",
        "key_id",
        "signature",
    ];
    insert(tx, "payouts", &columns, rows).await
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

async fn actions(tx: &mut Tx<'_>, jackpot: Value<'_>, rows: &[(u64, i64, Action)]) -> Result<(), sqlx::Error> {
    let rows = rows.iter().map(|(n, at_ms, action)| {
        [
            jackpot,
            Value::Int(int(*n)),
            Value::Int(*at_ms),
            Value::Text(&action.who),
            Value::Text(action.action),
            Value::Text(&action.target),
            Value::Text(&action.before),
            Value::Text(&action.after),
            Value::Text(&action.reason),
            Value::Text(&action.request_id),
        ]
    });
    let columns = [
        "jackpot_id",
        "n",
        "at_ms",
        "who",
        "action",
        "target",
        "before",
        "after",
        "reason",
        "request_id",
    ];
    insert(tx, "audit", &columns, rows).await
}

async fn insert<'a, const N: usize>(
    tx: &mut Tx<'_>,
    table: &str,
    columns: &[&str; N],
    rows: impl Iterator<Item = [Value<'a>; N]>,
) -> Result<(), sqlx::Error> {
    insert_rows(tx, table, columns, &rows.flatten().collect::<Vec<_>>()).await
}

/// What changes rows that are there, perhaps since this very transaction.
async fn changes(tx: &mut Tx<'_>, batches: &[&Batch]) -> Result<(), sqlx::Error> {
    for batch in batches {
        for version in &batch.rows.dropped_versions {
            sqlx::query("UPDATE definitions SET kept = 0 WHERE jackpot_id = $1 AND version = $2")
                .bind(batch.jackpot.as_str())
                .bind(int(*version))
                .execute(&mut **tx)
                .await?;
        }
        for (epoch, n, at_ms) in &batch.rows.closed_epochs {
            sqlx::query("UPDATE epochs SET closed_ms = $1, closed_n = $2 WHERE jackpot_id = $3 AND epoch = $4")
                .bind(*at_ms)
                .bind(int(*n))
                .bind(batch.jackpot.as_str())
                .bind(int(*epoch))
                .execute(&mut **tx)
                .await?;
        }
    }
    Ok(())
}

/// Event numbers, sequences and amounts are all below 2^53.
pub(super) fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

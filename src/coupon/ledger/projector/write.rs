//! Writes the tables of coupons, in the transaction of their events.

use sqlx::Any;

use super::Coupons;
use super::batch::VoidRow;
use crate::ledger::projector::batch::Batch;
use crate::ledger::projector::write::{WriteError, insert, int};
use crate::sql::{Tx, Value};

/// Writes all of them.
pub(super) async fn write(tx: &mut Tx<'_>, batches: &[&Batch<Coupons>]) -> Result<(), WriteError> {
    issues(tx, batches).await?;
    for batch in batches {
        for row in &batch.rows.voids {
            void(tx, batch.id.as_str(), row).await?;
        }
    }
    Ok(())
}

async fn issues(tx: &mut Tx<'_>, batches: &[&Batch<Coupons>]) -> Result<(), sqlx::Error> {
    let all = batches
        .iter()
        .flat_map(|b| b.rows.issues.iter().map(|row| (&b.id, row)));
    let codes: Vec<_> = all.clone().map(|(_, row)| row.code.to_string()).collect();
    let rows = all.zip(&codes).map(|((coupon, row), code)| {
        [
            Value::Text(coupon.as_str()),
            Value::Int(int(row.sequence)),
            Value::Text(&row.request),
            Value::Text(row.user.as_str()),
            Value::Text(code),
            Value::Int(row.at_ms),
            Value::Int(int(row.n)),
            Value::Int(0),
            Value::Int(0),
        ]
    });
    let columns = [
        "coupon_id",
        "sequence",
        "request_id",
        "user_id",
        "code",
        "issued_at_ms",
        "n",
        "voided_at_ms",
        "voided_n",
    ];
    insert(tx, "coupon_issues", &columns, rows).await
}

/// A void of no issue, or of an issue that is voided already, contradicts the rows that are there.
async fn void(tx: &mut Tx<'_>, coupon: &str, row: &VoidRow) -> Result<(), WriteError> {
    let update = sqlx::query::<Any>(
        "UPDATE coupon_issues SET voided_at_ms = $1, voided_n = $2 \
         WHERE coupon_id = $3 AND sequence = $4 AND request_id = $5 AND user_id = $6 AND voided_n = 0",
    )
    .bind(row.at_ms)
    .bind(int(row.n))
    .bind(coupon)
    .bind(int(row.sequence))
    .bind(row.request.as_str())
    .bind(row.user.as_str());
    if update.execute(&mut **tx).await?.rows_affected() == 1 {
        return Ok(());
    }
    Err(WriteError::Contradicts(format!(
        "event {} voids request '{}' of user '{}' as issue {}, and no such issue is out",
        row.n, row.request, row.user, row.sequence
    )))
}

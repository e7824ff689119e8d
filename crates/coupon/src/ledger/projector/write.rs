//! Writes the tables of coupons, in the transaction of their events.

use sqlx::Any;

use super::Coupons;
use super::batch::{RedemptionRow, VoidRow};
use jackpot_kernel::ledger::projector::batch::Batch;
use jackpot_kernel::ledger::projector::write::WriteError;
use jackpot_kernel::sql::{Tx, cells, insert, int};

/// Writes all of them.
pub(super) async fn write(tx: &mut Tx<'_>, batches: &[&Batch<Coupons>]) -> Result<(), WriteError> {
    issues(tx, batches).await?;
    metadata(tx, batches).await?;
    for batch in batches {
        for row in &batch.rows.voids {
            void(tx, batch.id.as_str(), row).await?;
        }
        for row in &batch.rows.redemptions {
            redeem(tx, batch.id.as_str(), row).await?;
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
        cells! {
            coupon_id: coupon,
            sequence: row.sequence,
            request_id: &row.request,
            user_id: row.user.as_str(),
            code: code,
            issued_at_ms: row.at_ms,
            n: row.n,
            voided_at_ms: 0,
            voided_n: 0,
        }
    });
    insert(tx, "coupon_issues", rows).await
}

async fn metadata(tx: &mut Tx<'_>, batches: &[&Batch<Coupons>]) -> Result<(), sqlx::Error> {
    let rows = batches
        .iter()
        .flat_map(|b| b.rows.issues.iter().map(|row| (&b.id, row)));
    let rows = rows.filter_map(|(id, row)| Some((id, row.sequence, row.user.metadata.as_ref()?.json())));
    let all: Vec<_> = rows.collect();
    let rows = all
        .iter()
        .map(|(id, sequence, json)| cells! { coupon_id: *id, sequence: *sequence, json: json });
    insert(tx, "coupon_metadata", rows).await
}

/// A void of no issue, or of an issue that is voided or redeemed already, contradicts the rows that are there.
async fn void(tx: &mut Tx<'_>, coupon: &str, row: &VoidRow) -> Result<(), WriteError> {
    let update = sqlx::query::<Any>(
        "UPDATE coupon_issues SET voided_at_ms = $1, voided_n = $2 \
         WHERE coupon_id = $3 AND sequence = $4 AND request_id = $5 AND user_id = $6 AND voided_n = 0 \
         AND NOT EXISTS (SELECT 1 FROM coupon_redemptions WHERE coupon_id = $3 AND sequence = $4)",
    )
    .bind(row.at_ms)
    .bind(int(row.n))
    .bind(coupon)
    .bind(int(row.unit.sequence))
    .bind(row.unit.request.as_str())
    .bind(row.unit.user.as_str());
    if update.execute(&mut **tx).await?.rows_affected() == 1 {
        return Ok(());
    }
    Err(WriteError::Contradicts(format!(
        "event {} voids request '{}' of user '{}' as issue {}, and no such issue is out",
        row.n, row.unit.request, row.unit.user, row.unit.sequence
    )))
}

/// A redemption of no issue, or of an issue that is voided or redeemed already, contradicts the rows that are there. Voids
/// of the same transaction are written before, so one of a unit that is redeemed in it is found too.
async fn redeem(tx: &mut Tx<'_>, coupon: &str, row: &RedemptionRow) -> Result<(), WriteError> {
    let used = &row.redemption;
    let insert = sqlx::query::<Any>(
        "INSERT INTO coupon_redemptions (coupon_id, sequence, n, at_ms, redemption_id, reference) \
         SELECT coupon_id, sequence, CAST($1 AS BIGINT), CAST($2 AS BIGINT), CAST($3 AS TEXT), CAST($4 AS TEXT) \
         FROM coupon_issues WHERE coupon_id = $5 AND sequence = $6 AND request_id = $7 AND user_id = $8 AND voided_n = 0 \
         AND NOT EXISTS (SELECT 1 FROM coupon_redemptions WHERE coupon_id = $5 AND sequence = $6)",
    )
    .bind(int(row.n))
    .bind(used.redeemed_ms)
    .bind(used.redemption.as_str())
    .bind(used.reference.as_str())
    .bind(coupon)
    .bind(int(row.unit.sequence))
    .bind(row.unit.request.as_str())
    .bind(row.unit.user.as_str());
    if insert.execute(&mut **tx).await?.rows_affected() == 1 {
        return Ok(());
    }
    Err(WriteError::Contradicts(format!(
        "event {} redeems request '{}' of user '{}' as issue {}, and no such issue is out and unused",
        row.n, row.unit.request, row.unit.user, row.unit.sequence
    )))
}

//! Writes where tracked payouts are: a row with the payout, and the events of its steps.

use jackpot_core::ids::Id;
use jackpot_core::jackpot::settlement::Step;

use super::Jackpots;
use super::rows::StepRow;
use super::write::all;
use jackpot_kernel::ledger::projector::batch::Batch;
use jackpot_kernel::ledger::projector::write::WriteError;
use jackpot_kernel::sql::{Tx, cells, insert, int};

/// Writes the rows of these batches. The payout of a step is in the table, or was written by this very call.
pub(super) async fn write(tx: &mut Tx<'_>, batches: &[&Batch<Jackpots>]) -> Result<(), WriteError> {
    begin(tx, batches).await?;
    ids(tx, batches).await?;
    for batch in batches {
        for row in &batch.rows.payout_steps {
            step(tx, batch, row).await?;
        }
    }
    Ok(())
}

async fn begin(tx: &mut Tx<'_>, batches: &[&Batch<Jackpots>]) -> Result<(), sqlx::Error> {
    let rows = all(batches, |rows| &rows.payouts).filter_map(|(jackpot, row)| {
        let (state, receipt) = (row.state?.as_str(), &row.receipt);
        Some(cells! {
            payout_id: &receipt.payout_id,
            jackpot_id: jackpot,
            n: row.n,
            first_state: state,
            paid_at_ms: row.paid_at_ms,
            claim_order: receipt.claim_order,
            player_id: &receipt.player_id,
            tier: &receipt.tier,
            amount: receipt.amount.get(),
            currency: receipt.currency.as_str(),
            source_id: row.source_id.as_ref().map_or("", Id::as_str),
            state: state,
            state_n: row.n,
            approved_by: "",
            approver: "",
            attempt: "",
            settlement_id: "",
            attempt_text: "",
            attempt_ms: 0,
            asked: "",
            voided_ms: 0,
            void_key_id: "",
            void_signature: "",
        })
    });
    insert(tx, "payout_states", rows).await
}

async fn ids(tx: &mut Tx<'_>, batches: &[&Batch<Jackpots>]) -> Result<(), sqlx::Error> {
    let used = all(batches, |rows| &rows.payout_steps);
    // A skipped event may have been skipped because the id is in the table.
    let used = used.filter(|(_, row)| !row.is_carried && matches!(row.step.step, Step::Settle | Step::Fail));
    let rows = used.map(|(jackpot, row)| {
        let step = &row.step;
        cells! {
            jackpot_id: jackpot,
            settlement_id: &step.settlement_id,
            n: row.n,
            payout_id: &step.payout_id,
            attempt: step.attempt.map_or("", |ended| ended.as_str()),
            attempt_text: &step.text,
        }
    });
    insert(tx, "settlement_ids", rows).await
}

/// Changes the row of a payout, which must be where the step begins.
async fn step(tx: &mut Tx<'_>, batch: &Batch<Jackpots>, row: &StepRow) -> Result<(), WriteError> {
    let StepRow {
        n,
        at_ms,
        step,
        is_carried,
        void_receipt,
    } = row;
    let attempt_ms = step.attempt.map_or(0, |_| step.attempt_at.unwrap_or(*at_ms));
    let (key_id, signature) = void_receipt
        .as_ref()
        .map_or(("", ""), |receipt| (&receipt.key_id, &receipt.signature));
    let set = sqlx::query(
        "UPDATE payout_states SET state = $1, state_n = $2, approved_by = $3, approver = $4, attempt = $5, \
         settlement_id = $6, attempt_text = $7, attempt_ms = $8, asked = $9, voided_ms = $10, void_key_id = $11, \
         void_signature = $12 WHERE payout_id = $13 AND jackpot_id = $14 AND state = $15 AND tier = $16 AND amount = $17",
    )
    .bind(step.after.as_str())
    .bind(int(*n))
    .bind(&*step.approved_by)
    .bind(&*step.approver)
    .bind(step.attempt.map_or("", |ended| ended.as_str()))
    .bind(&*step.settlement_id)
    .bind(&*step.text)
    .bind(attempt_ms)
    .bind(&*step.asked)
    .bind(void_receipt.as_ref().map_or(0, |_| *at_ms))
    .bind(key_id)
    .bind(signature)
    .bind(&*step.payout_id)
    .bind(batch.id.as_str())
    .bind(step.before.as_str())
    .bind(step.tier.as_str())
    .bind(int(step.amount));
    let is_set = set.execute(&mut **tx).await?.rows_affected() == 1;
    if is_set {
        let add = sqlx::query("INSERT INTO payout_steps (payout_id, n, jackpot_id) VALUES ($1, $2, $3)")
            .bind(&*step.payout_id)
            .bind(int(*n))
            .bind(batch.id.as_str());
        add.execute(&mut **tx).await?;
    }
    if *is_carried {
        return carry_id(tx, batch, row, is_set).await;
    }
    if is_set {
        return Ok(());
    }
    Err(WriteError::Contradicts(format!(
        "event {n} of jackpot '{}' takes a step of payout '{}' in state {}, which the ledger does not have",
        batch.id,
        step.payout_id,
        step.before.as_str()
    )))
}

/// Remembers the settlement id of a step that a skipped event took.
async fn carry_id(tx: &mut Tx<'_>, batch: &Batch<Jackpots>, row: &StepRow, is_set: bool) -> Result<(), WriteError> {
    let step = &row.step;
    if !is_set || !matches!(step.step, Step::Settle | Step::Fail) {
        return Ok(());
    }
    let add = sqlx::query(
        "INSERT INTO settlement_ids (jackpot_id, settlement_id, n, payout_id, attempt, attempt_text) \
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING",
    )
    .bind(batch.id.as_str())
    .bind(&*step.settlement_id)
    .bind(int(row.n))
    .bind(&*step.payout_id)
    .bind(step.attempt.map_or("", |ended| ended.as_str()))
    .bind(&*step.text);
    add.execute(&mut **tx).await?;
    Ok(())
}

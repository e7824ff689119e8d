//! The transfers that a jackpot gave, oldest first.

use jackpot_api::ledger::{TransferPart, TransferRow, TransferState};
use jackpot_core::ids::Id;
use jackpot_core::jackpot::transfer::Part;
use jackpot_core::wire::Field;
use serde::Serialize;
use sqlx::Row;
use sqlx::any::AnyRow;

use crate::ledger::queries::Queries;
use jackpot_kernel::ledger::queries::scan::Page;
use jackpot_kernel::ledger::queries::{Key, LedgerError, Listing, Value};

/// The last columns of a transfer that was given.
const GIVEN: &str = "CASE WHEN done_ms > 0 THEN 'done' ELSE 'in-transit' END AS state, '' AS owner, '' AS reason";

/// The filters of a list of transfers.
#[derive(Debug, Clone, Serialize)]
pub struct TransferFilters {
    /// The jackpot that gave.
    pub jackpot_id: Id,
    /// Only those in this state.
    pub state: Option<TransferState>,
}

impl TransferFilters {
    /// The list, for its cursors.
    pub fn listing(&self) -> Listing {
        Listing::new("transfers", self, Key::before_number(0))
    }
}

impl Queries {
    /// A page of the transfers that a jackpot gave, oldest first.
    pub async fn transfers(
        &self,
        filters: &TransferFilters,
        after: Option<Key>,
        limit: u32,
    ) -> Result<Page<TransferRow>, LedgerError> {
        let (after, after_place) = match after.map(|key| key.0) {
            Some([_, Value::Int(n), Value::Int(place)]) => (n, place),
            _ => (0, 0),
        };
        // What waited is in the other table until it is given. The names of states are ours.
        let of_state = filters.state.map(|state| format!("WHERE state = '{}'", state.as_str()));
        let text = format!(
            "SELECT * FROM (SELECT n, place, at_ms, transfer_id, to_id, parts, {GIVEN} FROM transfers \
             WHERE jackpot_id = $1 AND (n, place) > ($2, $3) UNION ALL \
             SELECT n, place, at_ms, move_id AS transfer_id, to_id, parts, state, owner, reason FROM operator_moves \
             WHERE jackpot_id = $1 AND kind = 'transfer' AND (n, place) > ($2, $3) AND state <> 'done') AS moves {} \
             ORDER BY n, place LIMIT $4",
            of_state.unwrap_or_default()
        );
        let rows = sqlx::query(sqlx::AssertSqlSafe(text))
            .bind(filters.jackpot_id.to_string())
            .bind(after)
            .bind(after_place)
            .bind(i64::from(limit) + 1);
        let rows = self.sql.reading(rows.fetch_all(self.sql.reader())).await?;
        let (limit, mut items, mut last) = (limit as usize, Vec::new(), None);
        for row in &rows {
            if items.len() == limit {
                return Ok(Page { items, next: last });
            }
            let (at_ms, n, place): (i64, i64, i64) = (row.try_get("at_ms")?, row.try_get("n")?, row.try_get("place")?);
            items.push(of_row(&filters.jackpot_id, row)?);
            last = Some(Key([at_ms.into(), n.into(), place.into()]));
        }
        Ok(Page { items, next: None })
    }

    /// One transfer that was given, or waits or waited, if the ledger has it.
    pub async fn transfer(&self, jackpot: &Id, transfer_id: &Id) -> Result<Option<TransferRow>, LedgerError> {
        let text = format!(
            "SELECT transfer_id, to_id, parts, {GIVEN} FROM transfers WHERE jackpot_id = $1 AND transfer_id = $2 UNION ALL \
             SELECT move_id AS transfer_id, to_id, parts, state, owner, reason FROM operator_moves \
             WHERE jackpot_id = $1 AND move_id = $2 AND kind = 'transfer' AND state <> 'done'"
        );
        let row = sqlx::query(sqlx::AssertSqlSafe(text))
            .bind(jackpot.to_string())
            .bind(transfer_id.to_string());
        let row = self.sql.reading(row.fetch_optional(self.sql.reader())).await?;
        row.map(|row| of_row(jackpot, &row)).transpose()
    }
}

fn of_row(jackpot: &Id, row: &AnyRow) -> Result<TransferRow, LedgerError> {
    let text = |column: &str| row.try_get::<String, _>(column);
    let transfer_id = text("transfer_id")?;
    let parts = Vec::<Part>::read(&text("parts")?);
    let parts = parts.ok_or_else(|| LedgerError::Missing(format!("readable parts of transfer '{transfer_id}'")))?;
    let state = text("state")?;
    let state = TransferState::parse(&state);
    let some = |column: &str| Ok::<_, sqlx::Error>(Some(text(column)?).filter(|text| !text.is_empty()));
    Ok(TransferRow {
        transfer_id,
        jackpot_id: jackpot.to_string(),
        to: text("to_id")?,
        tiers: parts.iter().map(TransferPart::from).collect(),
        state: state.ok_or_else(|| LedgerError::Missing("the state of a transfer".to_owned()))?,
        owner: some("owner")?,
        reason: some("reason")?,
    })
}

//! The adjustments of a jackpot, oldest first.

use jackpot_api::ledger::{Adjustment, AdjustmentState};
use jackpot_core::clock::rfc3339;
use jackpot_core::ids::Id;
use serde::Serialize;
use sqlx::Row;
use sqlx::any::AnyRow;

use crate::ledger::queries::Queries;
use jackpot_kernel::ledger::queries::scan::Page;
use jackpot_kernel::ledger::queries::{Key, LedgerError, Listing, Value};

/// Which meters an adjustment names in answers, and its signed amount, out of those that it lowers and raises.
pub fn shown(from: &str, to: &str, amount: i64) -> ([Option<String>; 3], i64) {
    let some = |meter: &str| Some(meter.to_owned());
    match (from, to) {
        ("", to) => ([some(to), None, None], amount),
        (from, "") => ([some(from), None, None], -amount),
        (from, to) => ([None, some(from), some(to)], amount),
    }
}

/// The filters of a list of adjustments.
#[derive(Debug, Clone, Serialize)]
pub struct AdjustmentFilters {
    pub jackpot_id: Id,
    /// Only those in this state.
    pub state: Option<AdjustmentState>,
}

impl AdjustmentFilters {
    /// The list, for its cursors.
    pub fn listing(&self) -> Listing {
        Listing::new("adjustments", self, Key::before_number(0))
    }
}

const COLUMNS: &str = "n, place, at_ms, move_id, tier, from_meter, to_meter, amount, reason, who, owner, state, decided_by, \
                       decided_ms";

impl Queries {
    /// A page of the adjustments of a jackpot, oldest first.
    pub async fn adjustments(
        &self,
        filters: &AdjustmentFilters,
        after: Option<Key>,
        limit: u32,
    ) -> Result<Page<Adjustment>, LedgerError> {
        let (after, after_place) = match after.map(|key| key.0) {
            Some([_, Value::Int(n), Value::Int(place)]) => (n, place),
            _ => (0, 0),
        };
        // The names of states are ours.
        let of_state = filters.state.map(|state| format!("AND state = '{}'", state.as_str()));
        let text = format!(
            "SELECT {COLUMNS} FROM operator_moves WHERE jackpot_id = $1 AND kind = 'adjustment' {} AND (n, place) > ($2, $3) \
             ORDER BY jackpot_id, kind, n, place LIMIT $4",
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

    /// One adjustment, if the ledger has it.
    pub async fn adjustment(&self, jackpot: &Id, adjustment_id: &Id) -> Result<Option<Adjustment>, LedgerError> {
        let text = format!(
            "SELECT {COLUMNS} FROM operator_moves WHERE jackpot_id = $1 AND kind = 'adjustment' AND move_id = $2"
        );
        let row = sqlx::query(sqlx::AssertSqlSafe(text))
            .bind(jackpot.to_string())
            .bind(adjustment_id.to_string());
        let row = self.sql.reading(row.fetch_optional(self.sql.reader())).await?;
        row.map(|row| of_row(jackpot, &row)).transpose()
    }
}

fn of_row(jackpot: &Id, row: &AnyRow) -> Result<Adjustment, LedgerError> {
    let text = |column: &str| row.try_get::<String, _>(column);
    let some = |column: &str| Ok::<_, sqlx::Error>(Some(text(column)?).filter(|text| !text.is_empty()));
    let ([meter, from, to], amount) = shown(&text("from_meter")?, &text("to_meter")?, row.try_get("amount")?);
    let (adjustment_id, state) = (text("move_id")?, text("state")?);
    let decided_ms: i64 = row.try_get("decided_ms")?;
    Ok(Adjustment {
        jackpot_id: jackpot.to_string(),
        state: AdjustmentState::parse(&state)
            .ok_or_else(|| LedgerError::Missing(format!("the state of adjustment '{adjustment_id}'")))?,
        adjustment_id,
        tier: text("tier")?,
        meter,
        from,
        to,
        amount,
        reason: text("reason")?,
        at: rfc3339(row.try_get("at_ms")?),
        who: some("who")?,
        owner: some("owner")?,
        decided_by: some("decided_by")?,
        decided_at: (decided_ms > 0).then(|| rfc3339(decided_ms)),
    })
}

//! The last winners of a jackpot.

use jackpot_core::ids::Id;
use sqlx::Row;
use sqlx::any::AnyRow;

use crate::ledger::queries::Queries;
use jackpot_kernel::ledger::queries::LedgerError;

/// A payout, as far as the list of winners needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Winner {
    pub tier: String,
    /// Minor units.
    pub amount: i64,
    pub paid_at_ms: i64,
    pub player_id: String,
    /// Number of the paid claim within the jackpot, from 1.
    pub claim_order: u64,
}

impl Queries {
    /// The last payouts of a jackpot, newest first.
    pub async fn winners(&self, id: &Id, limit: i64) -> Result<Vec<Winner>, LedgerError> {
        let text = "SELECT tier, amount, paid_at_ms, player_id, claim_order FROM payouts WHERE jackpot_id = $1 \
                    ORDER BY claim_order DESC LIMIT $2";
        let select = sqlx::query(text).bind(id.as_str()).bind(limit);
        let rows = self.sql.reading(select.fetch_all(self.sql.reader())).await?;
        let winner = |row: &AnyRow| {
            Ok(Winner {
                tier: row.try_get("tier")?,
                amount: row.try_get("amount")?,
                paid_at_ms: row.try_get("paid_at_ms")?,
                player_id: row.try_get("player_id")?,
                claim_order: row.try_get::<i64, _>("claim_order")?.unsigned_abs(),
            })
        };
        Ok(rows.iter().map(winner).collect::<Result<_, sqlx::Error>>()?)
    }
}

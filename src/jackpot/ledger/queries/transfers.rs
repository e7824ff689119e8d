//! The transfers that a jackpot gave, oldest first.

use jackpot_core::ids::Id;
use jackpot_core::jackpot::transfer::Part;
use jackpot_core::wire::Field;
use serde::{Deserialize, Serialize};
use sqlx::Row;
use utoipa::ToSchema;

use crate::ledger::queries::scan::Page;
use crate::ledger::queries::{Key, LedgerError, Listing, Queries, Value};

/// A transfer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TransferRow {
    #[schema(example = "end-of-season")]
    pub transfer_id: String,
    /// The jackpot that gave.
    #[schema(example = "spring")]
    pub jackpot_id: String,
    /// The jackpot that it goes to.
    #[schema(example = "summer")]
    pub to: String,
    pub tiers: Vec<TransferPart>,
    pub state: TransferState,
}

/// Where the money of a transfer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TransferState {
    /// Given, and not received yet.
    InTransit,
    /// Received.
    Done,
}

/// What one tier gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TransferPart {
    #[schema(example = "grand")]
    pub tier: String,
    /// The tier of the other jackpot.
    #[schema(example = "grand")]
    pub to_tier: String,
    /// Minor units.
    #[schema(example = 500)]
    pub pool: u64,
    /// Minor units.
    #[schema(example = 20)]
    pub reserve: u64,
    /// Minor units.
    #[schema(example = 0)]
    pub overflow: u64,
    /// Millionths of a minor unit, of pool and reserve together.
    #[schema(example = 0)]
    pub remainder_micro: u64,
}

impl From<&Part> for TransferPart {
    fn from(part: &Part) -> Self {
        Self {
            tier: part.tier.to_string(),
            to_tier: part.to_tier.to_string(),
            pool: part.pool,
            reserve: part.reserve,
            overflow: part.overflow,
            remainder_micro: part.pool_micro + part.reserve_micro,
        }
    }
}

/// The filters of a list of transfers.
#[derive(Debug, Clone, Serialize)]
pub struct TransferFilters {
    /// The jackpot that gave.
    pub jackpot_id: Id,
}

impl TransferFilters {
    /// The list, for its cursors.
    #[must_use]
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
        let rows = sqlx::query(
            "SELECT n, place, at_ms, transfer_id, to_id, parts, done_ms FROM transfers WHERE jackpot_id = $1 AND (n, place) > \
             ($2, $3) ORDER BY jackpot_id, n, place LIMIT $4",
        )
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
            let done_ms: i64 = row.try_get("done_ms")?;
            let parts = Vec::<Part>::read(row.try_get("parts")?);
            let parts = parts.ok_or_else(|| LedgerError::Missing(format!("readable parts of transfer {n}")))?;
            items.push(TransferRow {
                transfer_id: row.try_get("transfer_id")?,
                jackpot_id: filters.jackpot_id.to_string(),
                to: row.try_get("to_id")?,
                tiers: parts.iter().map(TransferPart::from).collect(),
                state: if done_ms > 0 {
                    TransferState::Done
                } else {
                    TransferState::InTransit
                },
            });
            last = Some(Key([at_ms.into(), n.into(), place.into()]));
        }
        Ok(Page { items, next: None })
    }
}

//! The head of a jackpot's chain: whoever keeps one notices a history that was rewritten behind it.

use sqlx::Row;

use super::{LedgerError, Queries};
use crate::ids::Id;

/// Where the chain of a jackpot ends now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadFacts {
    /// Which jackpot.
    pub jackpot_id: Id,
    /// Which ledger.
    pub ledger_id: String,
    /// The last event.
    pub n: i64,
    /// Its hash, hexadecimal.
    pub hash: String,
    /// Its time, ms.
    pub at_ms: i64,
}

impl Queries {
    /// The head of a jackpot's chain.
    pub async fn head(&self, id: &Id) -> Result<HeadFacts, LedgerError> {
        let row = sqlx::query(
            "SELECT j.n AS n, j.hash AS hash, e.at_ms AS at_ms FROM jackpots AS j \
             JOIN events AS e ON e.jackpot_id = j.jackpot_id AND e.n = j.n WHERE j.jackpot_id = $1",
        )
        .bind(id.to_string())
        .fetch_optional(self.sql.reader())
        .await?
        .ok_or_else(|| LedgerError::JackpotNotFound(id.to_string()))?;
        Ok(HeadFacts {
            jackpot_id: id.clone(),
            ledger_id: self.sql.ledger_id().to_owned(),
            n: row.try_get("n")?,
            hash: row.try_get("hash")?,
            at_ms: row.try_get("at_ms")?,
        })
    }
}

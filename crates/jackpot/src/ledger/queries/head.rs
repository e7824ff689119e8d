//! The head of a jackpot's chain. A client that keeps one notices when the history before it is rewritten.

use jackpot_core::chain::ChainHash;
use jackpot_core::ids::Id;
use sqlx::{AssertSqlSafe, Row};

use crate::ledger::queries::Queries;
use jackpot_kernel::ledger::queries::LedgerError;

/// Where the chain of a jackpot ends now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadFacts {
    pub jackpot_id: Id,
    pub ledger_id: String,
    /// Number of the last event, 0 before the first.
    pub n: u64,
    /// Its hash.
    pub hash: ChainHash,
    /// The current time, ms by the database's clock.
    pub at_ms: i64,
}

impl Queries {
    /// The head of a jackpot's chain.
    pub async fn head(&self, id: &Id) -> Result<HeadFacts, LedgerError> {
        let now = self.sql.now_ms();
        let text = format!("SELECT n, hash, {now} AS at_ms FROM streams WHERE kind = 'jackpot' AND id = $1");
        let found = sqlx::query(AssertSqlSafe(text)).bind(id.to_string());
        let row = self
            .sql
            .reading(found.fetch_optional(self.sql.reader()))
            .await?
            .ok_or_else(|| LedgerError::JackpotNotFound(id.to_string()))?;
        let (n, hash): (i64, String) = (row.try_get("n")?, row.try_get("hash")?);
        let missing = || LedgerError::Missing(format!("readable head of jackpot '{id}'"));
        Ok(HeadFacts {
            jackpot_id: id.clone(),
            ledger_id: self.sql.ledger_id().to_owned(),
            n: u64::try_from(n).map_err(|_| missing())?,
            hash: ChainHash::parse(&hash).ok_or_else(missing)?,
            at_ms: row.try_get("at_ms")?,
        })
    }
}

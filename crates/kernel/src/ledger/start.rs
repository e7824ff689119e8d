//! Opens the ledger. Whether Redis belongs to it: [`pair`](super::pair).

use std::path::Path;
use std::sync::Arc;

use thiserror::Error;

use super::Ledger;
use super::pair::Refusal;
use crate::random::RandomError;
use crate::settings;
use crate::signing::{SigningKeys, SigningKeysError};
use crate::sql::{Sql, SqlError};
use crate::store::StoreError;

/// Why the ledger can't be opened.
#[derive(Debug, Error)]
pub enum LedgerOpenError {
    /// The database failed.
    #[error(transparent)]
    Sql(#[from] SqlError),
    /// The database refuses a query.
    #[error("{0}")]
    Query(#[from] sqlx::Error),
    /// The signing keys can't be loaded.
    #[error(transparent)]
    Signing(#[from] SigningKeysError),
    /// Redis did not say which ledger it belongs to.
    #[error("Redis: {0}")]
    Store(#[from] StoreError),
    /// Redis and the ledger do not belong together.
    #[error("{0}")]
    Refused(Box<Refusal>),
    /// Another start or adopt changed it at each look.
    #[error("another instance ties this ledger to a Redis at the same time: try again")]
    Unsettled,
    /// The file with the store's UUID can't be used.
    #[error("can't use {}: {source}", path.display())]
    File {
        path: std::path::PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The system has no randomness.
    #[error(transparent)]
    Random(#[from] RandomError),
}

impl From<Refusal> for LedgerOpenError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}

impl Ledger {
    /// Opens the database and updates its schema. Call [`claim`](Self::claim) before writing to it.
    pub async fn open(settings: &settings::Ledger, data_dir: &Path) -> Result<Self, LedgerOpenError> {
        let signing = Arc::new(SigningKeys::load(&settings.signing_key, data_dir)?);
        let sql = Sql::open(settings, data_dir).await?;
        let ledger = Self {
            sql,
            data_dir: data_dir.into(),
            signing,
            news: Arc::default(),
        };
        if let Err(error) = ledger.sql.bury().await {
            ledger.sql.close().await;
            return Err(error.into());
        }
        Ok(ledger)
    }
}

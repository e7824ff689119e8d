//! Opens the ledger, and tells an instance what it knows. Whether Redis belongs to it: [`pair`](super::pair).

use std::path::Path;
use std::sync::Arc;

use jackpot_core::mark::Mark;
use thiserror::Error;

use super::Ledger;
use super::pair::Refusal;
use super::projector::lease::Leases;
use crate::random::RandomError;
use crate::settings;
use crate::signing::{SigningKeys, SigningKeysError};
use crate::sql::{Sql, SqlError};
use crate::store::StoreError;
use crate::stream::kinds::{COUPONS, JACKPOTS, ROOMS, Streams, Tables};
use crate::stream::{Registry, Subject};
use crate::{coupon, jackpot, room};

/// Why there is no ledger to work with.
#[derive(Debug, Error)]
pub enum LedgerOpenError {
    /// The database.
    #[error(transparent)]
    Sql(#[from] SqlError),
    /// The database refuses a query.
    #[error("{0}")]
    Query(#[from] sqlx::Error),
    /// The signing keys.
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
    /// The file with the store's UUID.
    #[error("can't use {}: {source}", path.display())]
    File {
        /// The file.
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
    /// Opens the database and brings its schema up to date. [`claim`](Self::claim) it before it is written to.
    pub async fn open(settings: &settings::Ledger, data_dir: &Path) -> Result<Self, LedgerOpenError> {
        let signing = Arc::new(SigningKeys::load(&settings.signing_key, data_dir)?);
        let sql = Sql::open(settings, data_dir).await?;
        let ledger = Self {
            sql,
            data_dir: data_dir.into(),
            signing,
        };
        let prepared = async {
            for streams in Streams::ALL {
                Leases::of(streams.tables(), ledger.sql.clone(), String::new(), 0)
                    .bury()
                    .await?;
            }
            Ok::<_, sqlx::Error>(())
        };
        if let Err(error) = prepared.await {
            ledger.sql.close().await;
            return Err(error.into());
        }
        Ok(ledger)
    }

    /// Tells this instance what the ledger knows of each jackpot, coupon and room: a Redis that lacks it is behind, not
    /// new.
    pub async fn teach(
        &self,
        jackpots: &jackpot::known::Registry,
        coupons: &coupon::known::Registry,
        rooms: &room::known::Registry,
    ) -> Result<(), sqlx::Error> {
        self.teach_all(JACKPOTS, jackpots).await?;
        self.teach_all(COUPONS, coupons).await?;
        self.teach_all(ROOMS, rooms).await
    }

    async fn teach_all<K: Subject>(&self, kind: Tables, registry: &Registry<K>) -> Result<(), sqlx::Error> {
        // Only read here: a name or a time of a lease is not needed for it.
        let leases = Leases::of(kind, self.sql.clone(), String::new(), 0);
        for place in leases.places().await?.into_iter().filter(|place| place.n > 0) {
            if let Some(mark) = Mark::new(place.restores, place.n) {
                let known = registry.observe(&place.id, mark);
                known.set_ledger_n(Some(mark.n()));
                known.set_ledger_view(place.view);
            }
        }
        Ok(())
    }
}

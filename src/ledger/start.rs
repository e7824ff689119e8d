//! Opens the ledger and makes sure that this Redis and this ledger belong together.

use std::path::Path;
use std::sync::Arc;

use thiserror::Error;

use super::Ledger;
use super::projector::lease::Leases;
use super::sql::{Sql, SqlError};
use super::streams::{COUPONS, JACKPOTS, ROOMS, Streams, Tables};
use crate::ids::Id;
use crate::settings;
use crate::signing::{self, SigningKeys, SigningKeysError};
use crate::store::keys::LEDGER;
use crate::store::{Store, StoreError};
use crate::stream::Mark;
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
    /// Redis belongs to another ledger.
    #[error(
        "Redis belongs to ledger {redis}, not to this one ({here}): connect the ledger that was used with it (ledger.url), or an empty Redis"
    )]
    Other {
        /// Id that Redis holds.
        redis: String,
        /// Id of this ledger.
        here: String,
    },
}

impl Ledger {
    /// Opens the database, brings its schema up to date, and publishes the signing keys.
    pub async fn open(settings: &settings::Ledger, data_dir: &Path) -> Result<Self, LedgerOpenError> {
        let signing = Arc::new(SigningKeys::load(&settings.signing_key, data_dir)?);
        let sql = Sql::open(settings, data_dir).await?;
        let ledger = Self {
            sql,
            signing,
            progress: Arc::default(),
            coupons: Arc::default(),
            rooms: Arc::default(),
        };
        let prepared = async {
            signing::publish(&ledger.sql, &ledger.signing).await?;
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

    /// Ties this Redis to this ledger, or refuses one that is tied to another.
    pub async fn claim(&self, store: &Store) -> Result<(), LedgerOpenError> {
        let here = self.sql.ledger_id();
        store.run(redis::cmd("SETNX").arg(LEDGER).arg(here)).await?;
        let value = store.run(redis::cmd("GET").arg(LEDGER)).await?;
        // What is no text is not this ledger's id either.
        let redis: Option<String> = redis::from_redis_value(value).unwrap_or_default();
        match redis {
            Some(redis) if redis == here => Ok(()),
            other => Err(LedgerOpenError::Other {
                redis: other.unwrap_or_else(|| "(not readable)".to_owned()),
                here: here.to_owned(),
            }),
        }
    }

    /// Tells this instance what the ledger knows of each jackpot, coupon and room: a Redis that lacks it is behind, not
    /// new.
    pub async fn teach(
        &self,
        jackpots: &jackpot::known::Registry,
        coupons: &coupon::known::Registry,
        rooms: &room::known::Registry,
    ) -> Result<(), sqlx::Error> {
        for (id, mark) in self.marks(JACKPOTS).await? {
            jackpots.learn(&id, mark).set_ledger_n(Some(mark.n()));
        }
        for (id, mark) in self.marks(COUPONS).await? {
            coupons.learn(&id, mark).set_ledger_n(Some(mark.n()));
        }
        for (id, mark) in self.marks(ROOMS).await? {
            rooms.learn(&id, mark).set_ledger_n(Some(mark.n()));
        }
        Ok(())
    }

    async fn marks(&self, kind: Tables) -> Result<Vec<(Id, Mark)>, sqlx::Error> {
        // Only read here: a name or a time of a lease is not needed for it.
        let leases = Leases::of(kind, self.sql.clone(), String::new(), 0);
        let known = leases.places().await?.into_iter().filter(|place| place.n > 0);
        Ok(known
            .filter_map(|place| Some((place.id, Mark::new(place.restores, place.n)?)))
            .collect())
    }
}

//! Redis and the ledger for commands that need both, with or without a running service.

use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::task::{JoinHandle, block_in_place};

use crate::app::capabilities;
use crate::backup::restore::refuse_unfinished;
use crate::capability::Ground;
use crate::ledger::Ledger;
use crate::ledger::kinds::{self, Kinds};
use crate::ledger::pair::Adoption;
use crate::ledger::projector::Projectors;
use crate::ledger::start::LedgerOpenError;
use crate::master_secret;
use crate::random;
use crate::settings::Settings;
use crate::sql::{Sql, SqlError};
use crate::stopping::Stopping;
use crate::store::{DataDirError, OpenError, Store};
use crate::telemetry::Metrics;

/// Redis, the ledger, and a projector for streams that no service reads.
pub(super) struct Session {
    pub(super) ledger: Ledger,
    pub(super) store: Store,
    pub(super) kinds: Kinds,
    /// The name of this session as the holder of leases.
    pub(super) instance: String,
    settings: Settings,
    closed: bool,
}

/// A running projector.
pub(super) struct Projecting {
    ended: Stopping,
    task: Option<JoinHandle<()>>,
}

impl Session {
    /// Opens both and checks that they belong together.
    ///
    /// # Errors
    /// Also when there is no SQLite file: with a wrong data directory nothing is created, and nothing is reported as
    /// right.
    pub(super) async fn open(settings: Settings) -> Result<Self, Box<dyn std::error::Error>> {
        refuse_unfinished(&settings.data_dir)?;
        Ok(Self::tied(settings, false).await?.0)
    }

    /// Opens both and makes this Redis the ledger's store in place of any other; `None` if it is already.
    ///
    /// # Errors
    /// The same as for [`open`](Self::open), and a Redis of another ledger. An unfinished restore of a backup is no
    /// error: this finishes it.
    pub(super) async fn open_adopting(
        settings: Settings,
    ) -> Result<(Self, Option<Adoption>), Box<dyn std::error::Error>> {
        Self::tied(settings, true).await
    }

    async fn tied(settings: Settings, adopt: bool) -> Result<(Self, Option<Adoption>), Box<dyn std::error::Error>> {
        Sql::expect(&settings.ledger, &settings.data_dir)?;
        let ledger = Ledger::open(&settings.ledger, &settings.data_dir).await?;
        match Self::with(&ledger, settings, adopt).await {
            Ok(session) => Ok(session),
            Err(error) => {
                ledger.sql.close().await;
                Err(error)
            }
        }
    }

    async fn with(
        ledger: &Ledger,
        settings: Settings,
        adopt: bool,
    ) -> Result<(Self, Option<Adoption>), Box<dyn std::error::Error>> {
        let secrets = master_secret::load(&settings.fairness, &settings.data_dir)?;
        let instance = format!("command-{}", hex::encode(random::bytes::<8>()?));
        let store = Store::open(&settings.redis, &settings.data_dir).await?;
        let metrics = Arc::new(Metrics::new());
        let ground = Ground {
            settings: settings.clone(),
            secrets,
            store: store.clone(),
            ledger: ledger.clone(),
            metrics,
        };
        let kinds = capabilities::kinds_of(&capabilities::make(&ground));
        let known = async {
            let adoption = if adopt {
                ledger.adopt(&store).await?
            } else {
                ledger.claim(&store).await?;
                None
            };
            kinds.teach(ledger).await?;
            Ok::<_, LedgerOpenError>(adoption)
        };
        let adoption = match known.await {
            Ok(adoption) => adoption,
            Err(error) => {
                store.close().await;
                return Err(error.into());
            }
        };
        let session = Self {
            ledger: ledger.clone(),
            kinds,
            store,
            instance,
            settings,
            closed: false,
        };
        Ok((session, adoption))
    }

    fn projector(&self) -> Projectors {
        let metrics = Arc::new(Metrics::new());
        let from = kinds::Projecting {
            ledger: &self.ledger,
            store: &self.store,
            metrics: &metrics,
            settings: &self.settings.ledger,
            instance: &self.instance,
            auto_restore: false,
        };
        Projectors::new(&self.kinds, &from)
    }

    /// Whether entries can be found by player.
    pub(super) fn indexes_entries(&self) -> bool {
        self.settings.ledger.entry_index_days > 0
    }

    /// How long a lease lasts, ms.
    pub(super) fn lease_ms(&self) -> u64 {
        self.settings.ledger.lease_ms
    }

    /// Brings the ledger up to date with streams that no service reads.
    pub(super) async fn catch_up(&self) {
        self.projector().finish().await;
    }

    /// Reads streams that no service reads until [`Projecting::end`].
    pub(super) fn project(&self) -> Projecting {
        let (projector, ended) = (self.projector(), Stopping::default());
        let (runtime, until) = (tokio::runtime::Handle::current(), ended.clone());
        let task = tokio::task::spawn_blocking(move || runtime.block_on(projector.run(until)));
        let task = Some(task);
        Projecting { ended, task }
    }

    pub(super) async fn close(mut self) {
        self.close_both().await;
    }

    async fn close_both(&mut self) {
        self.closed = true;
        self.store.close().await;
        self.ledger.sql.close().await;
    }
}

/// Whether another instance uses the data directory or the SQLite file.
pub(super) fn is_held(error: &(dyn std::error::Error + 'static)) -> bool {
    let ledger = matches!(error.downcast_ref(), Some(LedgerOpenError::Sql(SqlError::Held { .. })));
    let store = matches!(
        error.downcast_ref(),
        Some(OpenError::DataDir(DataDirError::Held { .. }))
    );
    ledger || store
}

/// A signal ends a command by dropping it at any point, so that no private Redis outlives it.
impl Drop for Session {
    fn drop(&mut self) {
        if !self.closed {
            block_in_place(|| Handle::current().block_on(self.close_both()));
        }
    }
}

impl Projecting {
    pub(super) async fn end(mut self) -> Result<(), tokio::task::JoinError> {
        self.ended.begin();
        match self.task.take() {
            Some(task) => task.await,
            None => Ok(()),
        }
    }
}

/// The same when a signal ends the command: before the session closes, which is dropped after it.
impl Drop for Projecting {
    fn drop(&mut self) {
        self.ended.begin();
        if let Some(task) = self.task.take() {
            // A panic has logged itself.
            let _ended = block_in_place(|| Handle::current().block_on(task));
        }
    }
}

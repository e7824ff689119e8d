//! The whole service: creates its parts, starts them in order and stops them in reverse.

pub mod capabilities;
mod compose;
mod probe;
mod watch;

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use jackpot_core::secret::Secrets;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

use crate::backup::restore::{Unfinished, refuse_unfinished};
use crate::capability::{StartError, Until, Worker};
use crate::durable_file::make_private_dir;
use crate::http::Web;
use crate::http::health::ReadinessFn;
use crate::http::server::{self, Running, ServeError, Sockets};
use crate::http::starting;
use crate::keys::{KeyFile, KeyStore, KeysError, Limits};
use crate::ledger::Ledger;
use crate::ledger::start::LedgerOpenError;
use crate::master_secret::{self, MasterSecretError};
use crate::open_files;
use crate::random::{self, RandomError};
use crate::service_manager::ServiceManager;
use crate::settings::Settings;
use crate::signals::Signals;
use crate::stopping::Stopping;
use crate::store::{OpenError, Store};
use crate::telemetry::Metrics;
use compose::{Parts, compose};

/// Longest wait for SQL at the very end.
const LAST: Duration = Duration::from_secs(3);

/// Why the service does not start or run.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// The data directory can't be made.
    #[error("setting data_dir: {}: {source}", path.display())]
    DataDirectory {
        path: std::path::PathBuf,
        source: io::Error,
    },
    /// A backup is being restored into it.
    #[error(transparent)]
    Unfinished(#[from] Unfinished),
    /// The API keys can't be read.
    #[error("API keys: {0}")]
    Keys(#[from] KeysError),
    /// The draw secret can't be read.
    #[error(transparent)]
    MasterSecret(#[from] MasterSecretError),
    /// Redis can't be used, or could lose money.
    #[error("Redis: {0}")]
    Store(#[from] OpenError),
    /// The ledger can't be used, or belongs to another Redis.
    #[error("ledger: {0}")]
    Ledger(#[from] LedgerOpenError),
    /// A capability refuses to start.
    #[error("{0}")]
    Capability(StartError),
    /// The system has no randomness.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// The server can't start.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// The server ended on its own, or signals can't be handled.
    #[error("server: {0}")]
    Io(#[from] io::Error),
}

/// The service before it knows what there is.
struct Opened {
    settings: Settings,
    secrets: Secrets,
    keys: Arc<KeyStore>,
    metrics: Arc<Metrics>,
    sockets: Sockets,
    /// Answers until the service takes requests that this instance is alive and not ready.
    unready: Running,
    store: Store,
    ledger: Ledger,
}

/// Opens everything. Listens first: Redis may load for minutes, and a supervisor must see that the process lives.
///
/// # Errors
/// Anything missing or wrong, before any request is taken.
async fn open(settings: Settings) -> Result<Opened, AppError> {
    refuse_unfinished(&settings.data_dir)?;
    make_private_dir(&settings.data_dir).map_err(|source| AppError::DataDirectory {
        path: settings.data_dir.clone(),
        source,
    })?;
    let secrets = master_secret::load(&settings.fairness, &settings.data_dir)?;
    let keys = Arc::new(KeyStore::open(KeyFile::of(&settings), limits(&settings))?);
    let sockets = Sockets::bind(&settings.http)?;
    let metrics = Arc::new(Metrics::new());
    let early = Web::new(
        &settings,
        Arc::clone(&keys),
        Arc::clone(&metrics),
        starting::readiness(),
    );
    let unready = server::start_unready(&sockets, &settings, &early)?;
    let ledger = Ledger::open(&settings.ledger, &settings.data_dir).await?;
    if let Err(error) = ledger.sql.fill().await {
        ledger.sql.close().await;
        return Err(LedgerOpenError::from(error).into());
    }
    let store = match Store::open(&settings.redis, &settings.data_dir).await {
        Ok(store) => store,
        Err(error) => {
            ledger.sql.close().await;
            return Err(error.into());
        }
    };
    Ok(Opened {
        settings,
        secrets,
        keys,
        metrics,
        sockets,
        unready,
        store,
        ledger,
    })
}

fn limits(settings: &Settings) -> Limits {
    Limits {
        per_second: settings.auth.requests_per_second_per_key,
        burst: settings.auth.burst_per_key,
    }
}

/// Runs the service until SIGTERM or SIGINT, then stops it in order. A signal during the start ends it as well.
///
/// # Errors
/// Anything that prevents the start, or an error that ended the server.
pub async fn serve(settings: Settings) -> Result<(), AppError> {
    // Each stream and connection takes a file. A process that can open none cannot even see whether the private server
    // lives.
    open_files::raise();
    // The private server inherits it; its files hold every entry.
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    let mut signals = Signals::listen()?;
    let manager = ServiceManager::of_environment();
    // Dropping an unfinished start ends a private server that it had started.
    let Some(opened) = unless_stopped(open(settings), &mut signals, &manager).await? else {
        return Ok(());
    };
    let (store, sql) = (opened.store.clone(), opened.ledger.sql.clone());
    // It ends with this function: the manager must see until the end that the process lives.
    let mut told = JoinSet::new();
    let result = Box::pin(opened.serve(&mut signals, &manager, &mut told)).await;
    // Last, even after an error: by now every accepted request has its answer, and a private server must not outlive this.
    store.close().await;
    sql.close().await;
    tracing::info!("stopped");
    result
}

/// A part of the start; `None` if a signal ended it.
async fn unless_stopped<T>(
    start: impl Future<Output = Result<T, AppError>>,
    signals: &mut Signals,
    manager: &ServiceManager,
) -> Result<Option<T>, AppError> {
    tokio::select! {
        done = start => done.map(Some),
        never = manager.while_starting() => match never {},
        name = signals.next() => {
            tracing::info!(signal = name, "stopped while starting");
            manager.stopping().await;
            Ok(None)
        }
    }
}

impl Opened {
    async fn serve(
        self,
        signals: &mut Signals,
        manager: &ServiceManager,
        told: &mut JoinSet<Infallible>,
    ) -> Result<(), AppError> {
        let instance = hex::encode(random::bytes::<16>()?);
        let sql = self.ledger.sql.clone();
        let served = async {
            match unless_stopped(compose(&self, &instance), signals, manager).await? {
                Some(parts) => self.run(parts, signals, manager, told).await,
                None => Ok(()),
            }
        };
        let result = served.await;
        // A start that is refused or stopped may hold streams, and the next one would wait for them. After a stop in order
        // nothing is left.
        match timeout(LAST, sql.end_leases(&instance)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(%error, "the leases were not released; they expire"),
            Err(_) => tracing::debug!("the leases were not released in time; they expire"),
        }
        result
    }

    async fn run(
        self,
        parts: Parts,
        signals: &mut Signals,
        manager: &ServiceManager,
        told: &mut JoinSet<Infallible>,
    ) -> Result<(), AppError> {
        let Parts {
            web,
            routes,
            workers,
            projector,
            known,
        } = parts;
        let keys = tokio::spawn(Arc::clone(&self.keys).follow());
        let ownership = tokio::spawn(watch::ownership(self.ledger.clone(), self.store));
        let refusals = tokio::spawn(watch::refusals(known, self.metrics));
        let stopping = web.stopping.clone();
        // In between the system keeps new connections.
        self.unready.hand_over().await?;
        let running = server::start_on(&self.sockets, &self.settings, &web, routes)?;
        // A stop must refuse new connections: no other part of the service may hold the addresses.
        drop(self.sockets);
        let served = Stopping::default();
        let (mut dropped, mut awaited) = (Vec::new(), Vec::new());
        for Worker { name, until, run } in workers {
            match until {
                Until::Stopping => dropped.push(tokio::spawn(run(stopping.clone()))),
                Until::Served => awaited.push((name, tokio::spawn(run(served.clone())))),
            }
        }
        let signing = tokio::spawn(Arc::clone(&self.ledger.signing).follow(self.ledger.sql.clone()));
        // The projector stops on its own after the last answer, so that SQL has every entry.
        let ended = Stopping::default();
        let until = ended.clone();
        // On a thread of its own: hashing and signing thousands of events must not delay answers.
        let runtime = tokio::runtime::Handle::current();
        let projector = tokio::task::spawn_blocking(move || runtime.block_on(projector.run(until)));
        announce(&running, &self.settings);
        let status = status(&running, web.readiness, stopping);
        manager.ready(&status().unwrap_or_default()).await;
        told.spawn(manager.clone().while_serving(status));
        let name = signals.next().await;
        tracing::info!(signal = name, "stopping");
        manager.stopping().await;
        let stopped = running.stop().await;
        keys.abort();
        refusals.abort();
        dropped.iter().for_each(JoinHandle::abort);
        signing.abort();
        served.begin();
        for (name, worker) in awaited {
            if let Err(error) = worker.await {
                tracing::error!(%error, "{name} ended with an error");
            }
        }
        ended.begin();
        if let Err(error) = projector.await {
            tracing::error!(%error, "the projector ended with an error");
        }
        ownership.abort();
        Ok(stopped?)
    }
}

/// What the service manager shows; `None` while the service stops.
fn status(running: &Running, readiness: ReadinessFn, stopping: Stopping) -> impl Fn() -> Option<String> + use<> {
    let serving = format!("serves {}://{}", scheme(running), running.address());
    move || {
        if stopping.has_begun() {
            return None;
        }
        let causes = readiness().causes;
        let causes: Vec<_> = causes
            .iter()
            .map(|cause| format!("{}: {}", cause.field, cause.rule))
            .collect();
        if causes.is_empty() {
            return Some(serving.clone());
        }
        Some(format!("{serving}, not ready: {}", causes.join("; ")))
    }
}

fn scheme(running: &Running) -> &'static str {
    if running.is_https() { "https" } else { "http" }
}

fn announce(running: &Running, settings: &Settings) {
    let metrics = running.metrics_address().unwrap_or(running.address());
    let scheme = scheme(running);
    tracing::info!(address = %running.address(), scheme, %metrics, data_dir = %settings.data_dir.display(), "listening");
}

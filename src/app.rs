//! The whole service: creates its parts, starts them in order and stops them in reverse.

pub mod capabilities;
mod compose;
mod probe;
mod watch;

use std::convert::Infallible;
use std::io;
use std::sync::Arc;

use tokio::task::{JoinHandle, JoinSet};

use crate::backup::restore::{Unfinished, refuse_unfinished};
use crate::capability::{StartError, Until, Worker};
use crate::durable_file::make_private_dir;
use crate::http::Web;
use crate::http::health::ReadinessFn;
use crate::http::routes::Routes;
use crate::http::server::{self, Running, ServeError, Sockets};
use crate::http::starting;
use crate::keys::{KeyFile, KeyStore, KeysError, Limits};
use crate::ledger::Ledger;
use crate::ledger::projector::Projectors;
use crate::ledger::start::LedgerOpenError;
use crate::master_secret::{self, MasterSecretError};
use crate::open_files;
use crate::random::RandomError;
use crate::service_manager::ServiceManager;
use crate::settings::Settings;
use crate::signals::Signals;
use crate::stopping::Stopping;
use crate::store::{OpenError, Store};
use crate::telemetry::Metrics;
use compose::{Parts, compose};
use probe::KnownKinds;

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

/// The service before it takes requests.
struct App {
    settings: Settings,
    sockets: Sockets,
    /// Answers until then that this instance is alive and not ready.
    unready: Running,
    web: Web,
    routes: Routes,
    store: Store,
    ledger: Ledger,
    workers: Vec<Worker>,
    projector: Projectors,
    known: KnownKinds,
}

/// Creates everything that the service needs before it takes requests. Listens first: Redis may load for minutes, and a
/// supervisor must see that the process lives.
///
/// # Errors
/// Anything missing or wrong, before any request is taken.
async fn build(settings: Settings) -> Result<App, AppError> {
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
    let store = match Store::open(&settings.redis, &settings.data_dir).await {
        Ok(store) => store,
        Err(error) => {
            ledger.sql.close().await;
            return Err(error.into());
        }
    };
    match compose(&settings, secrets, (keys, metrics), &store, &ledger).await {
        Ok(Parts {
            web,
            routes,
            workers,
            projector,
            known,
        }) => Ok(App {
            settings,
            sockets,
            unready,
            web,
            routes,
            store,
            ledger,
            workers,
            projector,
            known,
        }),
        Err(error) => {
            // A private server must not outlive a failed start.
            store.close().await;
            ledger.sql.close().await;
            Err(error)
        }
    }
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
    let app = tokio::select! {
        app = build(settings) => app?,
        never = manager.while_starting() => match never {},
        name = signals.next() => {
            // Dropping the unfinished start ends a private server that it had started.
            tracing::info!(signal = name, "stopped while starting");
            manager.stopping().await;
            return Ok(());
        }
    };
    let (store, sql) = (app.store.clone(), app.ledger.sql.clone());
    // It ends with this function: the manager must see until the end that the process lives.
    let mut told = JoinSet::new();
    let result = app.run(signals, manager, &mut told).await;
    // Last, even after an error: by now every accepted request has its answer.
    store.close().await;
    sql.close().await;
    tracing::info!("stopped");
    result
}

impl App {
    async fn run(
        self,
        mut signals: Signals,
        manager: ServiceManager,
        told: &mut JoinSet<Infallible>,
    ) -> Result<(), AppError> {
        let keys = tokio::spawn(Arc::clone(&self.web.keys).follow());
        let ownership = tokio::spawn(watch::ownership(self.ledger.clone(), self.store));
        let refusals = tokio::spawn(watch::refusals(self.known, Arc::clone(&self.web.metrics)));
        let stopping = self.web.stopping.clone();
        // In between the system keeps new connections.
        self.unready.hand_over().await?;
        let running = server::start_on(&self.sockets, &self.settings, &self.web, self.routes)?;
        // A stop must refuse new connections: no other part of the service may hold the addresses.
        drop(self.sockets);
        let served = Stopping::default();
        let (mut dropped, mut awaited) = (Vec::new(), Vec::new());
        for Worker { name, until, run } in self.workers {
            match until {
                Until::Stopping => dropped.push(tokio::spawn(run(stopping.clone()))),
                Until::Served => awaited.push((name, tokio::spawn(run(served.clone())))),
            }
        }
        let signing = tokio::spawn(Arc::clone(&self.ledger.signing).follow(self.ledger.sql.clone()));
        // The projector stops on its own after the last answer, so that SQL has every entry.
        let ended = Stopping::default();
        let (projector, until) = (self.projector, ended.clone());
        // On a thread of its own: hashing and signing thousands of events must not delay answers.
        let runtime = tokio::runtime::Handle::current();
        let projector = tokio::task::spawn_blocking(move || runtime.block_on(projector.run(until)));
        announce(&running, &self.settings);
        let status = status(&running, self.web.readiness, stopping);
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

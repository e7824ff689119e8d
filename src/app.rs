//! The whole service: its parts are put together here, started in order and stopped in reverse.

mod probe;
mod signals;

use std::io;
use std::path::Path;
use std::sync::Arc;

use utoipa::OpenApi;

use crate::coupon;
use crate::coupon::coupons::Coupons;
use crate::coupon::known::Registry;
use crate::coupon::line::Line;
use crate::durable_file::make_private_dir;
use crate::http::Web;
use crate::http::routes::Rooms;
use crate::http::server::{self, Running, ServeError};
use crate::ids::Id;
use crate::jackpot;
use crate::jackpot::api::{Api, ApiDoc, Meters};
use crate::jackpot::error::PlayError;
use crate::jackpot::files::{self, FileError};
use crate::jackpot::metrics::PlayMetrics;
use crate::jackpot::operate::Operate;
use crate::jackpot::play::Play;
use crate::jackpot::recovery::Recovery;
use crate::jackpot::scripts::ScriptError;
use crate::jackpot::view::Views;
use crate::keys::{KeyFile, KeyStore, KeysError, Limits};
use crate::ledger::projector::{Known, Projectors};
use crate::ledger::start::LedgerOpenError;
use crate::ledger::{self, Ledger};
use crate::master_secret::{self, MasterSecret, MasterSecretError};
use crate::open_files;
use crate::random::{self, RandomError};
use crate::room;
use crate::settings::{AutoRestore, RedisMode, Settings};
use crate::signing;
use crate::stopping::Stopping;
use crate::store::{OpenError, Store};
use crate::telemetry::Metrics;
use probe::{observe, readiness};
use signals::Signals;

/// Jackpots read from the index at a time.
const JACKPOTS_AT_ONCE: usize = 500;

/// Why the service does not start or run.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// The data directory can't be made.
    #[error("setting data_dir: {}: {source}", path.display())]
    DataDirectory {
        /// The directory.
        path: std::path::PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// No API keys.
    #[error("API keys: {0}")]
    Keys(#[from] KeysError),
    /// No draw secret.
    #[error(transparent)]
    MasterSecret(#[from] MasterSecretError),
    /// No Redis, or one that would lose money.
    #[error("Redis: {0}")]
    Store(#[from] OpenError),
    /// No ledger, or not the one of this Redis.
    #[error("ledger: {0}")]
    Ledger(#[from] LedgerOpenError),
    /// A jackpot of Redis was opened with another draw secret.
    #[error(
        "jackpot '{jackpot}' was opened with another draw secret: set fairness.master_secret to that one, or put its master.secret back into the data directory"
    )]
    OtherSecret {
        /// Which jackpot.
        jackpot: Id,
    },
    /// A jackpot file.
    #[error("jackpots.directory: {0}")]
    JackpotFile(#[from] FileError),
    /// The system has no randomness.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// The jackpots can't be read.
    #[error("jackpots: {0}")]
    Jackpots(#[from] Box<PlayError>),
    /// No server.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// The server ended by itself, or signals can't be heard.
    #[error("server: {0}")]
    Io(#[from] io::Error),
}

/// The service, put together but not listening yet.
struct App {
    settings: Settings,
    web: Web,
    rooms: Rooms,
    store: Store,
    ledger: Ledger,
    recovery: Recovery,
    line: Line,
    projector: Projectors,
}

/// Makes everything that the service needs before it listens.
///
/// # Errors
/// Whatever is missing or wrong, before any request is accepted.
async fn build(settings: Settings) -> Result<App, AppError> {
    make_private_dir(&settings.data_dir).map_err(|source| AppError::DataDirectory {
        path: settings.data_dir.clone(),
        source,
    })?;
    let master_secret = master_secret::load(&settings.fairness.master_secret, &settings.data_dir)?;
    let keys = KeyStore::open(KeyFile::of(&settings), limits(&settings))?;
    let ledger = Ledger::open(&settings.ledger, &settings.data_dir).await?;
    let store = match Store::open(&settings.redis, &settings.data_dir).await {
        Ok(store) => store,
        Err(error) => {
            ledger.sql.close().await;
            return Err(error.into());
        }
    };
    match compose(&settings, master_secret, keys, &store, &ledger).await {
        Ok(Parts {
            web,
            rooms,
            recovery,
            line,
            projector,
        }) => Ok(App {
            settings,
            web,
            rooms,
            store,
            ledger,
            recovery,
            line,
            projector,
        }),
        Err(error) => {
            // A private server must not outlive a start that failed.
            store.close().await;
            ledger.sql.close().await;
            Err(error)
        }
    }
}

/// What the connections are put together to.
struct Parts {
    web: Web,
    rooms: Rooms,
    recovery: Recovery,
    line: Line,
    projector: Projectors,
}

async fn compose(
    settings: &Settings,
    secret: MasterSecret,
    keys: KeyStore,
    store: &Store,
    ledger: &Ledger,
) -> Result<Parts, AppError> {
    ledger.claim(store).await?;
    let metrics = Arc::new(Metrics::new());
    observe(store, &metrics);
    let web = Web {
        keys: Arc::new(keys),
        metrics: Arc::clone(&metrics),
        readiness: readiness(store, ledger, settings.ledger.max_backlog_events),
        stopping: Stopping::default(),
        max_body_bytes: settings.http.max_body_bytes,
        max_streams: settings.http.max_streams,
    };
    let views = Arc::new(Views::new(store.clone(), secret));
    let known_coupons = Arc::new(Registry::new(store.clone()));
    let known_rooms = Arc::new(room::known::Registry::new(store.clone()));
    // Before anything is read from Redis: what the ledger knows and Redis lacks is lost, not new.
    ledger
        .teach(&views, &known_coupons, &known_rooms)
        .await
        .map_err(LedgerOpenError::from)?;
    let coupons = Coupons::new(
        store.clone(),
        Arc::clone(&known_coupons),
        Arc::clone(&metrics),
        settings.coupons.clone(),
        settings.ledger.max_backlog_events,
    );
    let play_metrics = PlayMetrics::new(Arc::clone(&metrics));
    let play = Play::new(
        store.clone(),
        Arc::clone(&views),
        coupons.clone(),
        play_metrics.clone(),
        settings.ledger.max_backlog_events,
    );
    let operate = Operate::new(store.clone(), views);
    let known = Known {
        operate: &operate,
        coupons: &known_coupons,
        rooms: &known_rooms,
    };
    let mut projector = projector(settings, ledger, store, known, &metrics)?;
    // What was lost is rebuilt before anybody plays, and the ledger has the last events of the time before.
    projector.catch_up().await;
    check_secret(&operate).await?;
    if !settings.jackpots.directory.is_empty() {
        files::define_from(Path::new(&settings.jackpots.directory), &operate).await?;
    }
    let recovery = Recovery {
        play: play.without_waiting(),
        operate: operate.clone(),
        store: store.clone(),
        metrics: play_metrics,
        settings: settings.play.clone(),
        retention_s: settings.fairness.retention_s,
    };
    let api = Api {
        play,
        meters: Arc::new(Meters::new(operate.clone())),
        operate,
        ledger: ledger.clone(),
    };
    let line = Line::new(coupons.clone(), settings.coupons.clone())?;
    let coupon_api = coupon::api::Api {
        coupons,
        ledger: ledger.clone(),
        max_bulk_bytes: settings.coupons.max_bulk_bytes,
    };
    Ok(Parts {
        rooms: rooms(settings, api, coupon_api, (ledger, &known_rooms)),
        web,
        recovery,
        line,
        projector,
    })
}

fn projector(
    settings: &Settings,
    ledger: &Ledger,
    store: &Store,
    known: Known<'_>,
    metrics: &Arc<Metrics>,
) -> Result<Projectors, AppError> {
    let instance = hex::encode(random::bytes::<16>()?);
    let auto_restore = match settings.ledger.auto_restore {
        AutoRestore::On => true,
        AutoRestore::Off => false,
        AutoRestore::Embedded => settings.redis.mode == RedisMode::Embedded,
    };
    Ok(Projectors::new(
        ledger,
        store,
        known,
        metrics,
        &settings.ledger,
        &(instance, auto_restore),
    ))
}

fn limits(settings: &Settings) -> Limits {
    Limits {
        per_second: settings.auth.requests_per_second_per_key,
        burst: settings.auth.burst_per_key,
    }
}

/// All rooms: their routes in one `mount`, their documents merged into one.
fn rooms(
    settings: &Settings,
    api: Api,
    coupons: coupon::api::Api,
    (ledger, known_rooms): (&Ledger, &Arc<room::known::Registry>),
) -> Rooms {
    let keys = signing::api::Api::new(Arc::clone(&ledger.signing), ledger.sql.clone());
    let index_days = settings.ledger.entry_index_days;
    let known = (&coupons.coupons.registry, known_rooms);
    let books = ledger::api::Api::of(ledger, index_days, &api.operate.views, known);
    let mut document = ApiDoc::openapi();
    document.merge(signing::api::ApiDoc::openapi());
    document.merge(ledger::api::ApiDoc::openapi());
    document.merge(coupon::api::ApiDoc::openapi());
    Rooms {
        mount: Arc::new(move |config| {
            jackpot::api::busy_routes(config, &api);
            coupon::api::busy_routes(config, &coupons);
            jackpot::api::routes(config);
            coupon::api::routes(config);
            ledger::api::routes(config, &books);
            signing::api::routes(config, &keys);
        }),
        document,
    }
}

/// Refuses to start beside jackpots that were opened with another secret: their pending entries could not be
/// finished, and every entry would be refused.
async fn check_secret(operate: &Operate) -> Result<(), AppError> {
    let mut after = None;
    loop {
        let ids = operate.ids(after.as_ref(), JACKPOTS_AT_ONCE).await.map_err(Box::new)?;
        for id in &ids {
            match operate.views.refresh(id).await {
                Err(PlayError::Script(ScriptError::Secret)) => {
                    return Err(AppError::OtherSecret { jackpot: id.clone() });
                }
                Err(PlayError::Script(ScriptError::Unknown)) | Ok(_) => {}
                // One that cannot be read now says so to its callers; the others are served.
                Err(error) => tracing::error!(jackpot_id = %id, %error, "this jackpot can't be read"),
            }
        }
        match ids.last() {
            Some(last) if ids.len() == JACKPOTS_AT_ONCE => after = Some(last.clone()),
            _ => return Ok(()),
        }
    }
}

/// Runs the service until SIGTERM or SIGINT, then stops it in order. A signal during the start ends it as well.
///
/// # Errors
/// Whatever keeps it from starting, or a server that ended with an error.
pub async fn serve(settings: Settings) -> Result<(), AppError> {
    // Each stream and connection takes one; and who can open none can't even see whether the private server lives.
    open_files::raise();
    // The private server inherits it, whose files hold every entry.
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    let mut signals = Signals::listen()?;
    let app = tokio::select! {
        app = build(settings) => app?,
        name = signals.next() => {
            // Dropping the unfinished start ends a private server that it had begun.
            tracing::info!(signal = name, "stopped while starting");
            return Ok(());
        }
    };
    let (store, sql) = (app.store.clone(), app.ledger.sql.clone());
    let result = app.run(signals).await;
    // Last, also after an error: whatever was accepted has been answered by now.
    store.close().await;
    sql.close().await;
    tracing::info!("stopped");
    result
}

impl App {
    async fn run(self, mut signals: Signals) -> Result<(), AppError> {
        let keys = tokio::spawn(Arc::clone(&self.web.keys).follow());
        let stopping = self.web.stopping.clone();
        let running = server::start(&self.settings, self.web, self.rooms)?;
        let recovery = tokio::spawn(self.recovery.run(stopping));
        // Stopped by itself, behind the last answer, which may be that of somebody's turn.
        let served = Stopping::default();
        let line = tokio::spawn(self.line.run(served.clone()));
        let signing = tokio::spawn(Arc::clone(&self.ledger.signing).follow(self.ledger.sql.clone()));
        // Stopped by itself, behind the last answer: then SQL has all that was played.
        let ended = Stopping::default();
        let (projector, until) = (self.projector, ended.clone());
        // A thread of its own: hashing and signing thousands of events must not hold up answers.
        let runtime = tokio::runtime::Handle::current();
        let projector = tokio::task::spawn_blocking(move || runtime.block_on(projector.run(until)));
        announce(&running, &self.settings);
        let name = signals.next().await;
        tracing::info!(signal = name, "stopping");
        let stopped = running.stop().await;
        keys.abort();
        recovery.abort();
        signing.abort();
        served.begin();
        if let Err(error) = line.await {
            tracing::error!(%error, "the worker of the lines ended with an error");
        }
        ended.begin();
        if let Err(error) = projector.await {
            tracing::error!(%error, "the projector ended with an error");
        }
        Ok(stopped?)
    }
}

fn announce(running: &Running, settings: &Settings) {
    let metrics = running.metrics_address().unwrap_or(running.address());
    tracing::info!(address = %running.address(), %metrics, data_dir = %settings.data_dir.display(), "listening");
}

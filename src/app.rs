//! The whole service: its parts are put together here, started in order and stopped in reverse.

use std::io;
use std::sync::Arc;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::http::Web;
use crate::http::health::{Readiness, ReadinessFn};
use crate::http::routes::Rooms;
use crate::http::server::{self, Running, ServeError};
use crate::http::stopping::Stopping;
use crate::keys::{KeyFile, KeyStore, KeysError, Limits};
use crate::master_secret::{self, MasterSecret, MasterSecretError};
use crate::settings::Settings;
use crate::telemetry::Metrics;

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
    /// No server.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// The server ended by itself, or signals can't be heard.
    #[error("server: {0}")]
    Io(#[from] io::Error),
}

/// The service, put together but not listening yet.
pub struct App {
    settings: Settings,
    web: Web,
    rooms: Rooms,
    #[expect(dead_code, reason = "the jackpot room takes it when it is composed in")]
    master_secret: MasterSecret,
}

/// Makes everything that the service needs before it listens.
///
/// # Errors
/// Whatever is missing or wrong, before any request is accepted.
pub async fn build(settings: Settings) -> Result<App, AppError> {
    tokio::fs::create_dir_all(&settings.data_dir)
        .await
        .map_err(|source| AppError::DataDirectory {
            path: settings.data_dir.clone(),
            source,
        })?;
    let master_secret = master_secret::load(&settings.fairness.master_secret, &settings.data_dir)?;
    let web = web(&settings, Arc::new(Readiness::default))?;
    Ok(App {
        web,
        rooms: rooms(),
        master_secret,
        settings,
    })
}

fn web(settings: &Settings, readiness: ReadinessFn) -> Result<Web, AppError> {
    let limits = Limits {
        per_second: settings.auth.requests_per_second_per_key,
        burst: settings.auth.burst_per_key,
    };
    Ok(Web {
        keys: Arc::new(KeyStore::open(KeyFile::of(settings), limits)?),
        metrics: Arc::new(Metrics::new()),
        readiness,
        stopping: Stopping::default(),
        max_body_bytes: settings.http.max_body_bytes,
        max_streams: settings.http.max_streams,
    })
}

/// All rooms: their routes in one `mount`, their documents merged into one.
fn rooms() -> Rooms {
    Rooms {
        mount: Arc::new(|_| {}),
        document: utoipa::openapi::OpenApi::default(),
    }
}

impl App {
    /// Serves until SIGTERM or SIGINT, then stops in order.
    ///
    /// # Errors
    /// An address that can't be had, or a server that ended with an error.
    pub async fn run(self) -> Result<(), AppError> {
        // Heard from here on: a signal during the start stops as well.
        let (mut terminate, mut interrupt) = (
            signal(SignalKind::terminate())?,
            signal(SignalKind::interrupt())?,
        );
        let keys = tokio::spawn(Arc::clone(&self.web.keys).follow());
        let running = server::start(&self.settings.http, self.web, self.rooms)?;
        announce(&running, &self.settings);
        let name = either(&mut terminate, &mut interrupt).await;
        tracing::info!(signal = name, "stopping");
        running.stop().await?;
        keys.abort();
        tracing::info!("stopped");
        Ok(())
    }
}

fn announce(running: &Running, settings: &Settings) {
    let metrics = running.metrics_address().unwrap_or(running.address());
    tracing::info!(address = %running.address(), %metrics, data_dir = %settings.data_dir.display(), "listening");
}

async fn either(terminate: &mut Signal, interrupt: &mut Signal) -> &'static str {
    tokio::select! {
        _ = terminate.recv() => "SIGTERM",
        _ = interrupt.recv() => "SIGINT",
    }
}

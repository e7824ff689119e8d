//! The peers that speak HTTP, built from the library's own pieces: the same server, middleware, key check and body
//! parser as the service. Each has a route of the same shape in place of the service's own. None of this is in the
//! product.

mod body;
mod ceiling;
mod direct;
mod public;

use std::path::Path;
use std::sync::Arc;

use clap::ValueEnum;
use jackpot::http::Web;
use jackpot::http::health::ReadinessFn;
use jackpot::http::routes::Routes;
use jackpot::http::server;
use jackpot::keys::{KeyFile, KeyStore, Limits};
use jackpot::settings::Settings;
use jackpot::telemetry::{self, Metrics};
use tokio::signal::unix::{SignalKind, signal};

use crate::Outcome;

/// A kind of peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// No store: what the HTTP side alone can do.
    Ceiling,
    /// One script call per entry over the shared connection.
    Direct,
    /// Coupons by a key for each user and a counter.
    Counter,
    /// Coupons by a set of users.
    Set,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ceiling => "ceiling",
            Self::Direct => "direct",
            Self::Counter => "counter",
            Self::Set => "set",
        }
    }
}

/// Serves until SIGTERM or SIGINT.
pub(crate) async fn serve(kind: Kind, config: &Path) -> Outcome {
    let settings = Settings::load(Some(config))?;
    telemetry::init(&settings.log)?;
    match kind {
        Kind::Ceiling => ceiling::serve(&settings).await,
        Kind::Direct => direct::serve(&settings).await,
        Kind::Counter => public::serve(&settings, public::Way::Counter).await,
        Kind::Set => public::serve(&settings, public::Way::Set).await,
    }
}

fn web(settings: &Settings, metrics: &Arc<Metrics>, readiness: ReadinessFn) -> Outcome<Web> {
    let limits = Limits {
        per_second: settings.auth.requests_per_second_per_key,
        burst: settings.auth.burst_per_key,
    };
    let keys = KeyStore::open(KeyFile::of(settings), limits)?;
    Ok(Web::new(settings, Arc::new(keys), Arc::clone(metrics), readiness))
}

/// Listens until a signal comes, then answers the accepted requests.
async fn until_signal(settings: &Settings, web: Web, routes: Routes) -> Outcome {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let running = server::start(settings, &web, routes)?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(running.stop().await?)
}

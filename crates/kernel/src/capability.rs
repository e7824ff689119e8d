//! What a capability registers with the service: how its streams are read, its kind, start-up checks, routes with their
//! description, and workers. `app/capabilities.rs` lists the capabilities, one line each, and passes to each one the
//! capabilities that it uses.

use std::future::ready;
use std::sync::Arc;

use actix_web::web::ServiceConfig;
use futures_util::future::{BoxFuture, LocalBoxFuture};
use jackpot_core::secret::Secrets;

use crate::ledger::Ledger;
use crate::ledger::kinds::AnyKind;
use crate::ledger::projector::load::Load;
use crate::settings::Settings;
use crate::stopping::Stopping;
use crate::store::Store;
use crate::telemetry::Metrics;

/// A capability of a program that embeds this one.
#[derive(Clone, Copy)]
pub struct Registration {
    /// Its names, and how to find and read its streams with only the ledger and Redis.
    pub load: Load,
    /// Creates the capability. Nothing is started or read yet.
    pub make: fn(&Ground) -> Box<dyn Capability>,
}

/// The common inputs of all capabilities.
pub struct Ground {
    pub settings: Settings,
    pub secrets: Secrets,
    pub store: Store,
    pub ledger: Ledger,
    pub metrics: Arc<Metrics>,
}

/// Why a capability does not start.
pub type StartError = Box<dyn std::error::Error + Send + Sync>;

/// A capability of a running service or command.
pub trait Capability {
    /// Its subjects, for the ledger and the commands.
    fn kind(&self) -> Arc<dyn AnyKind>;

    /// Refuses a start with wrong secrets. The ledger has caught up by then.
    fn check(&self) -> LocalBoxFuture<'_, Result<(), StartError>> {
        Box::pin(ready(Ok(())))
    }

    /// The last step before requests are accepted: all capabilities have been checked.
    fn prepare(&self) -> LocalBoxFuture<'_, Result<(), StartError>> {
        Box::pin(ready(Ok(())))
    }

    /// Its part of the API.
    fn routes(&self) -> Routes;

    /// Its background work.
    fn workers(&self) -> Result<Vec<Worker>, StartError> {
        Ok(Vec::new())
    }
}

pub type Mount = Arc<dyn Fn(&mut ServiceConfig) + Send + Sync>;

/// The routes of a capability.
pub struct Routes {
    /// The most frequent routes. Routes are tried in order, so those of all capabilities are mounted first.
    pub busy: Mount,
    /// All other routes.
    pub others: Mount,
    /// Describes both.
    pub document: utoipa::openapi::OpenApi,
}

/// Background work that starts with the service.
pub struct Worker {
    /// Name in the log.
    pub name: &'static str,
    pub until: Until,
    pub run: Box<dyn FnOnce(Stopping) -> BoxFuture<'static, ()> + Send>,
}

/// When a worker ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// When the service begins to stop; the service drops it after the last answer.
    Stopping,
    /// After the last answer, which may be that of a queued request. The service waits for it.
    Served,
}

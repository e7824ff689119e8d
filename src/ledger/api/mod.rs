//! The routes of the ledger: payouts, entries, postings, audit, reconciliation.

use std::fmt;
use std::sync::Arc;

use actix_web::web::{Data, ServiceConfig};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use utoipa::OpenApi;

use super::queries::Queries;
use super::queries::head::HeadFacts;
use super::receipt::Head;
use crate::ids::Id;

mod answer;
mod audit;
mod csv;
mod entries;
mod export;
mod format;
mod head;
mod page;
mod payouts;
mod postings;
mod reconciliation;

/// CSV and NDJSON answers that an instance streams at the same time: each takes a connection to the database half of
/// the time, and most of them must be left for pages.
const MAX_EXPORTS: usize = 4;

/// Signs the head of a chain.
pub type SignHead = Arc<dyn Fn(HeadFacts) -> Head + Send + Sync>;

/// Events of a jackpot that Redis has and the ledger not yet; `None` while that is not known.
pub type Lag = Arc<dyn Fn(&Id) -> Option<u64> + Send + Sync>;

/// What the handlers work with.
#[derive(Clone)]
pub struct Api {
    queries: Queries,
    sign_head: SignHead,
    lag: Lag,
    exports: Arc<Semaphore>,
    runtime: Handle,
}

impl Api {
    /// All clones share the limit on exports, which are read and written on the runtime that this is called on: a
    /// thread that answers requests would keep the others waiting.
    ///
    /// # Panics
    /// Outside of a runtime.
    #[must_use]
    pub fn new(queries: Queries, sign_head: SignHead, lag: Lag) -> Self {
        Self {
            queries,
            sign_head,
            lag,
            exports: Arc::new(Semaphore::new(MAX_EXPORTS)),
            runtime: Handle::current(),
        }
    }
}

impl fmt::Debug for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Api")
            .field("queries", &self.queries)
            .finish_non_exhaustive()
    }
}

/// The routes, described. Every route must be listed.
#[derive(OpenApi)]
#[openapi(
    paths(
        payouts::list, payouts::get, entries::list, postings::list, head::get, audit::list, reconciliation::get,
    ),
    tags((name = "ledger", description = "Payouts, postings, audit and reconciliation, out of the ledger"))
)]
pub struct ApiDoc;

/// Mounts the routes.
pub fn routes(config: &mut ServiceConfig, api: &Api) {
    config
        .app_data(Data::new(api.clone()))
        .route("/v1/payouts", crate::http::get().to(payouts::list))
        .route("/v1/payouts/{payout_id}", crate::http::get().to(payouts::get))
        .route("/v1/entries", crate::http::get().to(entries::list))
        .route("/v1/jackpots/{id}/ledger", crate::http::get().to(postings::list))
        .route("/v1/jackpots/{id}/ledger/head", crate::http::get().to(head::get))
        .route("/v1/audit", crate::http::get().to(audit::list))
        .route("/v1/reconciliation", crate::http::get().to(reconciliation::get));
}

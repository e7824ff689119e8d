//! The routes of the ledger: payouts, entries, postings, audit, reconciliation.

use std::fmt;
use std::sync::Arc;

use actix_web::web::{Data, ServiceConfig};
use tokio::sync::Semaphore;
use utoipa::OpenApi;

use super::Ledger;
use super::queries::Queries;
use super::queries::head::HeadFacts;
use super::receipt::Head;
use crate::ids::Id;
use crate::jackpot::view::Views;

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
}

impl Api {
    /// All clones share the limit on exports.
    #[must_use]
    pub fn new(queries: Queries, sign_head: SignHead, lag: Lag) -> Self {
        Self {
            queries,
            sign_head,
            lag,
            exports: Arc::new(Semaphore::new(MAX_EXPORTS)),
        }
    }
}

impl Api {
    /// What the service serves: heads are signed with its current key, and the lag is what this instance has seen.
    #[must_use]
    pub fn of(ledger: &Ledger, entry_index_days: u32, views: Arc<Views>) -> Self {
        let signing = Arc::clone(&ledger.signing);
        let sign = move |facts: HeadFacts| {
            let place = (facts.n, facts.hash);
            Head::sign(
                facts.jackpot_id,
                &facts.ledger_id,
                place,
                facts.at_ms,
                &signing.current(),
            )
        };
        let lag = move |id: &Id| {
            let known = views.known(id);
            known.ledger_n().map(|_| known.backlog())
        };
        Self::new(
            Queries::new(ledger.sql.clone(), entry_index_days),
            Arc::new(sign),
            Arc::new(lag),
        )
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

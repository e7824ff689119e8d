//! The routes of the ledger that are the same for all kinds: audit and reconciliation; and what lists of each kind share.

use std::fmt;
use std::sync::Arc;

use actix_web::web::{Data, ServiceConfig};
use jackpot_core::ids::Id;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use utoipa::OpenApi;

use super::Ledger;
use super::kinds::Kinds;
use super::queries::Queries;
use crate::signing::SigningKeys;
use crate::sql::Sql;
use crate::subject::kinds::KindName;

pub mod answer;
mod audit;
pub mod csv;
pub mod export;
pub mod format;
mod on_subjects;
pub mod page;
mod reconciliation;

/// CSV and NDJSON answers that an instance streams at the same time: each takes a connection to the database half of
/// the time, and most of them must be left for pages.
const MAX_EXPORTS: usize = 4;

/// What the handlers work with, those of each capability's own lists too.
#[derive(Clone)]
pub struct Api {
    /// Asks the ledger.
    pub queries: Queries,
    /// The database.
    pub sql: Sql,
    /// Sign heads.
    pub signing: Arc<SigningKeys>,
    /// What this instance remembers of all subjects.
    pub kinds: Kinds,
    /// Places of exports.
    pub exports: Arc<Semaphore>,
    /// Where exports are read and written.
    pub runtime: Handle,
}

impl Api {
    /// All clones share the limit on exports, which are read and written on the runtime that this is called on: a
    /// thread that answers requests would keep the others waiting.
    ///
    /// # Panics
    /// Outside of a runtime.
    #[must_use]
    pub fn new(ledger: &Ledger, entry_index_days: u32, kinds: Kinds) -> Self {
        Self {
            queries: Queries::new(ledger.sql.clone(), entry_index_days),
            sql: ledger.sql.clone(),
            signing: Arc::clone(&ledger.signing),
            kinds,
            exports: Arc::new(Semaphore::new(MAX_EXPORTS)),
            runtime: Handle::current(),
        }
    }

    /// Events of a subject that Redis has and the ledger not yet; `None` while that is not known.
    fn lag(&self, kind: KindName, id: &str) -> Option<u64> {
        self.kinds.named(kind)?.lag(&Id::parse(id).ok()?)
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
    paths(audit::list, reconciliation::get),
    tags((name = "ledger", description = "Payouts, postings, audit and reconciliation, out of the ledger"))
)]
pub struct ApiDoc;

/// Mounts the routes.
pub fn routes(config: &mut ServiceConfig, api: &Api) {
    config
        .app_data(Data::new(api.clone()))
        .route("/v1/audit", crate::http::get().to(audit::list))
        .route("/v1/reconciliation", crate::http::get().to(reconciliation::get));
}

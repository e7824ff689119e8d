//! The routes that are the same for all kinds: audit, reconciliation and the emergency stop. Also what the lists of each
//! kind share.

use std::fmt;
use std::sync::Arc;

use actix_web::web::{self, Data, ServiceConfig};
use jackpot_core::day::Days;
use jackpot_core::ids::Id;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use utoipa::OpenApi;

use super::Ledger;
use super::emergency::Emergency;
use super::kinds::Kinds;
use super::queries::Queries;
use crate::signing::SigningKeys;
use crate::sql::Sql;
use crate::subject::kinds::KindName;

pub mod answer;
mod audit;
pub mod csv;
pub mod emergency;
pub mod export;
pub mod format;
mod on_subjects;
pub mod page;
mod reconciliation;

/// Most CSV and NDJSON answers that an instance streams concurrently. Each takes a database connection half of the
/// time, and most connections must be left for pages.
const MAX_EXPORTS: usize = 4;

/// What the handlers work with, including those of each capability's own lists.
#[derive(Clone)]
pub struct Api {
    pub queries: Queries,
    pub sql: Sql,
    /// Keys that sign heads.
    pub signing: Arc<SigningKeys>,
    emergency: Emergency,
    /// What this instance remembers of all subjects.
    pub kinds: Kinds,
    /// Slots for exports.
    pub exports: Arc<Semaphore>,
    /// The runtime on which exports are read and written.
    pub runtime: Handle,
    /// The days of reports.
    pub days: Days,
}

impl Api {
    /// All clones share the limit on exports. Exports are read and written on the runtime of this call: a thread that
    /// answers requests would keep other requests waiting.
    ///
    /// # Panics
    /// Outside of a runtime.
    pub fn new(ledger: &Ledger, kinds: Kinds, emergency: Emergency) -> Self {
        Self {
            queries: Queries::new(ledger.sql.clone()),
            sql: ledger.sql.clone(),
            signing: Arc::clone(&ledger.signing),
            emergency,
            kinds,
            exports: Arc::new(Semaphore::new(MAX_EXPORTS)),
            runtime: Handle::current(),
            days: Days::default(),
        }
    }

    /// With other days of reports than those of UTC.
    #[must_use]
    pub fn reporting(self, days: Days) -> Self {
        Self { days, ..self }
    }

    /// Events of a subject that Redis has and the ledger lacks; `None` while unknown.
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
    paths(audit::list, reconciliation::get, emergency::get, emergency::stop, emergency::start),
    tags(
        (name = "ledger", description = "Payouts, postings, audit and reconciliation, from the ledger"),
        (name = "emergency", description = "The emergency stop of everything")
    )
)]
pub struct ApiDoc;

/// Mounts the routes.
pub fn routes(config: &mut ServiceConfig, api: &Api) {
    config
        .app_data(Data::new(api.clone()))
        .route("/v1/audit", crate::http::get().to(audit::list))
        .route("/v1/reconciliation", crate::http::get().to(reconciliation::get))
        .route("/v1/emergency-stop", crate::http::get().to(emergency::get))
        .route("/v1/emergency-stop", web::post().to(emergency::stop))
        .route("/v1/emergency-start", web::post().to(emergency::start));
}

//! The routes of the ledger: payouts, entries, postings, audit, reconciliation.

use std::fmt;
use std::sync::Arc;

use actix_web::web::{Data, ServiceConfig};
use jackpot_core::ids::Id;
use jackpot_core::jackpot::draw::EpochSeed;
use jackpot_core::jackpot::epoch::Epoch;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use utoipa::OpenApi;

use super::Ledger;
use super::queries::Queries;
use crate::jackpot::view::Views;
use crate::signing::SigningKeys;
use crate::sql::Sql;
use crate::stream::Observed;
use crate::{coupon, room};

mod answer;
mod audit;
mod csv;
mod entries;
mod export;
mod format;
mod head;
mod issues;
mod page;
mod payouts;
mod postings;
mod reconciliation;
mod whole;

/// CSV and NDJSON answers that an instance streams at the same time: each takes a connection to the database half of
/// the time, and most of them must be left for pages.
const MAX_EXPORTS: usize = 4;

/// Events of a jackpot that Redis has and the ledger not yet; `None` while that is not known.
pub type Lag = Arc<dyn Fn(&Id) -> Option<u64> + Send + Sync>;

/// The seed of an epoch, where its secret is known.
pub type SeedOf = Arc<dyn Fn(&Id, &Epoch) -> Option<EpochSeed> + Send + Sync>;

/// What the handlers work with.
#[derive(Clone)]
pub struct Api {
    queries: Queries,
    sql: Sql,
    signing: Arc<SigningKeys>,
    lag: Lag,
    coupons: Option<Arc<coupon::known::Registry>>,
    rooms: Option<Arc<room::known::Registry>>,
    seed: SeedOf,
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
    pub fn new(ledger: &Ledger, entry_index_days: u32, lag: Lag, seed: SeedOf) -> Self {
        Self {
            queries: Queries::new(ledger.sql.clone(), entry_index_days),
            sql: ledger.sql.clone(),
            signing: Arc::clone(&ledger.signing),
            lag,
            coupons: None,
            rooms: None,
            seed,
            exports: Arc::new(Semaphore::new(MAX_EXPORTS)),
            runtime: Handle::current(),
        }
    }

    /// With the lag that this instance sees, and its seeds.
    #[must_use]
    pub fn of(
        ledger: &Ledger,
        entry_index_days: u32,
        views: &Arc<Views>,
        (coupons, rooms): (&Arc<coupon::known::Registry>, &Arc<room::known::Registry>),
    ) -> Self {
        let known = Arc::clone(views);
        let lag = move |id: &Id| lag_of(&known.registry.known(id));
        let seeds = Arc::clone(views);
        let seed = move |id: &Id, epoch: &Epoch| epoch.opening.seed(&seeds.secrets, id, epoch.epoch);
        Self {
            coupons: Some(Arc::clone(coupons)),
            rooms: Some(Arc::clone(rooms)),
            ..Self::new(ledger, entry_index_days, Arc::new(lag), Arc::new(seed))
        }
    }

    /// Of a coupon.
    fn coupon_lag(&self, id: &Id) -> Option<u64> {
        lag_of(&self.coupons.as_ref()?.known(id))
    }

    /// Of a room.
    fn room_lag(&self, id: &Id) -> Option<u64> {
        lag_of(&self.rooms.as_ref()?.known(id))
    }
}

fn lag_of(known: &Observed) -> Option<u64> {
    known.ledger_n().map(|_| known.lag())
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
        payouts::list, payouts::get, entries::list, postings::list, head::get, whole::get, audit::list, reconciliation::get,
        issues::list,
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
        .route("/v1/jackpots/{id}/ledger/export", crate::http::get().to(whole::get))
        .route("/v1/audit", crate::http::get().to(audit::list))
        .route("/v1/coupons/{id}/issues", crate::http::get().to(issues::list))
        .route("/v1/reconciliation", crate::http::get().to(reconciliation::get));
}

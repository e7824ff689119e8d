//! The routes of the jackpots' ledger: payouts, entries, postings, the chain.

mod entries;
mod head;
mod payouts;
mod postings;
mod whole;

use crate::jackpot::ledger::compared::Reconciliation;
use std::sync::Arc;

use actix_web::web::{Data, ServiceConfig};
use jackpot_core::ids::Id;
use jackpot_core::jackpot::draw::EpochSeed;
use jackpot_core::jackpot::epoch::Epoch;
use utoipa::OpenApi;

/// The seed of an epoch, where its secret is known.
pub type SeedOf = dyn Fn(&Id, &Epoch) -> Option<EpochSeed> + Send + Sync;

/// The routes, described. Every route must be listed.
#[derive(OpenApi)]
#[openapi(
    paths(payouts::list, payouts::get, entries::list, postings::list, head::get, whole::get),
    components(schemas(Reconciliation))
)]
pub struct ApiDoc;

/// Mounts the routes. They use the data of [`crate::ledger::api::routes`].
pub fn routes(config: &mut ServiceConfig, seeds: &Arc<SeedOf>) {
    config
        .app_data(Data::from(Arc::clone(seeds)))
        .route("/v1/payouts", crate::http::get().to(payouts::list))
        .route("/v1/payouts/{payout_id}", crate::http::get().to(payouts::get))
        .route("/v1/entries", crate::http::get().to(entries::list))
        .route("/v1/jackpots/{id}/ledger", crate::http::get().to(postings::list))
        .route("/v1/jackpots/{id}/ledger/head", crate::http::get().to(head::get))
        .route("/v1/jackpots/{id}/ledger/export", crate::http::get().to(whole::get));
}

//! The routes of the jackpots' ledger: payouts, entries, postings, daily reports, the head of the chain.

mod adjustments;
mod daily;
mod entries;
mod head;
mod payouts;
mod postings;
mod transfers;

use actix_web::web::{Data, ServiceConfig};
use jackpot_api::payout::ListedPayout;
use utoipa::OpenApi;

use crate::ledger::compared::Reconciliation;
use crate::ledger::queries::Queries;
use jackpot_kernel::http::get;

/// The routes, described. Every route must be listed.
#[derive(OpenApi)]
#[openapi(
    paths(
        payouts::list,
        payouts::get,
        payouts::receipt,
        entries::list,
        postings::list,
        transfers::list,
        adjustments::list,
        head::get,
        daily::get
    ),
    components(schemas(Reconciliation, ListedPayout))
)]
pub struct ApiDoc;

/// Mounts the routes. They use the data of [`jackpot_kernel::ledger::api::routes`].
pub fn routes(config: &mut ServiceConfig, queries: &Queries) {
    config
        .app_data(Data::new(queries.clone()))
        .route("/v1/payouts", get().to(payouts::list))
        .route("/v1/payouts/{payout_id}", get().to(payouts::get))
        .route("/v1/payouts/{payout_id}/receipt", get().to(payouts::receipt))
        .route("/v1/reports/daily", get().to(daily::get))
        .route("/v1/entries", get().to(entries::list))
        .route("/v1/jackpots/{id}/adjustments", get().to(adjustments::list))
        .route("/v1/jackpots/{id}/transfers", get().to(transfers::list))
        .route("/v1/jackpots/{id}/ledger", get().to(postings::list))
        .route("/v1/jackpots/{id}/ledger/head", get().to(head::get));
}

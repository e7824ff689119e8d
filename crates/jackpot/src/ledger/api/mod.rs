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
        .route("/v1/payouts", jackpot_kernel::http::get().to(payouts::list))
        .route("/v1/payouts/{payout_id}", jackpot_kernel::http::get().to(payouts::get))
        .route(
            "/v1/payouts/{payout_id}/receipt",
            jackpot_kernel::http::get().to(payouts::receipt),
        )
        .route("/v1/reports/daily", jackpot_kernel::http::get().to(daily::get))
        .route("/v1/entries", jackpot_kernel::http::get().to(entries::list))
        .route(
            "/v1/jackpots/{id}/adjustments",
            jackpot_kernel::http::get().to(adjustments::list),
        )
        .route(
            "/v1/jackpots/{id}/transfers",
            jackpot_kernel::http::get().to(transfers::list),
        )
        .route(
            "/v1/jackpots/{id}/ledger",
            jackpot_kernel::http::get().to(postings::list),
        )
        .route(
            "/v1/jackpots/{id}/ledger/head",
            jackpot_kernel::http::get().to(head::get),
        );
}

//! The routes of the jackpots' ledger: payouts, entries, postings, daily reports, the head of the chain.

mod adjustments;
mod daily;
mod entries;
mod head;
mod payouts;
mod postings;
mod transfers;

use actix_web::web::ServiceConfig;
use utoipa::OpenApi;

use crate::jackpot::ledger::compared::Reconciliation;
use crate::jackpot::ledger::queries::payouts::ListedPayout;

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

/// Mounts the routes. They use the data of [`crate::ledger::api::routes`].
pub fn routes(config: &mut ServiceConfig) {
    config
        .route("/v1/payouts", crate::http::get().to(payouts::list))
        .route("/v1/payouts/{payout_id}", crate::http::get().to(payouts::get))
        .route(
            "/v1/payouts/{payout_id}/receipt",
            crate::http::get().to(payouts::receipt),
        )
        .route("/v1/reports/daily", crate::http::get().to(daily::get))
        .route("/v1/entries", crate::http::get().to(entries::list))
        .route(
            "/v1/jackpots/{id}/adjustments",
            crate::http::get().to(adjustments::list),
        )
        .route("/v1/jackpots/{id}/transfers", crate::http::get().to(transfers::list))
        .route("/v1/jackpots/{id}/ledger", crate::http::get().to(postings::list))
        .route("/v1/jackpots/{id}/ledger/head", crate::http::get().to(head::get));
}

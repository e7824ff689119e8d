//! The routes of coupons.

use actix_web::web::{self, Data, ServiceConfig, delete, post, put};
use jackpot_core::ids::Id;
use utoipa::OpenApi;

use super::coupons::Coupons;
use jackpot_kernel::http::{Problem, get};
use jackpot_kernel::sql::Sql;
use jackpot_kernel::subject::kinds::COUPON;

mod answers;
mod body;
mod bulk;
mod dead;
mod definitions;
mod issues;
mod lines;
mod pace;
mod redeem;
mod status;
mod stream;

#[derive(Debug, Clone)]
pub struct Api {
    /// Issues units.
    pub coupons: Coupons,
    /// The database, for data that Redis does not have.
    pub sql: Sql,
    /// Largest body of a bulk issue.
    pub max_bulk_bytes: u64,
}

impl Api {
    async fn observe_ledger(&self, id: &Id) -> Result<(), Problem> {
        Ok(self.coupons.registry.observe_ledger(&self.sql, COUPON, id).await?)
    }
}

/// The routes, described. Every route must be listed.
#[derive(OpenApi)]
#[openapi(
    paths(
        definitions::put, definitions::list, definitions::get, status::pause, status::resume, status::close, issues::post, issues::get, issues::delete, redeem::post, stream::get,
        dead::list, dead::redrive, bulk::post,
    ),
    tags((name = "coupons", description = "Limited stock, first come, first served, once per user"))
)]
pub struct ApiDoc;

/// Mounts the most frequent routes before all other routes, as for jackpots.
pub fn busy_routes(config: &mut ServiceConfig, api: &Api) {
    config
        .app_data(Data::new(api.clone()))
        .route("/v1/coupons/{id}/issues", post().to(issues::post));
}

/// Mounts the other routes, one by one, as for jackpots.
pub fn routes(config: &mut ServiceConfig) {
    config
        .route("/v1/coupons/{id}/issues/{request_id}", get().to(issues::get))
        .route("/v1/coupons/{id}/issues/{request_id}", delete().to(issues::delete))
        .route(
            "/v1/coupons/{id}/issues/{request_id}/stream",
            web::get().to(stream::get),
        )
        .route("/v1/coupons/{id}/issues/{request_id}/redeem", post().to(redeem::post))
        .route("/v1/coupons/{id}/bulk-issues", post().to(bulk::post))
        .route("/v1/coupons", get().to(definitions::list))
        .route("/v1/coupons/{id}/pause", post().to(status::pause))
        .route("/v1/coupons/{id}/resume", post().to(status::resume))
        .route("/v1/coupons/{id}/close", post().to(status::close))
        .route("/v1/coupons/{id}", put().to(definitions::put))
        .route("/v1/coupons/{id}", get().to(definitions::get))
        .route("/v1/coupons/{id}/dead-letters", get().to(dead::list))
        .route(
            "/v1/coupons/{id}/dead-letters/{request_id}/redrive",
            post().to(dead::redrive),
        );
}

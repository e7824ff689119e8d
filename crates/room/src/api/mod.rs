//! The routes of rooms.

use actix_web::web::{self, Data, ServiceConfig};
use jackpot_core::ids::Id;
use utoipa::OpenApi;

use super::rooms::Rooms;
use crate::ledger::compared::RoomReconciliation;
use jackpot_kernel::http::problem::Problem;
use jackpot_kernel::sql::Sql;
use jackpot_kernel::subject::kinds::ROOM;

mod body;
mod definitions;
mod pre_queue;
mod status;
mod stream;
mod tickets;

#[derive(Debug, Clone)]
pub struct Api {
    /// Admits users.
    pub rooms: Rooms,
    /// The database, for data that Redis does not have.
    pub sql: Sql,
}

impl Api {
    async fn observe_ledger(&self, id: &Id) -> Result<(), Problem> {
        Ok(self.rooms.registry.observe_ledger(&self.sql, ROOM, id).await?)
    }
}

/// The routes, described. Every route must be listed.
#[derive(OpenApi)]
#[openapi(
    paths(
        definitions::put, definitions::list, definitions::get, tickets::post, tickets::get, tickets::renew,
        tickets::delete, stream::get, status::get, pre_queue::get,
    ),
    components(schemas(RoomReconciliation)),
    tags((name = "rooms", description = "Waiting rooms in front of busy draws: exact capacity, passes, an order"))
)]
pub struct ApiDoc;

/// Mounts the most frequent routes before all other routes, as for jackpots.
pub fn busy_routes(config: &mut ServiceConfig, api: &Api) {
    config
        .app_data(Data::new(api.clone()))
        .route("/v1/rooms/{id}/tickets", web::post().to(tickets::post))
        .route(
            "/v1/rooms/{id}/tickets/{ticket}",
            jackpot_kernel::http::acting_get().to(tickets::get),
        );
}

/// Mounts the other routes, one by one, as for jackpots.
pub fn routes(config: &mut ServiceConfig) {
    config
        .route("/v1/rooms/{id}/status", jackpot_kernel::http::get().to(status::get))
        .route("/v1/rooms/{id}/tickets/{ticket}", web::delete().to(tickets::delete))
        .route("/v1/rooms/{id}/tickets/{ticket}/renew", web::post().to(tickets::renew))
        .route("/v1/rooms/{id}/tickets/{ticket}/stream", web::get().to(stream::get))
        .route("/v1/rooms", jackpot_kernel::http::get().to(definitions::list))
        .route("/v1/rooms/{id}", web::put().to(definitions::put))
        .route("/v1/rooms/{id}", jackpot_kernel::http::get().to(definitions::get))
        .route(
            "/v1/rooms/{id}/pre-queue",
            jackpot_kernel::http::get().to(pre_queue::get),
        );
}

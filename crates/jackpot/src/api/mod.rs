//! The routes of jackpots and entries.

use std::sync::Arc;

use actix_web::web::{self, Data, ServiceConfig, post, put};
use jackpot_core::text::Reason;
use utoipa::OpenApi;

use super::named::Named;
use super::operate::Operate;
use super::play::Play;
use crate::ledger::queries::Queries;
use jackpot_kernel::http::cors::CrossOrigin;
use jackpot_kernel::http::{Described, acting_get, get};
use jackpot_kernel::ledger::Ledger;
use jackpot_kernel::sql::Sql;

mod adjustments;
mod batches;
mod definitions;
mod entries;
mod fairness;
mod history;
mod meter;
mod reasons;
mod reversals;
mod room_pass;
mod rules;
mod settlement;
mod several;
mod shared;
mod status;
mod transfers;
mod winners;

pub use fairness::Epochs;
pub use history::Histories;
pub use meter::Meters;
pub use reasons::Reasons;
pub use winners::Winners;

#[derive(Debug, Clone)]
pub struct Api {
    /// Takes entries.
    pub play: Play,
    /// Operates jackpots.
    pub operate: Operate,
    /// The rooms and coupons named by definitions.
    pub named: Named,
    /// Serves meters.
    pub meters: Arc<Meters>,
    /// Serves the histories of meters.
    pub histories: Arc<Histories>,
    /// Serves lists of winners.
    pub winners: Arc<Winners>,
    /// Serves epochs.
    pub epochs: Arc<Epochs>,
    /// Reads the ledger for operators.
    pub queries: Queries,
    /// Explains why a jackpot takes no entries.
    pub reasons: Reasons,
    /// The database, for data that Redis does not have.
    pub sql: Sql,
    /// The ledger.
    pub ledger: Ledger,
}

/// The routes, described. Every route must be listed.
#[derive(OpenApi)]
#[openapi(
    paths(
        definitions::put, definitions::list, definitions::get, definitions::of_version, rules::get, status::pause, status::resume, status::close,
        adjustments::post, adjustments::approve, adjustments::withdraw, transfers::post, transfers::approve, transfers::withdraw, meter::get, meter::stream, history::get, winners::get,
        winners::stream, fairness::get, fairness::rotate, entries::post, entries::get,
        several::post,
        batches::post, reversals::post, settlement::approve, settlement::settle, settlement::fail, settlement::void, settlement::withdraw,
        settlement::approve_limit,
    ),
    tags((name = "jackpots", description = "Definitions, status, money"), (name = "entries", description = "Plays"))
)]
pub struct ApiDoc;

/// Mounts the routes of every play, before all routes of all capabilities: routes are tried in order, each with a
/// regular expression.
pub fn busy_routes(config: &mut ServiceConfig, api: &Api) {
    config
        .app_data(Data::new(api.clone()))
        .app_data(Data::new(cross_origin(&api.meters)))
        .route("/v1/jackpots/{id}/entries", post().to(entries::post))
        .route("/v1/entries", post().to(several::post))
        .route("/v1/jackpots/{id}/entry-batches", post().to(batches::post));
}

/// What pages of the definition's `origins` may read of a public jackpot.
const OPEN_TO_PAGES: [&str; 8] = [
    "/v1/jackpots/{id}/meter",
    "/v1/jackpots/{id}/meter/stream",
    "/v1/jackpots/{id}/meter/history",
    "/v1/jackpots/{id}/winners",
    "/v1/jackpots/{id}/winners/stream",
    "/v1/jackpots/{id}/fairness",
    "/v1/jackpots/{id}/definitions/{version}",
    "/v1/jackpots/{id}/rules",
];

fn cross_origin(meters: &Arc<Meters>) -> CrossOrigin {
    let (asked, known) = (Arc::clone(meters), Arc::clone(meters));
    CrossOrigin {
        routes: &OPEN_TO_PAGES,
        allows: Arc::new(move |id, origin| {
            let meters = Arc::clone(&asked);
            Box::pin(async move { meters.is_open_to(&id, &origin).await })
        }),
        allowed: Arc::new(move |id, origin| known.was_open_to(id, origin)),
    }
}

/// Mounts the other routes, one by one: a scope would keep other capabilities from adding routes below it.
pub fn routes(config: &mut ServiceConfig) {
    config
        .route("/v1/jackpots", get().to(definitions::list))
        .route("/v1/jackpots/{id}", put().to(definitions::put))
        .route("/v1/jackpots/{id}", get().to(definitions::get))
        .route(
            "/v1/jackpots/{id}/definitions/{version}",
            get().to(definitions::of_version),
        )
        .route("/v1/jackpots/{id}/rules", get().to(rules::get))
        .route("/v1/jackpots/{id}/pause", post().to(status::pause))
        .route("/v1/jackpots/{id}/resume", post().to(status::resume))
        .route("/v1/jackpots/{id}/close", post().to(status::close))
        .route("/v1/jackpots/{id}/adjustments", post().to(adjustments::post))
        .route(
            "/v1/jackpots/{id}/adjustments/{adjustment_id}/approve",
            post().to(adjustments::approve),
        )
        .route(
            "/v1/jackpots/{id}/adjustments/{adjustment_id}/withdraw",
            post().to(adjustments::withdraw),
        )
        .route("/v1/jackpots/{id}/transfers", post().to(transfers::post))
        .route(
            "/v1/jackpots/{id}/transfers/{transfer_id}/approve",
            post().to(transfers::approve),
        )
        .route(
            "/v1/jackpots/{id}/transfers/{transfer_id}/withdraw",
            post().to(transfers::withdraw),
        )
        .route(
            "/v1/jackpots/{id}/entries/{entry_id}/reverse",
            post().to(reversals::post),
        )
        .route("/v1/jackpots/{id}/meter", get().to(meter::get))
        .route("/v1/jackpots/{id}/meter/stream", web::get().to(meter::stream))
        .route("/v1/jackpots/{id}/meter/history", get().to(history::get))
        .route("/v1/jackpots/{id}/winners", get().to(winners::get))
        .route("/v1/jackpots/{id}/winners/stream", web::get().to(winners::stream))
        .route("/v1/jackpots/{id}/fairness", get().to(fairness::get))
        .route("/v1/jackpots/{id}/fairness/rotate", post().to(fairness::rotate))
        .route("/v1/payouts/{payout_id}/approve", post().to(settlement::approve))
        .route("/v1/payouts/{payout_id}/settle", post().to(settlement::settle))
        .route("/v1/payouts/{payout_id}/fail", post().to(settlement::fail))
        .route("/v1/payouts/{payout_id}/void", post().to(settlement::void))
        .route("/v1/payouts/{payout_id}/withdraw", post().to(settlement::withdraw))
        .route(
            "/v1/jackpots/{id}/approvals/{version}",
            post().to(settlement::approve_limit),
        )
        .route("/v1/jackpots/{id}/entries/{entry_id}", acting_get().to(entries::get));
}

/// A body with only a reason.
#[derive(Debug, serde::Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReasonBody {
    /// The reason: 1 to 500 characters, no control characters.
    #[schema(value_type = String, example = "check", min_length = 1, max_length = 500)]
    reason: Reason,
}

impl Described for ReasonBody {}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_operation_has_a_name_of_its_own_and_says_what_it_does() {
        let document = serde_json::to_value(ApiDoc::openapi()).expect("JSON");
        let mut names = BTreeSet::new();
        let mut count = 0;
        for (path, item) in document["paths"].as_object().expect("paths") {
            for (method, operation) in item.as_object().expect("operations") {
                count += 1;
                names.insert(operation["operationId"].to_string());
                assert!(operation["summary"].is_string(), "{method} {path}");
            }
        }
        assert_eq!(names.len(), count);
        assert_eq!(count, 32);
    }
}

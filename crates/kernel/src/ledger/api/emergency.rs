//! The emergency stop: stops everything, lets it take requests again, says what holds.

use actix_web::HttpResponse;
use actix_web::http::header::LOCATION;
use actix_web::web::Data;
use jackpot_core::clock::rfc3339;
use jackpot_core::text::Reason;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Api;
use crate::http::query::Nothing;
use crate::http::{Body, Described, Problem, QueryOf, auth};
use crate::ledger::emergency::{Decided, EmergencyError};
use crate::operator::Operator;
use crate::subject::emergency::Decision;

/// Where it is shown.
const PATH: &str = "/v1/emergency-stop";

/// Why everything stops, or takes requests again.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EmergencyReason {
    /// The reason: 1 to 500 characters, no control characters. Refused requests are answered with it.
    #[schema(value_type = String, example = "payout table under review", min_length = 1, max_length = 500)]
    reason: Reason,
}

impl Described for EmergencyReason {}

/// Whether everything is stopped.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct EmergencyState {
    /// Whether no jackpot, coupon or room takes anything new.
    pub stopped: bool,
    /// Why, as the operator of the last stop or start said; null before the first stop.
    #[schema(required, example = "payout table under review")]
    pub reason: Option<String>,
    /// When the last stop or start was made, RFC 3339; null before the first stop.
    #[schema(required, example = "2026-11-21T06:00:00.123Z")]
    pub since: Option<String>,
    /// Only while some do not obey yet, as far as this instance knows: the first 1,000 of them. The service goes on trying.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unreached: Option<Vec<String>>,
}

impl EmergencyState {
    fn of(last: Option<&Decision>, unreached: Option<Vec<String>>) -> Self {
        Self {
            stopped: last.is_some_and(Decision::is_stop),
            reason: last.map(|last| last.reason.clone()),
            since: last.map(|last| rfc3339(last.at_ms)),
            unreached,
        }
    }
}

impl From<EmergencyError> for Problem {
    fn from(error: EmergencyError) -> Self {
        tracing::error!(%error, "nothing was decided about the emergency stop");
        Problem::store_unavailable("neither Redis nor the ledger takes the decision now; repeat the request")
    }
}

/// Whether everything is stopped, since when and why.
#[utoipa::path(get, path = "/v1/emergency-stop", operation_id = "get_emergency_stop", tag = "emergency", security(("bearer" = [])),
    responses((status = 200, description = "What holds now", body = EmergencyState)))]
pub(crate) async fn get(
    auth::ReadFiltered(caller): auth::ReadFiltered,
    _: QueryOf<Nothing>,
    api: Data<Api>,
) -> Result<HttpResponse, Problem> {
    let last = api.emergency.look().await?;
    // A bound key sees no other subjects.
    let is_free = caller.own_of_all_kinds().is_none();
    let unreached = api.emergency.unreached_names().filter(|_| is_free);
    Ok(HttpResponse::Ok().json(EmergencyState::of(last.as_deref(), unreached)))
}

/// Stops everything: no jackpot, coupon or room takes a new entry, batch, issue or ticket (503 `stopped`).
///
/// Repeats are answered, what was drawn is finished, tickets can be looked at and renewed, and operators can work. New
/// jackpots, coupons and rooms begin stopped. It outlasts restarts and restores, until `POST /v1/emergency-start`. A repeat
/// with the same reason changes nothing, and tries again those that were not reached.
#[utoipa::path(post, path = "/v1/emergency-stop", operation_id = "emergency_stop", tag = "emergency", security(("bearer" = [])),
    request_body = EmergencyReason, responses(
        (status = 200, description = "All obey. If another operator has decided the opposite since, the answer shows that", body = EmergencyState),
        (status = 202, description = "Decided, and some do not obey yet: the service goes on trying", body = EmergencyState)))]
pub(crate) async fn stop(
    auth::Operate { by, .. }: auth::Operate,
    api: Data<Api>,
    Body(body): Body<EmergencyReason>,
) -> Result<HttpResponse, Problem> {
    decide(&api, true, body, &by).await
}

/// Ends the emergency stop: all take requests again, unless they are paused, suspended or closed of their own.
#[utoipa::path(post, path = "/v1/emergency-start", operation_id = "emergency_start", tag = "emergency", security(("bearer" = [])),
    request_body = EmergencyReason, responses(
        (status = 200, description = "All obey. If another operator has decided the opposite since, the answer shows that", body = EmergencyState),
        (status = 202, description = "Decided, and some do not obey yet: the service goes on trying", body = EmergencyState)))]
pub(crate) async fn start(
    auth::Operate { by, .. }: auth::Operate,
    api: Data<Api>,
    Body(body): Body<EmergencyReason>,
) -> Result<HttpResponse, Problem> {
    decide(&api, false, body, &by).await
}

async fn decide(api: &Api, stops: bool, body: EmergencyReason, by: &Operator) -> Result<HttpResponse, Problem> {
    let Decided {
        last,
        unreached,
        is_done,
    } = api.emergency.decide(stops, body.reason.as_str(), by).await?;
    let state = EmergencyState::of(last.as_deref(), (!is_done).then_some(unreached));
    Ok(if is_done {
        HttpResponse::Ok().json(state)
    } else {
        HttpResponse::Accepted().insert_header((LOCATION, PATH)).json(state)
    })
}

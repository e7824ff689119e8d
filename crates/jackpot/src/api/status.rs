//! Pause, resume, close.

use actix_web::HttpResponse;
use actix_web::web::Data;
use jackpot_api::jackpot::Jackpot;
use jackpot_core::ids::Id;
use jackpot_core::text::Reason;
use serde::Deserialize;
use utoipa::ToSchema;

use super::definitions::read;
use super::{Api, ReasonBody};
use crate::error::PlayError;
use crate::ledger::lookup::agree;
use jackpot_api::jackpot::Status;
use jackpot_kernel::http::conditions::tagged;
use jackpot_kernel::http::{Body, Code, Described, PathOf, Problem, auth};

/// A pause.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PauseBody {
    /// The reason: 1 to 500 characters, no control characters.
    #[schema(value_type = String, example = "check", min_length = 1, max_length = 500)]
    reason: Reason,
    /// Whether a waiting definition goes on waiting.
    #[serde(default)]
    #[schema(default = false)]
    keep_waiting: bool,
}

impl Described for PauseBody {}

/// Stops entries. Pending entries are finished. With nothing pending, a waiting definition comes into force at once, unless
/// `keep_waiting` is true or one of its caps is below the pool: `version` of the answer names the version in force.
#[utoipa::path(post, path = "/v1/jackpots/{id}/pause", operation_id = "pause_jackpot", tag = "jackpots", security(("bearer" = [])), params(("id" = String, Path)),
    request_body = PauseBody, responses((status = 200, description = "Paused", body = Jackpot)),
    extensions(("x-problems" = json!([Code::JackpotClosed]))))]
pub(crate) async fn pause(
    auth::Operate { by, .. }: auth::Operate,
    PathOf(id): PathOf<Id>,
    api: Data<Api>,
    Body(body): Body<PauseBody>,
) -> Result<HttpResponse, Problem> {
    let reason = body.reason.into_string();
    let keep_waiting = body.keep_waiting;
    api.operate
        .pause(&api.sql, &id, reason.clone(), keep_waiting, &by)
        .await?;
    shown(&api, &id, Status::Paused, &reason).await
}

/// Takes entries again. The service first compares a suspended jackpot with the ledger. It resumes only if both agree.
#[utoipa::path(post, path = "/v1/jackpots/{id}/resume", operation_id = "resume_jackpot", tag = "jackpots", security(("bearer" = [])), params(("id" = String, Path)),
    request_body = ReasonBody, responses((status = 200, description = "Open", body = Jackpot)),
    extensions(("x-problems" = json!([Code::JackpotClosed]))))]
pub(crate) async fn resume(
    auth::Operate { by, .. }: auth::Operate,
    PathOf(id): PathOf<Id>,
    api: Data<Api>,
    Body(body): Body<ReasonBody>,
) -> Result<HttpResponse, Problem> {
    let reason = body.reason.into_string();
    match api.operate.set_status(&id, Status::Open, reason.clone(), &by).await {
        // A jackpot that the service suspended resumes only if the books agree.
        Err(PlayError::Stopped(Status::Suspended)) => {
            agree(&api.ledger, &api.operate, &id).await?;
            api.operate.resume_suspended(&id, reason, &by).await?;
        }
        other => other?,
    }
    let (version, jackpot) = read(&api, &id).await?;
    Ok(tagged(version, jackpot))
}

/// Stops entries for good. Pending entries are finished. The remaining money can be adjusted.
#[utoipa::path(post, path = "/v1/jackpots/{id}/close", operation_id = "close_jackpot", tag = "jackpots", security(("bearer" = [])), params(("id" = String, Path)),
    request_body = ReasonBody, responses((status = 200, description = "Closed", body = Jackpot)))]
pub(crate) async fn close(
    auth::Operate { by, .. }: auth::Operate,
    PathOf(id): PathOf<Id>,
    api: Data<Api>,
    Body(body): Body<ReasonBody>,
) -> Result<HttpResponse, Problem> {
    let reason = body.reason.into_string();
    api.operate.set_status(&id, Status::Closed, reason.clone(), &by).await?;
    shown(&api, &id, Status::Closed, &reason).await
}

async fn shown(api: &Api, id: &Id, wanted: Status, reason: &str) -> Result<HttpResponse, Problem> {
    api.reasons.observe(id, wanted, reason);
    let (version, jackpot) = read(api, id).await?;
    Ok(tagged(version, jackpot))
}

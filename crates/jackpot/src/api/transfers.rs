//! Transfers: all money of tiers goes to another jackpot.

use jackpot_api::ledger::{TransferPart, TransferRow, TransferState};
use std::collections::BTreeMap;

use actix_web::HttpResponse;
use actix_web::web::Data;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::definition::Violation;
use jackpot_core::jackpot::leaving::Leaving;
use jackpot_core::text::Reason;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{Api, ReasonBody};
use crate::error::PlayError;
use crate::leaving::LeavingError;
use crate::transfer::{Transfer, Transferred};
use jackpot_kernel::http::{Body, Code, Described, PathOf, Problem, auth};
use jackpot_kernel::subject::kinds::{JACKPOT, KindName};

/// Most tiers of a transfer: more than a definition has.
const MAX_TIERS: usize = 64;

/// A transfer of everything that some tiers hold.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TransferBody {
    /// Chosen by the operator. The same id works once for a jackpot.
    #[schema(value_type = String, example = "end-of-season")]
    transfer_id: Id,
    /// The jackpot that it goes to, of the same currency.
    #[schema(value_type = String, example = "summer")]
    to: Id,
    /// For each tier that gives, the tier of the other jackpot that it goes to.
    #[schema(value_type = std::collections::HashMap<String, String>, example = json!({"grand": "grand"}))]
    tiers: BTreeMap<Id, Id>,
    /// 1 to 500 characters, no control characters.
    #[schema(value_type = String, example = "end of season", min_length = 1, max_length = 500)]
    reason: Reason,
}

impl Described for TransferBody {
    fn subjects(&self) -> Vec<(KindName, &Id)> {
        vec![(JACKPOT, &self.to)]
    }

    fn broken(self) -> Vec<Violation> {
        let rule = format!("must name 1 to {MAX_TIERS} tiers");
        let is_right = (1..=MAX_TIERS).contains(&self.tiers.len());
        (!is_right).then(|| Violation::new("tiers", rule)).into_iter().collect()
    }
}

/// Moves all money of tiers to tiers of another jackpot of the same currency, once per `transfer_id`.
///
/// The jackpot is paused or closed, and no entry of it is pending. Pool, reserve, overflow and remainder go into those of
/// the other tier; what is beyond its cap, or beyond `low` of its open must-hit cycle by amount, goes into its overflow.
/// Open must-hit cycles of the tiers that give end without a take. `state` is `in-transit` until the other jackpot has
/// received it: any instance ends the transfer. With `approval_above`, a transfer waits (202, `state` `held`) from that amount
/// on, what the same owner took out in the last 24 hours without an approval counted with it, and none goes to a jackpot whose
/// payouts are not tracked, or whose `approval_above` is none or higher.
#[utoipa::path(post, path = "/v1/jackpots/{id}/transfers", operation_id = "transfer_jackpot", tag = "jackpots", security(("bearer" = [])), params(("id" = String, Path)),
    request_body(content = TransferBody),
    responses((status = 201, description = "Given", body = TransferRow), (status = 202, description = "It waits for a second owner", body = TransferRow), (status = 200, description = "Given before, with `Idempotency-Replayed: true`", body = TransferRow)),
    extensions(("x-problems" = json!([Code::JackpotOpen, Code::JackpotClosed, Code::EntryPending,
        Code::TransferIdReused, Code::ApprovalWeaker, Code::AmountTooLarge]))))]
pub(crate) async fn post(
    auth::Operate { by, .. }: auth::Operate,
    PathOf(id): PathOf<Id>,
    api: Data<Api>,
    Body(body): Body<TransferBody>,
) -> Result<HttpResponse, Problem> {
    let wish = Transfer {
        transfer_id: body.transfer_id,
        to: body.to,
        tiers: body.tiers.into_iter().collect(),
        reason: body.reason.into_string(),
        is_approval: false,
    };
    let done = api.operate.transfer(&api.sql, &id, &wish, &by).await?;
    let mut answer = match &done {
        Transferred { state, .. } if *state == TransferState::Held => HttpResponse::Accepted(),
        Transferred { now: true, .. } => HttpResponse::Created(),
        Transferred { now: false, .. } => HttpResponse::Ok(),
    };
    if !done.now {
        answer.insert_header(super::entries::REPLAYED);
    }
    Ok(answer.json(row(&id, &wish, &done)))
}

fn row(jackpot_id: &Id, wish: &Transfer, done: &Transferred) -> TransferRow {
    TransferRow {
        transfer_id: wish.transfer_id.to_string(),
        jackpot_id: jackpot_id.to_string(),
        to: wish.to.to_string(),
        tiers: done.parts.iter().map(TransferPart::from).collect(),
        state: done.state,
        owner: None,
        reason: None,
    }
}

/// Gives a transfer that waits for a second owner. A repeat changes nothing.
///
/// Needs a key with the role `approve`, of another owner than who asked. What it would do is checked again: it gives what the
/// tiers hold now, which is not more than was asked for.
#[utoipa::path(post, path = "/v1/jackpots/{id}/transfers/{transfer_id}/approve", operation_id = "approve_transfer", tag = "jackpots", security(("bearer" = [])),
    params(("id" = String, Path), ("transfer_id" = String, Path)),
    request_body(content = ReasonBody),
    responses((status = 200, description = "Given: `in-transit` or `done`", body = TransferRow)),
    extensions(("x-problems" = json!([Code::SameOwner, Code::TransferNotFound, Code::TransferDone,
        Code::TransferWithdrawn, Code::JackpotOpen, Code::JackpotClosed, Code::EntryPending, Code::ApprovalWeaker,
        Code::AmountTooLarge]))))]
pub(crate) async fn approve(
    auth::Approve(caller): auth::Approve,
    PathOf((id, transfer_id)): PathOf<(Id, Id)>,
    api: Data<Api>,
    Body(body): Body<ReasonBody>,
) -> Result<HttpResponse, Problem> {
    let of = Leaving::Transfer(transfer_id.clone());
    let row = api.queries.transfer(&id, &transfer_id).await?;
    let row = row.ok_or_else(|| PlayError::from(LeavingError::NotFound(of)))?;
    let to = Id::parse(&row.to).map_err(|_| Problem::internal())?;
    caller.check(JACKPOT, Some(&to))?;
    let wish = Transfer {
        transfer_id,
        to,
        tiers: Vec::new(),
        reason: body.reason.into_string(),
        is_approval: true,
    };
    let by = caller.operator()?;
    let done = api.operate.transfer(&api.sql, &id, &wish, &by).await?;
    Ok(HttpResponse::Ok().json(self::row(&id, &wish, &done)))
}

/// Ends a transfer that waits for a second owner, for good. A repeat changes nothing.
#[utoipa::path(post, path = "/v1/jackpots/{id}/transfers/{transfer_id}/withdraw", operation_id = "withdraw_transfer", tag = "jackpots", security(("bearer" = [])),
    params(("id" = String, Path), ("transfer_id" = String, Path)),
    request_body(content = ReasonBody),
    responses((status = 200, description = "Withdrawn", body = TransferRow)),
    extensions(("x-problems" = json!([Code::TransferNotFound, Code::TransferDone]))))]
pub(crate) async fn withdraw(
    auth::Operate { by, .. }: auth::Operate,
    PathOf((id, transfer_id)): PathOf<(Id, Id)>,
    api: Data<Api>,
    Body(body): Body<ReasonBody>,
) -> Result<HttpResponse, Problem> {
    let reason = body.reason.into_string();
    let of = Leaving::Transfer(transfer_id.clone());
    api.operate.withdraw(&api.sql, &id, of.clone(), &reason, &by).await?;
    let row = api.queries.transfer(&id, &transfer_id).await?;
    let row = row.ok_or_else(|| PlayError::from(LeavingError::NotInLedger(of)))?;
    Ok(HttpResponse::Ok().json(row))
}

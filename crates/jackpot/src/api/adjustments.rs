//! Adjustments: an operator funds, corrects or moves money.

use actix_web::HttpResponse;
use actix_web::web::Data;
use jackpot_api::ledger::{Adjustment, AdjustmentState};
use jackpot_core::clock::rfc3339;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::definition::Violation;
use jackpot_core::jackpot::leaving::Leaving;
use jackpot_core::money::Minor;
use jackpot_core::text::Reason;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use utoipa::ToSchema;

use super::{Api, ReasonBody};
use crate::error::PlayError;
use crate::leaving::{LeavingError, Made, in_ledger};
use crate::scripts::{Adjust, Approves};
use jackpot_kernel::http::{Body, Code, Described, PathOf, Problem, auth};
use jackpot_kernel::operator::Operator;

jackpot_core::names! {
    /// A meter that operators may change.
    #[derive(ToSchema)]
    pub(crate) enum MeterName {
        /// The pool from which winners are paid.
        Pool = "pool",
        /// Pays for the next seed.
        Reserve = "reserve",
        /// Contributions beyond the cap.
        Overflow = "overflow",
    }
}

/// Money put into or taken out of a `meter` (signed `amount`), or moved from one meter to another.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AdjustmentBody {
    /// Chosen by the operator. The same id with the same content works once.
    #[schema(value_type = String, example = "launch-seed")]
    adjustment_id: Id,
    #[schema(value_type = String, example = "grand")]
    tier: Id,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    meter: Option<MeterName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<MeterName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    to: Option<MeterName>,
    /// Minor units: for a `meter` signed and not 0, for a move from 1; at most 2^53-1.
    #[schema(example = 500)]
    amount: i64,
    /// 1 to 500 characters, no control characters.
    #[schema(value_type = String, example = "launch seed", min_length = 1, max_length = 500)]
    reason: Reason,
}

impl Described for AdjustmentBody {
    const RELATED: &'static [&'static str] = &["meter", "from", "to", "amount"];

    fn broken(self) -> Vec<Violation> {
        movement(&self).err().into_iter().collect()
    }
}

/// Funds, corrects or moves money of a tier, once per `adjustment_id`.
///
/// A meter never goes below 0, and a pool is never raised above its cap, nor above `low` of an open must-hit cycle by amount.
/// With `approval_above`, an amount that leaves the jackpot waits (202, `state` `held`) from that amount on, what the same
/// owner took out in the last 24 hours without an approval counted with it. Works on a jackpot of any status.
#[utoipa::path(post, path = "/v1/jackpots/{id}/adjustments", operation_id = "adjust_jackpot", tag = "jackpots", security(("bearer" = [])), params(("id" = String, Path)),
    request_body(content = AdjustmentBody),
    responses((status = 201, description = "Done", body = Adjustment), (status = 200, description = "Done or withdrawn before, with `Idempotency-Replayed: true`", body = Adjustment),
        (status = 202, description = "It waits for a second owner", body = Adjustment)),
    extensions(("x-problems" = json!([Code::MustHitOpen, Code::AdjustmentIdReused, Code::AmountTooLarge]))))]
pub(crate) async fn post(
    auth::Operate { by, .. }: auth::Operate,
    PathOf(id): PathOf<Id>,
    api: Data<Api>,
    Body(body): Body<AdjustmentBody>,
) -> Result<HttpResponse, Problem> {
    let wish = wish(&body, by).map_err(|wrong| PlayError::Invalid(vec![wrong]))?;
    let made = api.operate.adjust(&id, &wish).await?;
    if made.state == AdjustmentState::Held {
        in_ledger(&api.sql, &id, made.n, Leaving::Adjustment(wish.adjustment_id)).await?;
    }
    let mut answer = match made {
        Made { now: true, state, .. } if state != AdjustmentState::Held => HttpResponse::Created(),
        Made {
            state: AdjustmentState::Held,
            ..
        } => HttpResponse::Accepted(),
        _ => HttpResponse::Ok(),
    };
    if !made.now {
        answer.insert_header(super::entries::REPLAYED);
    }
    Ok(answer.json(row(&id, body, made)))
}

fn row(jackpot_id: &Id, body: AdjustmentBody, made: Made) -> Adjustment {
    let name = |meter: Option<MeterName>| meter.map(|meter| meter.as_str().to_owned());
    Adjustment {
        jackpot_id: jackpot_id.to_string(),
        adjustment_id: body.adjustment_id.to_string(),
        tier: body.tier.to_string(),
        meter: name(body.meter),
        from: name(body.from),
        to: name(body.to),
        amount: body.amount,
        reason: body.reason.into_string(),
        state: made.state,
        at: rfc3339(made.at_ms),
        who: None,
        owner: None,
        decided_by: None,
        decided_at: None,
    }
}

/// Makes an adjustment that waits for a second owner. A repeat changes nothing.
///
/// Needs a key with the role `approve`, of another owner than who asked. What it would do is checked again.
#[utoipa::path(post, path = "/v1/jackpots/{id}/adjustments/{adjustment_id}/approve", operation_id = "approve_adjustment", tag = "jackpots", security(("bearer" = [])),
    params(("id" = String, Path), ("adjustment_id" = String, Path)),
    request_body(content = ReasonBody),
    responses((status = 200, description = "Done", body = Adjustment)),
    extensions(("x-problems" = json!([Code::SameOwner, Code::AdjustmentNotFound, Code::AdjustmentDone,
        Code::AdjustmentWithdrawn, (Code::InvalidRequest, "the meter holds less by now"), Code::AmountTooLarge]))))]
pub(crate) async fn approve(
    auth::Approve(caller): auth::Approve,
    PathOf((id, adjustment_id)): PathOf<(Id, Id)>,
    api: Data<Api>,
    Body(body): Body<ReasonBody>,
) -> Result<HttpResponse, Problem> {
    let (by, reason) = (caller.operator()?, body.reason.into_string());
    let wish = Approves {
        id: &adjustment_id,
        reason: &reason,
        by: &by,
    };
    api.operate.approve_adjustment(&api.sql, &id, &wish).await?;
    shown(&api, &id, adjustment_id).await
}

/// Ends an adjustment that waits for a second owner, for good. A repeat changes nothing.
#[utoipa::path(post, path = "/v1/jackpots/{id}/adjustments/{adjustment_id}/withdraw", operation_id = "withdraw_adjustment", tag = "jackpots", security(("bearer" = [])),
    params(("id" = String, Path), ("adjustment_id" = String, Path)),
    request_body(content = ReasonBody),
    responses((status = 200, description = "Withdrawn", body = Adjustment)),
    extensions(("x-problems" = json!([Code::AdjustmentNotFound, Code::AdjustmentDone]))))]
pub(crate) async fn withdraw(
    auth::Operate { by, .. }: auth::Operate,
    PathOf((id, adjustment_id)): PathOf<(Id, Id)>,
    api: Data<Api>,
    Body(body): Body<ReasonBody>,
) -> Result<HttpResponse, Problem> {
    let reason = body.reason.into_string();
    let of = Leaving::Adjustment(adjustment_id.clone());
    api.operate.withdraw(&api.sql, &id, of, &reason, &by).await?;
    shown(&api, &id, adjustment_id).await
}

/// The row of the list.
async fn shown(api: &Api, id: &Id, adjustment_id: Id) -> Result<HttpResponse, Problem> {
    let row = api.queries.adjustment(id, &adjustment_id).await?;
    let row = row.ok_or_else(|| PlayError::from(LeavingError::NotInLedger(Leaving::Adjustment(adjustment_id))))?;
    Ok(HttpResponse::Ok().json(row))
}

/// Source meter, target meter and amount.
type Movement = (Option<MeterName>, Option<MeterName>, Minor);

fn movement(body: &AdjustmentBody) -> Result<Movement, Violation> {
    let amount = Minor::try_from(body.amount.unsigned_abs())
        .ok()
        .filter(|amount| *amount != Minor::ZERO);
    let amount =
        amount.ok_or_else(|| Violation::new("amount", "must be an integer, not 0, of at most 9007199254740991"))?;
    match (body.meter, body.from, body.to) {
        (Some(meter), None, None) if body.amount < 0 => Ok((Some(meter), None, amount)),
        (Some(meter), None, None) => Ok((None, Some(meter), amount)),
        (None, Some(from), Some(to)) if from == to => Err(Violation::new("to", "must be another meter than from")),
        (None, Some(_), Some(_)) if body.amount < 0 => Err(Violation::new("amount", "must be at least 1 in a move")),
        (None, from @ Some(_), to @ Some(_)) => Ok((from, to, amount)),
        (Some(_), _, _) => Err(Violation::new("meter", "must not be sent with from or to")),
        (None, _, _) => Err(Violation::new("meter", "must be given, or both from and to")),
    }
}

fn wish(body: &AdjustmentBody, by: Operator) -> Result<Adjust, Violation> {
    let (from, to, amount) = movement(body)?;
    let content = serde_json::to_vec(body).expect("plain data is JSON");
    Ok(Adjust {
        adjustment_id: body.adjustment_id.clone(),
        digest: hex::encode(&Sha256::digest(content)[..16]),
        tier: body.tier.clone(),
        from: from.map(MeterName::as_str),
        to: to.map(MeterName::as_str),
        amount,
        reason: body.reason.as_str().to_owned(),
        by,
    })
}

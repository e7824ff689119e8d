//! Adjustments: an operator funds, corrects or moves money.

use actix_web::HttpResponse;
use actix_web::web::Data;
use jackpot_core::clock::rfc3339;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::definition::Violation;
use jackpot_core::money::Minor;
use jackpot_core::text::Reason;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use utoipa::ToSchema;

use super::{Api, operator};
use crate::http::auth;
use crate::http::body::{Body, Described};
use crate::http::problem::Problem;
use crate::http::query::PathOf;
use crate::http::request_id::RequestId;
use crate::jackpot::error::PlayError;
use crate::jackpot::scripts::Adjust;
use crate::operator::Operator;

/// A meter that operators may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MeterName {
    /// The pool from which winners are paid.
    Pool,
    /// Pays for the next seed.
    Reserve,
    /// Contributions beyond the cap.
    Overflow,
}

impl MeterName {
    fn as_str(self) -> &'static str {
        match self {
            Self::Pool => "pool",
            Self::Reserve => "reserve",
            Self::Overflow => "overflow",
        }
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

/// An adjustment and its result.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Adjustment {
    #[schema(value_type = String, example = "spring")]
    jackpot_id: Id,
    #[schema(value_type = String, example = "launch-seed")]
    adjustment_id: Id,
    #[schema(value_type = String, example = "grand")]
    tier: Id,
    #[serde(skip_serializing_if = "Option::is_none")]
    meter: Option<MeterName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<MeterName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<MeterName>,
    /// Minor units.
    #[schema(example = 500)]
    amount: i64,
    #[schema(value_type = String, example = "launch seed")]
    reason: Reason,
    /// Time of the adjustment, RFC 3339.
    at: String,
}

/// Funds, corrects or moves money of a tier, once per `adjustment_id`.
///
/// A meter never goes below 0, and a pool is never raised above its cap, nor above `low` of an open must-hit cycle by amount.
/// Works on a jackpot of any status.
#[utoipa::path(post, path = "/v1/jackpots/{id}/adjustments", operation_id = "adjust_jackpot", tag = "jackpots", security(("bearer" = [])), params(("id" = String, Path)),
    request_body(content = AdjustmentBody),
    responses((status = 201, description = "Done", body = Adjustment), (status = 200, description = "Done before, with `Idempotency-Replayed: true`", body = Adjustment),
        (status = 409, description = "`must-hit-open`", body = crate::http::problem::ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "`invalid-request`, `adjustment-id-reused`, `amount-too-large`", body = crate::http::problem::ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn post(
    auth::Operate(caller): auth::Operate,
    PathOf(id): PathOf<Id>,
    request_id: RequestId,
    api: Data<Api>,
    Body(body): Body<AdjustmentBody>,
) -> Result<HttpResponse, Problem> {
    let wish = wish(&body, operator(&caller, &request_id)).map_err(|wrong| PlayError::Invalid(vec![wrong]))?;
    let (now, at_ms) = api.operate.adjust(&id, &wish).await?;
    let mut answer = if now {
        HttpResponse::Created()
    } else {
        HttpResponse::Ok()
    };
    if !now {
        answer.insert_header(super::entries::REPLAYED);
    }
    let AdjustmentBody {
        adjustment_id,
        tier,
        meter,
        from,
        to,
        amount,
        reason,
    } = body;
    let at = rfc3339(at_ms);
    Ok(answer.json(Adjustment {
        jackpot_id: id,
        adjustment_id,
        tier,
        meter,
        from,
        to,
        amount,
        reason,
        at,
    }))
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
        who: by.who,
        request_id: by.request_id,
    })
}

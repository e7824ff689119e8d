//! Steps of payouts, and approvals of limits.

use actix_web::HttpResponse;
use actix_web::web::Data;
use jackpot_api::payout::ListedPayout;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::settlement::Settlement;
use jackpot_core::money::Minor;
use jackpot_core::text::{Reason, Text};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Api, ReasonBody};
use crate::ledger::queries::payouts::MAX_PAYOUT_ID_CHARS;
use crate::scripts::Approval;
use crate::settlement::Asked;
use jackpot_kernel::http::auth::Caller;
use jackpot_kernel::http::{Body, Code, Described, PathOf, Problem, auth};
use jackpot_kernel::ledger::queries::LedgerError;
use jackpot_kernel::subject::kinds::JACKPOT;

type Path = PathOf<Text<MAX_PAYOUT_ID_CHARS>>;

/// A payout whose winner has the money.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SettleBody {
    /// Chosen by the operator. A jackpot uses it once.
    #[schema(value_type = String, example = "transfer-2211")]
    settlement_id: Id,
    /// Of the payment: 1 to 500 characters, no control characters.
    #[schema(value_type = String, example = "bank 1", min_length = 1, max_length = 500)]
    reference: Reason,
}

impl Described for SettleBody {}

/// An attempt to settle a payout that failed.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FailBody {
    /// Chosen by the operator. A jackpot uses it once.
    #[schema(value_type = String, example = "transfer-2210")]
    settlement_id: Id,
    /// 1 to 500 characters, no control characters.
    #[schema(value_type = String, example = "account closed", min_length = 1, max_length = 500)]
    reason: Reason,
}

impl Described for FailBody {}

/// Takes the step, and answers with the row of the list.
async fn step(api: &Api, caller: &Caller, payout_id: &str, asked: Asked) -> Result<HttpResponse, Problem> {
    let payout = api.queries.payout(payout_id).await?;
    // The request names no jackpot, so the answer must not reveal a payout of another jackpot.
    if !caller.may_see(JACKPOT, payout.jackpot_id.as_str()) {
        return Err(LedgerError::PayoutNotFound.into());
    }
    let jackpot = payout.jackpot_id.clone();
    api.operate
        .settle_payout::<Problem>(&api.sql, &jackpot, payout_id, &asked, &caller.operator()?)
        .await?;
    Ok(HttpResponse::Ok().json(api.queries.listed_payout(payout_id).await?))
}

/// Lets a held payout go: it is due. A repeat changes nothing.
///
/// Needs a key with the role `approve`, of another owner than who last set `approval_above`.
#[utoipa::path(post, path = "/v1/payouts/{payout_id}/approve", operation_id = "approve_payout", tag = "ledger", security(("bearer" = [])), params(("payout_id" = String, Path)),
    request_body(content = ReasonBody),
    responses((status = 200, description = "The payout", body = ListedPayout)),
    extensions(("x-problems" = json!([Code::SameOwner, Code::PayoutNotFound, Code::NotTracked, Code::PayoutVoid,
        Code::PayoutVoidRequested]))))]
pub(crate) async fn approve(
    auth::ApproveFiltered(caller): auth::ApproveFiltered,
    PathOf(payout_id): Path,
    api: Data<Api>,
    Body(body): Body<ReasonBody>,
) -> Result<HttpResponse, Problem> {
    let asked = Asked::Approve {
        reason: body.reason.into_string(),
    };
    step(&api, &caller, payout_id.as_str(), asked).await
}

/// Says that the winner has the money, once per `settlement_id`. A repeat answers with the payout as it is now.
#[utoipa::path(post, path = "/v1/payouts/{payout_id}/settle", operation_id = "settle_payout", tag = "ledger", security(("bearer" = [])), params(("payout_id" = String, Path)),
    request_body(content = SettleBody),
    responses((status = 200, description = "The payout", body = ListedPayout)),
    extensions(("x-problems" = json!([(Code::SameOwner, "the key that approved it has the same owner"),
        Code::PayoutNotFound, Code::NotTracked, Code::PayoutHeld, Code::PayoutSettled, Code::PayoutVoid,
        Code::PayoutVoidRequested, Code::SettlementIdReused]))))]
pub(crate) async fn settle(
    auth::OperateFiltered(caller): auth::OperateFiltered,
    PathOf(payout_id): Path,
    api: Data<Api>,
    Body(body): Body<SettleBody>,
) -> Result<HttpResponse, Problem> {
    let asked = Asked::Settle {
        settlement_id: body.settlement_id,
        reference: body.reference.into_string(),
    };
    step(&api, &caller, payout_id.as_str(), asked).await
}

/// Says that an attempt to pay the winner failed, once per `settlement_id`. The payout can be settled later.
#[utoipa::path(post, path = "/v1/payouts/{payout_id}/fail", operation_id = "fail_payout", tag = "ledger", security(("bearer" = [])), params(("payout_id" = String, Path)),
    request_body(content = FailBody),
    responses((status = 200, description = "The payout", body = ListedPayout)),
    extensions(("x-problems" = json!([Code::PayoutNotFound, Code::NotTracked, Code::PayoutHeld, Code::PayoutSettled,
        Code::PayoutVoid, Code::PayoutVoidRequested, Code::SettlementIdReused]))))]
pub(crate) async fn fail(
    auth::OperateFiltered(caller): auth::OperateFiltered,
    PathOf(payout_id): Path,
    api: Data<Api>,
    Body(body): Body<FailBody>,
) -> Result<HttpResponse, Problem> {
    let asked = Asked::Fail {
        settlement_id: body.settlement_id,
        reason: body.reason.into_string(),
    };
    step(&api, &caller, payout_id.as_str(), asked).await
}

/// Asks to take a payout back, or takes it back when another owner has asked.
///
/// Its amount goes to the overflow of its tier, and a signed void receipt is made. A repeat by the same owner changes
/// nothing.
#[utoipa::path(post, path = "/v1/payouts/{payout_id}/void", operation_id = "void_payout", tag = "ledger", security(("bearer" = [])), params(("payout_id" = String, Path)),
    request_body(content = ReasonBody),
    responses((status = 200, description = "The payout: `void-requested`, then `void`", body = ListedPayout)),
    extensions(("x-problems" = json!([Code::PayoutNotFound, Code::NotTracked, Code::PayoutSettled,
        Code::AmountTooLarge]))))]
pub(crate) async fn void(
    auth::OperateFiltered(caller): auth::OperateFiltered,
    PathOf(payout_id): Path,
    api: Data<Api>,
    Body(body): Body<ReasonBody>,
) -> Result<HttpResponse, Problem> {
    let reason = body.reason.into_string();
    let asked = Asked::Void { reason };
    step(&api, &caller, payout_id.as_str(), asked).await
}

/// Withdraws the request to take a payout back: it is again where it was before.
///
/// The owner who asked may do it, and any other one with a key of the role `operate`.
#[utoipa::path(post, path = "/v1/payouts/{payout_id}/withdraw", operation_id = "withdraw_void", tag = "ledger", security(("bearer" = [])), params(("payout_id" = String, Path)),
    request_body(content = ReasonBody),
    responses((status = 200, description = "The payout: `held`, `due` or `failed`", body = ListedPayout)),
    extensions(("x-problems" = json!([Code::PayoutNotFound, Code::NotTracked, Code::PayoutNotVoidRequested]))))]
pub(crate) async fn withdraw(
    auth::OperateFiltered(caller): auth::OperateFiltered,
    PathOf(payout_id): Path,
    api: Data<Api>,
    Body(body): Body<ReasonBody>,
) -> Result<HttpResponse, Problem> {
    let reason = body.reason.into_string();
    let asked = Asked::Withdraw { reason };
    step(&api, &caller, payout_id.as_str(), asked).await
}

/// The terms of payouts that are in force.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TermsBody {
    #[schema(value_type = String, example = "spring")]
    jackpot_id: Id,
    settlement: Settlement,
    /// From this amount on, in minor units, payouts wait for an approval; null: none does.
    #[schema(value_type = Option<u64>, example = 50_000)]
    approval_above: Option<Minor>,
}

/// Brings the limit of a PUT that raised or removed `approval_above` into force.
///
/// Needs a key with the role `approve`, of another owner than who put it. `version` is that of the PUT. Payouts that are
/// held stay held. Where nothing waits, nothing changes.
#[utoipa::path(post, path = "/v1/jackpots/{id}/approvals/{version}", operation_id = "approve_limit", tag = "jackpots", security(("bearer" = [])),
    params(("id" = String, Path), ("version" = u64, Path)),
    request_body(content = ReasonBody),
    responses((status = 200, description = "In force", body = TermsBody)),
    extensions(("x-problems" = json!([Code::SameOwner, Code::DefinitionNotFound, Code::ApprovalSuperseded]))))]
pub(crate) async fn approve_limit(
    auth::Approve(caller): auth::Approve,
    PathOf((id, version)): PathOf<(Id, u64)>,
    api: Data<Api>,
    Body(body): Body<ReasonBody>,
) -> Result<HttpResponse, Problem> {
    let by = caller.operator()?;
    let reason = body.reason.into_string();
    let wish = Approval {
        version,
        reason: &reason,
        by: &by,
    };
    let terms = api.operate.approve_limit(&id, &wish).await?;
    Ok(HttpResponse::Ok().json(TermsBody {
        jackpot_id: id,
        settlement: terms.settlement,
        approval_above: terms.approval_above,
    }))
}

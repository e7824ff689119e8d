//! Transfers: all money of tiers goes to another jackpot.

use std::collections::BTreeMap;

use actix_web::HttpResponse;
use actix_web::web::Data;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::definition::Violation;
use jackpot_core::text::Reason;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{Api, operator};
use crate::http::auth;
use crate::http::body::{Body, Described};
use crate::http::problem::Problem;
use crate::http::query::PathOf;
use crate::http::request_id::RequestId;
use crate::jackpot::ledger::queries::transfers::{TransferPart, TransferRow, TransferState};
use crate::jackpot::transfer::Transfer;
use crate::subject::kinds::{JACKPOT, KindName};

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
/// received it: any instance ends the transfer.
#[utoipa::path(post, path = "/v1/jackpots/{id}/transfers", operation_id = "transfer_jackpot", tag = "jackpots", security(("bearer" = [])), params(("id" = String, Path)),
    request_body(content = TransferBody),
    responses((status = 201, description = "Given", body = TransferRow), (status = 200, description = "Given before, with `Idempotency-Replayed: true`", body = TransferRow),
        (status = 404, description = "`jackpot-not-found`", body = crate::http::problem::ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`jackpot-open`, `jackpot-closed`, `jackpot-suspended`, `entry-pending`", body = crate::http::problem::ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "`invalid-request`, `transfer-id-reused`, `amount-too-large`", body = crate::http::problem::ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn post(
    auth::Operate(caller): auth::Operate,
    PathOf(id): PathOf<Id>,
    request_id: RequestId,
    api: Data<Api>,
    Body(body): Body<TransferBody>,
) -> Result<HttpResponse, Problem> {
    let wish = Transfer {
        transfer_id: body.transfer_id,
        to: body.to,
        tiers: body.tiers.into_iter().collect(),
        reason: body.reason.into_string(),
    };
    let done = api
        .operate
        .transfer(&api.sql, &id, &wish, &operator(&caller, &request_id))
        .await?;
    let mut answer = if done.now {
        HttpResponse::Created()
    } else {
        HttpResponse::Ok()
    };
    if !done.now {
        answer.insert_header(super::entries::REPLAYED);
    }
    Ok(answer.json(TransferRow {
        transfer_id: wish.transfer_id.to_string(),
        jackpot_id: id.to_string(),
        to: wish.to.to_string(),
        tiers: done.parts.iter().map(TransferPart::from).collect(),
        state: if done.is_done {
            TransferState::Done
        } else {
            TransferState::InTransit
        },
    }))
}

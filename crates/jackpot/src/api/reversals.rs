//! Reversals: a game cancels a round, and the entry's contribution goes back.

use std::cell::RefCell;

use actix_web::HttpResponse;
use actix_web::web::Data;
use jackpot_core::ids::{EntryRef, Id};
use jackpot_core::text::Reason;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Api;
use crate::error::PlayError;
use crate::ledger::lookup::entry_taken;
use crate::reverse::{ReversalWish, Round};
use jackpot_kernel::http::auth::Role;
use jackpot_kernel::http::{Body, Code, Described, PathOf, Problem, auth};

/// The cancellation of a round.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReversalBody {
    /// Chosen by the game: one for each cancelled round. The same id answers as at first.
    #[schema(value_type = String, example = "cancel-8812")]
    reversal_id: Id,
    /// 1 to 500 characters, no control characters.
    #[schema(value_type = String, example = "round cancelled", min_length = 1, max_length = 500)]
    reason: Reason,
}

impl Described for ReversalBody {}

/// What a reversal gave back.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Reversal {
    #[schema(value_type = String, example = "cancel-8812")]
    reversal_id: Id,
    #[schema(example = "round-8812-p7")]
    entry_id: String,
    reversed: Vec<ReversedPart>,
}

/// What one tier gave back: the entry's exact contribution.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReversedPart {
    #[schema(value_type = String, example = "grand")]
    tier: Id,
    /// Whole minor units.
    #[schema(example = 1)]
    amount: u64,
    /// Its millionths.
    #[schema(example = 0)]
    amount_micro: u64,
    /// The part that the tier did not hold any more; it counts as funded. Whole minor units.
    #[schema(example = 0)]
    uncovered: u64,
    /// Its millionths.
    #[schema(example = 0)]
    uncovered_micro: u64,
}

/// Takes the contribution of an entry back, because the game cancelled its round. Once for each entry.
///
/// Each tier gives the exact contribution back: the pool's share out of the pool, then the overflow, and the reserve's
/// share out of the reserve. What it does not hold any more, or what a take of all has won since, is `uncovered` and
/// counts as funded. Works on a jackpot of any status. An entry of a batch is reversed by its derived id. Needs a key that
/// may send entries of the entry's source, or, with `reverse_by` `operate`, one with the role operate.
///
/// A reversal of an entry that is not there is 404 and remembered for as long as ids are: an entry of that id that comes
/// later is 409 `entry-reversed` and counts nothing, if the key may send entries of its source.
#[utoipa::path(post, path = "/v1/jackpots/{id}/entries/{entry_id}/reverse", operation_id = "reverse_entry", tag = "entries", security(("bearer" = [])),
    params(("id" = String, Path), ("entry_id" = String, Path)),
    request_body(content = ReversalBody),
    responses((status = 201, description = "Done", body = Reversal), (status = 200, description = "Done before, with `Idempotency-Replayed: true`", body = Reversal)),
    extensions(("x-problems" = json!([Code::WrongSource, Code::EntryNotFound, Code::EntryHasPrize,
        Code::EntryPending, Code::EntryReversed, Code::TooLate, Code::ReversalIdReused, Code::AmountTooLarge]))))]
pub(crate) async fn post(
    auth::PlayOrOperate(caller): auth::PlayOrOperate,
    PathOf((id, entry_id)): PathOf<(Id, EntryRef)>,
    api: Data<Api>,
    Body(body): Body<ReversalBody>,
) -> Result<HttpResponse, Problem> {
    let by = caller.operator()?;
    let wish = ReversalWish {
        entry_id: entry_id.as_str(),
        reversal_id: &body.reversal_id,
        reason: body.reason.as_str(),
        by: &by,
        operates: caller.has_role(Role::Operate),
    };
    let source = RefCell::new(None);
    let look = async || {
        let round = look(&api, &id, entry_id.as_str()).await?;
        source.replace(round.as_ref().and_then(|round| round.source.clone()));
        Ok::<_, Problem>(round)
    };
    let (now, record) = api.operate.reverse(&id, &wish, look).await?;
    if now {
        api.play.count_reversed(&id, source.into_inner().as_ref()).await;
    }
    let mut answer = if now {
        HttpResponse::Created()
    } else {
        HttpResponse::Ok()
    };
    if !now {
        answer.insert_header(super::entries::REPLAYED);
    }
    let parts = record.tiers.into_iter().map(|part| ReversedPart {
        tier: part.tier,
        amount: part.amount,
        amount_micro: part.amount_micro,
        uncovered: part.uncovered,
        uncovered_micro: part.uncovered_micro,
    });
    Ok(answer.json(Reversal {
        reversal_id: record.reversal_id,
        entry_id: entry_id.as_str().to_owned(),
        reversed: parts.collect(),
    }))
}

/// Finds the entry.
async fn look(api: &Api, id: &Id, entry_id: &str) -> Result<Option<Round>, Problem> {
    let found = match api.play.look_up(id, entry_id).await {
        Err(PlayError::EntryNotFound(_)) => return Ok(None),
        found => found?,
    };
    let (sent, record, entered_ms) = match (found.sent, found.record, found.at_ms) {
        (Some(sent), Some(record), Some(at_ms)) => (sent, record, at_ms),
        // Its event has left the stream, so the ledger answers.
        (_, record, _) => {
            let taken = entry_taken(&api.ledger.sql, id, entry_id, found.sequence).await?;
            (taken.sent, record.unwrap_or(taken.record), taken.at_ms)
        }
    };
    Ok(Some(Round {
        sequence: record.sequence,
        entered_ms,
        stake: sent.stake,
        source: sent.source,
        version: record.version,
        state: record.state,
    }))
}

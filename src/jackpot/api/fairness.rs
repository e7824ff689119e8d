//! Fairness: the epochs and their commitments.

use std::collections::BTreeMap;

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{Api, ReasonBody, operator};
use crate::clock::rfc3339;
use crate::http::auth;
use crate::http::body::Body;
use crate::http::problem::Problem;
use crate::http::query::{PathOf, QueryOf};
use crate::http::request_id::RequestId;
use crate::ids::Id;
use crate::jackpot::epoch::Epoch;
use crate::ledger::lookup::Epochs;

/// Epochs of one page.
const PAGE: usize = 200;

/// Which page.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct FairnessQuery {
    /// `next_cursor` of the page before.
    #[param(value_type = Option<String>)]
    cursor: Option<Cursor>,
}

/// The number of the last epoch of the page before.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
struct Cursor(u64);

impl TryFrom<String> for Cursor {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
            .map(Self)
            .map_err(|_| "must be the next_cursor of another page")
    }
}

/// The epochs of a jackpot, the oldest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Fairness {
    #[schema(value_type = String, example = "spring")]
    jackpot_id: Id,
    epochs: Vec<EpochBody>,
    /// No jackpot has cycles.
    #[schema(value_type = Vec<Object>)]
    cycles: [(); 0],
    /// For the next page: at most 200 epochs are on one. Null on the last.
    next_cursor: Option<String>,
}

/// A period under one secret seed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EpochBody {
    #[schema(example = 1)]
    epoch: u64,
    /// Its own part of what the seed is derived from: 32 hexadecimal digits, public from when the epoch opened.
    #[schema(example = "00112233445566778899aabbccddeeff")]
    nonce: String,
    /// Which draw secret the seed is derived from: 16 hexadecimal digits.
    #[schema(example = "abc44bcf0634a438")]
    secret_id: String,
    /// Hexadecimal SHA-256 of the seed, published when the epoch opened.
    #[schema(example = "7bc62f73fa0713a5e49ed900d4c2453ae26480e8d8267c84e6bb5ac81a10a258")]
    commitment: String,
    /// RFC 3339.
    opened_at: String,
    /// RFC 3339; null while open.
    closed_at: Option<String>,
    /// The seed in hexadecimal, once it is published; null before. It is published when the closing is in the ledger and
    /// nothing pending needs the seed.
    seed: Option<String>,
}

/// The epochs with their nonces and commitments, the oldest first. Needs no key.
#[utoipa::path(get, path = "/v1/jackpots/{id}/fairness", operation_id = "get_fairness", tag = "jackpots", params(("id" = String, Path), FairnessQuery),
    responses((status = 200, description = "The epochs", body = Fairness),
        (status = 404, description = "`jackpot-not-found`", body = crate::http::problem::ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn get(
    PathOf(id): PathOf<Id>,
    QueryOf(query): QueryOf<FairnessQuery>,
    api: Data<Api>,
) -> Result<HttpResponse, Problem> {
    answer(&api, id, query.cursor).await
}

/// Closes the open epoch at once and opens the next, under the current draw secret. Entries remembered keep their answers.
#[utoipa::path(post, path = "/v1/jackpots/{id}/fairness/rotate", operation_id = "rotate_epoch", tag = "jackpots", security(("bearer" = [])), params(("id" = String, Path)),
    request_body = ReasonBody, responses((status = 200, description = "The epochs now", body = Fairness)))]
pub(crate) async fn rotate(
    auth::Operate(caller): auth::Operate,
    PathOf(id): PathOf<Id>,
    request_id: RequestId,
    api: Data<Api>,
    Body(body): Body<ReasonBody>,
) -> Result<HttpResponse, Problem> {
    api.operate
        .end_epoch(&id, body.reason.into_string(), &operator(&caller, &request_id))
        .await?;
    answer(&api, id, None).await
}

async fn answer(api: &Api, id: Id, after: Option<Cursor>) -> Result<HttpResponse, Problem> {
    let redis = api.operate.epochs(&id).await;
    let known = match api.ledger.epochs(&id).await {
        Ok(known) => known,
        // No seed is shown that the ledger does not vouch for; the commitments are all the same.
        Err(error) if redis.is_ok() => {
            tracing::warn!(%error, "epochs are shown without their seeds");
            Epochs::default()
        }
        Err(error) => return Err(error.into()),
    };
    let newer = match redis {
        Ok(epochs) => epochs,
        Err(_) if !known.all.is_empty() => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    // Redis may know of an epoch that the ledger has yet to read, and of a closing.
    let mut epochs: BTreeMap<u64, Epoch> = newer.into_iter().map(|epoch| (epoch.epoch, epoch)).collect();
    for epoch in &known.all {
        let closed = epoch.closed_ms.is_some();
        if closed || !epochs.contains_key(&epoch.epoch) {
            epochs.insert(epoch.epoch, epoch.clone());
        }
    }
    let mut rest = epochs
        .into_values()
        .filter(|epoch| after.is_none_or(|Cursor(last)| epoch.epoch > last));
    let page = rest.by_ref().take(PAGE).map(|epoch| EpochBody {
        seed: known.seed(epoch.epoch).map(str::to_owned),
        epoch: epoch.epoch,
        nonce: epoch.opening.nonce,
        secret_id: epoch.opening.secret_id,
        commitment: epoch.opening.commitment,
        opened_at: rfc3339(epoch.opened_ms),
        closed_at: epoch.closed_ms.map(rfc3339),
    });
    let page = page.collect::<Vec<_>>();
    let last = page.last().map(|epoch| epoch.epoch.to_string());
    Ok(HttpResponse::Ok().json(Fairness {
        next_cursor: last.filter(|_| rest.next().is_some()),
        epochs: page,
        cycles: [],
        jackpot_id: id,
    }))
}

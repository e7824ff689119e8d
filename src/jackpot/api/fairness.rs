//! Fairness: the epochs and their commitments.

use std::collections::BTreeMap;

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::Serialize;
use utoipa::ToSchema;

use super::{Api, ReasonBody, operator};
use crate::clock::rfc3339;
use crate::http::auth;
use crate::http::body::Body;
use crate::http::problem::Problem;
use crate::http::query::PathOf;
use crate::http::request_id::RequestId;
use crate::ids::Id;
use crate::jackpot::view::Epoch;
use crate::ledger::lookup::Epochs;

/// The epochs of a jackpot, the oldest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Fairness {
    #[schema(value_type = String, example = "spring")]
    jackpot_id: Id,
    epochs: Vec<EpochBody>,
}

/// A period under one secret seed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EpochBody {
    #[schema(example = 1)]
    epoch: u64,
    /// Hexadecimal SHA-256 of the seed, published when the epoch opened.
    #[schema(example = "1b1584e55fb6852166e99de01cf21176f848aaed8af2b5f806b6f49922437254")]
    commitment: String,
    /// RFC 3339.
    opened_at: String,
    /// RFC 3339; null while open.
    closed_at: Option<String>,
    /// The seed in hexadecimal, once it is published; null before.
    seed: Option<String>,
}

/// The epochs with their commitments. Needs no key.
#[utoipa::path(get, path = "/v1/jackpots/{id}/fairness", operation_id = "get_fairness", tag = "jackpots", params(("id" = String, Path)),
    responses((status = 200, description = "The epochs", body = Fairness),
        (status = 404, description = "`jackpot-not-found`", body = crate::http::problem::ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn get(PathOf(id): PathOf<Id>, api: Data<Api>) -> Result<HttpResponse, Problem> {
    answer(&api, id).await
}

/// Closes the open epoch at once and opens the next. Entries remembered keep their answers.
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
        .end_epoch(&id, body.reason.into_string(), &operator(caller, &request_id))
        .await?;
    answer(&api, id).await
}

async fn answer(api: &Api, id: Id) -> Result<HttpResponse, Problem> {
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
    let epochs = epochs.into_values().map(|epoch| EpochBody {
        seed: known
            .is_revealed(epoch.epoch)
            .then(|| api.operate.views.seed(&id, epoch.epoch).reveal()),
        epoch: epoch.epoch,
        commitment: epoch.commitment,
        opened_at: rfc3339(epoch.opened_ms),
        closed_at: epoch.closed_ms.map(rfc3339),
    });
    Ok(HttpResponse::Ok().json(Fairness {
        epochs: epochs.collect(),
        jackpot_id: id,
    }))
}

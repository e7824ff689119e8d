//! Batches of entries.

use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::web::Data;
use jackpot_api::entry::{ContributionBody, Outcome};
use jackpot_core::ids::{BatchId, ClientSeed, Id, PersonId};
use jackpot_core::jackpot::ranks::Ranks;
use jackpot_core::money::Minor;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Api;
use super::entries::{REPLAYED, outcome_of};
use crate::batch::{Batch, BatchPlayed, Entries, MAX_ENTRIES, work};
use jackpot_kernel::http::body::Unparsed;
use jackpot_kernel::http::{Code, Described, PathOf, Problem, auth, body};
use jackpot_kernel::telemetry::request;

/// Bytes of an entry, on average. The longest form without ranks has 331.
const MAX_ENTRY_BYTES: usize = 320;
/// Largest body: a full batch, and the JSON around its entries.
const MAX_BODY_BYTES: usize = MAX_ENTRIES * MAX_ENTRY_BYTES + 1_024;
/// Shortest form of an entry, to bound their number by the body's length: `{"player_id":"p","stake":1},`.
const MIN_ENTRY_BYTES: usize = 28;

/// Entries to take together.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BatchBody {
    /// Chosen by the game. The same id is the same batch, for at least the retention. The entry at index i (from 1) has
    /// the id `{batch_id}:{i}`.
    #[schema(value_type = String, example = "round-8812", pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,55}$")]
    batch_id: BatchId,
    #[schema(value_type = Vec<BatchEntry>, min_items = 1, max_items = 10_000)]
    entries: Entries,
}

impl Described for BatchBody {
    const DIGITS_ALONE: bool = true;
}

/// One play of one player.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what Entries reads")]
pub(crate) struct BatchEntry {
    #[schema(value_type = String, example = "p7")]
    player_id: PersonId,
    /// Minor units, 0 to 2^53-1, between the jackpot's `min_stake` and `max_stake`.
    #[schema(value_type = u64, example = 100)]
    stake: Minor,
    /// The player's own input of the draw: null or `[A-Za-z0-9._-]{1,64}`.
    #[schema(value_type = Option<String>)]
    client_seed: Option<ClientSeed>,
    /// The game, site or channel: one of the jackpot's `sources`, if it has any; otherwise it is only recorded.
    #[schema(value_type = Option<String>, pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    source_id: Option<Id>,
    /// What the game of an external source drew: ranks of the odds table, none twice, tried in order; 0 (nothing) only as
    /// the last. At most `max_redraws` and one. Entries of other sources have none.
    #[schema(value_type = Option<Vec<u32>>, min_items = 1, max_items = 101)]
    ranks: Option<Ranks>,
}

/// A batch with the entries that won.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BatchAnswer<'a> {
    #[schema(example = "round-8812")]
    batch_id: &'a str,
    /// Number of its entries; all were taken.
    #[schema(example = 1000)]
    accepted: u64,
    /// Number of its first entry within the jackpot, from 1; the others follow.
    #[schema(example = 8812)]
    first_sequence: u64,
    /// The sums of all its entries. `pool` is the meter after the last entry.
    contributions: Vec<ContributionBody>,
    /// The entries with a rank above 0, in order.
    winners: Vec<WinnerBody<'a>>,
}

/// An entry that won.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WinnerBody<'a> {
    /// Its index in the batch, from 1.
    #[schema(example = 17)]
    index: usize,
    #[schema(example = "round-8812:17")]
    entry_id: String,
    #[schema(example = "p7")]
    player_id: &'a str,
    outcome: Outcome,
}

/// Takes 1 to 10,000 entries, all or none, with exactly the result of sending them one after the other. Safe to repeat
/// with the same id. Each entry can be read by its derived id.
#[utoipa::path(post, path = "/v1/jackpots/{id}/entry-batches", operation_id = "make_entry_batch", tag = "entries", security(("bearer" = [])), params(("id" = String, Path)),
    request_body(content = BatchBody),
    responses((status = 201, description = "Taken", body = BatchAnswer),
        (status = 200, description = "Taken before, with `Idempotency-Replayed: true`", body = BatchAnswer)),
    extensions(("x-problems" = json!([(Code::PassRequired, "the jackpot has a waiting room"), Code::WrongSource,
        Code::JackpotPaused, Code::JackpotClosed, (Code::EntryReversed, "a reversal came before it"),
        Code::EntryIdReused, Code::AmountTooLarge, (Code::TooManyTakes, "nothing of the batch was taken"),
        (Code::Stopped, "the emergency stop holds it")]))))]
pub(crate) async fn post(
    auth::Play(caller): auth::Play,
    PathOf(id): PathOf<Id>,
    api: Data<Api>,
    body: Unparsed<MAX_BODY_BYTES>,
) -> Result<HttpResponse, Problem> {
    let (bytes, _share) = body.read(&caller).await?;
    let parsed = work(bytes.len() / MIN_ENTRY_BYTES, move || body::parse::<BatchBody>(&bytes)).await;
    let BatchBody { batch_id, entries } = parsed.ok_or_else(stopping)??;
    request::entry(id.shared(), batch_id.as_str().into());
    let batch = Arc::new(Batch { batch_id, entries });
    let played = match api.play.enter_batch(&id, &batch, caller.name()).await {
        Ok(played) => played,
        Err(error) => return Err(api.reasons.problem(&id, error).await),
    };
    let (winners, replayed) = (played.winners.len(), played.replayed);
    let answer = work(winners, move || answer_text(&id, &batch, &played)).await;
    let mut response = if replayed {
        HttpResponse::Ok()
    } else {
        HttpResponse::Created()
    };
    if replayed {
        response.insert_header(REPLAYED);
    }
    let text = answer.ok_or_else(stopping)?.map_err(|_| Problem::internal())?;
    Ok(response.content_type("application/json").body(text))
}

fn stopping() -> Problem {
    Problem::store_unavailable("the service stops; repeat the same id")
}

fn answer_text(jackpot_id: &Id, batch: &Batch, played: &BatchPlayed) -> serde_json::Result<Vec<u8>> {
    let contributions = played.record.totals.iter().map(|total| ContributionBody {
        tier: total.tier.clone(),
        amount: total.amount,
        pool: total.pool,
    });
    let winners = played.winners.iter().map(|won| {
        let entry_id = batch.batch_id.entry_id(won.index);
        WinnerBody {
            index: won.index,
            player_id: batch.entries.player(won.index - 1),
            outcome: outcome_of(jackpot_id, &entry_id, &won.record, &won.definition),
            entry_id,
        }
    });
    serde_json::to_vec(&BatchAnswer {
        batch_id: batch.batch_id.as_str(),
        accepted: played.record.count,
        first_sequence: played.record.first,
        contributions: contributions.collect(),
        winners: winners.collect(),
    })
}

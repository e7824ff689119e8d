//! One play that feeds several jackpots.
//!
//! Each item is exactly an entry of its jackpot, and goes through the queue of its jackpot. All of them are sent before
//! any is waited for, over the thread's own connection. So a Redis node gets those of its jackpots in one write, and
//! takes them in one turn of its loop.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::http::header::{CONTENT_TYPE, HeaderValue};
use actix_web::web::Data;
use futures_util::future::{MaybeDone, join_all, maybe_done};
use jackpot_api::entry::Entry;
use jackpot_core::currency::Currency;
use jackpot_core::ids::{ClientSeed, Id, PersonId};
use jackpot_core::jackpot::record::Sent;
use jackpot_core::money::Minor;
use serde::{Deserialize, Serialize};
use tokio::time::timeout;
use utoipa::ToSchema;

use super::Api;
use super::entries::{USUAL_ANSWER_BYTES, entry};
use super::room_pass::RoomPasses;
use crate::play::By;
use jackpot_kernel::http::auth::{Caller, PlayFiltered};
use jackpot_kernel::http::problem::ProblemBody;
use jackpot_kernel::http::{Body, Code, Described, Problem};
use jackpot_kernel::subject::kinds::JACKPOT;
use jackpot_kernel::telemetry::request;

/// Most jackpots of one play.
const MAX_JACKPOTS: usize = 16;

/// One play of one player, an entry of each of these jackpots.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlayBody {
    /// Chosen by the game: the id of the entry in each jackpot. The same id is the same entry, for at least the retention.
    #[schema(value_type = String, example = "round-8812-p7", pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    entry_id: Id,
    #[schema(value_type = String, example = "p7")]
    player_id: PersonId,
    /// Minor units, 0 to 2^53-1, between `min_stake` and `max_stake` of each jackpot.
    #[schema(value_type = u64, example = 100)]
    stake: Minor,
    /// Currency of the stake. A jackpot of another currency refuses its entry. null: that of each jackpot.
    #[serde(default)]
    #[schema(value_type = Option<String>, example = "KRW", pattern = "^[A-Z][A-Z0-9]{2,7}$")]
    currency: Option<Currency>,
    /// The player's own input of each draw: null or `[A-Za-z0-9._-]{1,64}`.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    client_seed: Option<ClientSeed>,
    /// The game, site or channel, as in an entry of each jackpot.
    #[serde(default)]
    #[schema(value_type = Option<String>, pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    source_id: Option<Id>,
    /// The jackpots, 1 to 16, each once.
    #[schema(value_type = Vec<String>, min_items = 1, max_items = 16, example = json!(["mini-7", "network"]))]
    jackpots: Jackpots,
}

impl Described for PlayBody {
    const DIGITS_ALONE: bool = true;
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "Vec<Id>")]
struct Jackpots(Vec<Id>);

impl TryFrom<Vec<Id>> for Jackpots {
    type Error = String;

    fn try_from(ids: Vec<Id>) -> Result<Self, String> {
        let is_right = (1..=MAX_JACKPOTS).contains(&ids.len());
        if is_right && ids.iter().enumerate().all(|(at, id)| !ids[..at].contains(id)) {
            Ok(Self(ids))
        } else {
            Err(format!("must be 1 to {MAX_JACKPOTS} jackpot ids, each once"))
        }
    }
}

/// The entries of a play, in the order of its jackpots.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PlayAnswer<'a> {
    #[schema(value_type = String, example = "round-8812-p7")]
    entry_id: &'a Id,
    items: Vec<PlayItem<'a>>,
}

/// The entry of one jackpot, or the problem that a request of this entry alone would get.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PlayItem<'a> {
    #[schema(value_type = String, example = "mini-7")]
    jackpot_id: &'a Id,
    /// 201: taken. 200: taken before. Another status is that of the problem.
    #[schema(example = 201)]
    status: u16,
    /// With status 200 and 201.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Entry, required = false)]
    entry: Option<&'a Entry>,
    /// With another status.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = ProblemBody, required = false)]
    problem: Option<ProblemBody>,
}

/// Takes one play as an entry of each of 1 to 16 jackpots. Safe to repeat with the same id: a repeat completes what was
/// refused or did not answer, and changes nothing else.
///
/// Each item is exactly an entry of its jackpot. A jackpot that refuses, or does not answer, delays no other entry. The
/// call counts once against the limit of its key.
#[utoipa::path(post, path = "/v1/entries", operation_id = "make_play", tag = "entries", security(("bearer" = [])),
    params(("X-Room-Pass" = Option<String>, Header, description = "The pass of the player for a waiting room; one header for each room")),
    request_body(content = PlayBody),
    responses((status = 200, description = "An item for each jackpot", body = PlayAnswer)),
    extensions(("x-problems" = json!([(Code::Forbidden, "the key may not play"), (Code::WrongSubject, "in an item"),
        (Code::PassRequired, "in an item"), (Code::PassExpired, "in an item"),
        (Code::InvalidRequest, "nothing was taken; or in an item"), (Code::CurrencyMismatch, "in an item"),
        (Code::EntryIdReused, "in an item"), (Code::AmountTooLarge, "in an item")]))))]
pub(crate) async fn post(
    PlayFiltered(caller): PlayFiltered,
    api: Data<Api>,
    passes: RoomPasses,
    Body(body): Body<PlayBody>,
) -> Result<HttpResponse, Problem> {
    let jackpots = &body.jackpots.0;
    request::entry(names(jackpots), body.entry_id.shared());
    let passes = passes.texts();
    let by = By {
        key: caller.name(),
        passes: &passes,
        currency: body.currency,
    };
    let items = jackpots.iter().map(|id| take(&api, &caller, &body, by, id));
    let taken = in_time(api.play.limit(), items).await;
    let items = jackpots.iter().zip(&taken).map(|(id, taken)| item(id, taken));
    Ok(answered(&PlayAnswer {
        entry_id: &body.entry_id,
        items: items.collect(),
    }))
}

/// The jackpots, as log lines name them.
fn names(jackpots: &[Id]) -> Arc<str> {
    let names: Vec<_> = jackpots.iter().map(Id::as_str).collect();
    names.join(",").into()
}

/// The entry of one jackpot.
async fn take(api: &Api, caller: &Caller, body: &PlayBody, by: By<'_>, id: &Id) -> Result<(u16, Entry), Problem> {
    caller.check(JACKPOT, Some(id))?;
    let sent = Sent {
        player: body.player_id.clone(),
        stake: body.stake,
        client_seed: body.client_seed.clone(),
        source: body.source_id.clone(),
        ranks: None,
    };
    match api.play.enter(id, &body.entry_id, sent, by).await {
        Ok(played) => Ok((if played.replayed { 200 } else { 201 }, entry(id.clone(), played))),
        Err(error) => Err(api.reasons.problem(id, error).await),
    }
}

/// Runs all of them at once. What has not ended within the limit is answered as unavailable. Its entry may have been
/// taken: recovery finishes it, and a repeat gets its answer.
async fn in_time<F, T>(limit: Duration, all: impl Iterator<Item = F>) -> Vec<Result<T, Problem>>
where
    F: Future<Output = Result<T, Problem>>,
{
    let mut all: Vec<Pin<Box<MaybeDone<F>>>> = all.map(|one| Box::pin(maybe_done(one))).collect();
    let ended = timeout(limit, join_all(&mut all)).await;
    if ended.is_err() {
        tracing::warn!("some jackpots of a play did not answer in time");
    }
    let late = || {
        Err(Problem::store_unavailable(
            "the jackpot does not answer in time; repeat the same id",
        ))
    };
    all.iter_mut()
        .map(|one| one.as_mut().take_output().unwrap_or_else(late))
        .collect()
}

fn item<'a>(jackpot_id: &'a Id, taken: &'a Result<(u16, Entry), Problem>) -> PlayItem<'a> {
    let (status, entry, problem) = match taken {
        Ok((status, entry)) => (*status, Some(entry), None),
        Err(problem) => (problem.code.status().as_u16(), None, Some(problem.body())),
    };
    PlayItem {
        jackpot_id,
        status,
        entry,
        problem,
    }
}

fn answered(answer: &PlayAnswer<'_>) -> HttpResponse {
    let mut text = Vec::with_capacity(answer.items.len() * USUAL_ANSWER_BYTES);
    serde_json::to_writer(&mut text, answer).expect("plain data is JSON");
    let json = HeaderValue::from_static("application/json");
    HttpResponse::Ok().insert_header((CONTENT_TYPE, json)).body(text)
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;
    use jackpot_kernel::http::body::parse;

    #[tokio::test]
    async fn what_does_not_end_holds_up_nothing_beyond_the_limit() {
        let one = |number: u16| async move {
            if number == 1 {
                pending::<()>().await;
            }
            Ok::<_, Problem>(number)
        };
        let all = in_time(Duration::from_millis(20), (0..3).map(one)).await;
        assert!(matches!(all[..], [Ok(0), Err(_), Ok(2)]));
        let late = all[1].as_ref().expect_err("late");
        assert_eq!(late.code, Code::StoreUnavailable);
    }

    #[test]
    fn a_play_names_one_to_sixteen_jackpots_each_once() {
        let field = |jackpots: &[&str], currency: &str| {
            let body = serde_json::json!({"entry_id": "e", "player_id": "p", "stake": 1, "currency": currency, "jackpots": jackpots});
            let parsed = parse::<PlayBody>(body.to_string().as_bytes());
            parsed.err().map(|problem| problem.errors[0].field.clone())
        };
        let many: Vec<_> = (0..17).map(|number| format!("j{number}")).collect();
        let many: Vec<_> = many.iter().map(String::as_str).collect();
        assert_eq!(field(&many[..16], "KRW"), None);
        for wrong in [&many[..], &[], &["a", "b", "a"]] {
            assert_eq!(field(wrong, "KRW").as_deref(), Some("jackpots"));
        }
        assert_eq!(field(&["a", "b:c"], "KRW").as_deref(), Some("jackpots[1]"));
        assert_eq!(field(&["a"], "krw").as_deref(), Some("currency"));
    }
}

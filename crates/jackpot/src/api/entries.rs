//! Entries: play, look up.

use actix_web::http::header::{CONTENT_TYPE, HeaderValue};
use actix_web::web::Data;
use actix_web::{HttpResponse, HttpResponseBuilder};
use jackpot_api::entry::{ContributionBody, CouponBody, Draw, Entry, Outcome, PrizeName};
use jackpot_core::ids::{ClientSeed, EntryRef, Id, PersonId};
use jackpot_core::jackpot::definition::{Definition, Violation};
use jackpot_core::jackpot::derived::{draw_request, payout_id};
use jackpot_core::jackpot::document::{DrawnBy, Prize};
use jackpot_core::jackpot::ranks::Ranks;
use jackpot_core::jackpot::record::{Record, Sent, State};
use jackpot_core::money::Minor;
use serde::Deserialize;
use utoipa::ToSchema;

use super::Api;
use super::room_pass::RoomPass;
use crate::error::PlayError;
use crate::ledger::lookup::entry_taken;
use crate::play::{By, Played};
use jackpot_kernel::http::{Body, Code, Described, PathOf, Problem, auth};
use jackpot_kernel::telemetry::request;

/// Usual bytes of an entry's answer. The buffer has this size and seldom grows.
pub(super) const USUAL_ANSWER_BYTES: usize = 768;

/// Header of a repeated answer.
pub(super) const REPLAYED: (&str, &str) = ("Idempotency-Replayed", "true");

/// One play of one player.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EntryBody {
    /// Chosen by the game. The same id is the same entry, for at least the retention.
    #[schema(value_type = String, example = "round-8812-p7", pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    entry_id: Id,
    #[schema(value_type = String, example = "p7")]
    player_id: PersonId,
    /// Minor units, 0 to 2^53-1, between the jackpot's `min_stake` and `max_stake`.
    #[schema(value_type = u64, example = 100)]
    stake: Minor,
    /// The player's own input of the draw: null or `[A-Za-z0-9._-]{1,64}`.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    client_seed: Option<ClientSeed>,
    /// The game, site or channel: one of the jackpot's `sources`, if it has any; otherwise it is only recorded.
    #[serde(default)]
    #[schema(value_type = Option<String>, pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    source_id: Option<Id>,
    /// What the game of an external source drew: ranks of the odds table, none twice, tried in order; 0 (nothing) only as
    /// the last. At most `max_redraws` and one. Entries of other sources have none.
    #[serde(default)]
    #[schema(value_type = Option<Vec<u32>>, min_items = 1, max_items = 101)]
    ranks: Option<Ranks>,
}

impl Described for EntryBody {
    const DIGITS_ALONE: bool = true;
}

/// Takes an entry: it contributes once, is drawn once and has one outcome. Safe to repeat with the same id.
#[utoipa::path(post, path = "/v1/jackpots/{id}/entries", operation_id = "make_entry", tag = "entries", security(("bearer" = [])),
    params(("id" = String, Path), ("X-Room-Pass" = Option<String>, Header, description = "The pass of the player, if the jackpot has a waiting room")),
    request_body(content = EntryBody),
    responses((status = 201, description = "Taken", body = Entry),
        (status = 200, description = "Taken before, with `Idempotency-Replayed: true`", body = Entry)),
    extensions(("x-problems" = json!([Code::PassRequired, Code::PassExpired, Code::WrongSource, Code::JackpotPaused,
        Code::JackpotClosed, (Code::EntryReversed, "a reversal came before it"), Code::EntryIdReused,
        Code::AmountTooLarge, (Code::Stopped, "the emergency stop holds it")]))))]
pub(crate) async fn post(
    auth::Play(caller): auth::Play,
    PathOf(id): PathOf<Id>,
    api: Data<Api>,
    pass: RoomPass,
    Body(body): Body<EntryBody>,
) -> Result<HttpResponse, Problem> {
    request::entry(id.shared(), body.entry_id.shared());
    if body.source_id.is_none() && body.ranks.is_some() {
        let rule = "must be left out without a source_id: only an external source draws itself";
        return Err(PlayError::Invalid(vec![Violation::new("ranks", rule)]).into());
    }
    let sent = Sent {
        player: body.player_id,
        stake: body.stake,
        client_seed: body.client_seed,
        source: body.source_id,
        ranks: body.ranks,
    };
    let pass = pass.as_str();
    let by = By {
        key: caller.name(),
        passes: pass.as_slice(),
        currency: None,
    };
    let played = match api.play.enter(&id, &body.entry_id, sent, by).await {
        Ok(played) => played,
        Err(error) => return Err(api.reasons.problem(&id, error).await),
    };
    let mut answer = if played.replayed {
        HttpResponse::Ok()
    } else {
        HttpResponse::Created()
    };
    if played.replayed {
        answer.insert_header(REPLAYED);
    }
    Ok(answered(&mut answer, &entry(id, played)))
}

/// An entry with the body of its first answer. A pending entry is finished first.
#[utoipa::path(get, path = "/v1/jackpots/{id}/entries/{entry_id}", operation_id = "get_entry", tag = "entries", security(("bearer" = [])),
    params(("id" = String, Path), ("entry_id" = String, Path)),
    responses((status = 200, description = "The entry", body = Entry)),
    extensions(("x-acts" = json!(true)), ("x-problems" = json!([Code::EntryNotFound]))))]
pub(crate) async fn get(
    auth::PlayOrRead(caller): auth::PlayOrRead,
    PathOf((id, entry_id)): PathOf<(Id, EntryRef)>,
    api: Data<Api>,
) -> Result<HttpResponse, Problem> {
    request::entry(id.shared(), entry_id.as_str().into());
    let found = api.play.look_up(&id, entry_id.as_str()).await?;
    let (sent, record) = match (found.sent, found.record) {
        (Some(sent), Some(record)) => (sent, record),
        // Its event has left the stream, so the ledger answers.
        (_, record) => {
            let taken = entry_taken(&api.ledger.sql, &id, entry_id.as_str(), found.sequence).await?;
            (taken.sent, record.unwrap_or(taken.record))
        }
    };
    let played = api.play.answer(&id, entry_id.as_str(), sent, record).await?;
    let mut shown = entry(id, played);
    shown.reversed = found.reversal.map(Into::into);
    if let Some(coupon) = shown.outcome.coupon.as_mut().filter(|_| !caller.sees_codes()) {
        coupon.code = None;
    }
    Ok(answered(&mut HttpResponse::Ok(), &shown))
}

fn answered(answer: &mut HttpResponseBuilder, entry: &Entry) -> HttpResponse {
    let mut text = Vec::with_capacity(USUAL_ANSWER_BYTES);
    serde_json::to_writer(&mut text, entry).expect("plain data is JSON");
    let json = HeaderValue::from_static("application/json");
    answer.insert_header((CONTENT_TYPE, json)).body(text)
}

pub(super) fn entry(jackpot_id: Id, played: Played) -> Entry {
    let Played {
        entry_id,
        sent,
        record,
        definition,
        commitment,
        attempts,
        ..
    } = played;
    let outcome = outcome_of(&jackpot_id, &entry_id, &record, &definition);
    let tiers = definition.tiers().iter().zip(record.contributions);
    let contributions = tiers.map(|(tier, c)| ContributionBody {
        tier: tier.tier.clone(),
        amount: c.amount,
        pool: c.pool,
    });
    let draw = Draw {
        epoch: record.epoch,
        commitment,
        definition_version: record.version,
        by: match sent.ranks {
            Some(_) => DrawnBy::External,
            None => DrawnBy::Service,
        },
        attempts,
        must_hit: match &record.state {
            State::MustHit { hit } => Some(hit.into()),
            _ => None,
        },
    };
    Entry {
        entry_id,
        player_id: sent.player,
        sequence: record.sequence,
        contributions: contributions.collect(),
        outcome,
        draw,
        jackpot_id,
        reversed: None,
    }
}

/// The prize of an entry, under the definition of its draw.
pub(super) fn outcome_of(jackpot_id: &Id, entry_id: &str, record: &Record, definition: &Definition) -> Outcome {
    match &record.state {
        State::Paid { payout, .. } => {
            let ranks = &definition.document().odds.ranks;
            let prize = ranks.iter().find(|r| r.rank == payout.rank).map(|r| &r.prize);
            Outcome {
                rank: payout.rank,
                prize: if matches!(prize, Some(Prize::Fixed(_))) {
                    PrizeName::Fixed
                } else {
                    PrizeName::Pool
                },
                tier: Some(payout.tier.clone()),
                amount: Some(payout.amount),
                payout_id: Some(payout_id(jackpot_id, &payout.history, entry_id, record.sequence)),
                claim_order: Some(payout.claim_order),
                coupon: None,
            }
        }
        State::MustHit { hit } => Outcome {
            rank: 0,
            prize: PrizeName::MustHit,
            tier: Some(hit.tier.clone()),
            amount: Some(hit.amount),
            payout_id: Some(payout_id(jackpot_id, &hit.history, entry_id, record.sequence)),
            claim_order: Some(hit.claim_order),
            coupon: None,
        },
        State::Issued { unit, .. } => Outcome {
            rank: unit.rank,
            prize: PrizeName::Coupon,
            coupon: Some(CouponBody {
                coupon_id: unit.coupon_id.clone(),
                request_id: draw_request(jackpot_id, entry_id, record.epoch),
                sequence: unit.sequence,
                code: Some(unit.code.clone()),
            }),
            ..Outcome::default()
        },
        State::Lost | State::Ended { .. } | State::Pending { .. } => Outcome::default(),
    }
}

//! Entries: play, look up.

use actix_web::http::header::{CONTENT_TYPE, HeaderValue};
use actix_web::web::Data;
use actix_web::{HttpResponse, HttpResponseBuilder};
use jackpot_core::clock::rfc3339;
use jackpot_core::ids::{ClientSeed, EntryRef, Id, PersonId};
use jackpot_core::jackpot::definition::{Definition, Violation};
use jackpot_core::jackpot::derived::{draw_request, payout_id};
use jackpot_core::jackpot::document::{DrawnBy, Prize};
use jackpot_core::jackpot::ranks::Ranks;
use jackpot_core::jackpot::record::{Hit, HitBy, Record, Sent, State};
use jackpot_core::money::Minor;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Api;
use super::reversals::ReversedBody;
use super::room_pass::RoomPass;
use crate::error::PlayError;
use crate::ledger::lookup::entry_taken;
use crate::play::{By, Played};
use jackpot_kernel::http::auth;
use jackpot_kernel::http::body::{Body, Described};
use jackpot_kernel::http::code::Code;
use jackpot_kernel::http::problem::Problem;
use jackpot_kernel::http::query::PathOf;
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

/// An entry with its outcome.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Entry {
    #[schema(example = "round-8812-p7")]
    entry_id: String,
    #[schema(value_type = String, example = "spring")]
    jackpot_id: Id,
    #[schema(value_type = String, example = "p7")]
    player_id: PersonId,
    /// Number of the entry within the jackpot, from 1.
    #[schema(example = 8812)]
    sequence: u64,
    contributions: Vec<ContributionBody>,
    outcome: Outcome,
    draw: Draw,
    /// Only in the answer of `GET`, for an entry whose round was cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    reversed: Option<ReversedBody>,
}

/// The contribution of an entry or a batch to a tier, in minor units.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ContributionBody {
    #[schema(value_type = String, example = "grand")]
    pub(super) tier: Id,
    /// Whole units by which the tier's contributions grew.
    #[schema(example = 1)]
    pub(super) amount: u64,
    /// The meter right after it.
    #[schema(example = 18_811)]
    pub(super) pool: u64,
}

/// The prize of the entry. With rank 0 and prize `none`, all other fields are null.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct Outcome {
    #[schema(example = 1)]
    rank: u32,
    /// pool, fixed, coupon or none
    #[schema(example = "pool")]
    prize: &'static str,
    #[schema(value_type = Option<String>, example = "grand")]
    tier: Option<Id>,
    /// Minor units.
    #[schema(example = 18_811)]
    amount: Option<u64>,
    #[schema(example = "5d0b1c9f7a3e42d6b8a1c07e94f2d358")]
    payout_id: Option<String>,
    /// Number of the paid claim within the jackpot, from 1.
    #[schema(example = 4)]
    claim_order: Option<u64>,
    /// For a coupon prize: its unit.
    coupon: Option<CouponBody>,
}

/// A unit of a coupon.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CouponBody {
    #[schema(value_type = String, example = "coffee")]
    coupon_id: Id,
    /// Request id of the issue, made by the service.
    #[schema(example = "draw:spring:round-8812-p7")]
    request_id: String,
    /// Number of the issue within the coupon, from 1.
    #[schema(example = 17)]
    sequence: u64,
    /// Null for a `read` key made without `--codes`.
    #[schema(example = "7Q2M9K-4TZX0B-C8WRH5")]
    code: Option<String>,
}

/// How the entry was drawn. With the epoch's seed, once published, anyone can repeat the draw.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Draw {
    #[schema(example = 1)]
    epoch: u64,
    commitment: String,
    #[schema(example = 3)]
    definition_version: u64,
    /// service, or external: the game of its source drew, and no seed of the service explains its ranks.
    #[schema(example = "service")]
    by: &'static str,
    /// Empty for an entry that hit a pool by its rule.
    attempts: Vec<AttemptBody>,
    /// The hit; null for all other entries.
    must_hit: Option<MustHit>,
}

/// A hit by the rule of a tier.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MustHit {
    #[schema(value_type = String, example = "grand")]
    tier: Id,
    /// The cycle that it ended.
    #[schema(example = 0)]
    cycle: u64,
    /// `amount` or `time`.
    #[schema(example = "amount")]
    by: &'static str,
    trigger: Trigger,
}

/// What was due: an amount, or a time.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Trigger {
    /// Minor units.
    Amount(u64),
    /// RFC 3339.
    At(String),
}

impl MustHit {
    fn of(hit: &Hit) -> Self {
        Self {
            tier: hit.tier.clone(),
            cycle: hit.cycle,
            by: hit.by.as_str(),
            trigger: match hit.by {
                HitBy::Amount => Trigger::Amount(hit.trigger),
                HitBy::Time => Trigger::At(rfc3339(
                    i64::try_from(hit.trigger).unwrap_or(i64::MAX).saturating_mul(1_000),
                )),
            },
        }
    }
}

/// One draw.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AttemptBody {
    /// From 0.
    attempt: u32,
    /// 0 for nothing.
    rank: u32,
    /// paid, issued, none, retry, out-of-stock, already-issued or not-open
    #[schema(example = "paid")]
    result: &'static str,
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
    let attempts = attempts.into_iter().map(|a| AttemptBody {
        attempt: a.attempt,
        rank: a.rank,
        result: a.result,
    });
    let draw = Draw {
        epoch: record.epoch,
        commitment,
        definition_version: record.version,
        by: match sent.ranks {
            Some(_) => DrawnBy::External.as_str(),
            None => DrawnBy::Service.as_str(),
        },
        attempts: attempts.collect(),
        must_hit: match &record.state {
            State::MustHit { hit } => Some(MustHit::of(hit)),
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
                    "fixed"
                } else {
                    "pool"
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
            prize: "must-hit",
            tier: Some(hit.tier.clone()),
            amount: Some(hit.amount),
            payout_id: Some(payout_id(jackpot_id, &hit.history, entry_id, record.sequence)),
            claim_order: Some(hit.claim_order),
            coupon: None,
        },
        State::Issued { unit, .. } => Outcome {
            rank: unit.rank,
            prize: "coupon",
            coupon: Some(CouponBody {
                coupon_id: unit.coupon_id.clone(),
                request_id: draw_request(jackpot_id, entry_id, record.epoch),
                sequence: unit.sequence,
                code: Some(unit.code.clone()),
            }),
            ..Outcome::default()
        },
        State::Lost | State::Ended { .. } | State::Pending { .. } => Outcome {
            prize: "none",
            ..Outcome::default()
        },
    }
}

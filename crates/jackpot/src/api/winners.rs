//! The last winners of a jackpot, once and as a stream.
//!
//! They are in the ledger. An instance reads them once for all callers, and only when the jackpot has paid since: the
//! number of paid claims is part of the shared reading of the meter.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use actix_web::web::{Bytes, Data};
use actix_web::{HttpRequest, HttpResponse};
use jackpot_api::jackpot::{WinnerItem, WinnerList};
use jackpot_core::clock::rfc3339;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::document::Winners as Mode;
use tokio::time::Instant;

use super::Api;
use super::meter::{Meters, Shown};
use super::shared::{MAX_AGE_S, Readings, Recent, SHOWN_FOR, Source, Streamed};
use crate::error::PlayError;
use crate::ledger::queries::Queries;
use crate::ledger::queries::winners::Winner;
use jackpot_kernel::http::auth::Anyone;
use jackpot_kernel::http::cached::Page;
use jackpot_kernel::http::peer::Peer;
use jackpot_kernel::http::{Code, PathOf, Problem, Web};

/// Winners in a list.
const SHOWN: i64 = 100;
/// Least time between two reads of a list in SQL.
const READ_EVERY: Duration = Duration::from_millis(500);
/// How long payouts are kept after they were read: until the next payout they need no other reading.
const KEPT: Duration = Duration::from_mins(1);
/// Most characters of a player that a masked list shows.
const MASKED: usize = 4;

/// The payouts as last read.
#[derive(Debug, Clone)]
struct Paid {
    read: Instant,
    winners: Arc<[Winner]>,
}

impl Paid {
    /// Paid claims that it knows of.
    fn claim_order(&self) -> u64 {
        self.winners.first().map_or(0, |last| last.claim_order)
    }
}

/// A shared reading of winners.
#[derive(Debug, Clone)]
pub(super) struct Reading {
    jackpot: Shown,
    page: Page,
}

/// The ledger.
#[derive(Debug)]
pub(super) struct FromLedger {
    meters: Arc<Meters>,
    queries: Queries,
    paid: Mutex<Recent<Id, Paid>>,
}

impl FromLedger {
    /// The last payouts. SQL is asked when the jackpot has paid since they were read.
    async fn paid(&self, id: &Id, claim_order: u64) -> Result<Arc<[Winner]>, Problem> {
        let known = self.known().get(id).cloned();
        if let Some(paid) = known
            && (paid.claim_order() >= claim_order || paid.read.elapsed() < READ_EVERY)
        {
            return Ok(paid.winners);
        }
        let read = Instant::now();
        let winners: Arc<[Winner]> = self.queries.winners(id, SHOWN).await?.into();
        let paid = Paid {
            read,
            winners: Arc::clone(&winners),
        };
        self.known().insert(id.clone(), paid, |paid| paid.read.elapsed() < KEPT);
        Ok(winners)
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Recent<Id, Paid>> {
        self.paid.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Source for FromLedger {
    type Key = Id;
    type Value = Reading;
    const KEPT: Duration = SHOWN_FOR;

    async fn read(&self, id: &Id) -> Result<Reading, Problem> {
        let jackpot = self.meters.shown(id, READ_EVERY).await?;
        let paid = match jackpot.winners {
            Mode::Off => Arc::default(),
            Mode::Masked | Mode::Full => self.paid(id, jackpot.claim_order).await?,
        };
        let item = |winner: &Winner| WinnerItem {
            tier: winner.tier.clone(),
            amount: winner.amount,
            at: rfc3339(winner.paid_at_ms),
            player: match jackpot.winners {
                Mode::Full => winner.player_id.clone(),
                Mode::Masked | Mode::Off => masked(&winner.player_id),
            },
        };
        let list = WinnerList {
            items: paid.iter().map(item).collect(),
        };
        let json = serde_json::to_string(&list).expect("plain data is JSON");
        Ok(Reading {
            page: Page::new(json),
            jackpot,
        })
    }

    /// What this instance has acknowledged may hide or mask them.
    fn still_good(&self, id: &Id) -> Result<impl Fn(&Reading) -> bool + Send + Sync, Problem> {
        let is_good = self.meters.still_good(id)?;
        Ok(move |reading: &Reading| is_good(&reading.jackpot))
    }
}

impl Streamed for FromLedger {
    /// With the projector's pause and at most one event a second, a new winner shows within 2 s.
    const EVERY: Duration = READ_EVERY;

    fn shows_the_same(one: &Reading, other: &Reading) -> bool {
        let seen = |reading: &Reading| (reading.jackpot.winners == Mode::Off, reading.jackpot.is_public());
        seen(one) == seen(other) && one.page.body() == other.page.body()
    }

    fn event(reading: &Reading) -> Bytes {
        Bytes::from([b"event: winners\ndata: ", &reading.page.body()[..], b"\n\n"].concat())
    }

    fn is_for(reading: &Reading, may_read: bool) -> bool {
        reading.jackpot.winners != Mode::Off && (reading.jackpot.is_public() || may_read)
    }
}

/// The first third of the characters, at most [`MASKED`], and an ellipsis.
fn masked(player: &str) -> String {
    let shown = MASKED.min(player.chars().count() / 3);
    player.chars().take(shown).chain(['…']).collect()
}

/// The lists of winners with callers. Each is read once for all of them.
#[derive(Debug)]
pub struct Winners {
    readings: Arc<Readings<FromLedger>>,
}

impl Winners {
    pub fn new(meters: Arc<Meters>, queries: Queries) -> Self {
        let source = FromLedger {
            meters,
            queries,
            paid: Mutex::default(),
        };
        Self {
            readings: Arc::new(Readings::of(source)),
        }
    }

    /// The list for a caller who may see it, and whether the caller may read what is private.
    async fn for_caller(&self, caller: Anyone, id: &Id) -> Result<(Reading, bool), Problem> {
        let meters = &self.readings.source.meters;
        let (jackpot, may_read) = meters.for_caller(caller, id).await?;
        if jackpot.winners == Mode::Off {
            return Err(PlayError::WinnersNotShown(id.clone()).into());
        }
        let reading = self.readings.shown(id, SHOWN_FOR).await?;
        if FromLedger::is_for(&reading, may_read) {
            Ok((reading, may_read))
        } else {
            // The definition has just changed.
            Err(PlayError::WinnersNotShown(id.clone()).into())
        }
    }
}

/// The last 100 payouts, newest first.
///
/// Needs no key if the jackpot's `public_meter` is set. Without a key, a private jackpot and a missing one are both 401. An
/// answer is at most a second old, and follows the ledger. 404 for everybody while the definition's `winners` is `off`.
/// Pages of the definition's `origins` may read it.
#[utoipa::path(get, path = "/v1/jackpots/{id}/winners", operation_id = "get_winners", tag = "jackpots", security((), ("bearer" = [])), params(("id" = String, Path)),
    responses((status = 200, description = "The winners", body = WinnerList, headers(
            ("Cache-Control" = String, description = "`public, max-age=1` without a key, `no-store` with one"),
            ("ETag" = String, description = "Weak; without a key"))),
        (status = 304, description = "`If-None-Match` has the tag of the current answer")),
    extensions(("x-problems" = json!([Code::WinnersNotShown]))))]
pub(crate) async fn get(
    caller: Anyone,
    PathOf(id): PathOf<Id>,
    request: HttpRequest,
    api: Data<Api>,
) -> Result<HttpResponse, Problem> {
    let has_key = caller.has_key();
    let (Reading { page, .. }, _) = api.winners.for_caller(caller, &id).await?;
    Ok(page.answer_for(has_key, &request, "application/json", MAX_AGE_S))
}

/// The winners as server-sent events. Sends the whole list as `event: winners` at once, and after a change, at most once a
/// second. The stream ends when its key is revoked or expires, or when the winners are no longer shown.
#[utoipa::path(get, path = "/v1/jackpots/{id}/winners/stream", operation_id = "stream_winners", tag = "jackpots", security((), ("bearer" = [])), params(("id" = String, Path)),
    responses((status = 200, description = "Events without end", content_type = "text/event-stream", body = String)),
    extensions(("x-problems" = json!([Code::WinnersNotShown, Code::TooManyStreams]))))]
pub(crate) async fn stream(
    caller: Anyone,
    PathOf(id): PathOf<Id>,
    peer: Peer,
    api: Data<Api>,
    web: Data<Web>,
) -> Result<HttpResponse, Problem> {
    let (key_end, has_key) = (caller.end(), caller.has_key());
    let (now, may_read) = api.winners.for_caller(caller, &id).await?;
    let place = web.open_stream_for(has_key, &peer)?;
    let stopping = web.stopping.clone();
    Ok(api
        .winners
        .readings
        .stream(&id, now, may_read, key_end, stopping, place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_of_the_characters_shows_and_never_more_than_four() {
        for (player, shown) in [
            ("", "…"),
            ("x", "…"),
            ("p7", "…"),
            ("abc", "a…"),
            ("abcdefgh", "ab…"),
            ("eleven-char", "ele…"),
            ("twelve-chars", "twel…"),
            ("secretive-player", "secr…"),
            // Characters, not bytes.
            ("가나다", "가…"),
            ("éé", "…"),
        ] {
            assert_eq!(masked(player), shown, "{player}");
        }
    }
}

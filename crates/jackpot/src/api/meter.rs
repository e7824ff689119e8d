//! The meter, once and as a stream.
//!
//! A caller with a key gets the current value from Redis. For all others, and for streams, an instance reads it once
//! for all. Such an answer is at most a second old. It has everything that this instance has acknowledged, because each
//! acknowledged change raises the mark that the instance has seen ([`jackpot_kernel::subject::Observed::mark`]).

use std::sync::Arc;
use std::time::Duration;

use actix_web::http::header::{HeaderValue, LINK};
use actix_web::web::{Bytes, Data};
use actix_web::{HttpRequest, HttpResponse};
use jackpot_api::jackpot::{MeterNow, TierPool};
use jackpot_core::clock::rfc3339;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::document::Winners;
use jackpot_core::mark::Mark;

use super::Api;
use super::shared::{MAX_AGE_S, Readings, SHOWN_FOR, Source, Streamed};
use crate::error::PlayError;
use crate::operate::Operate;
use jackpot_kernel::http::auth::Anyone;
use jackpot_kernel::http::cached::Page;
use jackpot_kernel::http::peer::Peer;
use jackpot_kernel::http::{Code, PathOf, Problem, Web, cached};

/// A shared reading of a jackpot: its meter, and what else decides about what is public.
#[derive(Debug, Clone)]
pub(crate) struct Shown {
    pub(super) now: Arc<MeterNow>,
    /// Whether anyone may read it.
    is_public: bool,
    mark: Mark,
    /// The version of the definition in force.
    pub(super) version: u64,
    /// The highest version of the definition.
    pub(super) last_version: u64,
    /// Paid claims so far.
    pub(super) claim_order: u64,
    /// How the list of winners shows players.
    pub(super) winners: Winners,
    /// Web origins that may read what is public.
    origins: Arc<[String]>,
    page: Page,
}

impl Shown {
    /// Whether anyone may read it.
    pub(super) fn is_public(&self) -> bool {
        self.is_public
    }

    /// Whether pages of this origin may read what is public.
    pub(super) fn is_open_to(&self, origin: &str) -> bool {
        self.is_public && self.origins.iter().any(|open| open == origin)
    }

    /// Leads readers of an answer to the definition in force (RFC 8288).
    fn with_link(&self, mut answer: HttpResponse) -> HttpResponse {
        let (id, version) = (&self.now.jackpot_id, self.version);
        let link = format!("</v1/jackpots/{id}/definitions/{version}>; rel=\"describedby\"");
        if let Ok(link) = HeaderValue::try_from(link) {
            answer.headers_mut().insert(LINK, link);
        }
        answer
    }
}

/// Redis.
#[derive(Debug)]
pub(super) struct FromRedis {
    operate: Operate,
}

impl Source for FromRedis {
    type Key = Id;
    type Value = Shown;
    /// Refusals go by it too: whose pages may read them.
    const KEPT: Duration = Duration::from_mins(1);

    async fn read(&self, id: &Id) -> Result<Shown, Problem> {
        let snapshot = self.operate.views.snapshot(id).await?;
        let definition = crate::view::parse_definition(id, &snapshot.definition)?;
        let document = definition.document();
        let tier_pool = |m: crate::view::Meter| TierPool {
            tier: m.tier,
            pool: m.pool,
        };
        let now = MeterNow {
            jackpot_id: id.clone(),
            status: snapshot.status,
            stopped: self.operate.views.registry.stopped(),
            digits: document.currency.digits(),
            currency: document.currency,
            meters: snapshot.meters.into_iter().map(tier_pool).collect(),
            at: rfc3339(snapshot.now_ms),
        };
        let json = |now: &MeterNow| serde_json::to_string(now).expect("plain data is JSON");
        let timeless = MeterNow {
            at: String::new(),
            ..now.clone()
        };
        Ok(Shown {
            page: Page::tagged_by(json(&now), json(&timeless).as_bytes()),
            now: Arc::new(now),
            is_public: document.public_meter,
            mark: snapshot.mark,
            version: snapshot.version,
            last_version: snapshot.last_version,
            claim_order: snapshot.claim_order,
            winners: document.winners,
            origins: document.origins.as_slice().into(),
        })
    }

    /// It has everything that this instance has acknowledged.
    fn still_good(&self, id: &Id) -> Result<impl Fn(&Shown) -> bool + Send + Sync, Problem> {
        let known = self.operate.views.registry.whole(id).map_err(PlayError::from)?;
        Ok(move |shown: &Shown| shown.mark.packed() >= known.mark().packed())
    }
}

impl Streamed for FromRedis {
    /// With at most one event a second, a listener lags by at most a second.
    const EVERY: Duration = Duration::from_millis(200);

    fn shows_the_same(one: &Shown, other: &Shown) -> bool {
        let (a, b) = (&one.now, &other.now);
        (a.status, &a.stopped, a.currency, &a.meters, one.is_public)
            == (b.status, &b.stopped, b.currency, &b.meters, other.is_public)
    }

    fn event(shown: &Shown) -> Bytes {
        let json = serde_json::to_string(&*shown.now).expect("plain data is JSON");
        Bytes::from(format!("event: meter\ndata: {json}\n\n"))
    }

    fn is_for(shown: &Shown, may_read: bool) -> bool {
        shown.is_public || may_read
    }
}

/// The meters with requests without a key, or with listeners. Each is read once for all of them.
#[derive(Debug)]
pub struct Meters {
    readings: Arc<Readings<FromRedis>>,
}

impl Meters {
    pub fn new(operate: Operate) -> Self {
        Self {
            readings: Arc::new(Readings::of(FromRedis { operate })),
        }
    }

    /// The meter of an existing jackpot, at most `max_age` old, with everything that this instance has acknowledged.
    pub(super) async fn shown(&self, id: &Id, max_age: Duration) -> Result<Shown, Problem> {
        self.readings.shown(id, max_age).await
    }

    /// What an earlier reading needs beside its age, to be given out again.
    pub(super) fn still_good(&self, id: &Id) -> Result<impl Fn(&Shown) -> bool + Send + Sync, Problem> {
        self.readings.source.still_good(id)
    }

    /// Whether pages of this origin may read what is public of a jackpot.
    pub(super) async fn is_open_to(&self, id: &Id, origin: &str) -> bool {
        self.public(id).await.is_ok_and(|shown| shown.is_open_to(origin))
    }

    /// The current meter, read after this call.
    pub(super) async fn current(&self, id: &Id) -> Result<Shown, Problem> {
        self.readings.source.read(id).await
    }

    /// The same by the last reading, however old it is. Asks nobody.
    pub(super) fn was_open_to(&self, id: &Id, origin: &str) -> bool {
        self.readings.last(id).is_some_and(|shown| shown.is_open_to(origin))
    }

    /// The meter for a caller without a key. A private jackpot and a missing one are both 401.
    pub(super) async fn public(&self, id: &Id) -> Result<Shown, Problem> {
        let registry = &self.readings.source.operate.views.registry;
        if !registry.may_exist(id).await.map_err(PlayError::from)? {
            return Err(Problem::unauthorized());
        }
        match self.shown(id, SHOWN_FOR).await {
            Ok(shown) if shown.is_public => Ok(shown),
            Ok(_private) => Err(Problem::unauthorized()),
            Err(problem) if problem.code == Code::JackpotNotFound => Err(Problem::unauthorized()),
            Err(problem) => Err(problem),
        }
    }

    /// The same for any caller: with a key, a missing one is 404, and a private one needs the right to read. Returns
    /// also whether the caller has that right.
    pub(super) async fn for_caller(&self, caller: Anyone, id: &Id) -> Result<(Shown, bool), Problem> {
        if !caller.has_key() {
            return Ok((self.public(id).await?, false));
        }
        let shown = self.shown(id, SHOWN_FOR).await?;
        let may_read = caller.require_read();
        if !shown.is_public {
            may_read.as_ref().map_err(Clone::clone)?;
        }
        Ok((shown, may_read.is_ok()))
    }
}

/// The pool of each tier.
///
/// Needs no key if the jackpot's `public_meter` is set. Then the answer is at most a second old, and has everything
/// that this instance has acknowledged. Without a key, a private jackpot and a missing one are both 401.
#[utoipa::path(get, path = "/v1/jackpots/{id}/meter", operation_id = "get_meter", tag = "jackpots", security((), ("bearer" = [])), params(("id" = String, Path)),
    responses((status = 200, description = "The meter", body = MeterNow, headers(
            ("Cache-Control" = String, description = "`public, max-age=1` without a key, `no-store` with one"),
            ("ETag" = String, description = "Weak, of all but `at`; without a key"),
            ("Link" = String, description = "The definition in force: `</v1/jackpots/{id}/definitions/{version}>; rel=\"describedby\"`"))),
        (status = 304, description = "`If-None-Match` has the tag of the current answer")))]
pub(crate) async fn get(
    caller: Anyone,
    PathOf(id): PathOf<Id>,
    request: HttpRequest,
    api: Data<Api>,
) -> Result<HttpResponse, Problem> {
    if !caller.has_key() {
        let shown = api.meters.public(&id).await?;
        let answer = shown.page.answer_without_key(&request, "application/json", MAX_AGE_S);
        return Ok(shown.with_link(answer));
    }
    let shown = api.meters.current(&id).await?;
    if !shown.is_public {
        caller.require_read()?;
    }
    Ok(shown.with_link(cached::private(&*shown.now)))
}

/// The meter as server-sent events. Sends `event: meter` at once, and after a change, at most once a second. The stream
/// ends when its key is revoked or expires.
#[utoipa::path(get, path = "/v1/jackpots/{id}/meter/stream", operation_id = "stream_meter", tag = "jackpots", security((), ("bearer" = [])), params(("id" = String, Path)),
    responses((status = 200, description = "Events without end", content_type = "text/event-stream", body = String)),
    extensions(("x-problems" = json!([Code::TooManyStreams]))))]
pub(crate) async fn stream(
    caller: Anyone,
    PathOf(id): PathOf<Id>,
    peer: Peer,
    api: Data<Api>,
    web: Data<Web>,
) -> Result<HttpResponse, Problem> {
    let (key_end, has_key) = (caller.end(), caller.has_key());
    let now = if has_key {
        api.meters.current(&id).await?
    } else {
        api.meters.public(&id).await?
    };
    let may_read = caller.require_read();
    if !now.is_public() {
        may_read.as_ref().map_err(Clone::clone)?;
    }
    let place = web.open_stream_for(has_key, &peer)?;
    Ok(api
        .meters
        .readings
        .stream(&id, now, may_read.is_ok(), key_end, web.stopping.clone(), place))
}

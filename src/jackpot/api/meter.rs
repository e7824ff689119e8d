//! The meter, once and as a stream.
//!
//! A caller with a key gets the current value from Redis. For all others, and for streams, an instance reads it once
//! for all. Such an answer is at most a second old. It has everything that this instance has acknowledged, because each
//! acknowledged change raises the mark that the instance has seen ([`crate::subject::Observed::mark`]).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use actix_web::web::{Bytes, Data};
use actix_web::{HttpRequest, HttpResponse};
use futures_util::StreamExt;
use jackpot_core::clock::rfc3339;
use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;
use serde::Serialize;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tracing::debug;
use utoipa::ToSchema;

use super::Api;
use crate::http::Web;
use crate::http::auth::Anyone;
use crate::http::cached::{self, Page};
use crate::http::peer::Peer;
use crate::http::problem::Problem;
use crate::http::query::PathOf;
use crate::jackpot::error::PlayError;
use crate::jackpot::operate::Operate;
use crate::jackpot::scripts::Snapshot;
use crate::single_flight::SingleFlight;

/// How often a meter with listeners is read. With at most one event a second, a listener lags by at most a second.
const READ_EVERY: Duration = Duration::from_millis(200);
/// Largest age of an answer to a caller without a key, and how long caches may keep it.
const SHOWN_FOR: Duration = Duration::from_secs(1);
const MAX_AGE_S: u32 = 1;
/// Least time between two readings of one meter: whatever the load, at most 50 readings a second.
const PAUSE: Duration = Duration::from_millis(20);
/// Least time between two events of one stream.
const EVENT_EVERY: Duration = Duration::from_secs(1);
/// After this silence, a comment keeps proxies from closing the stream.
const COMMENT_AFTER: Duration = Duration::from_secs(15);

/// The pools of a jackpot.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct MeterNow {
    #[schema(value_type = String, example = "spring")]
    jackpot_id: Id,
    /// open, paused, suspended or closed
    #[schema(example = "open")]
    status: &'static str,
    meters: Vec<TierPool>,
    /// Time of the reading, RFC 3339.
    at: String,
    #[serde(skip)]
    public: bool,
}

/// The pool of a tier, in minor units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct TierPool {
    #[schema(value_type = String, example = "grand")]
    tier: Id,
    #[schema(example = 18_811)]
    pool: u64,
}

impl MeterNow {
    fn of(id: &Id, snapshot: Snapshot) -> Result<Self, PlayError> {
        let definition = crate::jackpot::view::parse_definition(id, &snapshot.definition)?;
        let meters = snapshot
            .meters
            .into_iter()
            .map(|m| TierPool {
                tier: m.tier,
                pool: m.pool,
            })
            .collect();
        let (status, at) = (snapshot.status.as_str(), rfc3339(snapshot.now_ms));
        Ok(Self {
            jackpot_id: id.clone(),
            status,
            meters,
            at,
            public: definition.document().public_meter,
        })
    }

    fn shows_the_same(&self, other: &Self) -> bool {
        self.status == other.status && self.meters == other.meters && self.public == other.public
    }

    fn event(&self) -> Bytes {
        let json = serde_json::to_string(self).expect("plain data is JSON");
        Bytes::from(format!("event: meter\ndata: {json}\n\n"))
    }
}

/// A shared reading of a meter.
#[derive(Debug, Clone)]
pub(crate) struct Shown {
    now: Arc<MeterNow>,
    mark: Mark,
    /// The highest version of the definition.
    pub(super) last_version: u64,
    page: Page,
}

impl Shown {
    fn new(now: MeterNow, mark: Mark, last_version: u64) -> Self {
        let json = |now: &MeterNow| serde_json::to_string(now).expect("plain data is JSON");
        let timeless = MeterNow {
            at: String::new(),
            ..now.clone()
        };
        Self {
            page: Page::tagged_by(json(&now), json(&timeless).as_bytes()),
            now: Arc::new(now),
            mark,
            last_version,
        }
    }
}

type Latest = watch::Receiver<Arc<MeterNow>>;
type Source = SingleFlight<Result<Shown, Problem>>;

/// The meters with requests without a key, or with listeners. Each is read once for all of them.
#[derive(Debug)]
pub struct Meters {
    operate: Operate,
    /// Of existing jackpots.
    sources: RwLock<HashMap<Id, Arc<Source>>>,
    listened: Mutex<HashMap<Id, Latest>>,
}

impl Meters {
    #[must_use]
    pub fn new(operate: Operate) -> Self {
        Self {
            operate,
            sources: RwLock::default(),
            listened: Mutex::default(),
        }
    }

    async fn read(&self, id: &Id) -> Result<MeterNow, PlayError> {
        MeterNow::of(id, self.operate.views.snapshot(id).await?)
    }

    async fn read_for_all(&self, id: &Id) -> Result<Shown, Problem> {
        let snapshot = self.operate.views.snapshot(id).await?;
        let (mark, last_version) = (snapshot.mark, snapshot.last_version);
        Ok(Shown::new(MeterNow::of(id, snapshot)?, mark, last_version))
    }

    /// The meter of an existing jackpot, at most `max_age` old, with everything that this instance has acknowledged.
    async fn shown(&self, id: &Id, max_age: Duration) -> Result<Shown, Problem> {
        let known = self.operate.views.registry.whole(id).map_err(PlayError::from)?;
        let is_new = |shown: &Shown| shown.mark.packed() >= known.mark().packed();
        let source = self.source(id);
        let shown = source
            .get(
                PAUSE,
                |last| last.begun.elapsed() < max_age && last.value.as_ref().is_ok_and(is_new),
                || self.read_for_all(id),
            )
            .await;
        shown.value.clone()
    }

    fn source(&self, id: &Id) -> Arc<Source> {
        let sources = self.sources.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(source) = sources.get(id) {
            return Arc::clone(source);
        }
        drop(sources);
        let mut sources = self.sources.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(sources.entry(id.clone()).or_default())
    }

    /// The meter for a caller without a key. A private jackpot and a missing one are both 401.
    pub(super) async fn public(&self, id: &Id) -> Result<Shown, Problem> {
        let registry = &self.operate.views.registry;
        if !registry.may_exist(id).await.map_err(PlayError::from)? {
            return Err(Problem::unauthorized());
        }
        match self.shown(id, SHOWN_FOR).await {
            Ok(shown) if shown.now.public => Ok(shown),
            Ok(_private) => Err(Problem::unauthorized()),
            Err(problem) if problem.code == "jackpot-not-found" => Err(Problem::unauthorized()),
            Err(problem) => Err(problem),
        }
    }

    /// Joins the reader of this meter, or starts one.
    fn listen(self: &Arc<Self>, id: &Id, now: &Arc<MeterNow>) -> Latest {
        let mut listened = self.listened.lock().unwrap_or_else(PoisonError::into_inner);
        // A reader whose task has ended has dropped its sender.
        if let Some(latest) = listened.get(id).filter(|latest| latest.has_changed().is_ok()) {
            return latest.clone();
        }
        let (sender, latest) = watch::channel(Arc::clone(now));
        listened.insert(id.clone(), latest.clone());
        tokio::spawn(self.clone().keep_reading(id.clone(), sender));
        latest
    }

    async fn keep_reading(self: Arc<Self>, id: Id, sender: watch::Sender<Arc<MeterNow>>) {
        loop {
            sleep(READ_EVERY).await;
            match self.shown(&id, READ_EVERY).await {
                Ok(Shown { now, .. }) => {
                    sender.send_if_modified(|last| {
                        let changed = !last.shows_the_same(&now);
                        if changed {
                            *last = now;
                        }
                        changed
                    });
                }
                Err(error) => debug!(jackpot_id = %id, %error, "the meter could not be read; its streams wait"),
            }
            let mut listened = self.listened.lock().unwrap_or_else(PoisonError::into_inner);
            // The map itself has one receiver.
            if sender.receiver_count() <= 1 {
                listened.remove(&id);
                return;
            }
        }
    }
}

/// The pool of each tier.
///
/// Needs no key if the jackpot's `public_meter` is set. Then the answer is at most a second old, and has everything
/// that this instance has acknowledged. Without a key, a private jackpot and a missing one are both 401.
#[utoipa::path(get, path = "/v1/jackpots/{id}/meter", operation_id = "get_meter", tag = "jackpots", security((), ("bearer" = [])), params(("id" = String, Path)),
    responses((status = 200, description = "The meter", body = MeterNow, headers(
            ("Cache-Control" = String, description = "`public, max-age=1` without a key, `no-store` with one"),
            ("ETag" = String, description = "Weak, of all but `at`; without a key"))),
        (status = 304, description = "`If-None-Match` has the tag of the current answer"),
        (status = 404, description = "`jackpot-not-found`", body = crate::http::problem::ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn get(
    caller: Anyone,
    PathOf(id): PathOf<Id>,
    request: HttpRequest,
    api: Data<Api>,
) -> Result<HttpResponse, Problem> {
    if !caller.has_key() {
        let Shown { page, .. } = api.meters.public(&id).await?;
        return Ok(page.answer_without_key(&request, "application/json", MAX_AGE_S));
    }
    let now = api.meters.read(&id).await?;
    if !now.public {
        caller.require_read()?;
    }
    Ok(cached::private(now))
}

/// The meter as server-sent events. Sends `event: meter` at once, and after a change, at most once a second. The stream
/// ends when its key is revoked or expires.
#[utoipa::path(get, path = "/v1/jackpots/{id}/meter/stream", operation_id = "stream_meter", tag = "jackpots", security((), ("bearer" = [])), params(("id" = String, Path)),
    responses((status = 200, description = "Events without end", content_type = "text/event-stream", body = String),
        (status = 404, description = "`jackpot-not-found`", body = crate::http::problem::ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "`too-many-streams`", body = crate::http::problem::ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn stream(
    caller: Anyone,
    PathOf(id): PathOf<Id>,
    peer: Peer,
    api: Data<Api>,
    web: Data<Web>,
) -> Result<HttpResponse, Problem> {
    let key_end = caller.end();
    let has_key = caller.has_key();
    let now = if has_key {
        Arc::new(api.meters.read(&id).await?)
    } else {
        api.meters.public(&id).await?.now
    };
    let may_read = caller.require_read();
    if !now.public {
        may_read.as_ref().map_err(Clone::clone)?;
    }
    let may_read = may_read.is_ok();
    let place = if has_key {
        (None, web.open_stream()?)
    } else {
        web.open_public_stream(&peer)?
    };
    let mut latest = api.meters.listen(&id, &now);
    let (stopping, meters) = (web.stopping.clone(), api.meters.clone());
    let events = async_stream::stream! {
        let _place = place;
        let mut shown = now;
        yield Ok::<_, Problem>(shown.event());
        let mut next = Instant::now() + EVENT_EVERY;
        loop {
            tokio::select! {
                () = stopping.wait() => return,
                () = sleep_until(next) => {}
            }
            let found = tokio::select! {
                () = stopping.wait() => return,
                found = timeout(COMMENT_AFTER, latest.wait_for(|now| !now.shows_the_same(&shown))) => found.map(|now| now.map(|now| now.clone())),
            };
            match found {
                Err(_silence) => yield Ok(Bytes::from_static(b":\n\n")),
                Ok(Err(_ended)) => return,
                Ok(Ok(now)) => {
                    // The reader's value may be older than this event may be.
                    shown = meters.shown(&id, READ_EVERY).await.map_or(now, |shown| shown.now);
                    if !shown.public && !may_read {
                        return;
                    }
                    next = Instant::now() + EVENT_EVERY;
                    yield Ok(shown.event());
                }
            }
        }
    };
    Ok(HttpResponse::Ok()
        .content_type("text/event-stream")
        .insert_header(("Cache-Control", "no-store"))
        .streaming(Box::pin(events.take_until(key_end.wait()))))
}

//! The meter, once and as a stream.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::web::{Bytes, Data};
use serde::Serialize;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tracing::debug;
use utoipa::ToSchema;

use super::Api;
use crate::clock::rfc3339;
use crate::http::Web;
use crate::http::auth::Anyone;
use crate::http::peer::Peer;
use crate::http::problem::Problem;
use crate::http::query::PathOf;
use crate::ids::Id;
use crate::jackpot::error::PlayError;
use crate::jackpot::operate::Operate;
use crate::jackpot::scripts::Snapshot;

/// How often a meter with listeners is read: with at most one event a second, a listener is never more than one
/// second behind.
const READ_EVERY: Duration = Duration::from_millis(200);
/// Least time between two events of one stream.
const EVENT_EVERY: Duration = Duration::from_secs(1);
/// Silence after which a comment keeps proxies from closing the stream.
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
    /// When, RFC 3339.
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

type Latest = watch::Receiver<Arc<MeterNow>>;

/// The meters that somebody listens to: each is read once for all its listeners.
#[derive(Debug)]
pub struct Meters {
    operate: Operate,
    listened: Mutex<HashMap<Id, Latest>>,
}

impl Meters {
    /// Nobody listens yet.
    #[must_use]
    pub fn new(operate: Operate) -> Self {
        Self {
            operate,
            listened: Mutex::default(),
        }
    }

    async fn read(&self, id: &Id) -> Result<MeterNow, PlayError> {
        MeterNow::of(id, self.operate.views.snapshot(id).await?)
    }

    /// Joins the reader of this meter, or starts it.
    fn listen(self: &Arc<Self>, id: &Id, now: &MeterNow) -> Latest {
        let mut listened = self.listened.lock().unwrap_or_else(PoisonError::into_inner);
        // A reader whose task has ended has dropped its sender.
        if let Some(latest) = listened.get(id).filter(|latest| latest.has_changed().is_ok()) {
            return latest.clone();
        }
        let (sender, latest) = watch::channel(Arc::new(now.clone()));
        listened.insert(id.clone(), latest.clone());
        tokio::spawn(self.clone().keep_reading(id.clone(), sender));
        latest
    }

    async fn keep_reading(self: Arc<Self>, id: Id, sender: watch::Sender<Arc<MeterNow>>) {
        loop {
            sleep(READ_EVERY).await;
            match self.read(&id).await {
                Ok(now) => {
                    sender.send_if_modified(|last| {
                        let changed = !last.shows_the_same(&now);
                        if changed {
                            *last = Arc::new(now);
                        }
                        changed
                    });
                }
                Err(error) => debug!(jackpot_id = %id, %error, "the meter could not be read; its listeners wait"),
            }
            let mut listened = self.listened.lock().unwrap_or_else(PoisonError::into_inner);
            // One receiver is the map's own.
            if sender.receiver_count() <= 1 {
                listened.remove(&id);
                return;
            }
        }
    }
}

/// The pool of each tier. Needs no key when the jackpot's `public_meter` is set.
#[utoipa::path(get, path = "/v1/jackpots/{id}/meter", operation_id = "get_meter", tag = "jackpots", security((), ("bearer" = [])), params(("id" = String, Path)),
    responses((status = 200, description = "The meter", body = MeterNow),
        (status = 404, description = "`jackpot-not-found`", body = crate::http::problem::ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn get(caller: Anyone, PathOf(id): PathOf<Id>, api: Data<Api>) -> Result<HttpResponse, Problem> {
    let now = api.meters.read(&id).await?;
    if !now.public {
        caller.require_read()?;
    }
    Ok(HttpResponse::Ok().json(now))
}

/// The same as server-sent events, `event: meter`: at once, and when it changed, at most once a second.
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
    let now = api.meters.read(&id).await?;
    let may_read = caller.require_read();
    if !now.public {
        may_read.as_ref().map_err(Clone::clone)?;
    }
    let may_read = may_read.is_ok();
    let place = if may_read {
        (None, web.open_stream()?)
    } else {
        web.open_public_stream(&peer)?
    };
    let mut latest = api.meters.listen(&id, &now);
    let (stopping, meters) = (web.stopping.clone(), api.meters.clone());
    let events = async_stream::stream! {
        let _place = place;
        let mut shown = Arc::new(now);
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
                    // Read again: what the shared reader saw may be older than this event may be.
                    shown = meters.read(&id).await.map_or(now, Arc::new);
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
        .streaming(Box::pin(events)))
}

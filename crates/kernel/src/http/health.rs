//! Liveness, readiness, and metrics.

use std::collections::BTreeMap;
use std::sync::Arc;

use actix_web::http::header::{ACCEPT, RETRY_AFTER, VARY};
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use jackpot_core::ids::Id;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::openapi::{ObjectBuilder, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::Web;
use super::auth::AnyoneFiltered;
use super::problem::{CONTENT_TYPE, FieldError, Problem, ProblemBody};
use crate::http::Code;
use crate::subject::Reason;
use crate::subject::kinds::{self, KindName};

/// When to ask a not ready instance again, in seconds.
const NOT_READY_RETRY_S: u32 = 1;

/// The media type that Prometheus asks for.
const OPEN_METRICS: &str = "application/openmetrics-text";
const OPEN_METRICS_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// For all others.
const CLASSIC_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The last known state of Redis.
#[derive(Debug, Clone, Copy)]
pub struct RedisState {
    /// It answers.
    pub up: bool,
    /// Used share of maxmemory on the fullest node.
    pub memory_ratio: f64,
}

/// What is known of the ledger.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
pub struct LedgerState {
    /// The database answered when it was last asked.
    pub up: bool,
    /// Events of one jackpot, coupon or room that SQL does not have yet: the most among all.
    pub lag_events: u64,
}

/// Everything is stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EmergencyStop {
    /// When it was decided, RFC 3339.
    #[schema(examples("2026-11-21T06:00:00.123Z"))]
    pub since: String,
    /// Jackpots, coupons and rooms that do not obey yet, as this instance knows.
    pub unreached: usize,
}

/// How many jackpots, coupons and rooms this instance refuses. Subjects that an operator paused or closed do not count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Refused(BTreeMap<KindName, usize>);

impl Refused {
    /// How many of each kind are among these.
    pub fn count(subjects: &[RefusedSubject]) -> Self {
        let mut counts = BTreeMap::new();
        for subject in subjects {
            *counts.entry(subject.kind).or_default() += 1;
        }
        Self(counts)
    }

    /// How many of this kind.
    pub fn of(&self, kind: KindName) -> usize {
        self.0.get(&kind).copied().unwrap_or_default()
    }
}

impl Serialize for Refused {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(kinds::all().map(|kind| (kind.plural, self.of(kind))))
    }
}

impl<'de> Deserialize<'de> for Refused {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let counts = BTreeMap::<String, usize>::deserialize(deserializer)?;
        let of = |kind: KindName| Some((kind, *counts.get(kind.plural)?));
        Ok(Self(kinds::all().filter_map(of).collect()))
    }
}

impl ToSchema for Refused {}

impl PartialSchema for Refused {
    fn schema() -> RefOr<Schema> {
        let about = "How many jackpots, coupons and rooms this instance refuses. What an operator paused or closed is not refused.";
        let object = ObjectBuilder::new().description(Some(about));
        let count = |kind: KindName| {
            let (first, rest) = kind.plural.split_at(1);
            let integer = usize::schema();
            let RefOr::T(Schema::Object(mut integer)) = integer else {
                return integer;
            };
            integer.description = Some(format!("{}{rest}.", first.to_uppercase()));
            RefOr::T(Schema::Object(integer))
        };
        let object = kinds::all().fold(object, |object, kind| {
            object.property(kind.plural, count(kind)).required(kind.plural)
        });
        object.into()
    }
}

/// One that this instance refuses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RefusedSubject {
    /// `jackpot`, `coupon` or `room`.
    #[schema(value_type = String, examples("jackpot"))]
    pub kind: KindName,
    /// Which.
    #[schema(value_type = String, examples("spring"))]
    pub id: Id,
    /// `lost`: Redis has less of it than the ledger, or than this instance has seen. `ledger-stopped`: its next event can't
    /// be applied. `suspended`: Redis and the ledger do not agree. `backlog`: too many of its events wait for the ledger.
    #[schema(examples("lost"))]
    pub reason: Reason,
    /// What to know about it.
    pub detail: String,
}

/// Whether this instance can serve now.
#[derive(Debug, Clone, Default)]
pub struct Readiness {
    /// Shown as metrics.
    pub redis: Option<RedisState>,
    /// Shown by `/readyz`.
    pub ledger: Option<LedgerState>,
    /// Shown by `/readyz` while it holds. The instance is ready: it answers repeats, and operators work.
    pub emergency_stop: Option<EmergencyStop>,
    /// How many subjects are refused.
    pub refused: Refused,
    /// The refused subjects, for callers who may read.
    pub subjects: Vec<RefusedSubject>,
    /// What is missing, by part (`redis`, `store`, `jackpots`); empty: ready.
    pub causes: Vec<FieldError>,
}

/// Refused subjects that an answer names: after a total loss there may be a hundred thousand.
const MAX_REFUSED_SHOWN: usize = 1_000;

/// Computes the readiness now; must not block.
pub type ReadinessFn = Arc<dyn Fn() -> Readiness + Send + Sync>;

#[derive(Serialize, ToSchema)]
pub(super) struct Alive {
    #[schema(examples("ok"))]
    status: &'static str,
}

/// What an instance tells of itself.
#[derive(Serialize, ToSchema)]
pub(super) struct Ready {
    #[schema(examples("ready"))]
    status: &'static str,
    #[serde(flatten)]
    told: ReadyTold,
}

/// What an instance knows of its parts.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ReadyTold {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ledger: Option<LedgerState>,
    /// Only while the emergency stop holds everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emergency_stop: Option<EmergencyStop>,
    pub refused: Refused,
    /// With a key that may read: which are refused, and why; the first 1,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused_subjects: Option<Vec<RefusedSubject>>,
}

/// The problem, and what is known all the same.
#[derive(Serialize, ToSchema)]
pub(super) struct NotReady {
    #[serde(flatten)]
    problem: ProblemBody,
    #[serde(flatten)]
    told: ReadyTold,
}

/// The process is alive.
#[utoipa::path(get, path = "/healthz", tag = "service",
    responses((status = 200, description = "Alive", body = Alive)))]
pub(super) async fn healthz() -> HttpResponse {
    HttpResponse::Ok().json(Alive { status: "ok" })
}

/// Whether the instance can serve: Redis takes entries, and no jackpot is refused or at least one can be played.
///
/// A key is optional. A key that may read also gets the refused jackpots, coupons and rooms, with the reasons; a bound key
/// gets its own.
#[utoipa::path(get, path = "/readyz", tag = "service", security((), ("bearer" = [])),
    responses((status = 200, description = "Ready", body = Ready),
              (status = 503, description = "`errors` says why", body = NotReady, content_type = "application/problem+json")),
    extensions(("x-problems" = json!([Code::NotReady]))))]
pub(super) async fn readyz(caller: Result<AnyoneFiltered, Problem>, web: Data<Web>) -> HttpResponse {
    let Readiness {
        mut causes,
        ledger,
        emergency_stop,
        refused,
        subjects,
        ..
    } = (web.readiness)();
    if web.stopping.has_begun() {
        causes.push(FieldError::new("instance", "is stopping"));
    }
    let told = ReadyTold {
        ledger,
        emergency_stop,
        refused,
        // Readiness depends on no key: a caller with an invalid key gets the same as one without a key.
        refused_subjects: caller.ok().and_then(AnyoneFiltered::reader).map(|reader| {
            let shown = |one: &RefusedSubject| reader.may_see(one.kind, one.id.as_str());
            subjects.into_iter().filter(shown).take(MAX_REFUSED_SHOWN).collect()
        }),
    };
    if causes.is_empty() {
        return HttpResponse::Ok().json(Ready { status: "ready", told });
    }
    let texts: Vec<_> = causes
        .iter()
        .map(|cause| format!("{}: {}", cause.field, cause.rule))
        .collect();
    let problem = Problem {
        errors: causes,
        retry_after_s: Some(NOT_READY_RETRY_S),
        ..Problem::new(Code::NotReady, texts.join("; "))
    };
    let body = NotReady {
        problem: problem.body(),
        told,
    };
    HttpResponse::ServiceUnavailable()
        .content_type(CONTENT_TYPE)
        .insert_header((RETRY_AFTER, NOT_READY_RETRY_S))
        .body(serde_json::to_string(&body).unwrap_or_default())
}

/// Metrics for Prometheus: `OpenMetrics` where `Accept` names it, and else the older text format.
#[utoipa::path(get, path = "/metrics", tag = "service",
    responses((status = 200, description = "Metrics", content(
        (String = "application/openmetrics-text"), (String = "text/plain")))))]
pub(super) async fn metrics(web: Data<Web>, request: HttpRequest) -> Result<HttpResponse, Problem> {
    if let Some(redis) = (web.readiness)().redis {
        web.metrics.set_redis(redis.up, redis.memory_ratio);
    }
    let accept = request.headers().get(ACCEPT).and_then(|value| value.to_str().ok());
    let (text, media_type) = if accept.is_some_and(|accept| accept.contains(OPEN_METRICS)) {
        (web.metrics.encode(), OPEN_METRICS_TYPE)
    } else {
        (web.metrics.encode_classic(), CLASSIC_TYPE)
    };
    let text = text.map_err(|error| {
        tracing::error!(%error, "metrics not written");
        Problem::internal()
    })?;
    Ok(HttpResponse::Ok()
        .content_type(media_type)
        .insert_header((VARY, "Accept"))
        .body(text))
}

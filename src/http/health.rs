//! Is it alive, is it ready, and in numbers.

use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::Data;
use serde::Serialize;
use utoipa::ToSchema;

use super::Web;
use super::problem::{FieldError, Problem};
use crate::ids::Id;

/// When to ask a not ready instance again, in seconds.
const NOT_READY_RETRY_S: u32 = 1;

/// The media type of the Prometheus text format that the metrics are in.
const METRICS_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What is known of Redis.
#[derive(Debug, Clone, Copy)]
pub struct RedisState {
    /// It answers.
    pub up: bool,
    /// Used share of maxmemory on the fullest node.
    pub memory_ratio: f64,
}

/// What is known of the ledger.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
pub struct LedgerState {
    /// The database answered when it was last asked.
    pub up: bool,
    /// Events of one jackpot, coupon or room that SQL does not have yet: the most, among those that this instance reads.
    pub lag_events: u64,
    /// Jackpots whose next event can't be applied.
    #[schema(value_type = Vec<String>)]
    pub stopped: Vec<Id>,
    /// Coupons whose next event can't be applied.
    #[schema(value_type = Vec<String>)]
    pub stopped_coupons: Vec<Id>,
    /// Rooms whose next event can't be applied.
    #[schema(value_type = Vec<String>)]
    pub stopped_rooms: Vec<Id>,
}

/// Whether this instance can serve, as of now.
#[derive(Debug, Clone, Default)]
pub struct Readiness {
    /// Shown as metrics.
    pub redis: Option<RedisState>,
    /// Shown by `/readyz`.
    pub ledger: Option<LedgerState>,
    /// What is missing, by part (`redis`, `ledger`); empty: ready.
    pub causes: Vec<FieldError>,
}

/// Looks now; must not wait.
pub type ReadinessFn = Arc<dyn Fn() -> Readiness + Send + Sync>;

#[derive(Serialize, ToSchema)]
pub(super) struct Status {
    #[schema(examples("ok"))]
    status: &'static str,
    /// Of the ledger, when the instance is ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    ledger: Option<LedgerState>,
}

/// The process is alive.
#[utoipa::path(get, path = "/healthz", tag = "service",
    responses((status = 200, description = "Alive", body = Status)))]
pub(super) async fn healthz() -> HttpResponse {
    HttpResponse::Ok().json(Status {
        status: "ok",
        ledger: None,
    })
}

/// The instance can serve.
#[utoipa::path(get, path = "/readyz", tag = "service",
    responses((status = 200, description = "Ready", body = Status),
              (status = 503, description = "Not ready; `errors` says why", body = super::problem::ProblemBody,
               content_type = "application/problem+json")))]
pub(super) async fn readyz(web: Data<Web>) -> Result<HttpResponse, Problem> {
    let Readiness { mut causes, ledger, .. } = (web.readiness)();
    if web.stopping.has_begun() {
        causes.push(FieldError::new("instance", "is stopping"));
    }
    if causes.is_empty() {
        return Ok(HttpResponse::Ok().json(Status {
            status: "ready",
            ledger,
        }));
    }
    let texts: Vec<_> = causes
        .iter()
        .map(|cause| format!("{}: {}", cause.field, cause.rule))
        .collect();
    let problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, "not-ready", texts.join("; "));
    Err(Problem {
        errors: causes,
        retry_after_s: Some(NOT_READY_RETRY_S),
        ..problem
    })
}

/// Metrics for Prometheus.
#[utoipa::path(get, path = "/metrics", tag = "service",
    responses((status = 200, description = "OpenMetrics text", content_type = "application/openmetrics-text", body = String)))]
pub(super) async fn metrics(web: Data<Web>) -> Result<HttpResponse, Problem> {
    if let Some(redis) = (web.readiness)().redis {
        web.metrics.set_redis(redis.up, redis.memory_ratio);
    }
    let text = web.metrics.encode().map_err(|error| {
        tracing::error!(%error, "metrics not written");
        Problem::internal()
    })?;
    Ok(HttpResponse::Ok().content_type(METRICS_TYPE).body(text))
}

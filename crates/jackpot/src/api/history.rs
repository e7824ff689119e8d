//! The history of a meter, from the ledger, read once for all callers.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use jackpot_api::jackpot::{HistoryPoint, MeterHistory};
use jackpot_core::clock::rfc3339;
use jackpot_core::ids::Id;
use serde::Deserialize;
use tokio::time::Instant;
use utoipa::IntoParams;

use super::Api;
use super::shared::{MAX_AGE_S, Readings, SHOWN_FOR, Source};
use crate::ledger::queries::Queries;
use crate::ledger::queries::history::History;
use crate::ledger::steps::Step;
use jackpot_kernel::http::auth::Anyone;
use jackpot_kernel::http::cached::Page;
use jackpot_kernel::http::problem::FieldError;
use jackpot_kernel::http::{PathOf, Problem, QueryOf};

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct HistoryQuery {
    /// The tier.
    #[param(value_type = String, example = "grand")]
    tier: Id,
    /// The length of a step: minute, hour or day.
    #[param(value_type = String, example = "hour")]
    step: Named,
}

/// A step by its name.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
struct Named(Step);

impl TryFrom<String> for Named {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        match text.as_str() {
            "minute" => Ok(Self(Step::Minute)),
            "hour" => Ok(Self(Step::Hour)),
            "day" => Ok(Self(Step::Day)),
            _ => Err("must be minute, hour or day"),
        }
    }
}

/// Which history.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Of {
    jackpot: Id,
    tier: Id,
    step: Step,
}

impl fmt::Display for Of {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.jackpot, self.tier, self.step.seconds())
    }
}

#[derive(Debug, Clone)]
pub(super) struct Reading {
    page: Page,
    /// The end of its last step.
    ends: Instant,
}

/// The ledger.
#[derive(Debug)]
pub(super) struct FromLedger(Queries);

impl Source for FromLedger {
    type Key = Of;
    type Value = Reading;
    /// Some 60 kB, and of no use to anyone after [`SHOWN_FOR`].
    const KEPT: Duration = SHOWN_FOR;

    async fn read(&self, of: &Of) -> Result<Reading, Problem> {
        let begun = Instant::now();
        let History { points, ends_in_ms } = self.0.meter_history(&of.jackpot, &of.tier, of.step).await?;
        let point = |(at, pool): (i64, i64)| HistoryPoint {
            at: rfc3339(at * 1_000),
            pool,
        };
        let history = MeterHistory {
            tier: of.tier.clone(),
            step_s: of.step.seconds(),
            points: points.into_iter().map(point).collect(),
        };
        let json = serde_json::to_string(&history).expect("plain data is JSON");
        Ok(Reading {
            page: Page::new(json),
            ends: begun + Duration::from_millis(u64::try_from(ends_in_ms).unwrap_or_default()),
        })
    }

    fn still_good(&self, _: &Of) -> Result<impl Fn(&Reading) -> bool + Send + Sync, Problem> {
        Ok(|reading: &Reading| Instant::now() < reading.ends)
    }
}

/// The histories with callers. Each is read once for all of them.
#[derive(Debug)]
pub struct Histories(Arc<Readings<FromLedger>>);

impl Histories {
    pub fn new(queries: Queries) -> Self {
        Self(Arc::new(Readings::of(FromLedger(queries))))
    }
}

/// What a tier's pool held at the end of each minute, hour or day.
///
/// One point for each step since the jackpot was created, at most the last 1,000; the last point is the current step. Steps
/// in which nothing happened carry the value before them. It follows the ledger; before the ledger has the jackpot there
/// are no points. Needs no key if the jackpot's `public_meter` is set. Then an answer is at most a second old. Without a
/// key, a private jackpot and a missing one are both 401. Pages of the definition's `origins` may read it.
#[utoipa::path(get, path = "/v1/jackpots/{id}/meter/history", operation_id = "get_meter_history", tag = "jackpots", security((), ("bearer" = [])), params(("id" = String, Path), HistoryQuery),
    responses((status = 200, description = "The history", body = MeterHistory, headers(
            ("Cache-Control" = String, description = "`public, max-age=1` without a key, `no-store` with one"),
            ("ETag" = String, description = "Weak; without a key"))),
        (status = 304, description = "`If-None-Match` has the tag of the current answer")))]
pub(crate) async fn get(
    caller: Anyone,
    PathOf(id): PathOf<Id>,
    QueryOf(query): QueryOf<HistoryQuery>,
    request: HttpRequest,
    api: Data<Api>,
) -> Result<HttpResponse, Problem> {
    let has_key = caller.has_key();
    let (jackpot, _) = api.meters.for_caller(caller, &id).await?;
    if !jackpot.now.has(&query.tier) {
        let rule = format!("'{}' is none of the jackpot's tiers", query.tier);
        return Err(Problem::invalid_request(vec![FieldError::new("tier", rule)]));
    }
    let of = Of {
        jackpot: id,
        tier: query.tier,
        step: query.step.0,
    };
    let Reading { page, .. } = api.histories.0.shown(&of, SHOWN_FOR).await?;
    Ok(page.answer_for(has_key, &request, "application/json", MAX_AGE_S))
}

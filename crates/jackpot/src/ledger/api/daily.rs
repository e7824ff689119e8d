//! Daily reports.

use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, VARY};
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use futures_util::{StreamExt, stream};
use jackpot_core::day;
use jackpot_core::ids::Id;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::ledger::daily::{QUARTER_S, Row};
use crate::ledger::queries::Queries;
use crate::ledger::queries::daily::DayOf;
use jackpot_kernel::http::problem::FieldError;
use jackpot_kernel::http::{Code, Problem, QueryOf, auth};
use jackpot_kernel::ledger::api::Api;
use jackpot_kernel::ledger::api::csv::{self, Record};
use jackpot_kernel::ledger::api::format::Format;
use jackpot_kernel::ledger::queries::LedgerError;
use jackpot_kernel::subject::kinds::JACKPOT;

/// How long a report waits for figures that are behind, and that of one jackpot for the events that this instance has seen.
const WAITS: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(20);
/// Jackpots whose last event in Redis is looked at concurrently.
const AT_ONCE: usize = 16;

/// A day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Day(Date);

impl TryFrom<String> for Day {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        day::date(&text)
            .map(Self)
            .ok_or("must be a date of the calendar, such as 2026-11-21")
    }
}

/// Which day.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct DailyQuery {
    /// The day, `YYYY-MM-DD`, of the zone and from the time of day in the settings (`reports`). It must have begun.
    #[param(value_type = String, format = Date, example = "2026-11-21")]
    date: Day,
    /// Of this jackpot. Without it: of all that the key may see.
    #[param(value_type = Option<String>)]
    jackpot_id: Option<Id>,
}

/// A daily report.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DailyReport {
    #[schema(value_type = String, format = Date, example = "2026-11-21")]
    date: String,
    /// Whether the day is over and the ledger has all of its events. False too while Redis does not answer.
    complete: bool,
    /// By jackpot: its tiers, then its sources. A jackpot has no rows before the day of its creation.
    rows: Vec<Row>,
}

/// The figures of one day, by the time of events: of each tier what it held, took and paid, of each source what its entries
/// brought and won. Amounts are minor units. `closing` of a day is `opening` of the next one. JSON, or the rows alone as CSV
/// or NDJSON. A bound key sees its own jackpots.
#[utoipa::path(get, path = "/v1/reports/daily", operation_id = "get_daily_report", tag = "ledger", security(("bearer" = [])), params(DailyQuery),
    responses((status = 200, description = "The report",
            content((DailyReport = "application/json"), (String = "text/csv"), (String = "application/x-ndjson")))),
    extensions(("x-problems" = json!([Code::JackpotNotFound,
        (Code::StoreUnavailable, "also while the figures are being made from the ledger's events"),
        Code::TooManyExports]))))]
pub async fn get(
    auth::ReadFiltered(caller): auth::ReadFiltered,
    QueryOf(query): QueryOf<DailyQuery>,
    request: HttpRequest,
    api: Data<Api>,
    queries: Data<Queries>,
) -> Result<HttpResponse, Problem> {
    caller.check(JACKPOT, query.jackpot_id.as_ref())?;
    let Day(date) = query.date;
    let (begin, end) = bounds(&api, &queries, date).await?;
    let (ids, _slot) = if let Some(id) = query.jackpot_id {
        wait_for(&api, &id).await;
        queries.expect_jackpot(&id).await?;
        (vec![id], None)
    } else {
        let slot = Arc::clone(&api.exports).try_acquire_owned();
        let slot = slot.map_err(|_| LedgerError::TooManyExports)?;
        let ids = match caller.own(JACKPOT) {
            Some(own) => own,
            None => queries.jackpot_ids().await?,
        };
        (ids, Some(slot))
    };
    let days = read(&queries, &ids, begin, end).await?;
    let complete = is_complete(&api, &queries, &days, end).await?;
    let report = DailyReport {
        date: date.to_string(),
        complete,
        rows: days.into_iter().flat_map(|day| day.rows).collect(),
    };
    Ok(answer(&request, &report))
}

/// Begin and end of a day that has begun, in seconds.
async fn bounds(api: &Api, queries: &Queries, date: Date) -> Result<(i64, i64), Problem> {
    let wrong = |rule: &str| Problem::invalid_request(vec![FieldError::new("date", rule)]);
    let (begin, end) = api
        .days
        .bounds(date)
        .ok_or_else(|| wrong("must be a date from 0001-01-02 to 9999-12-30"))?;
    if begin % QUARTER_S != 0 || end % QUARTER_S != 0 {
        return Err(wrong(
            "must be a day that begins and ends at a quarter of an hour of UTC: figures are kept by quarters of an hour",
        ));
    }
    if begin * 1_000 > queries.now_ms().await? {
        return Err(wrong(
            "must be a day that has begun, in the zone of the setting reports.zone",
        ));
    }
    Ok((begin, end))
}

/// Reads the figures. After an instance has taken a stream over, they are behind its events for a moment.
async fn read(queries: &Queries, ids: &[Id], begin: i64, end: i64) -> Result<Vec<DayOf>, LedgerError> {
    let called = Instant::now();
    loop {
        match queries.days_of(ids, begin, end).await {
            Err(LedgerError::NoReport(_)) if called.elapsed() < WAITS => tokio::time::sleep(PAUSE).await,
            read => return read,
        }
    }
}

/// Waits until the ledger has what this instance has seen of a jackpot, so that a caller finds what it has just done.
async fn wait_for(api: &Api, id: &Id) {
    let Some(jackpots) = api.kinds.named(JACKPOT).filter(|kind| kind.is_used(id)) else {
        return;
    };
    let begun = Instant::now();
    let mut least = None;
    while begun.elapsed() < WAITS {
        match jackpots.lag(id) {
            Some(0) => return,
            // Others play on: what was seen at first is enough.
            Some(lag) => match least {
                Some(seen) if jackpots.ledger_n(id) >= Some(seen) => return,
                Some(_) => {}
                None => least = jackpots.ledger_n(id).map(|n| n + lag),
            },
            None => {}
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Whether no event of the day can be missing: the jackpot's last event in the ledger is of a later day, or Redis' clock is
/// past the day and Redis has no further event.
async fn is_complete(api: &Api, queries: &Queries, days: &[DayOf], end: i64) -> Result<bool, Problem> {
    let end_ms = end * 1_000;
    if queries.now_ms().await? < end_ms {
        return Ok(false);
    }
    let Some(jackpots) = api.kinds.named(JACKPOT) else {
        return Ok(false);
    };
    let open = days.iter().filter(|day| day.at_ms < end_ms);
    let passed =
        stream::iter(open.map(|day| jackpots.is_past(&day.jackpot_id, end_ms, day.n))).buffer_unordered(AT_ONCE);
    Ok(passed.all(std::future::ready).await)
}

fn answer(request: &HttpRequest, report: &DailyReport) -> HttpResponse {
    let format = Format::of(request);
    let body = match format {
        Format::Json => return HttpResponse::Ok().insert_header((VARY, "Accept")).json(report),
        Format::Csv => {
            let mut body = csv::lines([Row::HEADER]);
            body.extend(csv::lines(report.rows.iter().map(Record::cells)));
            body
        }
        Format::Ndjson => {
            let mut body = Vec::new();
            for row in &report.rows {
                body.extend(serde_json::to_vec(row).expect("plain data is JSON"));
                body.push(b'\n');
            }
            body
        }
    };
    let name = format!("attachment; filename=\"daily-{}.{}\"", report.date, format.extension());
    HttpResponse::Ok()
        .content_type(format.content_type())
        .insert_header((VARY, "Accept"))
        .insert_header((CACHE_CONTROL, "no-store"))
        .insert_header((CONTENT_DISPOSITION, name))
        .body(body)
}

impl Record for Row {
    const HEADER: &'static [&'static str] = &[
        "row",
        "jackpot_id",
        "tier",
        "currency",
        "opening",
        "contributed",
        "reversed",
        "funded",
        "transferred_in",
        "transferred_out",
        "voided",
        "paid",
        "payouts",
        "wins",
        "closing",
        "source_id",
        "entries",
        "stakes",
    ];

    fn cells(&self) -> Vec<String> {
        match self {
            Self::Tier(row) => vec![
                row.row.to_owned(),
                row.jackpot_id.clone(),
                row.tier.clone(),
                row.currency.to_string(),
                row.opening.to_string(),
                row.contributed.to_string(),
                row.reversed.to_string(),
                row.funded.to_string(),
                row.transferred_in.to_string(),
                row.transferred_out.to_string(),
                row.voided.to_string(),
                row.paid.to_string(),
                row.payouts.to_string(),
                row.wins.to_string(),
                row.closing.to_string(),
                String::new(),
                String::new(),
                String::new(),
            ],
            Self::Source(row) => {
                let mut cells = vec![String::new(); Self::HEADER.len()];
                let of_row = [
                    ("row", row.row.to_owned()),
                    ("jackpot_id", row.jackpot_id.clone()),
                    ("contributed", row.contributed.to_string()),
                    ("reversed", row.reversed.to_string()),
                    ("paid", row.paid.to_string()),
                    ("payouts", row.payouts.to_string()),
                    ("source_id", csv::or_empty(row.source_id.as_ref())),
                    ("entries", row.entries.to_string()),
                    ("stakes", row.stakes.to_string()),
                ];
                for (cell, name) in cells.iter_mut().zip(Self::HEADER) {
                    if let Some((_, value)) = of_row.iter().find(|(column, _)| column == name) {
                        cell.clone_from(value);
                    }
                }
                cells
            }
        }
    }
}

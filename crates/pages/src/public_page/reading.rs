//! Reads what the pages of a jackpot show, by calls of the API without a key.

use std::time::Duration;

use actix_http::Payload;
use actix_web::HttpResponse;
use actix_web::body::to_bytes_limited;
use actix_web::http::Method;
use actix_web::http::header::{HeaderMap, LINK};
use futures_util::future::join_all;
use jackpot_api::fairness::{CycleBody, EpochBody, Fairness};
use jackpot_api::jackpot::{DefinitionOfVersion, HistoryPoint, MeterHistory, MeterNow, WinnerItem};
use jackpot_core::clock::parse_rfc3339;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::document::Winners as Shown;
use jackpot_ui::Words;
use jackpot_ui::plot::Point;
use jackpot_ui::rules::{Rules, Terms};
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::failure::Refusal;
use jackpot_kernel::http::inside::{ApiCall, Inside};
use jackpot_kernel::http::problem::ProblemBody;

/// Largest answer that a page reads: a definition of a thousand ranks has a tenth of it.
const MAX_ANSWER_BYTES: usize = 4 << 20;
/// How long a page waits for what is in the ledger: some hundred times what it takes.
const IN_TIME: Duration = Duration::from_millis(800);
/// Definitions before the one in force that the check has at hand.
const OLDER: u64 = 4;
/// Steps of a plot: a week of hours, or three hours of minutes while a jackpot is young.
const STEPS: usize = 168;
/// Fewer hours than these are shown as minutes.
const YOUNG: usize = 3;

/// Everything that the pages of a jackpot show.
#[derive(Debug)]
pub struct Reading {
    pub meter: MeterNow,
    /// The definition in force, and those before it that can be read, newest first.
    pub definitions: Vec<DefinitionOfVersion>,
    /// The last epochs, oldest first; none while they can't be read.
    pub epochs: Vec<EpochBody>,
    /// The last cycles, likewise.
    pub cycles: Vec<CycleBody>,
    pub winners: WinnerList,
    /// Of each tier, in the order of the meter; empty while it can't be read.
    pub history: Vec<Line>,
}

/// What a pool held.
#[derive(Debug)]
pub struct Line {
    pub tier: String,
    pub points: Vec<Point>,
}

#[derive(Debug)]
pub enum WinnerList {
    /// The definition hides it.
    Off,
    /// It can't be read now.
    Away,
    Shown(Vec<WinnerItem>),
}

impl Reading {
    /// The definition in force.
    pub fn definition(&self) -> &DefinitionOfVersion {
        &self.definitions[0]
    }
}

pub fn rules(words: Words, of: &DefinitionOfVersion) -> Rules<'_> {
    let definition = Terms {
        currency: of.currency,
        contribution: of.contribution,
        tiers: &of.tiers,
        odds: &of.odds,
        max_redraws: of.max_redraws,
        min_stake: of.min_stake,
        max_stake: of.max_stake,
        reverse_within_s: of.reverse_within_s,
    };
    Rules { words, definition }
}

/// What a reading leaves for the next one.
#[derive(Debug, Default)]
pub struct Memory {
    /// The cursors at which the last epochs and the last cycles begin.
    from: (Option<String>, Option<String>),
    /// The last ones, for as long as they can't be read.
    epochs: Vec<EpochBody>,
    cycles: Vec<CycleBody>,
}

/// Reads everything. What the ledger has to answer is left out when it takes too long: the pools are shown without it.
pub async fn read(inside: &Inside, id: &Id, memory: &mut Memory) -> Result<Reading, Refusal> {
    let (meter, headers) = ask_with_headers::<MeterNow>(inside, &format!("/v1/jackpots/{id}/meter")).await?;
    let current: DefinitionOfVersion = ask(inside, &described_by(&headers).ok_or(Refusal::Broken)?).await?;
    let (shown, version) = (current.winners, current.version);
    let lines = meter.meters.iter().map(|pool| in_time(line(inside, id, &pool.tier)));
    let (older, (epochs, cycles), winners, lines) = tokio::join!(
        in_time(older(inside, id, version)),
        fairness(inside, id, &mut memory.from),
        in_time(winners(inside, id, shown)),
        join_all(lines),
    );
    if let Some(Ok(epochs)) = epochs {
        memory.epochs = epochs;
    }
    if let Some(Ok(cycles)) = cycles {
        memory.cycles = cycles;
    }
    let history = meter.meters.iter().zip(lines).map(|(pool, points)| Line {
        tier: pool.tier.to_string(),
        points: points.unwrap_or_default(),
    });
    Ok(Reading {
        definitions: std::iter::once(current).chain(older.unwrap_or_default()).collect(),
        epochs: memory.epochs.clone(),
        cycles: memory.cycles.clone(),
        winners: winners.unwrap_or(WinnerList::Away),
        history: history.collect(),
        meter,
    })
}

async fn in_time<T>(reading: impl Future<Output = T>) -> Option<T> {
    timeout(IN_TIME, reading).await.ok()
}

/// The path of the definition in force, which the meter names.
fn described_by(headers: &HeaderMap) -> Option<String> {
    let link = headers.get(LINK)?.to_str().ok()?;
    let (path, _) = link.strip_prefix('<')?.split_once(">; rel=\"describedby\"")?;
    Some(path.to_owned())
}

/// The definitions before this version.
async fn older(inside: &Inside, id: &Id, version: u64) -> Vec<DefinitionOfVersion> {
    let mut all = Vec::new();
    for older in (version.saturating_sub(OLDER).max(1)..version).rev() {
        // What can't be read now is asked again by the next reading.
        all.extend(
            ask(inside, &format!("/v1/jackpots/{id}/definitions/{older}"))
                .await
                .ok(),
        );
    }
    all
}

/// The last epochs and the last cycles. Few of both are one page, which is read once.
async fn fairness(
    inside: &Inside,
    id: &Id,
    from: &mut (Option<String>, Option<String>),
) -> (
    Option<Result<Vec<EpochBody>, Refusal>>,
    Option<Result<Vec<CycleBody>, Refusal>>,
) {
    if *from == (None, None) {
        let path = format!("/v1/jackpots/{id}/fairness");
        match in_time(ask::<Fairness>(inside, &path)).await {
            Some(Ok(page)) if page.next_cursor.is_none() => return (Some(Ok(page.epochs)), Some(Ok(page.cycles))),
            Some(_) => {}
            None => return (None, None),
        }
    }
    let (of_epochs, of_cycles) = from;
    tokio::join!(
        in_time(last_of(inside, id, of_epochs, |page| page.epochs)),
        in_time(last_of(inside, id, of_cycles, |page| page.cycles)),
    )
}

/// The last page that has epochs, or cycles, and the one before it. A later reading begins there.
async fn last_of<T>(
    inside: &Inside,
    id: &Id,
    from: &mut Option<String>,
    of: impl Fn(Fairness) -> Vec<T>,
) -> Result<Vec<T>, Refusal> {
    let path = |cursor: &Option<String>| match cursor {
        Some(cursor) => format!("/v1/jackpots/{id}/fairness?cursor={cursor}"),
        None => format!("/v1/jackpots/{id}/fairness"),
    };
    let mut before = Vec::new();
    let mut cursor = from.clone();
    loop {
        let mut page: Fairness = ask(inside, &path(&cursor)).await?;
        let next = page.next_cursor.take();
        let found = of(page);
        // A jackpot may have many more of the other.
        let is_over = found.is_empty() && !before.is_empty();
        let Some(next) = next.filter(|_| !is_over) else {
            if before.is_empty() && found.is_empty() && from.take().is_some() {
                // A restore may have lost what is beyond the cursor.
                cursor = None;
                continue;
            }
            before.extend(found);
            return Ok(before);
        };
        (before, *from) = (found, cursor);
        cursor = Some(next);
    }
}

async fn winners(inside: &Inside, id: &Id, shown: Shown) -> WinnerList {
    if shown == Shown::Off {
        return WinnerList::Off;
    }
    match ask::<jackpot_api::jackpot::WinnerList>(inside, &format!("/v1/jackpots/{id}/winners")).await {
        Ok(list) => WinnerList::Shown(list.items),
        // A definition that has just changed.
        Err(Refusal::Missing) => WinnerList::Off,
        Err(_) => WinnerList::Away,
    }
}

async fn line(inside: &Inside, id: &Id, tier: &str) -> Vec<Point> {
    let mut points = Vec::new();
    for step in ["hour", "minute"] {
        let path = format!("/v1/jackpots/{id}/meter/history?tier={tier}&step={step}");
        match ask::<MeterHistory>(inside, &path).await {
            Ok(found) => points = found.points,
            Err(_) => return Vec::new(),
        }
        if points.len() >= YOUNG {
            break;
        }
    }
    let last = points.len().saturating_sub(STEPS);
    let point = |point: &HistoryPoint| Point {
        at_ms: parse_rfc3339(&point.at).unwrap_or_default(),
        value: point.pool.unsigned_abs(),
    };
    points[last..].iter().map(point).collect()
}

async fn ask<T: DeserializeOwned>(inside: &Inside, path: &str) -> Result<T, Refusal> {
    Ok(ask_with_headers(inside, path).await?.0)
}

async fn ask_with_headers<T: DeserializeOwned>(inside: &Inside, path: &str) -> Result<(T, HeaderMap), Refusal> {
    let call = ApiCall {
        method: Method::GET,
        path,
        caller: None,
        content: Payload::None,
        headers: Vec::new(),
    };
    let answer = inside.call(call).await.map_err(|problem| Refusal::of(&problem))?;
    let (status, headers) = (answer.status(), answer.headers().clone());
    let body = body(answer).await?;
    if !status.is_success() {
        let detail = serde_json::from_slice::<ProblemBody>(&body).map_or(String::new(), |problem| problem.detail);
        tracing::debug!(
            path,
            status = status.as_u16(),
            detail,
            "the API refused what a page shows"
        );
        return Err(Refusal::of_answer(status.as_u16(), &headers));
    }
    match serde_json::from_slice(&body) {
        Ok(value) => Ok((value, headers)),
        Err(error) => {
            tracing::error!(path, %error, "a page can't read an answer of the API");
            Err(Refusal::Broken)
        }
    }
}

async fn body(answer: HttpResponse) -> Result<actix_web::web::Bytes, Refusal> {
    match to_bytes_limited(answer.into_body(), MAX_ANSWER_BYTES).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(_)) | Err(_) => Err(Refusal::Broken),
    }
}

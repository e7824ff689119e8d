//! Fairness: the epochs and cycles with their commitments.
//!
//! The route is public. So an instance reads the epochs of a jackpot once for all requests within a second, and writes
//! each page once. Epochs that it opens itself show at once.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use actix_web::http::header::CACHE_CONTROL;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use jackpot_api::fairness::{CycleBody, EpochBody, Fairness};
use jackpot_core::clock::rfc3339;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::cycle::CycleRow;
use jackpot_core::jackpot::epoch::Epoch;
use jackpot_core::text::Reason;
use serde::Deserialize;
use tokio::time::{Instant, sleep};
use utoipa::{IntoParams, ToSchema};

use super::Api;
use crate::error::PlayError;
use crate::kept::{self, KeptCycle};
use crate::known::Known;
use crate::scripts::ScriptError;
use jackpot_kernel::http::cached::Page;
use jackpot_kernel::http::{Body, Code, Described, PathOf, Problem, QueryOf, auth};
use jackpot_kernel::single_flight::SingleFlight;

/// Epochs of one page.
const PAGE: usize = 200;
/// Largest age of an answer, and how long caches may keep it.
const SHOWN_FOR: Duration = Duration::from_secs(1);
const MAX_AGE_S: u32 = 1;
/// Least time between two readings of the epochs of one jackpot.
const PAUSE: Duration = Duration::from_millis(20);
/// How long a reading waits for the ledger to have the cycles that Redis has, many times what a commit takes. After it,
/// the open ones are shown as Redis has them.
const LEDGER_WAIT: Duration = Duration::from_secs(2);

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct FairnessQuery {
    /// `next_cursor` of the previous page.
    #[param(value_type = Option<String>)]
    cursor: Option<Cursor>,
}

/// The last epoch and the last cycle of the pages before: `epoch`, or `epoch-event-number-tier`.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
struct Cursor {
    epoch: u64,
    cycle: Option<CycleKey>,
}

/// The event that began a cycle, its number and its tier.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CycleKey(u64, u64, String);

impl TryFrom<String> for Cursor {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let mut parts = text.splitn(4, '-');
        let mut number = || parts.next().and_then(|part| part.parse().ok());
        let (epoch, n, cycle) = (number(), number(), number());
        let key = n.zip(cycle).zip(parts.next());
        let is_whole = key.is_some() || !text.contains('-');
        let cursor = epoch.filter(|_| is_whole).map(|epoch| Self {
            epoch,
            cycle: key.map(|((n, cycle), tier)| CycleKey(n, cycle, tier.to_owned())),
        });
        cursor.ok_or("must be the next_cursor of another page")
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.epoch)?;
        match &self.cycle {
            Some(CycleKey(n, cycle, tier)) => write!(f, "-{n}-{cycle}-{tier}"),
            None => Ok(()),
        }
    }
}

/// A cycle, and the number of the event that began it.
#[derive(Debug, Clone)]
struct BegunCycle {
    began_n: u64,
    body: CycleBody,
}

impl From<KeptCycle> for BegunCycle {
    fn from(kept: KeptCycle) -> Self {
        let KeptCycle {
            row,
            version,
            began_n,
            ended,
            seed,
            ..
        } = kept;
        let second = |at: i64| rfc3339(at.saturating_mul(1_000));
        let (ended_at, ended_by) = ended.map(|(at, by)| (rfc3339(at), by)).unzip();
        let body = CycleBody {
            trigger_amount: seed.as_ref().and_then(|seed| row.trigger_amount(seed)),
            trigger_at: seed.as_ref().and_then(|seed| row.trigger_at(seed)).map(second),
            seed: seed.map(|seed| seed.reveal()),
            from_at: row.floor().map(second),
            tier: row.tier.to_string(),
            cycle: row.cycle,
            nonce: row.nonce,
            secret_id: row.secret,
            commitment: row.commitment.0.unwrap_or_default(),
            low: row.low.0,
            high: row.high.0,
            began_at: rfc3339(row.began),
            version,
            deadline_at: row.deadline.0.map(second),
            ended_at,
            ended_by,
        };
        Self { began_n, body }
    }
}

impl BegunCycle {
    /// One that only Redis has: no event is known to have begun it.
    fn only_open(row: CycleRow) -> Self {
        Self::from(KeptCycle {
            version: row.pins.0.map(|pins| pins.version),
            row,
            began_n: 0,
            ended_n: 0,
            ended: None,
            seed: None,
        })
    }

    fn key(&self) -> CycleKey {
        CycleKey(self.began_n, self.body.cycle, self.body.tier.clone())
    }

    fn is(&self, row: &CycleRow) -> bool {
        self.body.cycle == row.cycle && self.body.tier == row.tier.as_str()
    }
}

/// The epochs and cycles with their nonces and commitments, oldest first. Needs no key, and is at most a second old.
///
/// The seeds explain the draws of the service. An entry whose `draw.by` is `external` was drawn by the game of its source:
/// no seed here explains it.
#[utoipa::path(get, path = "/v1/jackpots/{id}/fairness", operation_id = "get_fairness", tag = "jackpots", params(("id" = String, Path), FairnessQuery),
    responses((status = 200, description = "The epochs", body = Fairness, headers(
            ("Cache-Control" = String, description = "`public, max-age=1`"),
            ("ETag" = String, description = "Weak, of the page"))),
        (status = 304, description = "`If-None-Match` has the tag of the page")))]
pub(crate) async fn get(
    PathOf(id): PathOf<Id>,
    QueryOf(query): QueryOf<FairnessQuery>,
    request: HttpRequest,
    api: Data<Api>,
) -> Result<HttpResponse, Problem> {
    let shown = shown(&api, &id).await?;
    let page = match query.cursor {
        // The first cycles are shown with the epochs. Those of later pages are read when a client comes to them.
        Some(cursor) if cursor.cycle.is_some() => {
            let cycles = read_cycles(&api, &id, cursor.cycle.as_ref()).await?;
            shown.page_with(Some(&cursor), &cycles)
        }
        cursor => shown.page(cursor.as_ref()),
    };
    Ok(page.answer(&request, "application/json", MAX_AGE_S))
}

/// Why an epoch ends.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RotateBody {
    /// The reason: 1 to 500 characters, no control characters.
    #[schema(value_type = String, example = "check", min_length = 1, max_length = 500)]
    reason: Reason,
    /// Whether open cycles end too, without a take. Those that follow have a new nonce.
    #[serde(default)]
    cycles: bool,
}

impl Described for RotateBody {}

/// Closes the open epoch at once and opens the next, under the current draw secret. Remembered entries keep their
/// answers.
#[utoipa::path(post, path = "/v1/jackpots/{id}/fairness/rotate", operation_id = "rotate_epoch", tag = "jackpots", security(("bearer" = [])), params(("id" = String, Path)),
    request_body = RotateBody, responses((status = 200, description = "The epochs now", body = Fairness)),
    extensions(("x-problems" = json!([Code::JackpotClosed]))))]
pub(crate) async fn rotate(
    auth::Operate { by, .. }: auth::Operate,
    PathOf(id): PathOf<Id>,
    api: Data<Api>,
    Body(body): Body<RotateBody>,
) -> Result<HttpResponse, Problem> {
    api.operate
        .end_epoch_with(&id, body.reason.into_string(), &by, body.cycles)
        .await?;
    let page = shown(&api, &id).await?.page(None);
    Ok(HttpResponse::Ok()
        .content_type("application/json")
        .insert_header((CACHE_CONTROL, "no-store"))
        .body(page.body().clone()))
}

/// The cycles of a page.
#[derive(Debug, Clone, Default)]
struct CyclePage {
    /// Those of the ledger, and one more if there are more.
    kept: Vec<BegunCycle>,
    /// The open ones that only Redis has, because the ledger is late. They are shown at the end of the last page.
    newer: Vec<BegunCycle>,
}

/// A shared reading of the epochs of a jackpot.
#[derive(Debug, Clone)]
struct Shown {
    id: Id,
    epochs: Arc<[EpochBody]>,
    /// The first cycles.
    cycles: Arc<CyclePage>,
    /// What this instance had done to cycles before the reading ([`Known::cycle_changes`]).
    cycle_changes: u64,
    /// Restores of the jackpot at that time.
    restores: u64,
    /// The full pages from the first on, as texts.
    texts: Arc<[OnceLock<Page>]>,
}

impl Shown {
    fn new(id: Id, epochs: Vec<EpochBody>, cycles: CyclePage, restores: u64, cycle_changes: u64) -> Self {
        let pages = epochs.len().div_ceil(PAGE);
        Self {
            id,
            epochs: epochs.into(),
            cycles: cycles.into(),
            cycle_changes,
            restores,
            texts: (0..pages).map(|_| OnceLock::new()).collect(),
        }
    }

    /// Whether it has what this instance has opened.
    fn has(&self, known: &Known) -> bool {
        let newest = self.epochs.last().map_or(0, |epoch| epoch.epoch);
        let opened = known.view().map_or(0, |view| view.epoch);
        self.restores >= known.mark().restores() && newest >= opened && self.cycle_changes == known.cycle_changes()
    }

    /// The page with the first cycles: where no page before had one.
    fn page(&self, after: Option<&Cursor>) -> Page {
        let begin = self.begin(after);
        // A client invented this cursor, because no page ends with it. The page is made, but not cached.
        match self.texts.get(begin / PAGE).filter(|_| begin.is_multiple_of(PAGE)) {
            Some(text) => text.get_or_init(|| self.page_from(begin, after, &self.cycles)).clone(),
            None => self.page_from(begin, after, &self.cycles),
        }
    }

    /// The page with these cycles.
    fn page_with(&self, after: Option<&Cursor>, cycles: &CyclePage) -> Page {
        self.page_from(self.begin(after), after, cycles)
    }

    fn begin(&self, after: Option<&Cursor>) -> usize {
        after.map_or(0, |cursor| {
            self.epochs.partition_point(|epoch| epoch.epoch <= cursor.epoch)
        })
    }

    fn page_from(&self, begin: usize, after: Option<&Cursor>, cycles: &CyclePage) -> Page {
        let rest = &self.epochs[begin..];
        let (page, more) = rest.split_at(rest.len().min(PAGE));
        let CyclePage { kept, newer } = cycles;
        let is_last = more.is_empty() && kept.len() + newer.len() <= PAGE;
        let cycles = &kept[..kept.len().min(PAGE)];
        let next = Cursor {
            epoch: page
                .last()
                .map_or_else(|| after.map_or(0, |after| after.epoch), |epoch| epoch.epoch),
            cycle: cycles.last().map(BegunCycle::key).or_else(|| after?.cycle.clone()),
        };
        let newer = if is_last { newer.as_slice() } else { &[] };
        let body = Fairness {
            jackpot_id: self.id.to_string(),
            epochs: page.to_vec(),
            cycles: cycles.iter().chain(newer).map(|cycle| cycle.body.clone()).collect(),
            next_cursor: (!is_last).then(|| next.to_string()),
        };
        Page::new(serde_json::to_string(&body).expect("plain data is JSON"))
    }
}

type Source = SingleFlight<Result<Shown, Problem>>;

/// The epochs of jackpots with requests. Each is read once for all.
#[derive(Debug, Default)]
pub struct Epochs(RwLock<HashMap<Id, Arc<Source>>>);

impl Epochs {
    fn source(&self, id: &Id) -> Arc<Source> {
        if let Some(source) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(id) {
            return Arc::clone(source);
        }
        let mut sources = self.0.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(sources.entry(id.clone()).or_default())
    }
}

/// The epochs of a jackpot, at most a second old, with each that this instance has opened.
async fn shown(api: &Api, id: &Id) -> Result<Shown, Problem> {
    let registry = &api.operate.views.registry;
    if !registry.may_exist(id).await.map_err(PlayError::from)? {
        return Err(PlayError::from(ScriptError::Unknown).into());
    }
    let (known, source) = (registry.known(id), api.epochs.source(id));
    let shown = source
        .get(
            PAUSE,
            |last| last.begun.elapsed() < SHOWN_FOR && last.value.as_ref().is_ok_and(|shown| shown.has(&known)),
            || read(api, id),
        )
        .await;
    shown.value.clone()
}

/// The cycles of a page.
async fn read_cycles(api: &Api, id: &Id, after: Option<&CycleKey>) -> Result<CyclePage, Problem> {
    let after = after.map(|CycleKey(n, cycle, tier)| (*n, tier.as_str(), *cycle));
    let until = Instant::now() + LEDGER_WAIT;
    loop {
        // In this order: what the ledger lacks after this is in no page before, and may be in this one.
        // While Redis is away, the ledger alone answers.
        let open = api.operate.open_cycles(id).await.unwrap_or_default();
        let newer = newer_cycles(api, id, open).await?;
        if !newer.is_empty() && Instant::now() < until {
            sleep(PAUSE).await;
            continue;
        }
        let limit = i64::try_from(PAGE + 1).unwrap_or(i64::MAX);
        let kept = kept::cycles(&api.sql, id, after, u64::MAX, limit).await?;
        let kept: Vec<_> = kept.into_iter().map(BegunCycle::from).collect();
        let newer = newer.into_iter().filter(|row| !kept.iter().any(|kept| kept.is(row)));
        let newer = newer.map(BegunCycle::only_open).collect();
        return Ok(CyclePage { kept, newer });
    }
}

/// Those of these open cycles that the ledger does not have.
async fn newer_cycles(api: &Api, id: &Id, open: Vec<CycleRow>) -> Result<Vec<CycleRow>, Problem> {
    let mut newer = Vec::new();
    for row in open {
        if !kept::has_cycle(&api.sql, id, &row.tier, row.cycle).await? {
            newer.push(row);
        }
    }
    Ok(newer)
}

async fn read(api: &Api, id: &Id) -> Result<Shown, Problem> {
    let instance = api.operate.views.registry.known(id);
    let (restores, cycle_changes) = (instance.mark().restores(), instance.cycle_changes());
    let redis = api.operate.epochs(id).await;
    let known = match kept::epochs(&api.sql, id).await {
        Ok(known) => known,
        // Shows no seed that the ledger has not confirmed, but all commitments.
        Err(error) if redis.is_ok() => {
            tracing::warn!(%error, "epochs are shown without their seeds");
            kept::Epochs::default()
        }
        Err(error) => return Err(error.into()),
    };
    let newer = match redis {
        Ok(epochs) => epochs,
        Err(_) if !known.all.is_empty() => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    // Redis may have an epoch, or a closing, that the ledger has not read yet.
    let mut epochs: BTreeMap<u64, Epoch> = newer.into_iter().map(|epoch| (epoch.epoch, epoch)).collect();
    for epoch in &known.all {
        let closed = epoch.closed_ms.is_some();
        if closed || !epochs.contains_key(&epoch.epoch) {
            epochs.insert(epoch.epoch, epoch.clone());
        }
    }
    let cycles = match read_cycles(api, id, None).await {
        Ok(cycles) => cycles,
        // The ledger is away, as was said.
        Err(_) if known.all.is_empty() => {
            let open = api.operate.open_cycles(id).await.unwrap_or_default();
            CyclePage {
                kept: Vec::new(),
                newer: open.into_iter().map(BegunCycle::only_open).collect(),
            }
        }
        Err(problem) => return Err(problem),
    };
    let body = |epoch: Epoch| EpochBody {
        seed: known.seed(epoch.epoch).map(str::to_owned),
        epoch: epoch.epoch,
        nonce: epoch.opening.nonce,
        secret_id: epoch.opening.secret_id,
        commitment: epoch.opening.commitment,
        opened_at: rfc3339(epoch.opened_ms),
        closed_at: epoch.closed_ms.map(rfc3339),
    };
    Ok(Shown::new(
        id.clone(),
        epochs.into_values().map(body).collect(),
        cycles,
        restores,
        cycle_changes,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(numbers: impl IntoIterator<Item = u64>) -> Shown {
        let body = |epoch| EpochBody {
            epoch,
            nonce: String::new(),
            secret_id: String::new(),
            commitment: String::new(),
            opened_at: String::new(),
            closed_at: None,
            seed: None,
        };
        let id = Id::parse("spring").expect("an id");
        Shown::new(id, numbers.into_iter().map(body).collect(), CyclePage::default(), 0, 0)
    }

    fn after(epoch: u64) -> Cursor {
        Cursor { epoch, cycle: None }
    }

    #[test]
    fn a_cursor_is_read_as_it_was_written() {
        for text in ["0", "7", "7-12-3-grand", "7-12-3-a-b"] {
            let cursor = Cursor::try_from(text.to_owned()).expect("a cursor");
            assert_eq!(cursor.to_string(), text);
        }
        for text in ["", "x", "7-", "7-12", "7-12-3", "-1-2-a", "7-x-3-a"] {
            assert!(Cursor::try_from(text.to_owned()).is_err(), "{text}");
        }
    }

    /// The epochs of all pages, as a client that follows the cursors gets them.
    fn followed(shown: &Shown) -> (Vec<u64>, usize) {
        let (mut all, mut pages, mut cursor) = (Vec::new(), 0, None);
        loop {
            let page: serde_json::Value = serde_json::from_slice(shown.page(cursor.as_ref()).body()).expect("JSON");
            let epochs = page["epochs"].as_array().expect("a list");
            assert!(epochs.len() <= PAGE && page["cycles"] == serde_json::json!([]));
            all.extend(epochs.iter().filter_map(|epoch| epoch["epoch"].as_u64()));
            pages += 1;
            match page["next_cursor"].as_str() {
                Some(next) => cursor = Some(Cursor::try_from(next.to_owned()).expect("a cursor")),
                None => return (all, pages),
            }
        }
    }

    #[test]
    fn following_the_cursors_shows_each_epoch_once() {
        for (count, pages) in [(0, 1), (1, 1), (199, 1), (200, 1), (201, 2), (400, 2), (991, 5)] {
            // With a gap, as a restore leaves one.
            let numbers: Vec<u64> = (1..=count).map(|n| if n > 150 { n + 1_000 } else { n }).collect();
            assert_eq!(followed(&shown(numbers.clone())), (numbers, pages), "{count}");
        }
    }

    #[test]
    fn only_pages_that_cursors_lead_to_are_kept() {
        let shown = shown(1..=450);
        let kept = || shown.texts.iter().filter(|text| text.get().is_some()).count();
        for cursor in 0..450 {
            shown.page(Some(&after(cursor)));
        }
        assert_eq!(kept(), 3);
        let beyond = shown.page(Some(&after(u64::MAX)));
        let beyond: serde_json::Value = serde_json::from_slice(beyond.body()).expect("JSON");
        assert_eq!(
            (
                beyond["epochs"].as_array().map(Vec::len),
                beyond["next_cursor"].as_str()
            ),
            (Some(0), None)
        );
    }
}

//! How a stream that an event stops goes on: show the event, and skip it without losing what it did.
//!
//! A stream stops at an event that can't be read, that does not follow from the previous ones, or whose rows the
//! database refuses. It also stops at a missing number. Redis has done what the event says, and clients have their
//! answers, so nothing of it may be lost. A skip carries on from Redis ([`Skips::plan`]). It finds the money,
//! counters and records after the event with which all later events follow. The next comparison with Redis then
//! agrees. The record gets an event `skipped` with the same number ([`super::skipped`]), which holds the original
//! event.
//!
//! States: stuck at `n` → [`Found`] (lease held, carried data known, nothing written) → one transaction with the
//! skipped event and those events before `n` that still wait → the projector continues after it. A process that dies
//! before the commit has changed nothing. A repeat after the commit finds that the stream is not stuck at `n`.

pub mod held;

use std::collections::BTreeMap;
use std::future::Future;

use jackpot_core::chain;
use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;
use thiserror::Error;

use super::Ledger;
use super::kind::{Folded, Kind};
use super::projector::batch::{Batch, Start, Stop, With};
use super::projector::lease::Leases;
use super::projector::load::{self, LoadError, Loaded};
use super::projector::rows::Raw;
use super::projector::stream::is_damage;
use super::projector::write::{self, WriteError};
use super::skipped;
use crate::operator::Operator;
use crate::sql::is_unavailable;
use crate::store::{Store, StoreError};
use crate::subject::{self, ScriptError, Subject, TailWish};

/// Most bytes of events read in one call.
const MAX_BYTES: usize = 4 << 20;

/// Why a stuck stream was not shown or skipped.
#[derive(Debug, Error)]
pub enum StuckError {
    /// The database failed.
    #[error("the ledger: {0}")]
    Sql(#[from] sqlx::Error),
    /// The ledger's rows do not fit together.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The rows can't be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A script failed.
    #[error("Redis: {0}")]
    Script(#[from] ScriptError),
    /// Redis did not append a checkpoint.
    #[error("Redis: {0}")]
    Redis(String),
    /// Redis has lost events, or holds another history: no event is stuck.
    #[error("{0}")]
    OtherHistory(String),
    /// The data that the skip carries on does not follow.
    #[error("skipping this event would not work: {0}")]
    Refused(String),
}

impl From<StoreError> for StuckError {
    fn from(error: StoreError) -> Self {
        Self::Script(error.into())
    }
}

/// An event that can't be applied.
#[derive(Debug)]
pub struct StuckEvent {
    pub n: u64,
    /// The event in the stream; `None` when the stream has none with this number.
    pub raw: Option<Raw>,
    /// Why it can't be applied.
    pub why: String,
}

/// Where a stream stands.
#[derive(Debug)]
pub struct Found<K: Kind> {
    /// What the ledger has.
    pub loaded: Loaded<K>,
    /// Events that can be applied: those before the stuck one, or all when none is stuck.
    pub before: Vec<Raw>,
    /// The event that can't be applied.
    pub stuck: Option<StuckEvent>,
    /// Later events in the stream.
    pub later: Vec<Raw>,
}

/// What a skip would carry on from a stuck event.
#[derive(Debug)]
pub struct Plan {
    /// The fields of the event `skipped`, without the fields that name the operator.
    pub fields: BTreeMap<String, String>,
    /// What it means, one line each, for people.
    pub lines: Vec<String>,
}

/// A kind whose stuck events can be shown and skipped.
pub trait Skips: Kind {
    /// What is read from Redis before the last look at the stream.
    type Held: Send;

    /// Reads what Redis holds, before a checkpoint.
    fn held(store: &Store, id: &Id) -> impl Future<Output = Result<Self::Held, StuckError>>;
    /// What a skip carries on from the event. The sources are the event, the events after it and what Redis holds.
    /// `books` are the books before it.
    fn plan(
        ledger: &Ledger,
        id: &Id,
        books: &Self::Books,
        found: &Found<Self>,
        held: &Self::Held,
        store: &Store,
    ) -> impl Future<Output = Result<Plan, StuckError>>;
}

/// Which stream is examined, and with what.
#[derive(Debug, Clone, Copy)]
pub struct At<'a> {
    pub ledger: &'a Ledger,
    pub store: &'a Store,
    pub id: &'a Id,
    /// Of the stream's lease, to ask the database which rows it refuses.
    pub token: i64,
    /// Whether entries are indexed by player.
    pub index: bool,
    /// `None` only shows the stuck event.
    pub skip: Option<Skip<'a>>,
}

/// An operator's wish to skip an event.
#[derive(Debug, Clone, Copy)]
pub struct Skip<'a> {
    /// Number of the event.
    pub n: u64,
    pub by: &'a Operator,
    pub reason: &'a str,
}

/// The result of examining a stream.
#[derive(Debug)]
pub enum Outcome {
    /// Nothing is stuck: the ledger can apply all events up to this one.
    Fine(u64),
    /// An event is stuck; nothing was written.
    Stuck {
        /// Number of the last event in the ledger.
        at: u64,
        event: StuckEvent,
        /// What skipping it carries on, one line each.
        lines: Vec<String>,
        /// How many later events would follow.
        follow: usize,
        /// Why the next one would not follow.
        stop: Option<String>,
    },
    /// Another event is stuck than the one to skip: nothing was written.
    Other(u64),
    /// The event was skipped.
    Skipped {
        event: StuckEvent,
        /// What was carried on, one line each.
        lines: Vec<String>,
    },
}

/// Shows the event that stops a stream, or skips it.
pub async fn work<K: Skips>(kind: &K, at: At<'_>) -> Result<Outcome, StuckError> {
    let (mut found, planned) = plan(kind, &at).await?;
    let (Some(n), Some(planned)) = (found.stuck.as_ref().map(|event| event.n), planned) else {
        return Ok(Outcome::Fine(found.loaded.cursor.n + found.before.len() as u64));
    };
    let Some(wanted) = at.skip else {
        let (follow, stop) = outlook(&at, &found, &planned);
        let event = found.stuck.take().expect("it has a number");
        return Ok(Outcome::Stuck {
            at: found.loaded.cursor.n,
            event,
            lines: planned.lines,
            follow,
            stop,
        });
    };
    if wanted.n != n {
        return Ok(Outcome::Other(n));
    }
    let leases = Leases::of(K::NAME, at.ledger.sql.clone(), String::new(), 0);
    let at_ms = leases.now_ms().await?;
    let lines = planned.lines.clone();
    skip(&at, &found, planned, &wanted, at_ms).await?;
    let event = found.stuck.take().expect("it has a number");
    Ok(Outcome::Skipped { event, lines })
}

/// Finds where a stream stands.
async fn find<K: Skips>(at: &At<'_>) -> Result<Found<K>, StuckError> {
    let loaded = load::load::<K>(&at.ledger.sql, at.id).await?;
    let events = events_behind(at.store, at.id, &loaded).await?;
    let batch = build(at, &loaded, &events);
    let (mut good, mut why) = (batch.events.len(), batch.stop.as_ref().map(Stop::to_string));
    if let Some((refused, error)) = refused(at, &loaded, &events[..good]).await? {
        (good, why) = (refused, Some(error));
    }
    let mut events = events;
    let Some(why) = why else {
        return Ok(Found {
            loaded,
            before: events,
            stuck: None,
            later: Vec::new(),
        });
    };
    let mut later = events.split_off(good);
    let n = loaded.cursor.n + good as u64 + 1;
    let raw = match number(&later[0].stream_id) {
        Some(number) if number > n => None,
        _ => Some(later.remove(0)),
    };
    let why = match &raw {
        Some(_) => why,
        None => format!("event {n} is missing: the stream goes on with another one"),
    };
    Ok(Found {
        loaded,
        before: events,
        stuck: Some(StuckEvent { n, raw, why }),
        later,
    })
}

/// Makes a batch of the events after the ledger's last one.
fn build<K: Skips>(at: &At<'_>, loaded: &Loaded<K>, events: &[Raw]) -> Batch<K> {
    let key = at.ledger.signing.current();
    let start = Start {
        id: at.id,
        cursor: &loaded.cursor,
        books: &loaded.books,
        tables: &loaded.tables,
        with: With {
            key: &key,
            index_entries: at.index,
        },
    };
    Batch::build(&start, events)
}

/// The first of these events that the database refuses, and why. Nothing is written.
async fn refused<K: Skips>(
    at: &At<'_>,
    loaded: &Loaded<K>,
    events: &[Raw],
) -> Result<Option<(usize, String)>, StuckError> {
    let probe = async |count: usize| {
        let batch = build(at, loaded, &events[..count]);
        match write::probe(&at.ledger.sql, &[(&batch, at.token)]).await {
            Ok(()) => Ok(None),
            Err(WriteError::Sql(error)) if is_unavailable(&error) => Err(StuckError::Sql(error)),
            Err(error @ WriteError::Moved(_)) => Err(error.into()),
            Err(error) => Ok(Some(format!("the database refuses it: {error}"))),
        }
    };
    if events.is_empty() {
        return Ok(None);
    }
    let Some(mut why) = probe(events.len()).await? else {
        return Ok(None);
    };
    let (mut good, mut bad) = (0, events.len());
    while bad - good > 1 {
        let middle = good.midpoint(bad);
        match probe(middle).await? {
            Some(error) => (bad, why) = (middle, error),
            None => good = middle,
        }
    }
    Ok(Some((good, why)))
}

/// All events after the ledger's last. They fit in memory: a stopped stream is suspended, and gets few more.
async fn events_behind<K: Skips>(store: &Store, id: &Id, loaded: &Loaded<K>) -> Result<Vec<Raw>, StuckError> {
    let known = K::Known::new(id);
    let mark = Mark::new(loaded.books.restores(), loaded.cursor.n).unwrap_or_default();
    let mut all: Vec<Raw> = Vec::new();
    let mut after = Some(loaded.previous_stream_id.clone()).filter(|id| !id.is_empty());
    loop {
        let wish = TailWish {
            after: after.as_deref(),
            max_events: subject::MAX_EVENTS,
            max_bytes: MAX_BYTES,
            trim_before: None,
        };
        let tail = match subject::tail(store, known.stream(), mark, &wish).await {
            Err(ScriptError::Behind { .. } | ScriptError::Unknown | ScriptError::Restoring) => {
                let text =
                    "Redis has less than the ledger, or is being restored: no event is stuck; see `jackpot restore`";
                return Err(StuckError::OtherHistory(text.to_owned()));
            }
            Err(error) if is_damage(&error) => return Err(StuckError::OtherHistory(error.to_string())),
            tail => tail?,
        };
        let Some((last, _)) = tail.events.last() else { break };
        after = Some(last.clone());
        all.extend(tail.events.into_iter().map(Raw::from));
    }
    let n = loaded.cursor.n;
    let first = all.first().filter(|_| n > 0);
    if let Some(first) = first {
        let missing = skipped::of_stream(&loaded.last_body).is_none();
        if skipped::is_last(&first.fields, &loaded.last_body) {
            all.remove(0);
        } else if !missing && first.fields.get("type").is_none_or(|kind| kind != "restore") {
            let text = format!("Redis does not hold event {n} as the ledger has it: that is another history");
            return Err(StuckError::OtherHistory(text));
        }
    }
    Ok(all)
}

/// The number of an event, from its id in the stream: `<sequence>-<n>`.
fn number(stream_id: &str) -> Option<u64> {
    stream_id.split_once('-')?.1.parse().ok()
}

/// The sequence of an event, from its id in the stream.
pub fn sequence(stream_id: &str) -> Option<u64> {
    stream_id.split_once('-')?.0.parse().ok()
}

/// Finds what skipping the stuck event would do. It first puts a checkpoint into the stream, so that what Redis holds
/// is known at an event. `None`: the stream is not stuck.
pub async fn plan<K: Skips>(kind: &K, at: &At<'_>) -> Result<(Found<K>, Option<Plan>), StuckError> {
    let found = find::<K>(at).await?;
    if found.stuck.is_none() {
        return Ok((found, None));
    }
    let held = K::held(at.store, at.id).await?;
    let put = kind.checkpoint(at.id).await;
    put.map_err(|error| StuckError::Redis(error.to_string()))?;
    let found = find::<K>(at).await?;
    if found.stuck.is_none() {
        return Ok((found, None));
    }
    let books = books_before(at, &found)?;
    let plan = K::plan(at.ledger, at.id, &books, &found, &held, at.store).await?;
    Ok((found, Some(plan)))
}

/// The books before the stuck event.
fn books_before<K: Skips>(at: &At<'_>, found: &Found<K>) -> Result<K::Books, StuckError> {
    let batch = build(at, &found.loaded, &found.before);
    match batch.stop {
        None => Ok(batch.books),
        Some(stop) => Err(StuckError::Refused(stop.to_string())),
    }
}

/// Skips the event of a plan.
pub async fn skip<K: Skips>(
    at: &At<'_>,
    found: &Found<K>,
    plan: Plan,
    wish: &Skip<'_>,
    at_ms: i64,
) -> Result<(), StuckError> {
    let Some(stuck) = &found.stuck else { return Ok(()) };
    let mut raws = found.before.clone();
    raws.push(skipped_raw(found, stuck, plan, wish, at_ms));
    let batch = build(at, &found.loaded, &raws);
    if let Some(stop) = batch.stop {
        return Err(StuckError::Refused(stop.to_string()));
    }
    Ok(write::commit(&at.ledger.sql, &[(&batch, at.token)]).await?)
}

/// How many of the later events would follow, and why the next one would not.
pub fn outlook<K: Skips>(at: &At<'_>, found: &Found<K>, plan: &Plan) -> (usize, Option<String>) {
    let Some(stuck) = &found.stuck else {
        return (0, None);
    };
    let by = Operator {
        who: String::new(),
        owner: String::new(),
        request_id: String::new(),
    };
    let plan = Plan {
        fields: plan.fields.clone(),
        lines: Vec::new(),
    };
    let wish = Skip {
        n: stuck.n,
        by: &by,
        reason: "-",
    };
    let mut raws = found.before.clone();
    raws.push(skipped_raw(found, stuck, plan, &wish, 0));
    let upto = raws.len();
    raws.extend(found.later.iter().cloned());
    let batch = build(at, &found.loaded, &raws);
    let stop = batch.stop.map(|stop| stop.to_string());
    let unclean = batch.report.filter(|(_, _, report)| !report.clean);
    let unclean = unclean.map(|(n, _, report)| format!("at checkpoint {n}: {}", report.faults().join("; ")));
    (batch.events.len().saturating_sub(upto), stop.or(unclean))
}

fn skipped_raw<K: Kind>(found: &Found<K>, stuck: &StuckEvent, plan: Plan, wish: &Skip<'_>, at_ms: i64) -> Raw {
    let mut fields = plan.fields;
    let raw = stuck.raw.as_ref().map(|raw| chain::body(&raw.fields));
    let own = [
        ("n", stuck.n.to_string()),
        ("type", skipped::TYPE.to_owned()),
        ("raw", raw.unwrap_or_default()),
        ("why", stuck.why.clone()),
        ("reason", wish.reason.to_owned()),
        ("who", wish.by.who.clone()),
        ("request_id", wish.by.request_id.clone()),
        ("skipped_at", at_ms.to_string()),
    ];
    fields.extend(own.map(|(name, value)| (name.to_owned(), value)));
    let before = found.before.last().map(|raw| raw.stream_id.clone());
    let stream_id = match &stuck.raw {
        Some(raw) => raw.stream_id.clone(),
        // The place after which the stream continues.
        None => before.unwrap_or_else(|| found.loaded.cursor.stream_id.clone()),
    };
    Raw {
        stream_id,
        fields: (&fields).into(),
    }
}

/// The time of a stuck event if it can be read, else that of the previous event.
pub fn time(raw: Option<&Raw>, before_ms: i64) -> i64 {
    let at = raw.and_then(|raw| raw.fields.get("at")?.parse::<i64>().ok());
    at.filter(|at| *at > 0).unwrap_or(before_ms)
}

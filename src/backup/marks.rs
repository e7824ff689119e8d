//! How far Redis is, and the wait until the ledger has caught up. An entry acknowledged before the backup began is an
//! event in Redis, and must be one in the copy.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use futures_util::{StreamExt, TryStreamExt, stream};
use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;
use sqlx::{Row, query};
use thiserror::Error;

use crate::ledger::projector::lease::Leases;
use crate::ledger::projector::load::Load;
use crate::sql::Sql;
use crate::store::{Store, StoreError};
use crate::subject::kinds::KindName;
use crate::subject::{ScriptError, index};

/// Longest wait for the ledger. It normally lags by a fraction of a second. After a service was killed, it may lag by a
/// full backlog (`ledger.max_backlog_events`).
pub const LIMIT: Duration = Duration::from_secs(45);
/// Longest wait for stopped streams. They continue only after the cause is removed.
const STOPPED_LIMIT: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Subjects whose state is read concurrently.
const AT_ONCE: usize = 32;
/// Most subjects that an error names.
const NAMED: usize = 10;

/// Why the ledger lacks events that Redis has.
#[derive(Debug, Error)]
pub enum MarksError {
    #[error("Redis: {0}")]
    Script(#[from] ScriptError),
    #[error("the ledger: {0}")]
    Sql(#[from] sqlx::Error),
    /// The ledger did not catch up in time.
    #[error(
        "the ledger lacks events that Redis has: {0}. Start the service and let it catch up (GET /v1/reconciliation shows the \
         lag)"
    )]
    Behind(String),
}

type Marks = BTreeMap<(KindName, Id), Mark>;

/// The position in Redis of every subject that Redis or the ledger knows. `loads` holds the load of every kind.
///
/// # Errors
/// Redis does not answer.
pub async fn of_redis(loads: &[Load], store: &Store, sql: &Sql) -> Result<Marks, MarksError> {
    let mut subjects: Vec<(&Load, Id)> = Vec::new();
    for load in loads {
        let mut ids = index::whole(store, load.index).await?;
        // A name missing from the index must not hide a subject.
        ids.extend(of_ledger(load.name, sql).await?.into_keys());
        subjects.extend(ids.into_iter().map(|id| (load, id)));
    }
    stream::iter(subjects)
        .map(async |(load, id)| {
            let mark = of_state(store, (load.state)(&id)).await?;
            Ok::<_, MarksError>(((load.name, id), mark))
        })
        .buffer_unordered(AT_ONCE)
        .try_collect()
        .await
}

async fn of_state(store: &Store, state: String) -> Result<Mark, ScriptError> {
    let command = redis::cmd("HMGET").arg(state).arg("n").arg("restores").to_owned();
    let parts = match store.run(&command).await {
        // The key holds something else: the ledger can't follow it, and no script accepts it as a state.
        Err(StoreError::Script { .. }) => return Ok(Mark::ZERO),
        parts => parts?,
    };
    let parts: [Option<String>; 2] = redis::from_redis_value(parts).unwrap_or_default();
    let [n, restores] = parts.map(|part| part.and_then(|part| part.parse().ok()).unwrap_or_default());
    Ok(Mark::new(restores, n).unwrap_or_default())
}

async fn of_ledger(kind: KindName, sql: &Sql) -> Result<BTreeMap<Id, Mark>, sqlx::Error> {
    let leases = Leases::of(kind, sql.clone(), String::new(), 0);
    let places = leases.places().await?.into_iter();
    Ok(places
        .map(|place| (place.id, Mark::new(place.restores, place.n).unwrap_or_default()))
        .collect())
}

/// Waits until the ledger has reached at least these positions.
///
/// # Errors
/// [`MarksError::Behind`] after `limit`.
pub async fn wait(sql: &Sql, redis: &Marks, limit: Duration) -> Result<(), MarksError> {
    let began_at = Instant::now();
    loop {
        let behind = behind(sql, redis).await?;
        if behind.is_empty() {
            return Ok(());
        }
        let all_stopped = behind.iter().all(|one| one.stopped);
        if began_at.elapsed() > if all_stopped { limit.min(STOPPED_LIMIT) } else { limit } {
            let names = behind.iter().take(NAMED).map(|one| one.text.as_str());
            let mut names = names.collect::<Vec<_>>().join("; ");
            if behind.len() > NAMED {
                let _ = write!(names, "; and {} more", behind.len() - NAMED);
            }
            return Err(MarksError::Behind(names));
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// A subject whose events the ledger lacks.
struct Lacking {
    text: String,
    stopped: bool,
}

async fn behind(sql: &Sql, redis: &Marks) -> Result<Vec<Lacking>, MarksError> {
    let mut behind = Vec::new();
    let mut of_kinds: BTreeMap<KindName, BTreeMap<Id, Mark>> = BTreeMap::new();
    for (kind, _) in redis.keys() {
        if !of_kinds.contains_key(kind) {
            of_kinds.insert(*kind, of_ledger(*kind, sql).await?);
        }
    }
    for ((kind, id), redis) in redis {
        let at = of_kinds
            .get(kind)
            .and_then(|ledger| ledger.get(id))
            .copied()
            .unwrap_or_default();
        if at < *redis {
            let why = stopped(sql, *kind, id).await?;
            let stopped = why.as_ref().map(|why| format!(" (stopped: {why})"));
            behind.push(Lacking {
                text: format!(
                    "{kind} '{id}' is at {at}, Redis at {redis}{}",
                    stopped.unwrap_or_default()
                ),
                stopped: why.is_some(),
            });
        }
    }
    Ok(behind)
}

/// Why its stream has stopped, if it has.
async fn stopped(sql: &Sql, kind: KindName, id: &Id) -> Result<Option<String>, sqlx::Error> {
    let row = query("SELECT stopped FROM streams WHERE kind = $1 AND id = $2")
        .bind(kind.as_str())
        .bind(id.as_str())
        .fetch_optional(sql.reader());
    let stopped: Option<String> = sql.reading(row).await?.map(|row| row.try_get("stopped")).transpose()?;
    Ok(stopped.filter(|why| !why.is_empty()))
}

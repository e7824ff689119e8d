//! Reads a copy of the ledger back: a copy that can't be read here could not be restored from.

use std::collections::BTreeMap;

use futures_util::TryStreamExt;
use jackpot_core::chain::ChainHash;
use jackpot_core::ids::Id;
use sqlx::{Row, query, query_scalar};
use thiserror::Error;

use super::manifest::Held;
use crate::ledger::projector::load::{Load, LoadError};
use crate::sql::Sql;
use crate::subject::kinds::{self, KindName};

/// Why a copy is not usable.
#[derive(Debug, Error)]
pub enum CheckError {
    /// The database of the copy can't be read.
    #[error("the copy of the ledger: {0}")]
    Sql(#[from] sqlx::Error),
    /// SQLite's check found damage.
    #[error("the copy of the ledger is damaged: {0}")]
    Damaged(String),
    /// The events do not form a chain.
    #[error("{subject}: {what}: the ledger is damaged, and so is every copy of it")]
    Chain { subject: String, what: String },
    /// A restore could not load it.
    #[error(transparent)]
    Load(#[from] LoadError),
}

/// Reads the whole copy: the pages, each chain from its first event, and the rows that a restore reads first. `sql` is
/// open for reading. `loads` holds the load of every kind.
///
/// # Errors
/// The first damage found.
pub async fn read_back(sql: &Sql, loads: &[Load]) -> Result<Vec<Held>, CheckError> {
    let found: String = query_scalar("PRAGMA integrity_check(1)")
        .fetch_one(sql.reader())
        .await?;
    if found != "ok" {
        return Err(CheckError::Damaged(found));
    }
    let mut held = Vec::new();
    for load in loads {
        let kind = load.name;
        let rows = query("SELECT id, n, hash FROM streams WHERE kind = $1 ORDER BY id").bind(kind.as_str());
        for row in rows.fetch_all(sql.reader()).await? {
            let (n, hash): (i64, String) = (row.try_get("n")?, row.try_get("hash")?);
            let Ok(id) = Id::parse(row.try_get("id")?) else {
                return Err(CheckError::Damaged("streams has a row without an id".to_owned()));
            };
            // Redis has the subject, but the ledger has no event of it yet.
            if n == 0 {
                continue;
            }
            held.push(chain(sql, kind, &id, n, &hash).await?);
            (load.load)(sql, &id).await?;
        }
    }
    Ok(held)
}

/// Ids of the draw secrets under which epochs and cycles are open or not yet published.
///
/// # Errors
/// The copy can't be read.
pub async fn needed_secrets(sql: &Sql) -> Result<Vec<String>, CheckError> {
    let mut text = "SELECT secret_id FROM epochs WHERE seed = ''".to_owned();
    // A copy that an earlier program made has no such table.
    let has_cycles =
        query_scalar::<_, String>("SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'cycles'");
    if has_cycles.fetch_optional(sql.reader()).await?.is_some() {
        text.push_str(" UNION SELECT secret_id FROM cycles WHERE seed = ''");
    }
    let mut ids: Vec<String> = query_scalar(sqlx::AssertSqlSafe(text)).fetch_all(sql.reader()).await?;
    ids.sort();
    ids.dedup();
    Ok(ids)
}

async fn chain(sql: &Sql, kind: KindName, id: &Id, last: i64, head: &str) -> Result<Held, CheckError> {
    let subject = format!("{} '{id}'", kind.as_str());
    let wrong = |what: String| CheckError::Chain {
        subject: subject.clone(),
        what,
    };
    let mut rows = query("SELECT n, at_ms, hash, body FROM events WHERE kind = $1 AND id = $2 ORDER BY n")
        .bind(kind.as_str())
        .bind(id.as_str())
        .fetch(sql.reader());
    let (mut n, mut at_ms, mut hash) = (0, 0, ChainHash::of(&kind.subject(id)));
    while let Some(row) = rows.try_next().await? {
        n += 1;
        let found: i64 = row.try_get("n")?;
        if found != n {
            return Err(wrong(format!("event {n} is missing")));
        }
        hash = hash.next(row.try_get("body")?);
        if hash.to_string() != row.try_get::<String, _>("hash")? {
            return Err(wrong(format!("the hash of event {n} is not that of its content")));
        }
        at_ms = row.try_get("at_ms")?;
    }
    if n != last || hash.to_string() != head {
        return Err(wrong(format!("its events end at {n}, its head is event {last}")));
    }
    Ok(Held {
        kind: kind.as_str().to_owned(),
        id: id.to_string(),
        event: n.unsigned_abs(),
        at: jiff::Timestamp::from_millisecond(at_ms).unwrap_or_default(),
        hash: hash.to_string(),
    })
}

/// The number of subjects of each kind, as text for people.
pub fn counted(held: &[Held]) -> String {
    let mut counts: BTreeMap<&str, (usize, u64)> = BTreeMap::new();
    for one in held {
        let count = counts.entry(&one.kind).or_default();
        *count = (count.0 + 1, count.1 + one.event);
    }
    let part = |(kind, (count, events)): (&str, (usize, u64))| {
        let plural = if count == 1 { "" } else { "s" };
        format!("{count} {kind}{plural} with {events} events")
    };
    if counts.is_empty() {
        return format!("no {}", kinds::one_of(|kind| kind.to_string()));
    }
    counts.into_iter().map(part).collect::<Vec<_>>().join(", ")
}

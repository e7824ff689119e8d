//! What SQL holds of a stream when an instance takes it over: the cursor, the books, and the tail of the chain, checked.

use sqlx::Row;
use thiserror::Error;

use super::rows::Cursor;
use crate::ids::Id;
use crate::ledger::books::Books;
use crate::ledger::chain::ChainHash;
use crate::ledger::sql::Sql;

/// Events whose hashes are checked when a stream is taken over; `jackpot verify` checks all.
const TAIL: i64 = 1_000;
/// And their size in all, because an event may hold a thousand entries; the last two are checked in any case.
const TAIL_CHARS: i64 = 16 << 20;
/// Events read at a time.
const PAGE: i64 = 50;

/// A stream as SQL has it.
#[derive(Debug)]
pub struct Loaded {
    /// The last event committed.
    pub cursor: Cursor,
    /// The books there.
    pub books: Books,
    /// The definition put last, JSON.
    pub last_definition: String,
    /// Id in Redis' stream of the event in front of the cursor, empty when there is none.
    pub previous_stream_id: String,
    /// The last event, canonical JSON.
    pub last_body: String,
    /// The last event that the index of entries has.
    pub indexed_n: u64,
}

/// Why a stream can't be taken over.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The database.
    #[error("{0}")] // not transparent: whoever asks whether the database is down must find it as a source
    Sql(#[from] sqlx::Error),
    /// Another instance has taken the stream over meanwhile.
    #[error("jackpot '{0}' is read by another instance now")]
    Moved(Id),
    /// The ledger's own rows do not fit together.
    #[error("{0}")]
    Damaged(String),
}

/// Reads and checks.
pub async fn load(sql: &Sql, jackpot: &Id) -> Result<Loaded, LoadError> {
    sql.reading(load_within(sql, jackpot)).await
}

async fn load_within(sql: &Sql, jackpot: &Id) -> Result<Loaded, LoadError> {
    let row = sqlx::query("SELECT n, hash, stream_id, books, indexed_n FROM jackpots WHERE jackpot_id = $1")
        .bind(jackpot.as_str())
        .fetch_one(sql.reader())
        .await?;
    let n = row.try_get::<i64, _>("n")?;
    let hash = ChainHash::parse(row.try_get("hash")?);
    let hash = hash.ok_or_else(|| damaged(jackpot, "its hash in table jackpots is none"))?;
    let cursor = Cursor {
        n: n.unsigned_abs(),
        hash,
        stream_id: row.try_get("stream_id")?,
    };
    let indexed_n = row.try_get::<i64, _>("indexed_n")?.unsigned_abs();
    if n == 0 {
        return Ok(Loaded {
            cursor,
            books: Books::default(),
            last_definition: String::new(),
            previous_stream_id: String::new(),
            last_body: String::new(),
            indexed_n,
        });
    }
    let books: Books = serde_json::from_str(row.try_get("books")?)
        .map_err(|error| damaged(jackpot, &format!("its books in table jackpots can't be read: {error}")))?;
    if indexed_n > cursor.n {
        let text = format!("its index of entries is at event {indexed_n}, its cursor at event {n}");
        return Err(damaged(jackpot, &text));
    }
    if books.n != cursor.n {
        let text = format!("its books are at event {}, its cursor at event {n}", books.n);
        return Err(damaged(jackpot, &text));
    }
    let (previous_stream_id, last_body) = check_tail(sql, jackpot, &cursor).await?;
    let last_definition = sqlx::query_scalar("SELECT json FROM definitions WHERE jackpot_id = $1 AND version = $2")
        .bind(jackpot.as_str())
        .bind(i64::try_from(books.last_version).unwrap_or_default())
        .fetch_optional(sql.reader())
        .await?
        .unwrap_or_default();
    Ok(Loaded {
        cursor,
        books,
        last_definition,
        previous_stream_id,
        last_body,
        indexed_n,
    })
}

/// Checks the hashes of the last events; returns the stream id of the one before the last, and the last one's body.
async fn check_tail(sql: &Sql, jackpot: &Id, cursor: &Cursor) -> Result<(String, String), LoadError> {
    let (mut previous_stream_id, mut last_body) = (String::new(), String::new());
    let mut last: Option<(i64, ChainHash)> = None;
    let mut after = tail_begins_behind(sql, jackpot).await?;
    loop {
        let text = "SELECT n, stream_id, hash, body FROM events WHERE jackpot_id = $1 AND n > $2 ORDER BY n LIMIT $3";
        let rows = sqlx::query(text).bind(jackpot.as_str()).bind(after).bind(PAGE);
        let rows = rows.fetch_all(sql.reader()).await?;
        let Some(end) = rows.last() else { break };
        (after, last_body) = (end.try_get("n")?, end.try_get("body")?);
        for row in &rows {
            let n: i64 = row.try_get("n")?;
            let event = |text: &str| damaged(jackpot, &format!("event {n} in table events: {text}"));
            let hash = ChainHash::parse(row.try_get("hash")?).ok_or_else(|| event("its hash is none"))?;
            let before = match last {
                Some((before, _)) if before + 1 != n => return Err(event("the event before it is missing")),
                Some((_, hash)) => Some(hash),
                None => (n == 1).then(|| ChainHash::first(jackpot)),
            };
            let body: &str = row.try_get("body")?;
            if before.is_some_and(|before| before.next(body) != hash) {
                return Err(event("its hash is not that of its content and the events before it"));
            }
            last = Some((n, hash));
            if n.unsigned_abs() + 1 == cursor.n {
                previous_stream_id = row.try_get("stream_id")?;
            }
        }
    }
    if last.map(|(n, hash)| (n.unsigned_abs(), hash)) != Some((cursor.n, cursor.hash)) {
        let found = last.map_or_else(|| "none".to_owned(), |(n, _)| format!("event {n}"));
        let text = format!(
            "the last event in table events is {found}, or has another hash than the cursor's event {}",
            cursor.n
        );
        return Err(damaged(jackpot, &text));
    }
    Ok((previous_stream_id, last_body))
}

/// Number of the event behind which the tail begins.
async fn tail_begins_behind(sql: &Sql, jackpot: &Id) -> Result<i64, LoadError> {
    let text = "SELECT n, CAST(LENGTH(body) AS BIGINT) FROM events WHERE jackpot_id = $1 ORDER BY n DESC LIMIT $2";
    let sizes = sqlx::query_as(text).bind(jackpot.as_str()).bind(TAIL + 1);
    let sizes: Vec<(i64, i64)> = sizes.fetch_all(sql.reader()).await?;
    let mut chars = 0;
    let fit = sizes.iter().enumerate().take_while(|(i, (_, size))| {
        chars += size;
        *i < 2 || chars <= TAIL_CHARS
    });
    Ok(fit.last().map_or(0, |(_, (n, _))| n - 1))
}

pub(super) fn damaged(jackpot: &Id, what: &str) -> LoadError {
    LoadError::Damaged(format!("the ledger of jackpot '{jackpot}' is damaged: {what}"))
}

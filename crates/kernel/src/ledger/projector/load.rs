//! Reads what SQL holds of a stream that an instance takes over: the cursor, the books and the tail of the chain,
//! checked.

use std::collections::HashMap;

use futures_util::future::LocalBoxFuture;
use jackpot_core::chain::ChainHash;
use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;
use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};
use thiserror::Error;

use super::lease::numbered;
use super::rows::Cursor;
use crate::ledger::kind::{Folded, Folds, Kind, Tables};
use crate::sql::Sql;
use crate::subject::Subject;
use crate::subject::kinds::KindName;

/// Events whose hashes are checked when a stream is taken over; `jackpot verify` checks all.
const TAIL: i64 = 1_000;
/// Most characters of these events: an event may hold a thousand entries. The last two are checked in any case.
const TAIL_CHARS: i64 = 16 << 20;
/// Events read at a time.
const PAGE: i64 = 50;

/// A stream as SQL has it.
#[derive(Debug)]
pub struct Loaded<K: Folds> {
    /// The last event committed.
    pub cursor: Cursor,
    /// The books at the cursor.
    pub books: K::Books,
    /// What a stream keeps in memory for the tables that only its kind has.
    pub tables: K::Tables,
    /// Stream id of the event before the cursor; empty when there is none.
    pub previous_stream_id: String,
    /// The last event, canonical JSON.
    pub last_body: String,
}

/// Why a stream can't be taken over.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The database failed.
    #[error("{0}")] // not transparent: a check for a database that is down looks for it among the sources
    Sql(#[from] sqlx::Error),
    /// Another instance has meanwhile taken over the stream.
    #[error("'{0}' is read by another instance now")]
    Moved(Id),
    /// The ledger's own rows do not fit together.
    #[error("{0}")]
    Damaged(String),
}

/// The last event that SQL has.
#[derive(Debug)]
pub struct LastEvent {
    pub mark: Mark,
    /// Its id in Redis' stream.
    pub stream_id: String,
    /// Stream id of the event before it; empty when there is none.
    pub previous_stream_id: String,
    /// Canonical JSON.
    pub body: String,
}

/// Reads only the last event; `None` where SQL has none.
pub async fn last_event(sql: &Sql, of: KindName, id: &Id) -> Result<Option<LastEvent>, sqlx::Error> {
    let text = format!(
        "SELECT s.restores AS restores, e.n AS n, e.stream_id AS stream_id, e.body AS body FROM streams AS s \
         JOIN events AS e ON e.kind = s.kind AND e.id = s.id AND e.n <= s.n AND e.n >= s.n - 1 \
         WHERE s.kind = '{}' AND s.id = $1 ORDER BY e.n DESC",
        of.as_str()
    );
    let rows = sqlx::query(AssertSqlSafe(text)).bind(id.as_str());
    let rows = sql.reading(rows.fetch_all(sql.reader())).await?;
    let Some(last) = rows.first() else {
        return Ok(None);
    };
    let number = |name: &str| last.try_get::<i64, _>(name).map(i64::unsigned_abs);
    let previous = rows.get(1).map(|row| row.try_get("stream_id")).transpose()?;
    Ok(Some(LastEvent {
        mark: Mark::new(number("restores")?, number("n")?).unwrap_or_default(),
        stream_id: last.try_get("stream_id")?,
        previous_stream_id: previous.unwrap_or_default(),
        body: last.try_get("body")?,
    }))
}

/// Finds, reads and checks the streams of a kind, without its types.
#[derive(Clone, Copy)]
pub struct Load {
    pub name: KindName,
    /// Redis key with the ids of all subjects.
    pub index: &'static str,
    /// Redis key of the state of one subject.
    pub state: fn(&Id) -> String,
    /// Reads and checks one stream.
    pub load: for<'a> fn(&'a Sql, &'a Id) -> LocalBoxFuture<'a, Result<(), LoadError>>,
}

impl Load {
    /// The functions of a kind.
    pub const fn of<K: Kind>() -> Self {
        Self {
            name: K::NAME,
            index: K::Known::INDEX,
            state: |id| K::Known::new(id).stream().state.to_owned(),
            load: |sql, id| Box::pin(async move { load::<K>(sql, id).await.map(drop) }),
        }
    }
}

/// Reads and checks a stream.
pub async fn load<K: Kind>(sql: &Sql, id: &Id) -> Result<Loaded<K>, LoadError> {
    sql.reading(async {
        let found = load_many_within(sql, std::slice::from_ref(id)).await?.pop();
        let (_, loaded) = found.ok_or(sqlx::Error::RowNotFound)?;
        let loaded: Loaded<K> = loaded?;
        if loaded.cursor.n > 0 {
            check_tail::<K>(sql, id, &loaded.cursor).await?;
        }
        Ok(loaded)
    })
    .await
}

/// The cursor and the books of a row of the table streams.
fn row_of<K: Kind>(id: &Id, row: &AnyRow) -> Result<(Cursor, K::Books), LoadError> {
    let damaged = |what: String| damaged::<K>(id, &format!("{what} in table streams"));
    let n = row.try_get::<i64, _>("n")?;
    let hash = ChainHash::parse(row.try_get("hash")?);
    let cursor = Cursor {
        n: n.unsigned_abs(),
        hash: hash.ok_or_else(|| damaged("its hash is none".to_owned()))?,
        stream_id: row.try_get("stream_id")?,
    };
    if n == 0 {
        return Ok((cursor, K::Books::default()));
    }
    let books = serde_json::from_str(row.try_get("books")?)
        .map_err(|error| damaged(format!("its books can't be read: {error}:")))?;
    Ok((cursor, books))
}

fn check_books<K: Kind>(id: &Id, cursor: &Cursor, books: &K::Books) -> Result<(), LoadError> {
    if books.n() == cursor.n {
        return Ok(());
    }
    let text = format!("its books are at event {}, its cursor at event {}", books.n(), cursor.n);
    Err(damaged::<K>(id, &format!("{text} in table streams")))
}

/// Reads many streams by a few queries. It checks only the last two events of each tail. `check_tail` must check the rest
/// before the projector writes to that stream. Each stream has its own result.
pub async fn load_many<K: Kind>(sql: &Sql, ids: &[Id]) -> Result<Vec<(Id, Result<Loaded<K>, LoadError>)>, sqlx::Error> {
    sql.reading(load_many_within(sql, ids)).await
}

async fn load_many_within<K: Kind>(
    sql: &Sql,
    ids: &[Id],
) -> Result<Vec<(Id, Result<Loaded<K>, LoadError>)>, sqlx::Error> {
    let (kind, named) = (K::NAME.as_str(), numbered(1, ids.len()));
    let all = async |text: String| {
        let select = ids
            .iter()
            .fold(sqlx::query(AssertSqlSafe(text)), |select, id| select.bind(id.as_str()));
        select.fetch_all(sql.reader()).await
    };
    let rows = all(format!(
        "SELECT id, n, hash, stream_id, books FROM streams WHERE kind = '{kind}' AND id IN ({named})"
    ));
    let rows = rows.await?;
    let last = all(format!(
        "SELECT e.id AS id, e.n AS n, e.stream_id AS stream_id, e.hash AS hash, e.body AS body FROM streams AS s \
         JOIN events AS e ON e.kind = s.kind AND e.id = s.id AND e.n >= s.n - 1 \
         WHERE s.kind = '{kind}' AND s.id IN ({named}) ORDER BY e.id, e.n"
    ));
    let last = last.await?;
    let mut tails: HashMap<&str, Vec<&AnyRow>> = HashMap::new();
    for row in &last {
        tails.entry(row.try_get("id")?).or_default().push(row);
    }
    let (mut done, mut whole) = (Vec::with_capacity(ids.len()), Vec::with_capacity(ids.len()));
    for row in &rows {
        let name: &str = row.try_get("id")?;
        let Ok(id) = Id::parse(name) else { continue };
        let tail = tails.get(name).map_or(&[][..], Vec::as_slice);
        let read = row_of::<K>(&id, row).and_then(|(cursor, books)| {
            check_books::<K>(&id, &cursor, &books)?;
            let tail = match cursor.n {
                0 => Tail::default(),
                _ => Tail::whole::<K>(&id, &cursor, tail)?,
            };
            Ok((cursor, books, tail))
        });
        match read {
            Ok((cursor, books, tail)) => whole.push((id, cursor, books, tail)),
            Err(error) => done.push((id, Err(error))),
        }
    }
    let places: Vec<_> = whole.iter().map(|(id, cursor, books, _)| (id, cursor, books)).collect();
    let tables = K::Tables::load(sql, &places).await?;
    let loaded = whole
        .into_iter()
        .zip(tables)
        .map(|((id, cursor, books, tail), tables)| {
            let loaded = tables.map(|tables| Loaded {
                cursor,
                books,
                tables,
                previous_stream_id: tail.previous_stream_id,
                last_body: tail.last_body,
            });
            (id, loaded)
        });
    done.extend(loaded);
    Ok(done)
}

/// The end of a chain, row by row.
#[derive(Debug, Default)]
struct Tail {
    last: Option<(i64, ChainHash)>,
    /// Stream id of the event before the cursor; empty where there is none.
    previous_stream_id: String,
    last_body: String,
}

impl Tail {
    /// The checked end of a chain, by its last rows.
    fn whole<K: Kind>(id: &Id, cursor: &Cursor, rows: &[&AnyRow]) -> Result<Self, LoadError> {
        let mut tail = Self::default();
        for row in rows {
            tail.add::<K>(id, cursor, row)?;
        }
        tail.ended::<K>(id, cursor)
    }

    /// Checks the next row.
    fn add<K: Kind>(&mut self, id: &Id, cursor: &Cursor, row: &AnyRow) -> Result<(), LoadError> {
        let n: i64 = row.try_get("n")?;
        let event = |text: &str| damaged::<K>(id, &format!("event {n} in table events: {text}"));
        let hash = ChainHash::parse(row.try_get("hash")?).ok_or_else(|| event("its hash is none"))?;
        let before = match self.last {
            Some((before, _)) if before + 1 != n => return Err(event("the event before it is missing")),
            Some((_, hash)) => Some(hash),
            None => (n == 1).then(|| ChainHash::of(&K::NAME.subject(id))),
        };
        let body: &str = row.try_get("body")?;
        if before.is_some_and(|before| before.next(body) != hash) {
            return Err(event("its hash is not that of its content and the events before it"));
        }
        self.last = Some((n, hash));
        body.clone_into(&mut self.last_body);
        if n.unsigned_abs() + 1 == cursor.n {
            self.previous_stream_id = row.try_get("stream_id")?;
        }
        Ok(())
    }

    /// Whether it ended at the cursor.
    fn ended<K: Kind>(self, id: &Id, cursor: &Cursor) -> Result<Self, LoadError> {
        if self.last.map(|(n, hash)| (n.unsigned_abs(), hash)) == Some((cursor.n, cursor.hash)) {
            return Ok(self);
        }
        let found = self
            .last
            .map_or_else(|| "none".to_owned(), |(n, _)| format!("event {n}"));
        let text = format!(
            "the last event in table events is {found}, or has another hash than the cursor's event {}",
            cursor.n
        );
        Err(damaged::<K>(id, &text))
    }
}

/// Checks the hashes of the last events.
pub(super) async fn check_tail<K: Kind>(sql: &Sql, id: &Id, cursor: &Cursor) -> Result<(), LoadError> {
    let mut tail = Tail::default();
    let mut after = tail_begins_behind::<K>(sql, id).await?;
    loop {
        let text = format!(
            "SELECT n, stream_id, hash, body FROM events WHERE kind = '{}' AND id = $1 AND n > $2 ORDER BY n LIMIT $3",
            K::NAME.as_str()
        );
        let rows = sqlx::query(AssertSqlSafe(text))
            .bind(id.as_str())
            .bind(after)
            .bind(PAGE);
        let rows = rows.fetch_all(sql.reader()).await?;
        let Some(end) = rows.last() else { break };
        after = end.try_get("n")?;
        for row in &rows {
            tail.add::<K>(id, cursor, row)?;
        }
    }
    tail.ended::<K>(id, cursor).map(drop)
}

/// Number of the event after which the tail begins.
async fn tail_begins_behind<K: Kind>(sql: &Sql, id: &Id) -> Result<i64, LoadError> {
    let text = format!(
        "SELECT n, CAST(LENGTH(body) AS BIGINT) FROM events WHERE kind = '{}' AND id = $1 ORDER BY n DESC LIMIT $2",
        K::NAME.as_str()
    );
    let sizes = sqlx::query_as(AssertSqlSafe(text)).bind(id.as_str()).bind(TAIL + 1);
    let sizes: Vec<(i64, i64)> = sizes.fetch_all(sql.reader()).await?;
    let mut chars = 0;
    let fit = sizes.iter().enumerate().take_while(|(i, (_, size))| {
        chars += size;
        *i < 2 || chars <= TAIL_CHARS
    });
    Ok(fit.last().map_or(0, |(_, (n, _))| n - 1))
}

pub fn damaged<K: Folds>(id: &Id, what: &str) -> LoadError {
    LoadError::Damaged(format!("the ledger of {} '{id}' is damaged: {what}", K::NAME.as_str()))
}

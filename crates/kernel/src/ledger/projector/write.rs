//! One transaction: the rows of each batch, and its cursor, which moves only if it still stands where the batch
//! begins.

use std::collections::BTreeMap;

use jackpot_core::ids::Id;

use super::batch::Batch;
use crate::ledger::kind::{Compares, Folded, Folds, Tables};
use crate::ledger::reconcile;
use crate::sql::{Sql, Tx, Value, cells, insert, update, upsert};

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// Another holder has moved this cursor.
    #[error("'{0}' is read by another instance now")]
    Moved(Id),
    /// The rows contradict rows that are there.
    #[error("{0}")]
    Contradicts(String),
    /// The database failed.
    #[error("{0}")] // not transparent: a check for a database that is down looks for it among the sources
    Sql(#[from] sqlx::Error),
}

/// Writes the batches, all or none. Each comes with the token of its lease.
pub async fn commit<K: Compares>(sql: &Sql, batches: &[(&Batch<K>, i64)]) -> Result<(), WriteError> {
    sql.writing(commit_all(sql, batches)).await
}

/// Checks that the batches can be written, and writes nothing.
pub async fn probe<K: Compares>(sql: &Sql, batches: &[(&Batch<K>, i64)]) -> Result<(), WriteError> {
    sql.writing(async {
        let mut tx = sql.begin().await?;
        let written = write_all(&mut tx, batches).await;
        tx.rollback().await?;
        written
    })
    .await
}

async fn commit_all<K: Compares>(sql: &Sql, batches: &[(&Batch<K>, i64)]) -> Result<(), WriteError> {
    let mut tx = sql.begin().await?;
    write_all(&mut tx, batches).await?;
    tx.commit().await?;
    Ok(())
}

async fn write_all<K: Compares>(tx: &mut Tx<'static>, batches: &[(&Batch<K>, i64)]) -> Result<(), WriteError> {
    move_cursors(tx, batches).await?;
    let batches: Vec<&Batch<K>> = batches.iter().map(|(batch, _)| *batch).collect();
    record(tx, &batches).await?;
    definitions(tx, &batches).await?;
    K::Tables::write(tx, &batches).await?;
    actions(tx, &batches).await?;
    decisions(tx, &batches).await?;
    for batch in batches {
        if let Some((n, at_ms, report)) = batch.report.as_ref().filter(|_| !K::COUNTS) {
            reconcile::store::save(tx, K::NAME, &batch.id, *n, *at_ms, report).await?;
        }
    }
    Ok(())
}

/// Moves the cursors by compare-and-set on place, hash and token. If one can't be moved, the error names the first.
async fn move_cursors<K: Folds>(tx: &mut Tx<'_>, batches: &[(&Batch<K>, i64)]) -> Result<(), WriteError> {
    let texts = batches.iter().map(|(batch, _)| {
        let books = serde_json::to_string(&batch.books).expect("plain data is JSON");
        (books, batch.from.hash.to_string(), batch.to.hash.to_string())
    });
    let texts: Vec<_> = texts.collect();
    let rows = batches.iter().zip(&texts).map(|((batch, token), text)| {
        let (books, from_hash, hash) = text;
        let (from_indexed, indexed) = K::Tables::cursor(batch).unwrap_or_default();
        cells! {
            id: &batch.id,
            from_n: batch.from.n,
            from_hash: from_hash,
            from_indexed_n: from_indexed,
            token: *token,
            n: batch.to.n,
            hash: hash,
            stream_id: &batch.to.stream_id,
            restores: batch.books.restores(),
            books: books,
            status: batch.books.status(),
            indexed_n: indexed,
        }
    });
    let set = "n = given.n, hash = given.hash, stream_id = given.stream_id, restores = given.restores, \
               books = given.books, stopped = '', status = given.status, indexed_n = given.indexed_n";
    let which = format!(
        "streams.kind = '{}' AND streams.id = given.id AND streams.n = given.from_n AND streams.hash = given.from_hash \
         AND streams.lease_token = given.token AND streams.indexed_n = given.from_indexed_n",
        K::NAME.as_str()
    );
    let moved = update(tx, "streams", set, &which, rows).await?;
    all_moved(moved, batches.iter().map(|(batch, _)| &batch.id))
}

/// Returns an error unless as many cursors were moved as there are streams.
pub fn all_moved<'a>(moved: u64, mut streams: impl ExactSizeIterator<Item = &'a Id>) -> Result<(), WriteError> {
    match streams.next() {
        Some(first) if streams.len() as u64 + 1 != moved => Err(WriteError::Moved(first.clone())),
        _ => Ok(()),
    }
}

/// Writes the events.
async fn record<K: Folds>(tx: &mut Tx<'_>, batches: &[&Batch<K>]) -> Result<(), sqlx::Error> {
    let events: Vec<_> = batches
        .iter()
        .flat_map(|b| b.events.iter().map(|e| (&b.id, e)))
        .collect();
    let hashes: Vec<_> = events.iter().map(|(_, event)| event.cursor.hash.to_string()).collect();
    let rows = events.iter().zip(&hashes).map(|((id, event), hash)| {
        cells! {
            kind: Value::Word(K::NAME.as_str()),
            id: *id,
            n: event.cursor.n,
            stream_id: &event.cursor.stream_id,
            at_ms: event.at_ms,
            type: &event.kind,
            last_sequence: event.last_sequence,
            hash: hash,
            moved: &event.moved,
            body: &event.body,
        }
    });
    insert(tx, "events", rows).await
}

/// Writes the definitions that were put; Redis keeps them.
async fn definitions<K: Folds>(tx: &mut Tx<'_>, batches: &[&Batch<K>]) -> Result<(), sqlx::Error> {
    let all = batches
        .iter()
        .flat_map(|b| b.definitions.iter().map(|row| (&b.id, row)));
    let rows = all.map(|(id, row)| {
        cells! {
            kind: Value::Word(K::NAME.as_str()),
            id: id,
            version: row.version,
            n: row.n,
            at_ms: row.at_ms,
            json: &row.json,
            kept: 1,
        }
    });
    insert(tx, "definitions", rows).await
}

async fn actions<K: Folds>(tx: &mut Tx<'_>, batches: &[&Batch<K>]) -> Result<(), sqlx::Error> {
    let subjects: Vec<_> = batches.iter().map(|batch| K::NAME.subject(&batch.id)).collect();
    let all = batches
        .iter()
        .zip(&subjects)
        .flat_map(|(batch, subject)| batch.actions.iter().map(move |action| (subject, action)));
    let rows = all.map(|(subject, (n, at_ms, action))| {
        cells! {
            subject: subject,
            n: *n,
            at_ms: *at_ms,
            who: &action.who,
            action: action.action,
            target: &action.target,
            before: &action.before,
            after: &action.after,
            reason: &action.reason,
            request_id: &action.request_id,
        }
    });
    insert(tx, "audit", rows).await
}

/// Writes the decisions about the emergency stop that subjects obeyed, where SQL does not have them: it may have
/// answered too late when they were made, and Redis may lose them. Their time is then that of the first event.
///
/// In ascending order, so that two transactions never wait for each other.
async fn decisions<K: Folds>(tx: &mut Tx<'_>, batches: &[&Batch<K>]) -> Result<(), sqlx::Error> {
    let mut obeyed = BTreeMap::new();
    for (_, at_ms, action) in batches.iter().flat_map(|batch| &batch.actions) {
        if let Some(order) = action.decision {
            let first = obeyed.entry(order).or_insert((*at_ms, action));
            if *at_ms < first.0 {
                *first = (*at_ms, action);
            }
        }
    }
    let rows = obeyed.iter().map(|(order, (at_ms, action))| {
        cells! {
            decision: *order,
            reason: &action.reason,
            at_ms: *at_ms,
            who: &action.who,
            request_id: &action.request_id,
        }
    });
    upsert(tx, "emergency_decisions", "DO NOTHING", rows).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::projector::load::LoadError;
    use crate::sql::unavailable;

    #[test]
    fn a_database_that_is_down_is_found_in_the_errors_of_the_projector() {
        assert!(unavailable(&WriteError::Sql(sqlx::Error::PoolTimedOut)).is_some());
        assert!(unavailable(&LoadError::Sql(sqlx::Error::PoolTimedOut)).is_some());
        assert!(unavailable(&WriteError::Sql(sqlx::Error::RowNotFound)).is_none());
        assert!(unavailable(&LoadError::Damaged("a row".to_owned())).is_none());
    }
}

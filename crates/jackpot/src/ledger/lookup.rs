//! What the routes of a jackpot ask the ledger: an entry whose event has left Redis, and whether both sides agree.

use jackpot_core::ids::Id;
use jackpot_core::jackpot::record::{Record, Sent, State};
use sqlx::Row;

use super::carried::Carried;
use super::event::{Enter, Event, Kind};
use super::projector::Jackpots;
use crate::kept::Taken;
use crate::operate::Operate;
use crate::problem::not_clean;
use jackpot_kernel::http::Problem;
use jackpot_kernel::ledger::Ledger;
use jackpot_kernel::ledger::queries::LedgerError;
use jackpot_kernel::sql::Sql;

/// The body of the first event whose `last_sequence` reaches a number. Events have all numbers from 1, and
/// `last_sequence` never falls, so halving their range finds it by the primary key. An index would cost each event a row.
const FIRST_TO_REACH: &str = "WITH RECURSIVE half (low, high) AS (\
     SELECT CAST(1 AS BIGINT), n FROM streams WHERE kind = 'jackpot' AND id = $1 UNION ALL \
     SELECT CASE WHEN e.last_sequence < $2 THEN e.n + 1 ELSE half.low END, \
     CASE WHEN e.last_sequence < $2 THEN half.high ELSE e.n END \
     FROM half JOIN events AS e ON e.kind = 'jackpot' AND e.id = $1 AND e.n = (half.low + half.high) / 2 \
     WHERE half.low < half.high) \
     SELECT e.body FROM half JOIN events AS e ON e.kind = 'jackpot' AND e.id = $1 AND e.n = half.low \
     WHERE half.low = half.high AND e.last_sequence >= $2";

/// An entry as it was taken, from the event that took it.
pub async fn entry_taken(sql: &Sql, jackpot: &Id, entry_id: &str, sequence: u64) -> Result<Taken, LedgerError> {
    let row = sqlx::query(FIRST_TO_REACH)
        .bind(jackpot.as_str())
        .bind(i64::try_from(sequence).unwrap_or(i64::MAX))
        .fetch_optional(sql.reader());
    if let Some(row) = sql.reading(row).await? {
        let event = read(row.try_get("body")?).ok_or_else(|| missing(entry_id))?;
        if let Some(taken) = taken(&event, entry_id, sequence) {
            return Ok(taken);
        }
    }
    taken_and_skipped(sql, jackpot, entry_id, sequence).await
}

/// The same for an entry whose event was skipped.
async fn taken_and_skipped(sql: &Sql, jackpot: &Id, entry_id: &str, sequence: u64) -> Result<Taken, LedgerError> {
    let text = "SELECT body FROM events WHERE kind = 'jackpot' AND id = $1 AND type = 'skipped' AND last_sequence >= $2 \
                ORDER BY n LIMIT 1";
    let row = sqlx::query(text)
        .bind(jackpot.as_str())
        .bind(i64::try_from(sequence).unwrap_or(i64::MAX))
        .fetch_optional(sql.reader());
    let row = sql.reading(row).await?.ok_or_else(|| missing(entry_id))?;
    let event = read(row.try_get("body")?).ok_or_else(|| missing(entry_id))?;
    let Kind::Skipped(skipped) = event.kind else {
        return Err(missing(entry_id));
    };
    carried(&skipped.carried, event.at_ms, sequence).ok_or_else(|| LedgerError::Skipped(entry_id.to_owned()))
}

fn missing(entry_id: &str) -> LedgerError {
    LedgerError::Missing(format!("readable event of entry '{entry_id}'"))
}

/// Compares Redis with the ledger at a new checkpoint. Returns a problem unless they agree.
pub async fn agree(ledger: &Ledger, operate: &Operate, jackpot: &Id) -> Result<(), Problem> {
    let mark = operate.checkpoint(jackpot).await?;
    let reached = ledger.reached::<Jackpots>(jackpot, mark).await?;
    reached.clean().map_err(|error| not_clean(&error))
}

/// The secrets from which seeds must still be derived, of epochs that are open or not published yet. Each comes
/// with a jackpot that needs it.
pub async fn needed_secrets(sql: &Sql) -> Result<Vec<(Id, String)>, sqlx::Error> {
    let rows = sqlx::query(
        "SELECT jackpot_id, secret_id FROM epochs WHERE seed = '' \
         UNION SELECT jackpot_id, secret_id FROM cycles WHERE seed = ''",
    );
    let rows = sql.reading(rows.fetch_all(sql.reader())).await?;
    let one = |row: &sqlx::any::AnyRow| {
        Ok::<(String, String), sqlx::Error>((row.try_get("jackpot_id")?, row.try_get("secret_id")?))
    };
    let rows = rows.iter().map(one).collect::<Result<Vec<_>, _>>()?;
    let parsed = |(id, secret_id): (String, String)| Some((Id::parse(&id).ok()?, secret_id));
    Ok(rows.into_iter().filter_map(parsed).collect())
}

fn read(body: &str) -> Option<Event> {
    Event::parse(&serde_json::from_str(body).ok()?).ok()
}

fn carried(carried: &Carried, at_ms: i64, sequence: u64) -> Option<Taken> {
    let entry = carried.entries.iter().find(|entry| entry.sequence == sequence)?;
    let sent = Sent::parse(&entry.sent)?;
    let record = carried.records.iter().find(|record| record.id == entry.entry_id);
    let record = record.and_then(|record| Record::parse(&record.text).ok());
    Some(Taken {
        at_ms,
        record: record.unwrap_or_else(|| Record {
            sequence,
            epoch: carried.books.epoch,
            version: carried.books.version,
            fingerprint: sent.fingerprint(),
            contributions: Vec::new(),
            state: State::Lost,
        }),
        sent,
    })
}

fn taken(event: &Event, entry_id: &str, sequence: u64) -> Option<Taken> {
    let Kind::Enter(Enter { call, .. }) = &event.kind else {
        return None;
    };
    let (place, entry) = call.entry(sequence)?;
    (entry.entry_id == entry_id).then(|| Taken {
        at_ms: event.at_ms,
        record: call.record_of(place),
        sent: entry.sent.clone(),
    })
}

//! Writes the index of entries by player, in transactions of its own. Each row is at another place of the database,
//! so a few large sorted writes cost less than one in each commit of events.
//!
//! The index has its own cursor in SQL (`jackpots.indexed_n`), which moves by compare-and-set with its rows. Waiting
//! rows are in memory. A holder of the stream that dies loses nothing, because the next holder continues from the
//! events in SQL.

use std::time::{Duration, Instant};

use jackpot_core::ids::Id;
use jackpot_core::jackpot::record::Sent;
use tracing::{debug, info};

use super::Jackpots;
use super::rows::{EntryRow, IndexRows, SettledRow};
use crate::ledger::carried::{Carried, CarriedEntry};
use crate::ledger::entry_index::{self, IndexRow, RowKey};
use crate::ledger::event::{ClaimResult, Enter, Entered, Event, Kind};
use crate::ledger::lookup::entry_taken;
use jackpot_kernel::ledger::Ledger;
use jackpot_kernel::ledger::projector::Projector;
use jackpot_kernel::ledger::projector::load::{self, LoadError, damaged};
use jackpot_kernel::ledger::projector::stream;
use jackpot_kernel::ledger::projector::write::{WriteError, all_moved};
use jackpot_kernel::ledger::queries::LedgerError;
use jackpot_kernel::ledger::stored::{self, PageSize};
use jackpot_kernel::sql::{Sql, Tx, cells, int, is_unavailable, update};
use jackpot_kernel::subject::kinds::JACKPOT;

type Loaded = load::Loaded<Jackpots>;
type Stream = stream::Stream<Jackpots>;

/// Pause between two writes of the index: entries may be missing from it for this time.
const PAUSE: Duration = Duration::from_secs(1);
/// Pause between two looks for expired days.
const EXPIRY: Duration = Duration::from_mins(10);
/// Rows at which the index is written at once: some 20 MB of memory.
const MANY: usize = 50_000;

/// Rows of one jackpot: what its events from one number to another have for the index.
#[derive(Debug)]
pub struct Part<'a> {
    pub jackpot: &'a Id,
    /// The token of the stream's lease.
    pub token: i64,
    /// The last event in the index before the write.
    pub from: u64,
    /// The last event in the index after the write.
    pub to: u64,
    pub rows: &'a IndexRows,
}

impl<'a> Part<'a> {
    fn of(stream: &'a Stream) -> Self {
        Self {
            jackpot: &stream.id,
            token: stream.token,
            from: stream.tables.indexed_n,
            to: stream.cursor.n,
            rows: &stream.tables.for_index,
        }
    }
}

/// Writes the waiting rows when they have waited long enough, are many, or `at_once` is set.
pub(super) async fn index(projector: &mut Projector<Jackpots>, at_once: bool) -> Result<(), sqlx::Error> {
    let waiting = projector
        .streams
        .values()
        .filter(|stream| !stream.tables.for_index.is_empty());
    let parts: Vec<_> = waiting.map(Part::of).collect();
    let rows: usize = parts.iter().map(|part| part.rows.len()).sum();
    let due = at_once || rows >= MANY || projector.upkeep.indexed_at.is_none_or(|at| at.elapsed() >= PAUSE);
    if rows == 0 || !due {
        return Ok(());
    }
    let done = match write(&projector.ledger.sql, &parts).await {
        Err(WriteError::Sql(error)) if is_unavailable(&error) => return Err(error),
        Err(error) if parts.len() > 1 => {
            debug!(%error, "the index was not written in one commit; trying each stream by itself");
            let mut done = Vec::with_capacity(parts.len());
            for part in &parts {
                done.push((
                    part.jackpot.clone(),
                    write(&projector.ledger.sql, std::slice::from_ref(part)).await,
                ));
            }
            done
        }
        Err(error) => vec![(parts[0].jackpot.clone(), Err(error))],
        Ok(()) => parts.iter().map(|part| (part.jackpot.clone(), Ok(()))).collect(),
    };
    projector.upkeep.indexed_at = Some(Instant::now());
    for (id, done) in done {
        match done {
            Ok(()) => _ = projector.streams.get_mut(&id).map(is_indexed),
            Err(error) => projector.not_committed(&id, error).await?,
        }
    }
    Ok(())
}

/// Drops the index of expired days.
pub(super) async fn expire_index(projector: &mut Projector<Jackpots>) -> Result<(), sqlx::Error> {
    if projector.upkeep.expired_at.is_some_and(|at| at.elapsed() < EXPIRY) {
        return Ok(());
    }
    projector.upkeep.expired_at = Some(Instant::now());
    let now_ms = projector.leases.now_ms().await?;
    let days = entry_index::expire(&projector.ledger.sql, projector.settings.entry_index_days, now_ms).await?;
    if !days.is_empty() {
        info!(?days, "the index of entries of these days has expired");
    }
    Ok(())
}

/// Marks all waiting rows as indexed.
fn is_indexed(stream: &mut Stream) {
    stream.tables.indexed_n = stream.cursor.n;
    stream.tables.for_index = IndexRows::default();
}

/// Writes the rows and moves the cursors, all or none.
pub async fn write(sql: &Sql, parts: &[Part<'_>]) -> Result<(), WriteError> {
    sql.writing(write_all(sql, parts)).await
}

async fn write_all(sql: &Sql, parts: &[Part<'_>]) -> Result<(), WriteError> {
    let mut tx = sql.begin().await?;
    move_cursors(&mut tx, parts).await?;
    let entries = parts
        .iter()
        .flat_map(|part| part.rows.entries.iter().map(|row| index_row(part.jackpot, row)));
    let mut rows: Vec<IndexRow<'_>> = entries.collect();
    // Neighbouring rows are on one page of the database.
    rows.sort_unstable_by_key(|row| row.key);
    entry_index::insert(&mut tx, &rows).await?;
    entry_index::insert_sources(&mut tx, &rows).await?;
    for part in parts {
        for row in &part.rows.settled {
            let key = RowKey {
                player_id: row.player_id.as_str(),
                at_ms: row.entered_ms,
                jackpot_id: part.jackpot.as_str(),
                sequence: int(row.sequence),
            };
            // A row that is not there has expired.
            entry_index::settle(&mut tx, &key, i64::from(row.rank)).await?;
        }
    }
    tx.commit().await?;
    Ok(())
}

/// Moves the cursors by compare-and-set on place and token.
async fn move_cursors(tx: &mut Tx<'_>, parts: &[Part<'_>]) -> Result<(), WriteError> {
    let rows = parts
        .iter()
        .map(|part| cells! { id: part.jackpot, from_n: part.from, to_n: part.to, token: part.token });
    let which = "streams.kind = 'jackpot' AND streams.id = given.id AND streams.indexed_n = given.from_n \
                 AND streams.n >= given.to_n AND streams.lease_token = given.token";
    let moved = update(tx, "streams", "indexed_n = given.to_n", which, rows).await?;
    all_moved(moved, parts.iter().map(|part| part.jackpot))
}

fn index_row<'a>(jackpot: &'a Id, row: &'a EntryRow) -> IndexRow<'a> {
    let sent = &row.entered.sent;
    IndexRow {
        key: RowKey {
            player_id: sent.player.as_str(),
            at_ms: row.at_ms,
            jackpot_id: jackpot.as_str(),
            sequence: int(row.sequence),
        },
        entry_id: &row.entered.entry_id,
        stake: int(sent.stake.get()),
        client_seed: sent.client_seed.as_ref().map_or("", |seed| seed.as_str()),
        source: sent.source_text(),
        n: int(row.n),
        epoch: int(row.epoch),
        version: int(row.version),
        rank: i64::from(row.rank),
        settled: row.settled,
    }
}

/// The rows of the entries of one event: what each won in it, and whether that is final.
pub(super) fn entry_rows(n: u64, at_ms: i64, enter: Enter) -> impl Iterator<Item = EntryRow> {
    let Enter { mut call, claims, .. } = enter;
    let mut claims = claims.into_iter().peekable();
    let entries = std::mem::take(&mut call.entries);
    (call.first..)
        .zip(entries)
        .enumerate()
        .map(move |(place, (sequence, entered))| {
            let (mut rank, mut settled) = (0, true);
            while let Some(claim) = claims.next_if(|claim| claim.sequence == sequence) {
                settled = claim.result.is_won() || claim.result == ClaimResult::Ended;
                if claim.result.is_won() {
                    rank = claim.rank;
                }
            }
            EntryRow {
                entered,
                at_ms,
                n,
                sequence,
                epoch: call.epoch,
                version: call.version_of(place),
                rank,
                settled,
            }
        })
}

/// The same for the entries of a skipped event.
pub(super) fn carried_entry_rows(
    n: u64,
    at_ms: i64,
    epoch: u64,
    version: u64,
    entries: &[CarriedEntry],
) -> Vec<EntryRow> {
    let row = |entry: &CarriedEntry| {
        Some(EntryRow {
            entered: Entered {
                entry_id: entry.entry_id.clone(),
                sent: Sent::parse(&entry.sent)?,
                contributions: Vec::new(),
            },
            at_ms,
            n,
            sequence: entry.sequence,
            epoch,
            version,
            rank: entry.rank,
            settled: entry.settled,
        })
    };
    entries.iter().filter_map(row).collect()
}

/// Brings the index of a stream that was taken over up to its cursor, from the events in SQL.
pub async fn go_on(ledger: &Ledger, jackpot: &Id, token: i64, loaded: &mut Loaded) -> Result<(), LoadError> {
    while loaded.tables.indexed_n < loaded.cursor.n {
        let (rows, to) = page(ledger, jackpot, loaded.tables.indexed_n, loaded.cursor.n).await?;
        let part = Part {
            jackpot,
            token,
            from: loaded.tables.indexed_n,
            to,
            rows: &rows,
        };
        write(&ledger.sql, &[part]).await.map_err(|error| match error {
            WriteError::Moved(id) => LoadError::Moved(id),
            WriteError::Contradicts(reason) => LoadError::Damaged(reason),
            WriteError::Sql(error) => LoadError::Sql(error),
        })?;
        loaded.tables.indexed_n = to;
    }
    Ok(())
}

/// What some events after `after` have for the index, and the number of the last of them.
async fn page(ledger: &Ledger, jackpot: &Id, after: u64, last: u64) -> Result<(IndexRows, u64), LoadError> {
    let damaged = |what: String| damaged::<Jackpots>(jackpot, &format!("{what} in table events"));
    let events = stored::page(&ledger.sql, JACKPOT, jackpot, after, last, PageSize::REPLAY).await?;
    let end = events.last().map(|event| event.n);
    let end = end.ok_or_else(|| damaged(format!("the event after event {after} is missing")))?;
    let mut rows = IndexRows::default();
    for row in events {
        let event = row.fields().and_then(|fields| Event::parse(&fields));
        add_rows(
            ledger,
            jackpot,
            event.map_err(|error| damaged(error.to_string()))?,
            &mut rows,
        )
        .await?;
    }
    Ok((rows, end))
}

async fn add_rows(ledger: &Ledger, jackpot: &Id, event: Event, rows: &mut IndexRows) -> Result<(), LoadError> {
    let (entry_id, sequence, rank) = match event.kind {
        Kind::Enter(enter) => {
            rows.entries.extend(entry_rows(event.n, event.at_ms, enter));
            return Ok(());
        }
        Kind::Claim { entry_id, claim } if claim.result.is_won() => (entry_id, claim.sequence, claim.rank),
        Kind::Finish { entry_id, sequence } => (entry_id, sequence, 0),
        Kind::Skipped(skipped) => {
            let Carried { books, entries, .. } = &skipped.carried;
            let carried = carried_entry_rows(event.n, event.at_ms, books.epoch, books.version, entries);
            rows.entries.extend(carried);
            return Ok(());
        }
        _ => return Ok(()),
    };
    let taken = match entry_taken(&ledger.sql, jackpot, &entry_id, sequence).await {
        Ok(taken) => taken,
        // A skipped event that can't be read took the entry: it is in no index.
        Err(LedgerError::Skipped(_)) => return Ok(()),
        Err(LedgerError::Sql(error)) => return Err(LoadError::Sql(error)),
        Err(error) => return Err(damaged::<Jackpots>(jackpot, &error.to_string())),
    };
    rows.settled.push(SettledRow {
        player_id: taken.sent.player,
        entered_ms: taken.at_ms,
        sequence,
        rank,
    });
    Ok(())
}

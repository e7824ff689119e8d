//! Writes the steps of meters' histories.
//!
//! In step, a batch writes the rows of the steps that its events end, with its events. Nothing in SQL says that a stream is
//! in step: its last row names the last event of a minute, and the event after that one must be of the same minute as the
//! ledger's last event. So an instance that has taken a stream over looks, and reads what rows lack from the events in
//! SQL: of a ledger from before there was the table, of a table that was emptied, and after a program that does not know
//! it.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use futures_util::TryStreamExt;
use jackpot_core::ids::Id;
use sqlx::{AssertSqlSafe, Row};
use tracing::{error, info};

use super::Jackpots;
use crate::ledger::postings;
use crate::ledger::steps::{self, Follower, Rows, Step};
use jackpot_kernel::ledger::projector::Projector;
use jackpot_kernel::ledger::projector::lease::numbered;
use jackpot_kernel::sql::{Sql, Tx, cells, int, upsert};

/// Streams that are looked at in one query.
const LOOKS: usize = 100;
/// Events that are read at a time: some 20 ms.
const PAGE: i64 = 10_000;
/// How long a round reads events for rows that are missing.
const READING: Duration = Duration::from_millis(50);
/// Rows of minutes that a stream writes between two drops of old ones, and most streams whose old rows a round drops.
const DROP_AFTER: u32 = 60;
const DROPS: usize = 20;

/// How far the rows of a stream are.
#[derive(Debug, Default)]
pub(super) enum Progress {
    /// Not looked at since it was taken over.
    #[default]
    Unknown,
    /// Rows are missing after this event.
    Behind(Box<Follower>),
    InStep,
}

/// What a stream keeps in memory for its history.
#[derive(Debug)]
pub struct History {
    pub(super) progress: Progress,
    /// Whether it had events since it was taken over: then it is looked at before those that rest.
    moved: bool,
    /// Rows of minutes since old ones were dropped.
    written: u32,
}

impl Default for History {
    fn default() -> Self {
        Self {
            progress: Progress::Unknown,
            moved: false,
            // The one before may have ended before it dropped any.
            written: DROP_AFTER - 1,
        }
    }
}

impl History {
    pub(super) fn is_in_step(&self) -> bool {
        matches!(self.progress, Progress::InStep)
    }

    /// A batch was committed.
    pub(super) fn advance(&mut self, rows: &Rows) {
        self.moved = true;
        let minutes = rows.0.keys().filter(|(seconds, _)| *seconds == Step::Minute.seconds());
        self.written = self
            .written
            .saturating_add(u32::try_from(minutes.count()).unwrap_or(u32::MAX));
    }
}

/// Looks at streams that were taken over, makes rows that are missing, and drops old ones. Returns whether there is
/// more to do at once.
pub(super) async fn follow_meters(projector: &mut Projector<Jackpots>) -> Result<bool, sqlx::Error> {
    let left = look_at_histories(projector).await?;
    let behind = make_missing_steps(projector).await?;
    drop_old_steps(projector).await?;
    Ok(left || behind)
}

async fn look_at_histories(projector: &mut Projector<Jackpots>) -> Result<bool, sqlx::Error> {
    let is_unknown = |history: &History| matches!(history.progress, Progress::Unknown);
    let mut unknown: Vec<_> = projector
        .streams
        .values()
        .filter(|stream| is_unknown(&stream.tables.history))
        .map(|stream| (!stream.tables.history.moved, stream.id.clone()))
        .collect();
    if unknown.is_empty() {
        return Ok(false);
    }
    unknown.sort_unstable();
    let left = unknown.len() > LOOKS;
    let ids: Vec<Id> = unknown.into_iter().take(LOOKS).map(|(_, id)| id).collect();
    let mut found = look(&projector.ledger.sql, &ids).await?;
    for id in ids {
        let Some(stream) = projector.streams.get_mut(&id) else {
            continue;
        };
        let (follower, next_ms) = found.remove(id.as_str()).unwrap_or_default();
        let same = |next_ms| Step::Minute.of(next_ms) == Step::Minute.of(stream.books.at_ms);
        stream.tables.history.progress = if stream.cursor.n == 0 || next_ms.is_some_and(same) {
            Progress::InStep
        } else {
            Progress::Behind(Box::new(follower))
        };
    }
    Ok(left)
}

async fn make_missing_steps(projector: &mut Projector<Jackpots>) -> Result<bool, sqlx::Error> {
    let begun = Instant::now();
    loop {
        let is_behind = |history: &History| matches!(history.progress, Progress::Behind(_));
        let behind = projector
            .streams
            .values_mut()
            .find(|stream| is_behind(&stream.tables.history));
        let Some(stream) = behind else {
            return Ok(false);
        };
        if begun.elapsed() >= READING {
            return Ok(true);
        }
        let (id, history) = (stream.id.clone(), &mut stream.tables.history);
        let Progress::Behind(follower) = &mut history.progress else {
            return Ok(true);
        };
        let (last_n, newest_ms) = (stream.cursor.n, stream.books.at_ms);
        // A failure must not leave it in the middle of a page.
        let mut next = (**follower).clone();
        let mut rows = read_on(&projector.ledger.sql, &id, &mut next, last_n).await?;
        rows.keep(newest_ms);
        write_alone(&projector.ledger.sql, &id, &rows).await?;
        let ended = next.n >= last_n || next.n == follower.n;
        **follower = next;
        if ended {
            let pools = steps::pools(&stream.books);
            if follower.pools.iter().any(|(tier, pool)| pools.get(tier) != Some(pool)) {
                error!(jackpot_id = %id, "the postings in the ledger do not add up to its books: the history of its meter is wrong");
            }
            info!(jackpot_id = %id, n = last_n, "the history of its meter is whole");
            history.progress = Progress::InStep;
            history.written = DROP_AFTER;
        }
    }
}

async fn drop_old_steps(projector: &mut Projector<Jackpots>) -> Result<(), sqlx::Error> {
    let full = projector
        .streams
        .values()
        .filter(|stream| stream.tables.history.written >= DROP_AFTER);
    let due: Vec<Id> = full.take(DROPS).map(|stream| stream.id.clone()).collect();
    if due.is_empty() {
        return Ok(());
    }
    let sql = &projector.ledger.sql;
    sql.writing(async {
        let mut tx = sql.begin().await?;
        for id in &due {
            for (step, kept_s) in Step::ALL.into_iter().filter_map(|step| Some((step, step.kept_s()?))) {
                // Before the newest row, which stays: it says that nothing is missing.
                let delete = "DELETE FROM meter_steps WHERE jackpot_id = $1 AND step_s = $2 AND at_s < (SELECT \
                              MAX(m.at_s) FROM meter_steps AS m WHERE m.jackpot_id = $1 AND m.step_s = $2) - $3";
                let delete = sqlx::query(delete).bind(id.as_str()).bind(step.seconds());
                delete.bind(kept_s).execute(&mut *tx).await?;
            }
        }
        tx.commit().await
    })
    .await?;
    for id in &due {
        if let Some(stream) = projector.streams.get_mut(id) {
            stream.tables.history.written = 0;
        }
    }
    Ok(())
}

/// The last rows of streams, and the time of the event after each.
async fn look(sql: &Sql, ids: &[Id]) -> Result<HashMap<String, (Follower, Option<i64>)>, sqlx::Error> {
    let text = format!(
        "SELECT t.id AS id, COALESCE(s.n, 0) AS n, COALESCE(s.at_s, 0) AS at_s, COALESCE(s.pools, '{{}}') AS pools, \
         e.at_ms AS next_ms FROM streams AS t LEFT JOIN meter_steps AS s ON s.jackpot_id = t.id AND s.step_s = 60 \
         AND s.n = (SELECT MAX(m.n) FROM meter_steps AS m WHERE m.jackpot_id = t.id AND m.step_s = 60) \
         LEFT JOIN events AS e ON e.kind = 'jackpot' AND e.id = t.id AND e.n = COALESCE(s.n, 0) + 1 \
         WHERE t.kind = 'jackpot' AND t.id IN ({})",
        numbered(1, ids.len())
    );
    let select = ids
        .iter()
        .fold(sqlx::query(AssertSqlSafe(text)), |select, id| select.bind(id.as_str()));
    let rows = sql.reading(select.fetch_all(sql.reader())).await?;
    let one = |row: &sqlx::any::AnyRow| {
        let pools = steps::parse(row.try_get("pools")?);
        let follower = pools.map(|pools| {
            Ok::<_, sqlx::Error>(Follower {
                n: row.try_get::<i64, _>("n")?.unsigned_abs(),
                at_ms: row.try_get::<i64, _>("at_s")? * 1_000,
                pools,
            })
        });
        // A row that nobody of us wrote is as good as none: all are made again.
        let (follower, next_ms) = match follower {
            Ok(follower) => (follower?, row.try_get("next_ms")?),
            Err(_) => (Follower::default(), None),
        };
        Ok((row.try_get("id")?, (follower, next_ms)))
    };
    rows.iter().map(one).collect()
}

/// Reads the next events. Returns the rows of the steps that they end.
async fn read_on(sql: &Sql, id: &Id, follower: &mut Follower, last_n: u64) -> Result<Rows, sqlx::Error> {
    let text = "SELECT n, at_ms, moved FROM events WHERE kind = 'jackpot' AND id = $1 AND n > $2 AND n <= $3 ORDER BY n LIMIT $4";
    let select = sqlx::query(text).bind(id.as_str()).bind(int(follower.n));
    let select = select.bind(int(last_n)).bind(PAGE);
    sql.reading(async {
        let (mut rows, mut events) = (Rows::default(), select.fetch(sql.reader()));
        while let Some(row) = events.try_next().await? {
            let (n, at_ms): (i64, i64) = (row.try_get("n")?, row.try_get("at_ms")?);
            let postings = postings::parse(row.try_get("moved")?).unwrap_or_default();
            follower.follow(n.unsigned_abs(), at_ms, postings, &mut rows);
        }
        Ok::<_, sqlx::Error>(rows)
    })
    .await
}

async fn write_alone(sql: &Sql, id: &Id, rows: &Rows) -> Result<(), sqlx::Error> {
    if rows.0.is_empty() {
        return Ok(());
    }
    sql.writing(async {
        let mut tx = sql.begin().await?;
        write(&mut tx, [(id, rows)].into_iter()).await?;
        tx.commit().await
    })
    .await
}

/// Writes rows. Of two rows of one step, that of the later event stays: a holder that was stalled changes nothing.
pub(super) async fn write<'a>(
    tx: &mut Tx<'_>,
    of: impl Iterator<Item = (&'a Id, &'a Rows)>,
) -> Result<(), sqlx::Error> {
    let rows = of.flat_map(|(id, rows)| {
        rows.0.iter().map(move |((step_s, at_s), ended)| {
            cells! { jackpot_id: id, step_s: *step_s, at_s: *at_s, n: ended.n, pools: &ended.pools }
        })
    });
    let on_conflict = "(jackpot_id, step_s, at_s) DO UPDATE SET n = excluded.n, pools = excluded.pools \
                       WHERE excluded.n > meter_steps.n";
    upsert(tx, "meter_steps", on_conflict, rows).await
}

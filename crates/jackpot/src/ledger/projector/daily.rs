//! Writes the runs that daily reports are made of.
//!
//! In step, a batch writes its runs with its events, in the same transaction. The last run names the last event, so a stream
//! whose last run is behind its cursor lacks events: those of a ledger from before there was the table, and those that an
//! earlier program projected. They are read from SQL, in transactions of their own. A run is a function of the events, so a
//! holder that was stalled writes nothing else, and `n` keeps it from writing less.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use jackpot_core::ids::Id;
use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};
use tracing::{error, info};

use super::Jackpots;
use crate::ledger::daily::{Paid, Run, Runs, Totals};
use crate::ledger::event::Event;
use crate::ledger::parts;
use jackpot_kernel::ledger::events::Unreadable;
use jackpot_kernel::ledger::projector::Projector;
use jackpot_kernel::ledger::projector::batch::Batch;
use jackpot_kernel::ledger::projector::lease::numbered;
use jackpot_kernel::ledger::stored::{self, PageSize};
use jackpot_kernel::sql::{Sql, Tx, cells, int, upsert};
use jackpot_kernel::subject::kinds::JACKPOT;

/// Streams that are looked at in one query.
const LOOKS: usize = 100;
/// How long a round reads events for runs that are missing.
const READING: Duration = Duration::from_millis(50);

/// The columns of a run.
pub const COLUMNS: &str = "jackpot_id, first_n, n, at_s, high_s, version, totals";

/// How far the runs of a stream are.
#[derive(Debug, Default)]
pub(super) enum Progress {
    /// Not looked at since it was taken over.
    #[default]
    Unknown,
    /// Events after this run are missing.
    Behind(Box<Run>),
    InStep(Box<Run>),
    /// Its events in SQL cannot be read: the next holder looks again.
    Unreadable,
}

/// What a stream keeps in memory for its runs.
#[derive(Debug, Default)]
pub struct Daily(pub(super) Progress);

impl Daily {
    /// Of a stream without events: nothing is missing.
    pub(super) fn of_new_stream() -> Self {
        Self(Progress::InStep(Box::default()))
    }

    /// What a batch goes on with, unless events before it are missing.
    pub(super) fn runs(&self) -> Option<Runs> {
        match &self.0 {
            Progress::InStep(last) => Some(Runs::after((**last).clone())),
            _ => None,
        }
    }

    /// A batch was committed.
    pub(super) fn advance(&mut self, runs: Option<Runs>) {
        if let Some(runs) = runs {
            self.0 = Progress::InStep(Box::new(runs.last));
        }
    }
}

/// Adds the payouts of the event that was followed last.
pub(super) fn paid_in(batch: &mut Batch<Jackpots>, n: u64) {
    let Some(runs) = &mut batch.rows.daily else { return };
    for row in batch.rows.payouts.iter().rev().take_while(|row| row.n == n) {
        runs.last.totals.pay(&Paid {
            tier: row.receipt.tier.clone(),
            amount: int(row.receipt.amount.get()),
            source: row.source_id.clone(),
        });
    }
}

/// Looks at streams that were taken over, and makes runs that are missing. Returns whether there is more to do at once.
pub(super) async fn follow_days(projector: &mut Projector<Jackpots>) -> Result<bool, sqlx::Error> {
    let left = look_at_runs(projector).await?;
    Ok(make_missing_runs(projector).await? || left)
}

async fn look_at_runs(projector: &mut Projector<Jackpots>) -> Result<bool, sqlx::Error> {
    let is_unknown = |daily: &Daily| matches!(daily.0, Progress::Unknown);
    let mut unknown: Vec<Id> = projector
        .streams
        .values()
        .filter(|stream| is_unknown(&stream.tables.daily))
        .map(|stream| stream.id.clone())
        .collect();
    if unknown.is_empty() {
        return Ok(false);
    }
    let left = unknown.len() > LOOKS;
    unknown.truncate(LOOKS);
    let mut found = look(&projector.ledger.sql, &unknown).await?;
    for id in unknown {
        if let Some(stream) = projector.streams.get_mut(&id) {
            let last = Box::new(found.remove(id.as_str()).unwrap_or_default());
            stream.tables.daily.0 = if last.n == stream.cursor.n {
                Progress::InStep(last)
            } else {
                Progress::Behind(last)
            };
        }
    }
    Ok(left)
}

async fn make_missing_runs(projector: &mut Projector<Jackpots>) -> Result<bool, sqlx::Error> {
    let begun = Instant::now();
    loop {
        let is_behind = |daily: &Daily| matches!(daily.0, Progress::Behind(_));
        let behind = projector
            .streams
            .values_mut()
            .find(|stream| is_behind(&stream.tables.daily));
        let Some(stream) = behind else {
            return Ok(false);
        };
        if begun.elapsed() >= READING {
            return Ok(true);
        }
        let (id, last_n) = (stream.id.clone(), stream.cursor.n);
        let Progress::Behind(last) = &stream.tables.daily.0 else {
            return Ok(true);
        };
        // A failure must not leave it in the middle of what is not written.
        let mut runs = Ok(Runs::after((**last).clone()));
        while let Ok(found) = &runs
            && found.last.n < last_n
            && begun.elapsed() < READING
        {
            runs = read_on(&projector.ledger.sql, &id, found.clone(), last_n).await?;
        }
        stream.tables.daily.0 = match runs {
            Ok(runs) => {
                write_alone(&projector.ledger.sql, &id, &runs).await?;
                let last = Box::new(runs.last);
                if last.n == last_n {
                    info!(jackpot_id = %id, n = last_n, "the figures of its daily reports are whole");
                    Progress::InStep(last)
                } else {
                    Progress::Behind(last)
                }
            }
            Err(reason) => {
                error!(jackpot_id = %id, reason, "it has no daily reports: its events in the ledger are damaged");
                Progress::Unreadable
            }
        };
    }
}

/// The last run of each stream that has one.
async fn look(sql: &Sql, ids: &[Id]) -> Result<HashMap<String, Run>, sqlx::Error> {
    let text = format!(
        "SELECT {COLUMNS} FROM report_runs AS r WHERE r.jackpot_id IN ({}) AND r.first_n = (SELECT MAX(m.first_n) FROM \
         report_runs AS m WHERE m.jackpot_id = r.jackpot_id)",
        numbered(1, ids.len())
    );
    let select = ids
        .iter()
        .fold(sqlx::query(AssertSqlSafe(text)), |select, id| select.bind(id.as_str()));
    let rows = sql.reading(select.fetch_all(sql.reader())).await?;
    // A row that nobody of us wrote is as good as none: all are made again.
    rows.iter().filter_map(|row| read(row, "").transpose()).collect()
}

/// The run in the columns with this prefix, and its jackpot; `None` if it cannot be read.
pub fn read(row: &AnyRow, prefix: &str) -> Result<Option<(String, Run)>, sqlx::Error> {
    let number = |name: &str| row.try_get::<i64, _>(&*format!("{prefix}{name}"));
    let Ok(totals) = serde_json::from_str::<Totals>(row.try_get(&*format!("{prefix}totals"))?) else {
        return Ok(None);
    };
    let run = Run {
        first_n: number("first_n")?.unsigned_abs(),
        n: number("n")?.unsigned_abs(),
        at_s: number("at_s")?,
        high_s: number("high_s")?,
        version: number("version")?.unsigned_abs(),
        totals,
    };
    Ok(Some((row.try_get(&*format!("{prefix}jackpot_id"))?, run)))
}

/// Reads the next events, at most up to `last_n`. The error says what is wrong with them.
async fn read_on(sql: &Sql, id: &Id, mut runs: Runs, last_n: u64) -> Result<Result<Runs, String>, sqlx::Error> {
    let from = runs.last.n;
    let page = stored::page(sql, JACKPOT, id, from, last_n, PageSize::REPLAY).await?;
    if page.is_empty() {
        return Ok(Err(format!("the event after event {from} is missing")));
    }
    let events = page.iter().map(|row| Event::parse(&row.fields()?));
    let events = match events.collect::<Result<Vec<_>, Unreadable>>() {
        Ok(events) => events,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let orders: Vec<u64> = events.iter().flat_map(|event| parts::paid(&event.kind)).collect();
    let paid = paid(sql, id, &orders).await?;
    for event in &events {
        runs.follow(event);
        for paid in parts::paid(&event.kind).iter().filter_map(|order| paid.get(order)) {
            runs.last.totals.pay(paid);
        }
    }
    Ok(Ok(runs))
}

/// The payouts of the claims from the first to the last of these orders.
async fn paid(sql: &Sql, id: &Id, orders: &[u64]) -> Result<BTreeMap<u64, Paid>, sqlx::Error> {
    let (Some(first), Some(last)) = (orders.first(), orders.last()) else {
        return Ok(BTreeMap::new());
    };
    let text = "SELECT p.claim_order AS claim_order, p.tier AS tier, p.amount AS amount, s.source_id AS source_id \
                FROM payouts AS p LEFT JOIN source_payouts AS s ON s.payout_id = p.payout_id \
                WHERE p.jackpot_id = $1 AND p.claim_order >= $2 AND p.claim_order <= $3";
    let select = sqlx::query(text).bind(id.as_str()).bind(int(*first)).bind(int(*last));
    let named = |text: &str| Id::parse(text).map_err(|error| sqlx::Error::Decode(error.to_string().into()));
    let one = |row: &AnyRow| {
        let source: Option<&str> = row.try_get("source_id")?;
        let paid = Paid {
            tier: named(row.try_get("tier")?)?,
            amount: row.try_get("amount")?,
            source: source.map(named).transpose()?,
        };
        Ok((row.try_get::<i64, _>("claim_order")?.unsigned_abs(), paid))
    };
    let rows = sql.reading(select.fetch_all(sql.reader())).await?;
    rows.iter().map(one).collect()
}

async fn write_alone(sql: &Sql, id: &Id, runs: &Runs) -> Result<(), sqlx::Error> {
    sql.writing(async {
        let mut tx = sql.begin().await?;
        write(&mut tx, [(id, runs)].into_iter()).await?;
        tx.commit().await
    })
    .await
}

/// Writes runs. A holder that was stalled changes nothing: it has fewer events, or the same.
pub(super) async fn write<'a>(
    tx: &mut Tx<'_>,
    of: impl Iterator<Item = (&'a Id, &'a Runs)>,
) -> Result<(), sqlx::Error> {
    let rows = of.flat_map(|(id, runs)| runs.rows().map(move |run| (id, run)));
    let rows: Vec<_> = rows
        .map(|(id, run)| (id, run, serde_json::to_string(&run.totals).expect("plain data is JSON")))
        .collect();
    let rows = rows.iter().map(|(id, run, totals)| {
        cells! {
            jackpot_id: *id,
            first_n: run.first_n,
            n: run.n,
            at_s: run.at_s,
            high_s: run.high_s,
            version: run.version,
            totals: totals,
        }
    });
    let on_conflict = "(jackpot_id, first_n) DO UPDATE SET n = excluded.n, version = excluded.version, \
                       totals = excluded.totals WHERE excluded.n >= report_runs.n";
    upsert(tx, "report_runs", on_conflict, rows).await
}

//! The figures of a day, from the runs of events.
//!
//! A report reads two runs of a jackpot, whatever happened in between.

use std::collections::HashMap;

use jackpot_core::ids::Id;
use jackpot_core::jackpot::document::Document;
use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};

use crate::ledger::daily::{self, Day, Late, Run, Totals};
use crate::ledger::projector::daily::read;
use crate::ledger::queries::Queries;
use jackpot_kernel::ledger::projector::lease::numbered;
use jackpot_kernel::ledger::queries::scan::Statement;
use jackpot_kernel::ledger::queries::{LedgerError, Value, json};

/// Jackpots of a statement.
const PAGE: usize = 200;

/// The day of a jackpot.
#[derive(Debug)]
pub struct DayOf {
    pub jackpot_id: Id,
    /// Tiers and sources; none before the jackpot was created.
    pub rows: Vec<daily::Row>,
    /// The ledger's last event, and its time, ms.
    pub n: u64,
    pub at_ms: i64,
}

/// The parts of one statement: the columns of a run, and the run that a condition finds.
fn run(name: &str, condition: &str) -> (String, String) {
    let columns = columns(name);
    let join = format!(
        "LEFT JOIN report_runs AS {name} ON {name}.jackpot_id = t.id AND {name}.first_n = (SELECT m.first_n FROM \
         report_runs AS m WHERE m.jackpot_id = t.id{condition} ORDER BY m.high_s DESC, m.first_n DESC LIMIT 1)"
    );
    (columns, join)
}

fn columns(name: &str) -> String {
    let all = ["jackpot_id", "first_n", "n", "at_s", "high_s", "version", "totals"];
    all.map(|column| format!("{name}.{column} AS {name}_{column}"))
        .join(", ")
}

impl Queries {
    /// The database's clock, ms.
    pub async fn now_ms(&self) -> Result<i64, LedgerError> {
        let now = AssertSqlSafe(format!("SELECT {}", self.sql.now_ms()));
        Ok(self
            .sql
            .reading(sqlx::query_scalar(now).fetch_one(self.sql.reader()))
            .await?)
    }

    /// The ids of all jackpots in the ledger, in its order.
    pub async fn jackpot_ids(&self) -> Result<Vec<Id>, LedgerError> {
        let mut ids: Vec<Id> = Vec::new();
        loop {
            let last = ids.last().map_or("", Id::as_str);
            let text = "SELECT id FROM streams WHERE kind = 'jackpot' AND id > $1 ORDER BY id LIMIT 1000";
            let page = sqlx::query_scalar(text).bind(last.to_owned());
            let page: Vec<String> = self.sql.reading(page.fetch_all(self.sql.reader())).await?;
            if page.is_empty() {
                return Ok(ids);
            }
            for id in page {
                let id = Id::parse(&id).map_err(|_| LedgerError::Missing(format!("readable id of jackpot '{id}'")))?;
                ids.push(id);
            }
        }
    }

    /// The day of each of these jackpots, from the second `begin` to the second before `end`. Those that the ledger does
    /// not have are left out.
    ///
    /// # Errors
    /// [`LedgerError::NoReport`] while the runs of one lack events that the ledger has.
    pub async fn days_of(&self, ids: &[Id], begin: i64, end: i64) -> Result<Vec<DayOf>, LedgerError> {
        let mut days = Vec::with_capacity(ids.len());
        for ids in ids.chunks(PAGE) {
            let page = self.page_of_days(ids, begin, end);
            days.extend(self.sql.reading(page).await?);
        }
        Ok(days)
    }

    async fn page_of_days(&self, ids: &[Id], begin: i64, end: i64) -> Result<Vec<DayOf>, LedgerError> {
        let rows = days(ids, begin, end).query().fetch_all(self.sql.reader()).await?;
        let late = self.late_runs(ids, end).await?;
        rows.iter().map(|row| day(row, begin, end, &late)).collect()
    }

    /// The runs of earlier quarters than one before them, by jackpot.
    async fn late_runs(&self, ids: &[Id], end: i64) -> Result<HashMap<String, Vec<Late>>, LedgerError> {
        let mut all = HashMap::<String, Vec<Late>>::new();
        for row in late(ids, end).query().fetch_all(self.sql.reader()).await? {
            let (id, run) = readable(&row, "a_")?;
            let (_, before) = readable(&row, "z_")?;
            let mut added = run.totals;
            added.add(&before.totals, -1);
            all.entry(id).or_default().push(Late {
                first_n: run.first_n,
                at_s: run.at_s,
                added,
            });
        }
        Ok(all)
    }
}

/// Reads of each jackpot where the ledger stands, and the last run before the begin and before the end of a day.
pub fn days(ids: &[Id], begin: i64, end: i64) -> Statement {
    let (first, first_join) = run("a", " AND m.high_s < $1");
    let (last, last_join) = run("z", " AND m.high_s < $2");
    let text = format!(
        "SELECT t.id AS id, t.n AS n, COALESCE(e.at_ms, 0) AS at_ms, COALESCE(l.n, 0) AS whole_n, \
         COALESCE(d.json, '') AS json, {first}, {last} FROM streams AS t \
         LEFT JOIN events AS e ON e.kind = 'jackpot' AND e.id = t.id AND e.n = t.n \
         LEFT JOIN report_runs AS l ON l.jackpot_id = t.id AND l.first_n = (SELECT MAX(m.first_n) FROM report_runs \
         AS m WHERE m.jackpot_id = t.id) {first_join} {last_join} \
         LEFT JOIN definitions AS d ON d.kind = 'jackpot' AND d.id = t.id AND d.version = z.version \
         WHERE t.kind = 'jackpot' AND t.id IN ({}) ORDER BY t.id",
        numbered(3, ids.len())
    );
    let values = [begin.into(), end.into()].into_iter().chain(ids.iter().map(text_of));
    Statement {
        text,
        values: values.collect(),
    }
}

/// Reads the runs of earlier quarters than one before them, each with that before it.
pub fn late(ids: &[Id], end: i64) -> Statement {
    let text = format!(
        "SELECT {}, {} FROM report_runs AS a JOIN report_runs AS z ON z.jackpot_id = a.jackpot_id AND z.first_n = \
         (SELECT MAX(m.first_n) FROM report_runs AS m WHERE m.jackpot_id = a.jackpot_id AND m.first_n < a.first_n) \
         WHERE a.at_s < a.high_s AND a.at_s < $1 AND a.jackpot_id IN ({})",
        columns("a"),
        columns("z"),
        numbered(2, ids.len())
    );
    let values = [end.into()].into_iter().chain(ids.iter().map(text_of));
    Statement {
        text,
        values: values.collect(),
    }
}

fn text_of(id: &Id) -> Value {
    Value::Text(id.to_string())
}

fn day(row: &AnyRow, begin: i64, end: i64, late: &HashMap<String, Vec<Late>>) -> Result<DayOf, LedgerError> {
    let text: String = row.try_get("id")?;
    let id = Id::parse(&text).map_err(|_| LedgerError::Missing(format!("readable id of jackpot '{text}'")))?;
    let (n, whole_n): (i64, i64) = (row.try_get("n")?, row.try_get("whole_n")?);
    if n != whole_n {
        return Err(LedgerError::NoReport(text));
    }
    let of = |prefix: &str| -> Result<Option<Run>, LedgerError> {
        let found: Option<i64> = row.try_get(&*format!("{prefix}n"))?;
        found.map(|_| Ok(readable(row, prefix)?.1)).transpose()
    };
    let late = late.get(&text).map(Vec::as_slice).unwrap_or_default();
    let last = of("z_")?;
    let totals = |at_s, run: Option<&Run>| -> Totals { daily::totals_at(at_s, run, late) };
    let rows = match &last {
        None => Vec::new(),
        Some(run) => {
            let what = || format!("definition {} of jackpot '{text}'", run.version);
            let definition: Document = json(row.try_get("json")?, what)?;
            let day = Day {
                jackpot_id: &text,
                begin: totals(begin, of("a_")?.as_ref()),
                end: totals(end, last.as_ref()),
                definition: &definition,
            };
            day.rows()
                .map_err(|wrong| LedgerError::Missing(format!("sound figures: {wrong}")))?
        }
    };
    Ok(DayOf {
        jackpot_id: id,
        rows,
        n: n.unsigned_abs(),
        at_ms: row.try_get("at_ms")?,
    })
}

fn readable(row: &AnyRow, prefix: &str) -> Result<(String, Run), LedgerError> {
    read(row, prefix)?.ok_or_else(|| LedgerError::Missing("readable row of table report_runs".to_owned()))
}

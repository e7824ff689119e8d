//! The history of a meter, from its steps and the books.

use jackpot_core::ids::Id;
use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};

use crate::ledger::books::Books;
use crate::ledger::queries::Queries;
use crate::ledger::steps::{self, Last, MAX_POINTS, Step};
use jackpot_kernel::ledger::queries::{LedgerError, json};

/// What a pool held at the ends of steps.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct History {
    /// The begin of each step in seconds, and the pool at its end, oldest first; none before the ledger has the jackpot.
    pub points: Vec<(i64, i64)>,
    /// How long the current step goes on, ms.
    pub ends_in_ms: i64,
}

/// Where a jackpot stands, and the event after the last step that ended.
const STANDING: &str = "SELECT t.n AS n, t.books AS books, e.at_ms AS next_ms, f.at_ms AS created_ms FROM streams AS t \
    LEFT JOIN events AS e ON e.kind = 'jackpot' AND e.id = t.id AND e.n = 1 + COALESCE(\
        (SELECT MAX(m.n) FROM meter_steps AS m WHERE m.jackpot_id = t.id AND m.step_s = 60), 0) \
    LEFT JOIN events AS f ON f.kind = 'jackpot' AND f.id = t.id AND f.n = 1 \
    WHERE t.kind = 'jackpot' AND t.id = $1";

/// The last row of each step that ended by a time, `$2`.
const BEFORE: &str = "SELECT n, pools FROM (SELECT n, pools FROM meter_steps WHERE jackpot_id = $1 AND step_s = 60 \
        AND at_s <= $2 - 60 ORDER BY at_s DESC LIMIT 1) AS minutes \
    UNION ALL SELECT n, pools FROM (SELECT n, pools FROM meter_steps WHERE jackpot_id = $1 AND step_s = 3600 \
        AND at_s <= $2 - 3600 ORDER BY at_s DESC LIMIT 1) AS hours \
    UNION ALL SELECT n, pools FROM (SELECT n, pools FROM meter_steps WHERE jackpot_id = $1 AND step_s = 86400 \
        AND at_s <= $2 - 86400 ORDER BY at_s DESC LIMIT 1) AS days";

impl Queries {
    /// What the pool of a tier held at the end of each step since the jackpot was created, or of the last
    /// [`MAX_POINTS`].
    ///
    /// # Errors
    /// [`LedgerError::NoHistory`] while the steps lack events that the ledger has.
    pub async fn meter_history(&self, id: &Id, tier: &Id, step: Step) -> Result<History, LedgerError> {
        self.sql.reading(self.history_within(id, tier, step)).await
    }

    async fn history_within(&self, id: &Id, tier: &Id, step: Step) -> Result<History, LedgerError> {
        let standing = sqlx::query(STANDING).bind(id.as_str());
        let Some(row) = standing.fetch_optional(self.sql.reader()).await? else {
            return Ok(History::default());
        };
        if row.try_get::<i64, _>("n")? == 0 {
            return Ok(History::default());
        }
        let books: Books = json(row.try_get("books")?, || {
            format!("row of jackpot '{id}' in table streams")
        })?;
        let (next_ms, created_ms): (Option<i64>, Option<i64>) = (row.try_get("next_ms")?, row.try_get("created_ms")?);
        if next_ms.map(|at| Step::Minute.of(at)) != Some(Step::Minute.of(books.at_ms)) {
            return Err(LedgerError::NoHistory(id.to_string()));
        }
        let now = AssertSqlSafe(format!("SELECT {}", self.sql.now_ms()));
        let now_ms: i64 = sqlx::query_scalar(now).fetch_one(self.sql.reader()).await?;
        // Redis' clock may be ahead.
        let current = step.of(now_ms.max(books.at_ms));
        let created = step.of(created_ms.unwrap_or(books.at_ms));
        let first = created.min(current).max(current - (MAX_POINTS - 1) * step.seconds());
        let since = step.of(books.at_ms);
        let base = if created < first && first < since {
            self.pool_before(id, tier, first).await?
        } else {
            0
        };
        let ended = "SELECT at_s, pools FROM meter_steps WHERE jackpot_id = $1 AND step_s = $2 AND at_s >= $3 \
                     AND at_s < $4 ORDER BY at_s";
        let rows = sqlx::query(ended).bind(id.as_str()).bind(step.seconds());
        let rows = rows.bind(first).bind(since).fetch_all(self.sql.reader()).await?;
        let ended: Vec<(i64, i64)> = rows
            .iter()
            .map(|row| Ok((row.try_get("at_s")?, pool(row, tier)?)))
            .collect::<Result<_, LedgerError>>()?;
        let last = Last {
            at_ms: books.at_ms,
            pool: books.meters.get(tier).map_or(0, |meters| meters.pool),
        };
        Ok(History {
            points: steps::points(step, first, current, base, ended, last),
            ends_in_ms: (current + step.seconds()) * 1_000 - now_ms,
        })
    }

    /// What the pool held at a time that ends a step.
    async fn pool_before(&self, id: &Id, tier: &Id, at_s: i64) -> Result<i64, LedgerError> {
        let before = sqlx::query(BEFORE).bind(id.as_str()).bind(at_s);
        let rows = before.fetch_all(self.sql.reader()).await?;
        let number = |row: &&AnyRow| row.try_get::<i64, _>("n").unwrap_or_default();
        rows.iter().max_by_key(number).map_or(Ok(0), |row| pool(row, tier))
    }
}

fn pool(row: &AnyRow, tier: &Id) -> Result<i64, LedgerError> {
    let pools = steps::parse(row.try_get("pools")?).map_err(|source| LedgerError::Unreadable {
        what: "row of table meter_steps".to_owned(),
        source,
    })?;
    Ok(pools.get(tier).copied().unwrap_or_default())
}

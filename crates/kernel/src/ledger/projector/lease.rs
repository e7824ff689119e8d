//! Decides which instance reads which stream: a lease in SQL, by the database's clock.
//!
//! A lease only decides who tries. The token makes a commit correct: it grows with each change of holder. A
//! transaction of a holder that was stalled meanwhile finds another token and is rolled back.

use std::time::Duration;

use jackpot_core::chain::ChainHash;
use jackpot_core::ids::Id;
use sqlx::{AssertSqlSafe, Row};
use tracing::warn;

use crate::sql::{Kind, Lease, Sql, Taken};
use crate::subject::LedgerView;
use crate::subject::kinds::KindName;

/// Rows of one statement.
const AT_ONCE: usize = 100;

/// Placeholders of SQL, from this number on.
pub fn numbered(from: usize, count: usize) -> String {
    let all: Vec<_> = (from..from + count).map(|number| format!("${number}")).collect();
    all.join(", ")
}

/// A subject's row, as far as leases need it.
#[derive(Debug)]
pub struct Place {
    pub id: Id,
    /// Number of the last committed event.
    pub n: u64,
    /// Restores so far.
    pub restores: u64,
    /// Whether this instance may read it: it holds the lease, or nobody does any more.
    pub free: bool,
    /// The token in force.
    pub token: i64,
    /// SQL's view of it, for people.
    pub view: LedgerView,
}

/// The leases of an instance.
#[derive(Debug, Clone)]
pub struct Leases {
    kind: KindName,
    sql: Sql,
    lease: Lease,
}

impl Leases {
    /// The leases on streams of a kind. `instance` names the holder; each start of the service has another name.
    pub fn of(kind: KindName, sql: Sql, instance: String, lease_ms: u64) -> Self {
        let lease = Lease::of(kind.as_str(), instance, lease_ms);
        Self { kind, sql, lease }
    }

    /// Adds the rows of subjects that the ledger has not seen.
    pub async fn add(&self, ids: &[Id]) -> Result<(), sqlx::Error> {
        if ids.is_empty() {
            return Ok(());
        }
        let add = async {
            let mut tx = self.sql.begin().await?;
            for ids in ids.chunks(AT_ONCE) {
                let row = |i: usize| {
                    format!(
                        "('{}', ${}, 0, ${}, '', 0, '', '', '', 0, '', 0)",
                        self.kind.as_str(),
                        2 * i + 1,
                        2 * i + 2
                    )
                };
                let text = format!(
                    "INSERT INTO streams (kind, id, n, hash, stream_id, restores, books, status, stopped, indexed_n, holder, \
                     lease_token) VALUES {} ON CONFLICT (kind, id) DO NOTHING",
                    (0..ids.len()).map(row).collect::<Vec<_>>().join(", ")
                );
                let insert = ids.iter().fold(sqlx::query(AssertSqlSafe(text)), |insert, id| {
                    let hash = ChainHash::of(&self.kind.subject(id));
                    insert.bind(id.as_str()).bind(hash.to_string())
                });
                insert.execute(&mut *tx).await?;
            }
            tx.commit().await
        };
        self.sql.writing(add).await
    }

    /// All subjects in the ledger, while the ledger belongs to this instance's store. What another store did is not
    /// missing from this store's Redis.
    pub async fn places(&self) -> Result<Vec<Place>, sqlx::Error> {
        self.places_where("", &[]).await
    }

    /// At most `limit` of them, in order, with ids after `after`.
    pub async fn places_after(&self, after: Option<&Id>, limit: usize) -> Result<Vec<Place>, sqlx::Error> {
        let page = |of: &str| format!("{of} ORDER BY id LIMIT {limit}");
        match after {
            Some(after) => {
                self.places_where(&page("AND id > $2"), std::slice::from_ref(after))
                    .await
            }
            None => self.places_where(&page(""), &[]).await,
        }
    }

    /// Returns at most `limit` streams whose other instance has given up its lease. SQLite has one instance, so there are
    /// none.
    pub async fn places_left(&self, limit: usize) -> Result<Vec<Place>, sqlx::Error> {
        if self.sql.kind() == Kind::Sqlite {
            return Ok(Vec::new());
        }
        let condition = format!("AND holder <> $1 AND {} LIMIT {limit}", self.free());
        self.places_where(&condition, &[]).await
    }

    /// Those of these ids.
    pub async fn places_of(&self, ids: &[Id]) -> Result<Vec<Place>, sqlx::Error> {
        let mut places = Vec::with_capacity(ids.len());
        for ids in ids.chunks(AT_ONCE) {
            let condition = format!("AND id IN ({})", numbered(2, ids.len()));
            places.extend(self.places_where(&condition, ids).await?);
        }
        Ok(places)
    }

    async fn places_where(&self, condition: &str, ids: &[Id]) -> Result<Vec<Place>, sqlx::Error> {
        let sql = format!(
            "SELECT id, n, restores, status, stopped, lease_token, \
             (SELECT store_id FROM ledger WHERE one = 1) AS store_id, CASE WHEN {free} THEN 1 ELSE 0 END AS free \
             FROM streams WHERE kind = '{kind}' {condition}",
            kind = self.kind.as_str(),
            free = self.free(),
        );
        let select = sqlx::query(AssertSqlSafe(sql)).bind(&self.lease.instance);
        let select = ids.iter().fold(select, |select, id| select.bind(id.as_str()));
        let rows = self.sql.reading(select.fetch_all(self.sql.reader())).await?;
        if let (Some(own), Some(row)) = (self.sql.owner(), rows.first()) {
            Taken::check(own, row.try_get("store_id")?)?;
        }
        let place = |row: &sqlx::any::AnyRow| {
            let (n, restores) = (row.try_get::<i64, _>("n")?, row.try_get::<i64, _>("restores")?);
            let (free, token) = (row.try_get::<i64, _>("free")? == 1, row.try_get("lease_token")?);
            let view = LedgerView {
                status: row.try_get("status")?,
                stopped: row.try_get("stopped")?,
            };
            Ok(Id::parse(row.try_get("id")?).ok().map(|id| Place {
                id,
                n: n.unsigned_abs(),
                restores: restores.unsigned_abs(),
                free,
                token,
                view,
            }))
        };
        let places = rows.iter().map(place).collect::<Result<Vec<_>, sqlx::Error>>()?;
        Ok(places.into_iter().flatten().collect())
    }

    /// Whether the instance `$1` may take a row, as an SQL expression.
    fn free(&self) -> String {
        let alive = self.sql.alive(&format!("'{}'", self.kind.as_str()));
        format!("(holder = $1 OR holder = '' OR holder NOT IN ({alive}))")
    }

    /// Takes over those of these streams that nobody reads, if nobody did since their tokens were read. Returns them with
    /// their new tokens.
    ///
    /// The tokens decide between two instances that take at once: PostgreSQL looks at a row again that another transaction
    /// has just changed, but not at the rows of `holders`.
    pub async fn take_free(&self, found: &[(Id, i64)]) -> Result<Vec<(Id, i64)>, sqlx::Error> {
        let take = async {
            let (mut tx, mut taken) = (self.sql.begin().await?, Vec::with_capacity(found.len()));
            self.lease.renewal(&self.sql).execute(&mut *tx).await?;
            for found in found.chunks(AT_ONCE) {
                let pair = |i: usize| format!("(${}, ${})", 2 * i + 2, 2 * i + 3);
                let text = format!(
                    "UPDATE streams SET holder = $1, lease_token = lease_token + 1 WHERE kind = '{}' \
                     AND (id, lease_token) IN (VALUES {}) AND {} RETURNING id, lease_token",
                    self.kind.as_str(),
                    (0..found.len()).map(pair).collect::<Vec<_>>().join(", "),
                    self.free(),
                );
                let update = sqlx::query(AssertSqlSafe(text)).bind(&self.lease.instance);
                let update = found
                    .iter()
                    .fold(update, |update, (id, token)| update.bind(id.as_str()).bind(*token));
                for row in update.fetch_all(&mut *tx).await? {
                    let id = Id::parse(row.try_get("id")?).ok();
                    taken.extend(id.zip(Some(row.try_get::<i64, _>("lease_token")?)));
                }
            }
            tx.commit().await?;
            Ok(taken)
        };
        self.sql.writing(take).await
    }

    /// Takes over a stream from its reader, which can commit nothing more, because the token changes. Returns the
    /// new token, or `None` when the ledger has no such stream.
    ///
    /// This is for an operator's command. It asks for no token read before: a service that runs takes a free stream
    /// between any two statements of the command.
    pub async fn take(&self, id: &Id) -> Result<Option<i64>, sqlx::Error> {
        let sql = format!(
            "UPDATE streams SET holder = $1, lease_token = lease_token + 1 WHERE kind = '{}' AND id = $2 \
             RETURNING lease_token",
            self.kind.as_str()
        );
        let update = sqlx::query_scalar(AssertSqlSafe(sql))
            .bind(&self.lease.instance)
            .bind(id.as_str());
        let take = async {
            let mut tx = self.sql.begin().await?;
            self.lease.renewal(&self.sql).execute(&mut *tx).await?;
            let token = update.fetch_optional(&mut *tx).await?;
            tx.commit().await?;
            Ok(token)
        };
        self.sql.writing(take).await
    }

    /// Whether a lease that this instance took is still in force: nobody has taken it over.
    pub async fn holds(&self, id: &Id, token: i64) -> Result<bool, sqlx::Error> {
        let sql = format!(
            "SELECT lease_token FROM streams WHERE kind = '{}' AND id = $1 AND holder = $2",
            self.kind.as_str()
        );
        let select = sqlx::query_scalar(AssertSqlSafe(sql))
            .bind(id.as_str())
            .bind(&self.lease.instance)
            .fetch_optional(self.sql.reader());
        let in_force: Option<i64> = self.sql.reading(select).await?;
        Ok(in_force == Some(token))
    }

    /// The database's clock, ms.
    pub async fn now_ms(&self) -> Result<i64, sqlx::Error> {
        let select = AssertSqlSafe(format!("SELECT {}", self.sql.now_ms()));
        let select = sqlx::query_scalar(select).fetch_one(self.sql.reader());
        self.sql.reading(select).await
    }

    /// Renews the leases that this instance holds.
    pub async fn renew(&self) -> Result<(), sqlx::Error> {
        self.lease.renew(&self.sql).await
    }

    /// Does something long while renewing the leases that this instance holds. If a lease ended meanwhile, another
    /// instance could begin the same work.
    pub async fn during<T>(&self, work: impl Future<Output = T>) -> T {
        let third = (self.lease.length() / 3).max(Duration::from_millis(1));
        let keep = async {
            loop {
                tokio::time::sleep(third).await;
                if let Err(error) = self.renew().await {
                    warn!(%error, "the leases were not renewed; the next round tries again");
                }
            }
        };
        tokio::select! {
            done = work => done,
            () = keep => unreachable!("it never ends"),
        }
    }

    /// Releases the leases that this instance holds, so that another one need not wait. Forgets instances that are gone.
    pub async fn release(&self) -> Result<(), sqlx::Error> {
        let kind = self.kind.as_str();
        let release = format!("UPDATE streams SET holder = '' WHERE kind = '{kind}' AND holder = $1");
        let work = async {
            let mut tx = self.sql.begin().await?;
            let release = sqlx::query(AssertSqlSafe(release)).bind(&self.lease.instance);
            release.execute(&mut *tx).await?;
            self.lease.end(&self.sql).execute(&mut *tx).await?;
            tx.commit().await
        };
        self.sql.writing(work).await
    }
}

//! Subscriptions and their cursors in SQL. Every change of a subscription by an operator is one transaction, together with
//! its row in the audit trail.

use jackpot_api::subscription::{Begin, SubscriptionDocument};
use jackpot_core::ids::Id;
use jackpot_core::secret::Secrets;
use serde_json::{Value as Json, json};
use sqlx::any::{AnyArguments, AnyRow};
use sqlx::query::Query;
use sqlx::{Any, AssertSqlSafe, Row};
use thiserror::Error;

use super::key::Key;
use super::reading::Position;
use super::subscription::Definition;
use jackpot_kernel::operator::Operator;
use jackpot_kernel::random::{self, RandomError};
use jackpot_kernel::sql::{Kind, Sql, Tx};
use jackpot_kernel::subject::kinds::KindName;

/// Most subscriptions of a ledger. Each reads the events of its subjects.
const MAX_SUBSCRIPTIONS: i64 = 100;
/// Begins the subject of a subscription's rows in the audit trail.
const AUDITED_AS: &str = "subscription:";
/// Columns of a subscription.
const COLUMNS: &str = "id, target, types, subjects, begins, status, version, nonce, secret_id";
/// Columns of a subject.
const STREAM_COLUMNS: &str = "kind, id, n, i, token, tries, failing_ms, next_try_ms, last_error";

/// Why nothing was done.
#[derive(Debug, Error)]
pub enum StoreError {
    #[error("{0}")] // not transparent: a check for a database that is down looks for it among the sources
    Sql(#[from] sqlx::Error),
    #[error("there is no subscription '{0}'")]
    NotFound(Id),
    #[error("there are {MAX_SUBSCRIPTIONS} subscriptions, the maximum: delete one first")]
    TooMany,
    #[error("the subscription delivers nothing of this subject: its streams are in GET /v1/subscriptions/{{id}}")]
    NoSubject,
    #[error("must be 1 to {0}, the next event that is delivered")]
    Beyond(u64),
    #[error("the next event is another one{}", .0.as_ref().map(|id| format!(": {id}")).unwrap_or_default())]
    NotNext(Option<String>),
    #[error(transparent)]
    Random(#[from] RandomError),
}

jackpot_core::names! {
    /// What an operator decided about a subscription.
    pub enum Status {
        Running = "running",
        Paused = "paused",
        /// The target answered 410.
        Disabled = "disabled",
    }
}

/// A subscription as SQL has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    pub id: Id,
    pub definition: Definition,
    pub status: Status,
    /// Grows with each change.
    pub version: i64,
    /// Another one for each subscription, also of the same id later.
    pub nonce: String,
    secret_id: String,
}

impl Subscription {
    /// Its key; `None` if this instance does not have the master secret that it is derived from.
    pub fn key(&self, secrets: &Secrets) -> Option<Key> {
        Some(Key::derive(secrets.get(&self.secret_id)?, &self.id, &self.nonce))
    }
}

/// How far a subscription is with a subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamRow {
    pub kind: KindName,
    pub id: Id,
    /// What is delivered next: event and number in it.
    pub n: u64,
    pub i: u64,
    pub token: i64,
    /// Failed tries of the next one.
    pub tries: u32,
    /// Since when it fails; 0 while it does not.
    pub failing_ms: i64,
    /// When it is tried again; 0 while it does not fail.
    pub next_try_ms: i64,
    pub last_error: String,
}

impl StreamRow {
    pub fn position(&self) -> Position {
        Position { n: self.n, i: self.i }
    }

    /// Number of the last event that was delivered or passed as a whole. Event `n` does not count yet, at any `i`: a
    /// subscription to payouts alone fails at an `i` above 0 before it got anything of the event.
    pub fn delivered_n(&self) -> u64 {
        self.n.saturating_sub(1)
    }
}

/// What the audit trail says of an action on a subscription.
struct Audited<'a> {
    action: &'static str,
    /// The subject whose cursor was moved.
    of: Option<(KindName, &'a Id)>,
    before: Json,
    after: Json,
    reason: &'a str,
}

impl Audited<'_> {
    fn new(action: &'static str, before: Json, after: Json) -> Self {
        Self {
            action,
            of: None,
            before,
            after,
            reason: "",
        }
    }
}

/// What a PUT did.
#[derive(Debug)]
pub struct Stored {
    pub subscription: Subscription,
    pub is_new: bool,
}

/// The subscriptions of a ledger.
#[derive(Debug, Clone)]
pub struct Subscriptions {
    pub sql: Sql,
}

impl Subscriptions {
    /// All of them, in the order of their ids.
    pub async fn all(&self) -> Result<Vec<Subscription>, sqlx::Error> {
        let text = format!("SELECT {COLUMNS} FROM subscriptions ORDER BY id");
        let select = sqlx::query(AssertSqlSafe(text));
        let rows = self.sql.reading(select.fetch_all(self.sql.reader())).await?;
        let mut all = Vec::with_capacity(rows.len());
        for row in &rows {
            all.extend(read(row)?);
        }
        Ok(all)
    }

    /// One of them.
    pub async fn get(&self, id: &Id) -> Result<Subscription, StoreError> {
        let text = format!("SELECT {COLUMNS} FROM subscriptions WHERE id = $1");
        let select = sqlx::query(AssertSqlSafe(text)).bind(id.as_str());
        let row = self.sql.reading(select.fetch_optional(self.sql.reader())).await?;
        let found = row.map(|row| read(&row)).transpose()?.flatten();
        found.ok_or_else(|| StoreError::NotFound(id.clone()))
    }

    /// Its subjects, in order: at most `limit`, those that fail first. And the time of the database.
    pub async fn streams(&self, id: &Id, limit: i64) -> Result<(Vec<StreamRow>, i64), sqlx::Error> {
        let text = format!(
            "SELECT {STREAM_COLUMNS}, {} AS now_ms FROM subscription_streams WHERE subscription_id = $1 \
             ORDER BY CASE WHEN last_error = '' THEN 1 ELSE 0 END, kind, id LIMIT $2",
            self.sql.now_ms()
        );
        let select = sqlx::query(AssertSqlSafe(text)).bind(id.as_str()).bind(limit);
        let rows = self.sql.reading(select.fetch_all(self.sql.reader())).await?;
        let (mut found, mut now_ms) = (Vec::with_capacity(rows.len()), 0);
        for row in &rows {
            now_ms = row.try_get("now_ms")?;
            found.extend(read_stream(row)?);
        }
        found.sort_by(|a, b| (a.kind, &a.id).cmp(&(b.kind, &b.id)));
        Ok((found, now_ms))
    }

    pub async fn stream(&self, id: &Id, kind: KindName, subject: &Id) -> Result<Option<StreamRow>, sqlx::Error> {
        let text = format!(
            "SELECT {STREAM_COLUMNS} FROM subscription_streams WHERE subscription_id = $1 AND kind = $2 AND id = $3"
        );
        let select = sqlx::query(AssertSqlSafe(text))
            .bind(id.as_str())
            .bind(kind.as_str())
            .bind(subject.as_str());
        let row = self.sql.reading(select.fetch_optional(self.sql.reader())).await?;
        Ok(row.map(|row| read_stream(&row)).transpose()?.flatten())
    }

    /// Number of the last event of a subject in the ledger; 0 if there is none.
    pub async fn last_event(&self, kind: KindName, subject: &Id) -> Result<u64, sqlx::Error> {
        let select = sqlx::query_scalar("SELECT n FROM streams WHERE kind = $1 AND id = $2")
            .bind(kind.as_str())
            .bind(subject.as_str());
        let n: Option<i64> = self.sql.reading(select.fetch_optional(self.sql.reader())).await?;
        Ok(n.and_then(|n| u64::try_from(n).ok()).unwrap_or(0))
    }

    /// Makes a subscription, or changes one. Cursors and key stay. Another target gets at once what failed before. A key whose master secret is gone is made anew.
    pub async fn put(
        &self,
        id: &Id,
        definition: &Definition,
        secrets: &Secrets,
        by: &Operator,
    ) -> Result<Stored, StoreError> {
        loop {
            let put = self.sql.writing(self.try_put(id, definition, secrets, by)).await?;
            // Otherwise another one made it meanwhile, and now it is changed.
            if let Some(stored) = put {
                return Ok(stored);
            }
        }
    }

    async fn try_put(
        &self,
        id: &Id,
        definition: &Definition,
        secrets: &Secrets,
        by: &Operator,
    ) -> Result<Option<Stored>, StoreError> {
        let mut tx = self.sql.begin().await?;
        let before = self.locked(&mut tx, id).await?;
        let after = if let Some(before) = &before {
            let mut after = Subscription {
                definition: definition.clone(),
                ..before.clone()
            };
            if before.key(secrets).is_none() {
                secrets.current_id().clone_into(&mut after.secret_id);
                after.nonce = new_nonce()?;
            }
            if after == *before {
                tx.rollback().await?;
                return Ok(Some(Stored {
                    subscription: after,
                    is_new: false,
                }));
            }
            after.version += 1;
            change(&mut tx, &after).await?;
            if after.definition.destination() != before.definition.destination() {
                self.retry_failed(&mut tx, id).await?;
            }
            after
        } else {
            self.check_room(&mut tx).await?;
            let made = Subscription {
                id: id.clone(),
                definition: definition.clone(),
                status: Status::Running,
                version: 1,
                nonce: new_nonce()?,
                secret_id: secrets.current_id().to_owned(),
            };
            if !make(&mut tx, &made).await? {
                tx.rollback().await?;
                return Ok(None);
            }
            made
        };
        self.drop_others(&mut tx, &after).await?;
        self.add_streams(&mut tx, &after, definition.document().from).await?;
        let of = |one: &Subscription| json!(one.definition.document());
        let row = Audited::new("define", before.as_ref().map_or(Json::Null, of), of(&after));
        self.audit(&mut tx, id, by, row).await?;
        tx.commit().await?;
        Ok(Some(Stored {
            subscription: after,
            is_new: before.is_none(),
        }))
    }

    /// Deletes a subscription and all its cursors.
    pub async fn delete(&self, id: &Id, by: &Operator) -> Result<(), StoreError> {
        self.changing(id, by, async |tx, before| {
            for text in [
                "DELETE FROM subscription_streams WHERE subscription_id = $1",
                "DELETE FROM subscriptions WHERE id = $1",
            ] {
                sqlx::query(text).bind(id.as_str()).execute(&mut **tx).await?;
            }
            let before = json!(before.definition.document());
            Ok(Some(Audited::new("delete", before, Json::Null)))
        })
        .await
    }

    /// Pauses a subscription.
    pub async fn pause(&self, id: &Id, by: &Operator) -> Result<(), StoreError> {
        self.changing(id, by, async |tx, before| {
            if before.status == Status::Paused {
                return Ok(None);
            }
            Ok(Some(set_status(tx, before, Status::Paused, "pause").await?))
        })
        .await
    }

    /// Resumes a subscription, and tries at once what failed.
    pub async fn resume(&self, id: &Id, by: &Operator) -> Result<(), StoreError> {
        self.changing(id, by, async |tx, before| {
            let retried = self.retry_failed(tx, id).await?;
            if before.status == Status::Running && retried == 0 {
                return Ok(None);
            }
            Ok(Some(set_status(tx, before, Status::Running, "resume").await?))
        })
        .await
    }

    /// Changes a subscription that there is, and its row in the audit trail, in one transaction. `None`: nothing changes.
    async fn changing<'a>(
        &self,
        id: &Id,
        by: &Operator,
        change: impl AsyncFnOnce(&mut Tx<'static>, &Subscription) -> Result<Option<Audited<'a>>, StoreError>,
    ) -> Result<(), StoreError> {
        let work = async {
            let mut tx = self.sql.begin().await?;
            let before = self.locked(&mut tx, id).await?;
            let before = before.ok_or_else(|| StoreError::NotFound(id.clone()))?;
            let Some(row) = change(&mut tx, &before).await? else {
                return Ok(tx.rollback().await?);
            };
            self.audit(&mut tx, id, by, row).await?;
            Ok(tx.commit().await?)
        };
        self.sql.writing(work).await
    }

    /// Tries at once what failed. Returns how many subjects that are.
    async fn retry_failed(&self, tx: &mut Tx<'static>, id: &Id) -> Result<u64, sqlx::Error> {
        let text = format!(
            "UPDATE subscription_streams SET next_try_ms = CASE WHEN tries > 0 THEN {} ELSE 0 END, holder = '', \
             token = token + 1 WHERE subscription_id = $1 AND last_error <> ''",
            self.sql.now_ms()
        );
        let retry = sqlx::query(AssertSqlSafe(text)).bind(id.as_str());
        Ok(retry.execute(&mut **tx).await?.rows_affected())
    }

    /// The target wants no more, unless the subscription has changed since this version. Returns whether it is disabled.
    pub async fn disable(&self, of: &Subscription) -> Result<bool, sqlx::Error> {
        let text = "UPDATE subscriptions SET status = 'disabled', version = version + 1 \
                    WHERE id = $1 AND nonce = $2 AND version = $3 AND status = 'running'";
        let update = sqlx::query(text)
            .bind(of.id.as_str())
            .bind(of.nonce.clone())
            .bind(of.version);
        Ok(self.sql.execute(update).await? == 1)
    }

    /// Moves the cursor of a subject back: event `from_n` is delivered next.
    pub async fn replay(
        &self,
        id: &Id,
        kind: KindName,
        subject: &Id,
        from_n: u64,
        by: &Operator,
    ) -> Result<(), StoreError> {
        self.changing(id, by, async |tx, _| {
            let row = self.locked_stream(tx, id, kind, subject).await?;
            if from_n > row.n {
                return Err(StoreError::Beyond(row.n));
            }
            move_to(tx, id, &row, Position { n: from_n, i: 0 }).await?;
            changed(tx, id).await?;
            let (before, after) = (json!({"n": row.n, "i": row.i}), json!({"n": from_n, "i": 0}));
            let of = Some((kind, subject));
            Ok(Some(Audited {
                of,
                ..Audited::new("replay", before, after)
            }))
        })
        .await
    }

    /// Passes one event: the cursor moves from `row`, where it is the next of subscription `of`, to the place after it.
    pub async fn skip(
        &self,
        of: &Subscription,
        row: &StreamRow,
        to: Position,
        event_id: &str,
        reason: &str,
        by: &Operator,
    ) -> Result<(), StoreError> {
        let id = &of.id;
        self.changing(id, by, async |tx, found| {
            let now = self.locked_stream(tx, id, row.kind, &row.id).await?;
            // A change of the types may want more of the event, which must not be passed.
            if found.definition != of.definition || now.position() != row.position() {
                return Err(StoreError::NotNext(None));
            }
            move_to(tx, id, &now, to).await?;
            changed(tx, id).await?;
            let before = json!({"id": event_id, "last_error": now.last_error});
            Ok(Some(Audited {
                of: Some((row.kind, &row.id)),
                reason,
                ..Audited::new("skip", before, Json::Null)
            }))
        })
        .await
    }

    async fn locked(&self, tx: &mut Tx<'static>, id: &Id) -> Result<Option<Subscription>, sqlx::Error> {
        let text = format!("SELECT {COLUMNS} FROM subscriptions WHERE id = $1{}", self.for_update());
        let select = sqlx::query(AssertSqlSafe(text)).bind(id.as_str());
        let row = select.fetch_optional(&mut **tx).await?;
        Ok(row.map(|row| read(&row)).transpose()?.flatten())
    }

    async fn locked_stream(
        &self,
        tx: &mut Tx<'static>,
        id: &Id,
        kind: KindName,
        subject: &Id,
    ) -> Result<StreamRow, StoreError> {
        let text = format!(
            "SELECT {STREAM_COLUMNS} FROM subscription_streams WHERE subscription_id = $1 AND kind = $2 AND id = $3{}",
            self.for_update()
        );
        let select = sqlx::query(AssertSqlSafe(text))
            .bind(id.as_str())
            .bind(kind.as_str())
            .bind(subject.as_str());
        let row = select.fetch_optional(&mut **tx).await?;
        let row = row.map(|row| read_stream(&row)).transpose()?.flatten();
        row.ok_or(StoreError::NoSubject)
    }

    fn for_update(&self) -> &'static str {
        match self.sql.kind() {
            Kind::Sqlite => "",
            Kind::Postgres => " FOR UPDATE",
        }
    }

    async fn check_room(&self, tx: &mut Tx<'static>) -> Result<(), StoreError> {
        let count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM subscriptions")
            .fetch_one(&mut **tx)
            .await?;
        if count >= MAX_SUBSCRIPTIONS {
            return Err(StoreError::TooMany);
        }
        Ok(())
    }

    /// Whether the subscription `b` has the subject of the stream `s`, as an SQL expression. The texts of `b.subjects` are
    /// JSON without spaces.
    fn has(&self) -> &'static str {
        match self.sql.kind() {
            Kind::Sqlite => r#"(b.subjects = '["*"]' OR instr(b.subjects, '"' || s.kind || ':' || s.id || '"') > 0)"#,
            Kind::Postgres => {
                r#"(b.subjects = '["*"]' OR strpos(b.subjects, '"' || s.kind || ':' || s.id || '"') > 0)"#
            }
        }
    }

    /// Forgets the subjects that the subscription does not have any more.
    async fn drop_others(&self, tx: &mut Tx<'static>, of: &Subscription) -> Result<(), sqlx::Error> {
        if of.definition.has_all() {
            return Ok(());
        }
        let text = format!(
            "DELETE FROM subscription_streams WHERE subscription_id = $1 AND NOT EXISTS (SELECT 1 FROM subscriptions AS b, \
             streams AS s WHERE b.id = $1 AND s.kind = subscription_streams.kind AND s.id = subscription_streams.id AND {})",
            self.has()
        );
        let delete = sqlx::query(AssertSqlSafe(text)).bind(of.id.as_str());
        delete.execute(&mut **tx).await.map(drop)
    }

    /// Adds the subjects that are in the ledger and new to the subscription.
    async fn add_streams(&self, tx: &mut Tx<'static>, of: &Subscription, begin: Begin) -> Result<(), sqlx::Error> {
        let n = match begin {
            Begin::Now => "s.n + 1",
            Begin::Beginning => "1",
        };
        let text = format!(
            "{} AND b.id = $1 ON CONFLICT (subscription_id, kind, id) DO NOTHING",
            self.adding(n)
        );
        let insert = sqlx::query(AssertSqlSafe(text)).bind(of.id.as_str());
        insert.execute(&mut **tx).await.map(drop)
    }

    /// The begin of a statement that adds subjects. A token begins with the time, so that no token of a subscription of
    /// the same id before is ever used again.
    fn adding(&self, n: &str) -> String {
        format!(
            "INSERT INTO subscription_streams (subscription_id, {STREAM_COLUMNS}, holder) \
             SELECT b.id, s.kind, s.id, {n}, 0, {} * 1000, 0, 0, 0, '', '' FROM subscriptions AS b, streams AS s WHERE {}",
            self.sql.now_ms(),
            self.has()
        )
    }

    /// Adds subjects that have appeared since: they begin with their first event. Returns whether there were any.
    pub async fn add_new_streams(&self) -> Result<bool, sqlx::Error> {
        let missing = "NOT EXISTS (SELECT 1 FROM subscription_streams AS t WHERE t.subscription_id = b.id AND t.kind = s.kind \
                       AND t.id = s.id)";
        // A transaction that writes nothing would still wait for others.
        let look = format!(
            "SELECT CAST(1 AS BIGINT) FROM subscriptions AS b, streams AS s WHERE {} AND {missing} LIMIT 1",
            self.has()
        );
        let found: Option<i64> = self
            .sql
            .reading(sqlx::query_scalar(AssertSqlSafe(look)).fetch_optional(self.sql.reader()))
            .await?;
        if found.is_none() {
            return Ok(false);
        }
        let text = format!(
            "{} AND {missing} ON CONFLICT (subscription_id, kind, id) DO NOTHING",
            self.adding("1")
        );
        self.sql.execute(sqlx::query(AssertSqlSafe(text))).await.map(|_| true)
    }

    /// Adds a row of the audit trail.
    async fn audit(&self, tx: &mut Tx<'static>, id: &Id, by: &Operator, row: Audited<'_>) -> Result<(), sqlx::Error> {
        let subject = format!("{AUDITED_AS}{id}");
        let of = row.of.map(|(kind, of)| format!("{subject}/{kind}:{of}"));
        let target = of.unwrap_or_else(|| subject.clone());
        let n: i64 = sqlx::query_scalar("SELECT COALESCE(MAX(n), 0) + 1 FROM audit WHERE subject = $1")
            .bind(subject.clone())
            .fetch_one(&mut **tx)
            .await?;
        let text = format!(
            "INSERT INTO audit (subject, n, at_ms, who, action, target, before, after, reason, request_id) \
             VALUES ($1, $2, {}, $3, $4, $5, $6, $7, $8, $9)",
            self.sql.now_ms()
        );
        let insert = sqlx::query(AssertSqlSafe(text))
            .bind(subject)
            .bind(n)
            .bind(by.who.clone())
            .bind(row.action)
            .bind(target)
            .bind(row.before.to_string())
            .bind(row.after.to_string())
            .bind(row.reason.to_owned())
            .bind(by.request_id.clone());
        insert.execute(&mut **tx).await.map(drop)
    }
}

fn new_nonce() -> Result<String, RandomError> {
    Ok(hex::encode(random::bytes::<16>()?))
}

/// Adds its row. Returns whether there was none.
async fn make(tx: &mut Tx<'static>, of: &Subscription) -> Result<bool, sqlx::Error> {
    let insert = "INSERT INTO subscriptions (target, types, subjects, begins, version, nonce, secret_id, id, status) \
                  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (id) DO NOTHING";
    let insert = bound(insert, of).bind(of.status.as_str());
    Ok(insert.execute(&mut **tx).await?.rows_affected() == 1)
}

/// Changes its row, but not its status.
async fn change(tx: &mut Tx<'static>, of: &Subscription) -> Result<(), sqlx::Error> {
    let update = "UPDATE subscriptions SET target = $1, types = $2, subjects = $3, begins = $4, version = $5, nonce = $6, \
                  secret_id = $7 WHERE id = $8";
    bound(update, of).execute(&mut **tx).await.map(drop)
}

/// A statement with the definition, version and key of a subscription, and its id.
fn bound<'q>(text: &'static str, of: &'q Subscription) -> Query<'q, Any, AnyArguments> {
    let document = of.definition.document();
    sqlx::query(text)
        .bind(json!(document.target).to_string())
        .bind(json!(document.types).to_string())
        .bind(json!(document.subjects).to_string())
        .bind(document.from.as_str())
        .bind(of.version)
        .bind(of.nonce.as_str())
        .bind(of.secret_id.as_str())
        .bind(of.id.as_str())
}

/// Returns what the audit trail says of it.
async fn set_status(
    tx: &mut Tx<'static>,
    of: &Subscription,
    status: Status,
    action: &'static str,
) -> Result<Audited<'static>, sqlx::Error> {
    let update = sqlx::query("UPDATE subscriptions SET status = $1, version = version + 1 WHERE id = $2")
        .bind(status.as_str())
        .bind(of.id.as_str());
    update.execute(&mut **tx).await?;
    Ok(Audited::new(action, json!(of.status.as_str()), json!(status.as_str())))
}

/// Every instance looks at the rows of a subscription again whose version has changed.
async fn changed(tx: &mut Tx<'static>, id: &Id) -> Result<(), sqlx::Error> {
    let update = sqlx::query("UPDATE subscriptions SET version = version + 1 WHERE id = $1").bind(id.as_str());
    update.execute(&mut **tx).await.map(drop)
}

async fn move_to(tx: &mut Tx<'static>, id: &Id, row: &StreamRow, to: Position) -> Result<(), sqlx::Error> {
    let number = |of: u64| i64::try_from(of).unwrap_or(i64::MAX);
    let text = "UPDATE subscription_streams SET n = $1, i = $2, token = token + 1, holder = '', tries = 0, failing_ms = 0, \
                next_try_ms = 0, last_error = '' WHERE subscription_id = $3 AND kind = $4 AND id = $5";
    let update = sqlx::query(text)
        .bind(number(to.n))
        .bind(number(to.i))
        .bind(id.as_str())
        .bind(row.kind.as_str())
        .bind(row.id.as_str());
    update.execute(&mut **tx).await.map(drop)
}

/// `None` for a row that a later version of the program wrote.
fn read(row: &AnyRow) -> Result<Option<Subscription>, sqlx::Error> {
    let text = |column: &str| row.try_get::<String, _>(column);
    let document = || -> Result<Option<SubscriptionDocument>, sqlx::Error> {
        let (target, types, subjects) = (text("target")?, text("types")?, text("subjects")?);
        let begins = Begin::parse(text("begins")?.as_str()).unwrap_or_default();
        let parsed = || {
            Some(SubscriptionDocument {
                target: serde_json::from_str(&target).ok()?,
                types: serde_json::from_str(&types).ok()?,
                subjects: serde_json::from_str(&subjects).ok()?,
                from: begins,
            })
        };
        Ok(parsed())
    };
    let (id, document) = (Id::parse(&text("id")?).ok(), document()?);
    let Some((id, definition)) = id.zip(document.and_then(Definition::stored)) else {
        return Ok(None);
    };
    Ok(Some(Subscription {
        id,
        definition,
        status: Status::parse(&text("status")?).unwrap_or(Status::Running),
        version: row.try_get("version")?,
        nonce: text("nonce")?,
        secret_id: text("secret_id")?,
    }))
}

/// `None` for a kind that this program does not have.
pub(super) fn read_stream(row: &AnyRow) -> Result<Option<StreamRow>, sqlx::Error> {
    let number = |column: &str| row.try_get::<i64, _>(column);
    let kind = KindName::parse(row.try_get("kind")?);
    let Some((kind, id)) = kind.zip(Id::parse(row.try_get("id")?).ok()) else {
        return Ok(None);
    };
    Ok(Some(StreamRow {
        kind,
        id,
        n: number("n")?.unsigned_abs(),
        i: number("i")?.unsigned_abs(),
        token: number("token")?,
        tries: u32::try_from(number("tries")?).unwrap_or(u32::MAX),
        failing_ms: number("failing_ms")?,
        next_try_ms: number("next_try_ms")?,
        last_error: row.try_get("last_error")?,
    }))
}

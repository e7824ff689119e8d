//! Positions and leases of lanes in SQL. A lane has a row; an instance has one in `holders`, which it renews for all its lanes.

use sqlx::{AssertSqlSafe, Row as _};

use jackpot_kernel::sql::{Lease, Sql};

/// The position of a lane before its first message.
const NONE: i64 = -1;

/// The lanes of a topic.
#[derive(Debug, Clone)]
pub(super) struct Positions {
    pub sql: Sql,
    /// The setting `intake.group`.
    pub group: String,
    /// Connection, `/`, topic.
    pub topic: String,
    /// Instances with the same topic and group share its lanes.
    pub lease: Lease,
}

/// A lane's row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub lane: String,
    /// The first message that may not be done.
    pub position: Option<i64>,
    pub token: i64,
    /// No other instance takes its messages.
    pub is_free: bool,
    /// If its instance did not give it back: how old the effects of messages at and after the position can be, in ms.
    pub left_ms: Option<i64>,
}

/// The lanes, and the instances that share them.
#[derive(Debug)]
pub(super) struct Look {
    pub rows: Vec<Row>,
    pub instances: usize,
}

impl Positions {
    /// The lanes of a topic for a group. The topic is connection, `/`, topic.
    pub(super) fn of(sql: Sql, group: &str, topic: String, instance: &str, lease_ms: u64) -> Self {
        let lease = Lease::of(format!("intake:{group}:{topic}"), instance, lease_ms);
        let group = group.to_owned();
        Self {
            sql,
            group,
            topic,
            lease,
        }
    }

    /// Renews the leases of this instance.
    pub(super) async fn renew(&self) -> Result<(), sqlx::Error> {
        self.lease.renew(&self.sql).await
    }

    /// Adds rows of lanes that have none.
    pub(super) async fn add(&self, lanes: &[String]) -> Result<(), sqlx::Error> {
        let work = async {
            let mut tx = self.sql.begin().await?;
            for lane in lanes {
                let text = "INSERT INTO intake_lanes (name, topic, lane, position, holder, token, since_ms) \
                            VALUES ($1, $2, $3, $4, '', 0, 0) ON CONFLICT DO NOTHING";
                let insert = sqlx::query(text).bind(&self.group).bind(&self.topic).bind(lane);
                insert.bind(NONE).execute(&mut *tx).await?;
            }
            tx.commit().await
        };
        self.sql.writing(work).await
    }

    /// All lanes that have a row.
    pub(super) async fn look(&self) -> Result<Look, sqlx::Error> {
        let alive = self.sql.alive("$1");
        let text = format!(
            "SELECT lane, position, token, holder, {} - since_ms AS left_ms, \
             CAST(CASE WHEN holder = '' OR holder = $2 OR holder NOT IN ({alive}) THEN 1 ELSE 0 END AS BIGINT) AS is_free \
             FROM intake_lanes WHERE name = $3 AND topic = $4 ORDER BY lane",
            self.sql.now_ms()
        );
        let select = sqlx::query(AssertSqlSafe(text))
            .bind(&self.lease.kind)
            .bind(&self.lease.instance)
            .bind(&self.group)
            .bind(&self.topic);
        let found = self.sql.reading(select.fetch_all(self.sql.reader())).await?;
        let mut rows = Vec::with_capacity(found.len());
        for row in &found {
            let position: i64 = row.try_get("position")?;
            let holder: String = row.try_get("holder")?;
            let left_ms: i64 = row.try_get("left_ms")?;
            rows.push(Row {
                lane: row.try_get("lane")?,
                position: (position != NONE).then_some(position),
                token: row.try_get("token")?,
                is_free: row.try_get::<i64, _>("is_free")? == 1,
                left_ms: (!holder.is_empty()).then_some(left_ms),
            });
        }
        let count = format!("SELECT COUNT(*) FROM ({alive}) AS alive");
        let count = sqlx::query_scalar(AssertSqlSafe(count)).bind(&self.lease.kind);
        let instances: i64 = self.sql.reading(count.fetch_one(self.sql.reader())).await?;
        Ok(Look {
            rows,
            instances: usize::try_from(instances).unwrap_or(0).max(1),
        })
    }

    /// Takes a lane that was free. Returns its new token, unless another instance was first.
    pub(super) async fn take(&self, row: &Row) -> Result<Option<i64>, sqlx::Error> {
        let text = "UPDATE intake_lanes SET holder = $1, token = token + 1 \
                    WHERE name = $2 AND topic = $3 AND lane = $4 AND token = $5";
        let update = sqlx::query(text)
            .bind(&self.lease.instance)
            .bind(&self.group)
            .bind(&self.topic)
            .bind(&row.lane)
            .bind(row.token);
        let taken = self.sql.execute(update).await? == 1;
        Ok(taken.then_some(row.token + 1))
    }

    /// Moves the position of a lane, and gives the lane back if it `ends`. `age_ms`: how old the effects of messages at and after
    /// the position can be. Returns whether the token is in force: otherwise
    /// another instance has the lane. The commit does not wait for the disk: a failure of power repeats messages.
    pub(super) async fn save(
        &self,
        lane: &str,
        token: i64,
        position: Option<i64>,
        age_ms: i64,
        ends: bool,
    ) -> Result<bool, sqlx::Error> {
        let text = format!(
            "UPDATE intake_lanes SET position = $1, holder = $2, since_ms = {} - $7 \
             WHERE name = $3 AND topic = $4 AND lane = $5 AND token = $6",
            self.sql.now_ms()
        );
        let update = sqlx::query(AssertSqlSafe(text))
            .bind(position.unwrap_or(NONE))
            .bind(if ends { "" } else { &self.lease.instance })
            .bind(&self.group)
            .bind(&self.topic)
            .bind(lane)
            .bind(token)
            .bind(age_ms);
        let work = async {
            let mut tx = self.sql.begin_hasty().await?;
            let done = update.execute(&mut *tx).await?;
            tx.commit().await?;
            Ok::<_, sqlx::Error>(done.rows_affected() == 1)
        };
        self.sql.writing(work).await
    }

    /// This instance takes no messages any more: what it still holds is free.
    pub(super) async fn leave(&self) -> Result<(), sqlx::Error> {
        self.sql.execute(self.lease.end(&self.sql)).await.map(drop)
    }
}

//! The store that the ledger in this database belongs to, and the instance that writes for it (promise 15).

use sqlx::Row;
use uuid::Uuid;

use super::Sql;

/// The store as recorded in SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InSql {
    /// The store; `None` before the first start that names one.
    pub store: Option<Uuid>,
    /// Whether the ledger has any event.
    pub has_events: bool,
}

impl Sql {
    /// The store that this instance writes for; `None` before the ledger has claimed its store.
    pub fn owner(&self) -> Option<Uuid> {
        self.owner.get().copied()
    }

    /// From now on this instance writes for that store alone. Only the first call has an effect: an instance never
    /// changes its store.
    pub fn own(&self, store: Uuid) {
        if *self.owner.get_or_init(|| store) != store {
            tracing::error!(%store, "this instance writes for another store already");
        }
    }

    /// The store that the ledger belongs to, and whether the ledger has any event.
    pub async fn store(&self) -> Result<InSql, sqlx::Error> {
        let text = "SELECT store_id, CASE WHEN EXISTS (SELECT 1 FROM streams WHERE n > 0) THEN 1 ELSE 0 END AS used \
                    FROM ledger WHERE one = 1";
        let row = sqlx::query(text).fetch_one(&self.reader);
        let row = self.reading(row).await?;
        let (store, used): (String, i64) = (row.try_get("store_id")?, row.try_get("used")?);
        Ok(InSql {
            store: store.parse().ok(),
            has_events: used == 1,
        })
    }

    /// Sets the store that the ledger belongs to, if it is still `from`: compare and set. Ends all leases, because
    /// their holders can write nothing more. Returns whether it was set.
    ///
    /// # Errors
    /// Also when a transaction of the old pair does not end in time.
    pub async fn name_store(&self, from: Option<Uuid>, to: Uuid) -> Result<bool, sqlx::Error> {
        let work = async {
            let mut tx = self.begin_unchecked().await?;
            let named = sqlx::query("UPDATE ledger SET store_id = $1 WHERE one = 1 AND store_id = $2")
                .bind(to.to_string())
                .bind(from.map_or_else(String::new, |id| id.to_string()))
                .execute(&mut *tx)
                .await?;
            if named.rows_affected() == 0 {
                return Ok(false);
            }
            let release = "UPDATE streams SET holder = '', lease_token = lease_token + 1 WHERE holder <> ''";
            sqlx::query(release).execute(&mut *tx).await?;
            tx.commit().await?;
            Ok(true)
        };
        self.writing(work).await
    }
}

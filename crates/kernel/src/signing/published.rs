//! The public keys in the ledger. A receipt stays verifiable long after the seed that signed it is deleted.

use jackpot_core::signing::PublicKey;
use sqlx::AssertSqlSafe;

use super::store::SigningKeys;
use crate::sql::Sql;

/// Most keys that are read: far more than are ever created. It bounds the answer when the table is too full.
const MAX_PUBLISHED: i64 = 10_000;

/// A public key in the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    pub key: PublicKey,
    /// When it stopped signing, in ms of the database's clock. `None`: it still signs, or the time is unknown.
    pub retired_ms: Option<i64>,
}

/// Adds missing public keys to the ledger, and marks the keys that no longer sign. Call it before any key signs.
pub async fn publish(sql: &Sql, keys: &SigningKeys) -> Result<(), sqlx::Error> {
    publish_all(sql, &keys.public(), &[]).await
}

/// `keys`: the signing key first. `gone`: keys that signed until now.
pub(super) async fn publish_all(sql: &Sql, keys: &[PublicKey], gone: &[PublicKey]) -> Result<(), sqlx::Error> {
    let insert = format!(
        "INSERT INTO signing_keys (key_id, public_key, first_seen_ms) VALUES ($1, $2, {}) ON CONFLICT (key_id) DO NOTHING",
        sql.now_ms()
    );
    let mut transaction = sql.begin().await?;
    for key in keys {
        sqlx::query(AssertSqlSafe(insert.as_str()))
            .bind(key.id())
            .bind(key.x())
            .execute(&mut *transaction)
            .await?;
    }
    let retire = format!(
        "UPDATE signing_keys SET retired_ms = {} WHERE key_id = $1 AND retired_ms IS NULL",
        sql.now_ms()
    );
    for key in keys.iter().skip(1).chain(gone) {
        sqlx::query(AssertSqlSafe(retire.as_str()))
            .bind(key.id())
            .execute(&mut *transaction)
            .await?;
    }
    // A retired key may sign again.
    if let Some(signs) = keys.first() {
        sqlx::query("UPDATE signing_keys SET retired_ms = NULL WHERE key_id = $1 AND retired_ms IS NOT NULL")
            .bind(signs.id())
            .execute(&mut *transaction)
            .await?;
    }
    transaction.commit().await
}

/// All public keys in the ledger, newest first.
///
/// # Errors
/// The database's error, or a row without a valid public key or with another key id.
pub async fn published(sql: &Sql) -> Result<Vec<PublicKey>, sqlx::Error> {
    Ok(all_published(sql).await?.into_iter().map(|one| one.key).collect())
}

/// All public keys in the ledger, with the time when each stopped signing.
///
/// # Errors
/// The same as for [`published`].
pub async fn all_published(sql: &Sql) -> Result<Vec<Published>, sqlx::Error> {
    let rows: Vec<(String, String, Option<i64>)> = sqlx::query_as(
        "SELECT key_id, public_key, retired_ms FROM signing_keys ORDER BY first_seen_ms DESC, key_id LIMIT $1",
    )
    .bind(MAX_PUBLISHED)
    .fetch_all(sql.reader())
    .await?;
    rows.into_iter()
        .map(|(id, x, retired_ms)| match PublicKey::parse(&x) {
            Ok(key) if key.id() == id => Ok(Published { key, retired_ms }),
            Ok(_) => Err(format!("signing_keys: {id} is not the thumbprint of its key")),
            Err(error) => Err(format!("signing_keys: {id}: {error}")),
        })
        .collect::<Result<_, _>>()
        .map_err(|text| sqlx::Error::Decode(text.into()))
}

//! The public keys in the ledger: a receipt stays checkable when the seed that signed it is long gone.

use jackpot_core::signing::PublicKey;
use sqlx::AssertSqlSafe;

use super::store::SigningKeys;
use crate::sql::Sql;

/// Keys that are read: far more than are ever made, so that a full table can't make the answer endless.
const MAX_PUBLISHED: i64 = 10_000;

/// A public key that the ledger has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// The key.
    pub key: PublicKey,
    /// Since when it signs no more, in ms of the database's clock; `None` while it does, or as far as is known.
    pub retired_ms: Option<i64>,
}

/// Puts the public keys into the ledger that it does not have yet, and which of them sign no more. Before any signs.
pub async fn publish(sql: &Sql, keys: &SigningKeys) -> Result<(), sqlx::Error> {
    publish_all(sql, &keys.public(), &[]).await
}

/// `keys`: the one that signs first. `gone`: others that did until now.
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
    // One that was put back.
    if let Some(signs) = keys.first() {
        sqlx::query("UPDATE signing_keys SET retired_ms = NULL WHERE key_id = $1 AND retired_ms IS NOT NULL")
            .bind(signs.id())
            .execute(&mut *transaction)
            .await?;
    }
    transaction.commit().await
}

/// All public keys that the ledger has, the newest first.
///
/// # Errors
/// The database's, or a row that holds no public key or one of another name.
pub async fn published(sql: &Sql) -> Result<Vec<PublicKey>, sqlx::Error> {
    Ok(all_published(sql).await?.into_iter().map(|one| one.key).collect())
}

/// The same, and since when each signs no more.
///
/// # Errors
/// As of [`published`].
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

//! The public keys in the ledger: a receipt stays checkable when the seed that signed it is long gone.

use sqlx::AssertSqlSafe;

use super::key::PublicKey;
use super::store::SigningKeys;
use crate::ledger::sql::Sql;

/// Keys that are read: far more than are ever made, so that a full table can't make the answer endless.
const MAX_PUBLISHED: i64 = 10_000;

/// Puts the public keys into the ledger that it does not have yet. Before any of them signs.
pub async fn publish(sql: &Sql, keys: &SigningKeys) -> Result<(), sqlx::Error> {
    publish_all(sql, &keys.public()).await
}

pub(super) async fn publish_all<'k>(
    sql: &Sql,
    keys: impl IntoIterator<Item = &'k PublicKey>,
) -> Result<(), sqlx::Error> {
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
    transaction.commit().await
}

/// All public keys that the ledger has, the newest first.
///
/// # Errors
/// The database's, or a row that holds no public key or one of another name.
pub async fn published(sql: &Sql) -> Result<Vec<PublicKey>, sqlx::Error> {
    let rows: Vec<(String, String)> =
        sqlx::query_as("SELECT key_id, public_key FROM signing_keys ORDER BY first_seen_ms DESC, key_id LIMIT $1")
            .bind(MAX_PUBLISHED)
            .fetch_all(sql.reader())
            .await?;
    rows.into_iter()
        .map(|(id, x)| match PublicKey::parse(&x) {
            Ok(key) if key.id() == id => Ok(key),
            Ok(_) => Err(format!("signing_keys: {id} is not the thumbprint of its key")),
            Err(error) => Err(format!("signing_keys: {id}: {error}")),
        })
        .collect::<Result<_, _>>()
        .map_err(|text| sqlx::Error::Decode(text.into()))
}

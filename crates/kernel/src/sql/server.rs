//! What a PostgreSQL must be: its texts are Unicode, and a connection keeps its session.

use sqlx::any::AnyConnectOptions;
use sqlx::{AnyConnection, Connection, Executor, Row};

use super::SqlError;
use super::schema::sql;

/// Looks at two connections. One is enough in a quiet pool; other clients may take the one that was looked at.
const LOOKS: usize = 3;

/// Checks both, and sends nothing that a connection would keep.
pub(super) async fn check(options: &AnyConnectOptions, place: &str) -> Result<(), SqlError> {
    let mut one = AnyConnection::connect_with(options).await.map_err(sql(place))?;
    let found: String = text(&mut one, "SHOW server_encoding").await.map_err(sql(place))?;
    if found != "UTF8" {
        let place = place.to_owned();
        return Err(SqlError::Encoding { place, found });
    }
    let mut other = AnyConnection::connect_with(options).await.map_err(sql(place))?;
    let is_shared = is_shared(&mut one, &mut other).await.map_err(sql(place))?;
    for connection in [one, other] {
        connection.close().await.map_err(sql(place))?;
    }
    if is_shared {
        let place = place.to_owned();
        return Err(SqlError::Pooled { place });
    }
    Ok(())
}

/// Whether both are served by the same process, or one by several: a pooler in the mode `transaction` or `statement`.
async fn is_shared(one: &mut AnyConnection, other: &mut AnyConnection) -> Result<bool, sqlx::Error> {
    let first = process(one).await?;
    for _ in 0..LOOKS {
        if process(other).await? == first || process(one).await? != first {
            return Ok(true);
        }
    }
    Ok(false)
}

async fn process(connection: &mut AnyConnection) -> Result<String, sqlx::Error> {
    text(connection, "SELECT CAST(pg_backend_pid() AS TEXT)").await
}

/// Without a prepared statement.
async fn text(connection: &mut AnyConnection, query: &'static str) -> Result<String, sqlx::Error> {
    connection.fetch_one(query).await?.try_get(0)
}

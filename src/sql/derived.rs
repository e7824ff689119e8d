//! Tables that are made again from others when they are missing or empty. They are no part of the schema's version: a
//! program that does not know them works beside one that does, and a ledger can go back to it.

use sqlx::{AnyConnection, Executor};

/// The tables, with the statement that creates each.
const TABLES: [(&str, &str); 1] = [(STEPS.0, CREATE_STEPS)];

/// The steps of meters' histories (`jackpot::ledger::steps`), and its columns: name, and whether it is a text.
pub const STEPS: (&str, [(&str, bool); 5]) = (
    "meter_steps",
    [
        ("jackpot_id", true),
        // 60, 3600 or 86400
        ("step_s", false),
        // begin in UTC, seconds since 1970
        ("at_s", false),
        // last event of the step
        ("n", false),
        // JSON: the pool of each tier after that event, minor units
        ("pools", true),
    ],
);

const CREATE_STEPS: &str = "CREATE TABLE meter_steps (jackpot_id TEXT NOT NULL, step_s BIGINT NOT NULL, at_s BIGINT NOT NULL, \
     n BIGINT NOT NULL, pools TEXT NOT NULL, PRIMARY KEY (jackpot_id, step_s, at_s))";

/// Creates those that are missing. The caller holds the lock of migrations.
pub(super) async fn make(connection: &mut AnyConnection) -> Result<(), sqlx::Error> {
    for (name, create) in TABLES {
        // A user without the right to create tables may still use those that are there.
        if !is_there(connection, name).await? {
            connection.execute(create).await?;
        }
    }
    Ok(())
}

/// Whether a database has this table.
pub(super) async fn is_there(connection: &mut AnyConnection, table: &str) -> Result<bool, sqlx::Error> {
    let text = if connection.backend_name() == "SQLite" {
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name = $1"
    } else {
        "SELECT 'found' WHERE to_regclass($1) IS NOT NULL"
    };
    let found: Option<String> = sqlx::query_scalar(text).bind(table).fetch_optional(connection).await?;
    Ok(found.is_some())
}

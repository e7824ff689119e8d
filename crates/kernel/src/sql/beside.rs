//! Tables that an earlier program does not have (`migrations/beside.sql`). They are created where they are missing, and are no
//! part of the schema's version: so an earlier program works beside this one, and a ledger can go back to it.

use sqlx::{AnyConnection, Executor};

const TABLES: &str = include_str!("../../../../migrations/beside.sql");

/// Tables whose rows no copy of the ledger carries: a copy is another service, where no session of this one counts.
pub(super) const NOT_COPIED: [&str; 1] = ["console_signed_out"];

const CREATE: &str = "CREATE TABLE ";

/// Each table: its name, and the statements that make it.
fn tables() -> impl Iterator<Item = (&'static str, &'static str)> {
    TABLES.split("\n\n").filter_map(|text| {
        let (_, from_name) = text.split_once(CREATE)?;
        Some((from_name.split_once(' ')?.0, text))
    })
}

/// Whether an earlier program lacks this table.
pub(super) fn has(table: &str) -> bool {
    tables().any(|(name, _)| name == table)
}

/// Creates the missing tables, under the lock of migrations.
pub(super) async fn make(connection: &mut AnyConnection) -> Result<(), sqlx::Error> {
    for (name, create) in tables() {
        // A user without the right to create tables may use existing ones.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_of_the_file_makes_one_table_that_its_other_statements_are_about() {
        let parts: Vec<_> = tables().collect();
        assert_eq!(parts.len(), TABLES.matches(CREATE).count());
        for (name, create) in parts {
            let statements = create
                .lines()
                .filter(|line| line.starts_with("CREATE") || line.starts_with("INSERT"));
            for statement in statements {
                assert!(statement.contains(&format!(" {name} (")), "{name}: {statement}");
            }
        }
        assert!(NOT_COPIED.into_iter().all(has) && has("intake_lanes") && !has("events"));
    }
}

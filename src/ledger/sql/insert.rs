//! Many rows in few statements.

use sqlx::AssertSqlSafe;

use super::Tx;

/// A value of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    /// Of a TEXT column.
    Text(&'a str),
    /// Of a BIGINT column.
    Int(i64),
}

/// Rows per statement. Fixed, so that a table has few statement texts and all stay prepared; more rows gain nothing
/// (measured: docs/ledger.md).
const CHUNKS: [usize; 3] = [64, 8, 1];

/// Inserts rows into `table`: `values` holds them one after the other, each in the order of `columns`. A row whose key
/// is there already is an error.
///
/// # Panics
/// When `values` is no whole number of rows. `table` and `columns` become part of the statement: they are names written
/// in this program, never input.
pub async fn insert_rows(
    tx: &mut Tx<'_>,
    table: &str,
    columns: &[&str],
    values: &[Value<'_>],
) -> Result<(), sqlx::Error> {
    assert!(values.len().is_multiple_of(columns.len()), "whole rows");
    let mut rest = values;
    for rows in CHUNKS {
        let size = rows * columns.len();
        if rest.len() < size {
            continue;
        }
        let text = statement(table, columns, rows);
        while rest.len() >= size {
            let (chunk, after) = rest.split_at(size);
            rest = after;
            let mut query = sqlx::query(AssertSqlSafe(text.clone()));
            for value in chunk {
                query = match *value {
                    Value::Text(text) => query.bind(text),
                    Value::Int(number) => query.bind(number),
                };
            }
            query.execute(&mut **tx).await?;
        }
    }
    Ok(())
}

fn statement(table: &str, columns: &[&str], rows: usize) -> String {
    let mut text = format!("INSERT INTO {table} ({}) VALUES ", columns.join(", "));
    let mut number = 0;
    for row in 0..rows {
        text.push_str(if row == 0 { "(" } else { ", (" });
        for column in 0..columns.len() {
            number += 1;
            if column > 0 {
                text.push_str(", ");
            }
            text.push('$');
            text.push_str(&number.to_string());
        }
        text.push(')');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_numbers_its_values() {
        assert_eq!(
            statement("t", &["a", "b"], 2),
            "INSERT INTO t (a, b) VALUES ($1, $2), ($3, $4)"
        );
    }
}

//! Inserts and changes many rows with few statements.

use jackpot_core::ids::{Id, PersonId};
use jackpot_core::text::storable;
use sqlx::any::AnyArguments;
use sqlx::{Arguments, AssertSqlSafe};

use super::Tx;

/// A value of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    /// For a TEXT column; stored as by [`storable`].
    Text(&'a str),
    /// For a TEXT column with the same word in all rows: it is part of the statement, which costs less than a value. It
    /// must be written in this program.
    Word(&'static str),
    /// For a BIGINT column.
    Int(i64),
    /// NULL in a TEXT column.
    NoText,
    /// NULL in a BIGINT column.
    NoInt,
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a Id> for Value<'a> {
    fn from(id: &'a Id) -> Self {
        Self::Text(id.as_str())
    }
}

impl<'a> From<&'a PersonId> for Value<'a> {
    fn from(id: &'a PersonId) -> Self {
        Self::Text(id.as_str())
    }
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<i32> for Value<'_> {
    fn from(number: i32) -> Self {
        Self::Int(number.into())
    }
}

impl From<u32> for Value<'_> {
    fn from(number: u32) -> Self {
        Self::Int(number.into())
    }
}

impl From<u64> for Value<'_> {
    fn from(number: u64) -> Self {
        Self::Int(int(number))
    }
}

impl<N: Into<Self>> From<Option<N>> for Value<'_> {
    fn from(number: Option<N>) -> Self {
        number.map_or(Self::NoInt, Into::into)
    }
}

/// A number for a BIGINT column: numbers of events, sequences and amounts are all below 2^53.
pub fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A value with the name of its column.
pub type Cell<'a> = (&'static str, Value<'a>);

/// The cells of a row: `cells! { n: event.n, at_ms: 5, hash: &hash }`. All rows of a statement have the same columns.
#[macro_export]
macro_rules! cells {
    ($($column:ident: $value:expr),+ $(,)?) => {
        [$((stringify!($column), $crate::sql::Value::from($value))),+]
    };
}

/// Rows per statement. Fixed sizes, so that a table has few statement texts and all stay prepared. Measured with rows
/// of 8 columns: one row per statement is 4 to 10 times slower than 32, and more than 128 gain nothing on PostgreSQL.
/// On SQLite each statement costs two switches between threads. SQLite allows up to 32,766 values.
const CHUNKS: [usize; 5] = [512, 128, 16, 4, 1];

/// Inserts rows into one table. A row whose key exists already is an error.
pub async fn insert<'a, const N: usize>(
    tx: &mut Tx<'_>,
    table: &str,
    rows: impl Iterator<Item = [Cell<'a>; N]>,
) -> Result<(), sqlx::Error> {
    let (columns, values) = apart(rows);
    insert_rows(tx, table, &columns, &values).await
}

/// The columns of these rows, and their values one row after the other.
fn apart<'a, const N: usize>(rows: impl Iterator<Item = [Cell<'a>; N]>) -> ([&'static str; N], Vec<Value<'a>>) {
    let (mut columns, mut values) = ([""; N], Vec::with_capacity(rows.size_hint().0 * N));
    for row in rows {
        columns = row.map(|(column, _)| column);
        values.extend(row.map(|(_, value)| value));
    }
    (columns, values)
}

/// Inserts rows whose columns are known only at run time. `values` holds the rows one after the other, each in the order of `columns`. A row whose
/// key exists already is an error.
///
/// # Panics
/// If `values` does not hold a whole number of rows. `table` and `columns` become part of the statement: they must be
/// names written in this program, never input.
pub async fn insert_rows(
    tx: &mut Tx<'_>,
    table: &str,
    columns: &[&str],
    values: &[Value<'_>],
) -> Result<(), sqlx::Error> {
    let before = format!("INSERT INTO {table} ({}) VALUES ", columns.join(", "));
    with_rows(tx, &before, "", columns.len(), values).await.map(drop)
}

/// Inserts rows, or changes those whose key exists already: `on_conflict` says how. No two rows may have the same key.
///
/// # Panics
/// The same as for [`insert_rows`], also of `on_conflict`.
pub async fn upsert<'a, const N: usize>(
    tx: &mut Tx<'_>,
    table: &str,
    on_conflict: &str,
    rows: impl Iterator<Item = [Cell<'a>; N]>,
) -> Result<(), sqlx::Error> {
    let (columns, values) = apart(rows);
    let before = format!("INSERT INTO {table} ({}) VALUES ", columns.join(", "));
    let after = format!(" ON CONFLICT {on_conflict}");
    with_rows(tx, &before, &after, N, &values).await.map(drop)
}

/// Changes rows of `table` by an `UPDATE` that reads `given`, a table of these rows: `set` and `which` are its parts.
/// Returns the number of changed rows.
///
/// # Panics
/// The same as for [`insert_rows`], also of `set` and `which`.
pub async fn update<'a, const N: usize>(
    tx: &mut Tx<'_>,
    table: &str,
    set: &str,
    which: &str,
    rows: impl Iterator<Item = [Cell<'a>; N]>,
) -> Result<u64, sqlx::Error> {
    let (columns, values) = apart(rows);
    let before = format!("WITH given ({}) AS (VALUES ", columns.join(", "));
    let after = format!(") UPDATE {table} SET {set} FROM given WHERE {which}");
    with_rows(tx, &before, &after, N, &values).await
}

/// Runs statements of some rows each: a text before the rows, and one after them.
async fn with_rows(
    tx: &mut Tx<'_>,
    before: &str,
    after: &str,
    columns: usize,
    values: &[Value<'_>],
) -> Result<u64, sqlx::Error> {
    assert!(values.len().is_multiple_of(columns), "whole rows");
    let numbered = tx.backend_name() != "SQLite";
    let (mut rest, mut changed) = (values, 0);
    for rows in CHUNKS {
        let size = rows * columns;
        if rest.len() < size {
            continue;
        }
        let text = statement(before, after, &values[..columns], rows, numbered);
        while rest.len() >= size {
            let (chunk, others) = rest.split_at(size);
            rest = others;
            let query = sqlx::query_with(AssertSqlSafe(text.clone()), arguments(chunk)?);
            changed += query.execute(&mut **tx).await?.rows_affected();
        }
    }
    Ok(changed)
}

/// All arguments at once: binding them to the query one by one would move the query as many times.
fn arguments(values: &[Value<'_>]) -> Result<AnyArguments, sqlx::Error> {
    let mut arguments = AnyArguments::default();
    arguments.reserve(values.len(), 0);
    for value in values {
        match *value {
            Value::Text(text) => arguments.add(&*storable(text)),
            Value::Word(_) => continue,
            Value::Int(number) => arguments.add(number),
            Value::NoText => arguments.add(None::<&str>),
            Value::NoInt => arguments.add(None::<i64>),
        }
        .map_err(sqlx::Error::Encode)?;
    }
    Ok(arguments)
}

/// `numbered`: placeholders `$1`, as PostgreSQL requires. SQLite treats these as names, and searches its list from the
/// start for each value: with 128 rows of 8 columns a plain `?` is 5 times faster. `row`: any of the rows.
fn statement(before: &str, after: &str, row: &[Value<'_>], rows: usize, numbered: bool) -> String {
    let mut text = before.to_owned();
    let mut number = 0;
    for i in 0..rows {
        text.push_str(if i == 0 { "(" } else { ", (" });
        for (column, value) in row.iter().enumerate() {
            if column > 0 {
                text.push_str(", ");
            }
            if let Value::Word(word) = value {
                text.push('\'');
                text.push_str(word);
                text.push('\'');
                continue;
            }
            number += 1;
            if numbered {
                text.push('$');
                text.push_str(&number.to_string());
            } else {
                text.push('?');
            }
        }
        text.push(')');
    }
    text.push_str(after);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_has_a_place_for_each_value() {
        let row = [Value::Int(1), Value::Word("jackpot"), Value::Text("a")];
        let of = |numbered| statement("VALUES ", " RETURNING a", &row, 2, numbered);
        assert_eq!(of(true), "VALUES ($1, 'jackpot', $2), ($3, 'jackpot', $4) RETURNING a");
        assert_eq!(of(false), "VALUES (?, 'jackpot', ?), (?, 'jackpot', ?) RETURNING a");
    }
}

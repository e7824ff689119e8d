//! Reads a page as a range of one index, so that it costs the same wherever it begins.
//!
//! The bounds name every column of the index as one row value, also each column that a filter fixes. The order names
//! them too. Only that index can give this order without sorting, so neither database can choose another one. Filters
//! outside the index are checked row by row, over [`MAX_SCANNED`] rows at most. A page whose rows are rare among
//! millions is shorter than its limit, or empty. Its cursor continues after the last row that was examined.

use sqlx::any::{AnyArguments, AnyRow};
use sqlx::query::Query;
use sqlx::{Any, AnyPool, AssertSqlSafe, Row};

use super::{Key, LedgerError, Value};

/// Rows of the index that one page examines when it has filters outside the index. A page takes some 50 ms at worst,
/// and a thousand of them pass ten million rows.
pub const MAX_SCANNED: u32 = 10_000;

/// Factor of [`MAX_SCANNED`]: most rows of one time at the end of a page with [`Scan::within`], such as batches of a
/// player.
const TIES: u32 = 10;

/// Which end of the range comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The oldest row. The range excludes both ends.
    OldestFirst,
    /// The newest row. The range includes its low end.
    NewestFirst,
}

/// A range of an index, and what to read from it.
#[derive(Debug, Clone)]
pub struct Scan {
    pub table: String,
    /// What to read of a row, including the key's columns.
    pub select: &'static str,
    /// The columns of the index: first the fixed ones, then those of the key, in any order.
    pub index: &'static [&'static str],
    /// The values of the first columns of the index.
    pub fixed: Vec<(&'static str, Value)>,
    /// The columns of the key.
    pub key: [&'static str; 3],
    pub order: Order,
    /// The lower end.
    pub low: Key,
    /// The upper end, excluded.
    pub high: Key,
    /// More conditions, such as `amount >=`, with their values.
    pub filters: Vec<(&'static str, Value)>,
    /// A column and its allowed values, where the list shows no others.
    pub within: Option<(&'static str, Vec<Value>)>,
    /// Rows that a page examines, when it has filters outside the index.
    pub scanned: u32,
}

/// SQL text with its values.
#[derive(Debug, Clone)]
pub struct Statement {
    /// With `$1`, `$2`, …
    pub text: String,
    /// The values, in order.
    pub values: Vec<Value>,
}

impl Statement {
    /// The query, ready to run.
    pub fn query(self) -> Query<'static, Any, AnyArguments> {
        let query = sqlx::query(AssertSqlSafe(self.text));
        self.values.into_iter().fold(query, |query, value| match value {
            Value::Int(value) => query.bind(value),
            Value::Text(value) => query.bind(value),
        })
    }
}

/// Rows of a list, and where the next page begins.
#[derive(Debug)]
pub struct Page<T> {
    /// The rows.
    pub items: Vec<T>,
    /// The position of the last row that was examined; `None` at the end of the list.
    pub next: Option<Key>,
}

impl Scan {
    /// Continues after a position.
    pub fn go_on(&mut self, position: Option<Key>) {
        match (position, self.order) {
            (Some(key), Order::OldestFirst) => self.low = key,
            (Some(key), Order::NewestFirst) => self.high = key,
            (None, _) => {}
        }
    }

    /// Whether every row of the range is in the list.
    pub(super) fn has_no_filters(&self) -> bool {
        self.filters.is_empty() && self.within.is_none()
    }

    /// The rows of a page.
    pub fn rows(&self, limit: u32) -> Statement {
        if self.has_no_filters() {
            return self.statement(self.select, &format!("LIMIT {limit}"));
        }
        // Cut the range before filtering: a database that expects few rows to pass would read the whole table.
        let cut = self.scanned * if self.within.is_some() { TIES } else { 2 };
        let mut page = self.statement(self.select, &format!("LIMIT {cut}"));
        let mut conditions = Vec::new();
        for (condition, value) in &self.filters {
            page.values.push(value.clone());
            conditions.push(format!("{condition} ${}", page.values.len()));
        }
        if let Some((column, values)) = &self.within {
            let places = values.iter().map(|value| {
                page.values.push(value.clone());
                format!("${}", page.values.len())
            });
            let places: Vec<_> = places.collect();
            conditions.push(format!("{column} IN ({})", places.join(", ")));
        }
        let (conditions, order) = (conditions.join(" AND "), self.ordering());
        page.text = format!(
            "SELECT * FROM ({}) AS looked_at WHERE {conditions} ORDER BY {order} LIMIT {limit}",
            page.text
        );
        page
    }

    /// The key of the last row that a page may examine.
    pub fn boundary(&self) -> Statement {
        let limit = format!("LIMIT 1 OFFSET {}", self.scanned.saturating_sub(1));
        self.statement(&self.key.join(", "), &limit)
    }

    fn ordering(&self) -> String {
        let direction = match self.order {
            Order::OldestFirst => "",
            Order::NewestFirst => " DESC",
        };
        let columns: Vec<_> = self.index.iter().map(|column| format!("{column}{direction}")).collect();
        columns.join(", ")
    }

    fn statement(&self, select: &str, limit: &str) -> Statement {
        let low = match self.order {
            Order::OldestFirst => ">",
            Order::NewestFirst => ">=",
        };
        let mut values = Vec::new();
        let mut tuple = |key: &Key| {
            let mut places = Vec::new();
            for column in self.index {
                values.push(self.value(column, key));
                places.push(format!("${}", values.len()));
            }
            places.join(", ")
        };
        let (from, to) = (tuple(&self.low), tuple(&self.high));
        let (table, columns, order) = (&self.table, self.index.join(", "), self.ordering());
        let text = format!(
            "SELECT {select} FROM {table} WHERE ({columns}) {low} ({from}) AND ({columns}) < ({to}) ORDER BY {order} \
             {limit}"
        );
        Statement { text, values }
    }

    fn value(&self, column: &str, key: &Key) -> Value {
        let fixed = self.fixed.iter().find(|(name, _)| *name == column);
        let of_key = || self.key.iter().position(|name| *name == column).map(|i| &key.0[i]);
        fixed
            .map(|(_, value)| value)
            .or_else(of_key)
            .expect("an index has columns that are fixed and columns of the key")
            .clone()
    }

    /// Limits the range to what a page may examine, when it has filters outside the index. Returns the position after
    /// the range, or `None` when it holds all rows. The limit comes first, so that rows added meanwhile fall into the
    /// range and none is missed.
    pub async fn bound(&mut self, pool: &AnyPool) -> Result<Option<Key>, LedgerError> {
        if self.has_no_filters() {
            return Ok(None);
        }
        let row = self.boundary().query().fetch_optional(pool).await?;
        let mut boundary = row.map(|row| self.key_of(&row)).transpose()?;
        if self.within.is_some() {
            // A cursor must not name a row that the list does not show: the page ends with all rows of that time.
            boundary = boundary.map(|key| Key::before_id(key.at_ms()));
        }
        if let Some(key) = &boundary {
            self.low = key.clone();
        }
        Ok(boundary)
    }

    /// Reads a page of at most `limit` rows, each read by `read`.
    pub async fn page<T>(
        mut self,
        pool: &AnyPool,
        limit: u32,
        read: impl Fn(&AnyRow) -> Result<T, LedgerError>,
    ) -> Result<Page<T>, LedgerError> {
        let boundary = self.bound(pool).await?;
        let rows = self.rows(limit + 1).query().fetch_all(pool).await?;
        self.cut(&rows, limit, boundary, read)
    }

    /// Makes a page from the rows that were read for it: `limit + 1` when there are more.
    pub fn cut<T>(
        &self,
        rows: &[AnyRow],
        limit: u32,
        boundary: Option<Key>,
        read: impl Fn(&AnyRow) -> Result<T, LedgerError>,
    ) -> Result<Page<T>, LedgerError> {
        let kept = &rows[..rows.len().min(limit as usize)];
        let next = match kept.last() {
            Some(last) if rows.len() > kept.len() => Some(self.key_of(last)?),
            _ => boundary,
        };
        let items = kept.iter().map(read).collect::<Result<_, _>>()?;
        Ok(Page { items, next })
    }

    pub(super) fn key_of(&self, row: &AnyRow) -> Result<Key, LedgerError> {
        let mut key = self.high.clone();
        for (value, column) in key.0.iter_mut().zip(self.key) {
            match value {
                Value::Int(number) => *number = row.try_get(column)?,
                Value::Text(text) => *text = row.try_get(column)?,
            }
        }
        Ok(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_and_order_name_every_column_of_the_index() {
        let scan = Scan {
            table: "payouts".to_owned(),
            select: "*",
            index: &["tier", "at_ms", "id", "no"],
            fixed: vec![("tier", Value::Text("grand".to_owned()))],
            key: ["at_ms", "id", "no"],
            order: Order::NewestFirst,
            low: Key::before_id(1),
            high: Key::before_id(9),
            filters: vec![("amount >=", 5.into())],
            within: None,
            scanned: MAX_SCANNED,
        };
        let statement = scan.rows(101);
        assert_eq!(
            statement.text,
            "SELECT * FROM (SELECT * FROM payouts WHERE (tier, at_ms, id, no) >= ($1, $2, $3, $4) AND (tier, at_ms, id, \
             no) < ($5, $6, $7, $8) ORDER BY tier DESC, at_ms DESC, id DESC, no DESC LIMIT 20000) AS looked_at WHERE \
             amount >= $9 ORDER BY tier DESC, at_ms DESC, id DESC, no DESC LIMIT 101"
        );
        assert_eq!(statement.values[..2], [Value::Text("grand".to_owned()), 1.into()]);
        assert_eq!(statement.values[5], 9.into());
        assert_eq!(statement.values.len(), 9);
        assert!(scan.boundary().text.ends_with("LIMIT 1 OFFSET 9999"));
    }
}

//! Reads several ranges of one index as one list: the rows of a few subjects, each with its own range.
//!
//! A list over some jackpots is not a filtered list over all jackpots. Its pages would be short or empty among the
//! rows of others, and its cursors would name those.

use std::cmp::Ordering;

use sqlx::AnyPool;
use sqlx::any::AnyRow;

use super::scan::{MAX_SCANNED, Order, Page, Scan, Statement};
use super::{Key, LedgerError, Value};

/// The position of the subject in a key.
const SUBJECT: usize = 1;

/// Ranges that differ only in their subject, the first column of their index; in the order of the subjects.
///
/// Rows of the same time are in the order of the subjects as this program compares them: a database has its own
/// order.
#[derive(Debug, Clone)]
pub struct Scans(Vec<Scan>);

impl From<Scan> for Scans {
    fn from(scan: Scan) -> Self {
        Self(vec![scan])
    }
}

impl Scans {
    /// Together they examine as many rows as one scan does.
    pub fn of(mut all: Vec<Scan>) -> Self {
        all.sort_by(|a, b| subject(a).cmp(&subject(b)));
        let each = MAX_SCANNED / u32::try_from(all.len()).unwrap_or(MAX_SCANNED).max(1);
        for scan in &mut all {
            scan.scanned = each.max(1);
        }
        Self(all)
    }

    /// Continues after a position.
    #[must_use]
    pub fn after(mut self, position: Option<&Key>) -> Self {
        if let [one] = self.0.as_mut_slice() {
            one.go_on(position.cloned());
            return self;
        }
        for scan in &mut self.0 {
            let own = position.map(|key| place(scan, key));
            scan.go_on(own);
        }
        self
    }

    /// Reads a page of at most `limit` rows, each read by `read`.
    pub async fn page<T>(
        mut self,
        pool: &AnyPool,
        limit: u32,
        read: impl Fn(&AnyRow) -> Result<T, LedgerError>,
    ) -> Result<Page<T>, LedgerError> {
        let Some(first) = self.0.first().cloned() else {
            return Ok(Page {
                items: Vec::new(),
                next: None,
            });
        };
        if self.0.len() == 1 {
            return first.page(pool, limit, read).await;
        }
        let boundary = self.bound(pool, &first).await?;
        let rows = self.rows(&first, limit + 1).query().fetch_all(pool).await?;
        first.cut(&rows, limit, boundary, read)
    }

    /// The rows of a page.
    pub fn rows(&self, first: &Scan, limit: u32) -> Statement {
        union(first, self.0.iter().map(|scan| scan.rows(limit)), limit)
    }

    /// As [`Scan::bound`]: the first boundary among the ranges is that of the page.
    async fn bound(&mut self, pool: &AnyPool, first: &Scan) -> Result<Option<Key>, LedgerError> {
        if first.has_no_filters() {
            return Ok(None);
        }
        let boundaries = union(first, self.0.iter().map(Scan::boundary), 1);
        let row = boundaries.query().fetch_optional(pool).await?;
        let boundary = row.map(|row| first.key_of(&row)).transpose()?;
        if let Some(key) = &boundary {
            for scan in &mut self.0 {
                scan.low = place(scan, key);
            }
        }
        Ok(boundary)
    }
}

/// The subject of a range, where there are several ranges.
fn subject(scan: &Scan) -> Option<&Value> {
    scan.fixed.first().map(|(_, value)| value)
}

/// A position in the list as a position in this range. If it is at a row of another subject, it is before or after
/// all rows of that time in this range.
fn place(scan: &Scan, key: &Key) -> Key {
    match subject(scan).map(|own| own.cmp(&key.0[SUBJECT])) {
        Some(Ordering::Less) => Key::before_id(key.at_ms().saturating_add(1)),
        Some(Ordering::Greater) => Key::before_id(key.at_ms()),
        Some(Ordering::Equal) | None => key.clone(),
    }
}

/// The first rows of all parts, in the order of the list.
fn union(first: &Scan, parts: impl Iterator<Item = Statement>, limit: u32) -> Statement {
    let mut values = Vec::new();
    let texts: Vec<_> = parts
        .enumerate()
        .map(|(i, part)| {
            let text = renumbered(&part.text, values.len());
            values.extend(part.values);
            format!("SELECT part_{i}.*, {i} AS part FROM ({text}) AS part_{i}")
        })
        .collect();
    let direction = match first.order {
        Order::OldestFirst => "",
        Order::NewestFirst => " DESC",
    };
    let mut order = first.key;
    order[SUBJECT] = "part";
    let columns = order.map(|column| format!("{column}{direction}")).join(", ");
    let text = format!("{} ORDER BY {columns} LIMIT {limit}", texts.join(" UNION ALL "));
    Statement { text, values }
}

/// The statement with its `$1`, `$2`, … moved up by `behind` other values.
fn renumbered(text: &str, behind: usize) -> String {
    let mut parts = text.split('$');
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        let number: usize = part[..digits].parse().unwrap_or_default();
        whole.push('$');
        whole.push_str(&(number + behind).to_string());
        whole.push_str(&part[digits..]);
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_at_a_row_of_another_is_before_or_behind_all_of_its_time() {
        let scan = Scan {
            table: "payouts".to_owned(),
            select: "*",
            index: &["id", "at_ms", "no"],
            fixed: vec![("id", Value::Text("m".to_owned()))],
            key: ["at_ms", "id", "no"],
            order: Order::NewestFirst,
            low: Key::before_id(1),
            high: Key::before_id(9),
            filters: Vec::new(),
            within: None,
            scanned: MAX_SCANNED,
        };
        let at = |id: &str| Key([5.into(), Value::Text(id.to_owned()), 7.into()]);
        assert_eq!(place(&scan, &at("m")), at("m"));
        assert_eq!(
            place(&scan, &at("z")),
            Key::before_id(6),
            "its rows of that time come after"
        );
        assert_eq!(
            place(&scan, &at("a")),
            Key::before_id(5),
            "its rows of that time came before"
        );
    }

    #[test]
    fn values_of_several_statements_stand_in_their_order() {
        assert_eq!(
            renumbered("a > $1 AND b < ($2, $10) LIMIT 3", 6),
            "a > $7 AND b < ($8, $16) LIMIT 3"
        );
        assert_eq!(renumbered("SELECT 1", 6), "SELECT 1");
    }
}

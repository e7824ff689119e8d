//! Events as the table `events` has them, a page at a time: one may hold a single entry or ten thousand.

use jackpot_core::fields::EventFields;
use jackpot_core::ids::Id;

use super::events::Unreadable;
use crate::sql::{Sql, int};
use crate::subject::kinds::KindName;

/// An event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    pub n: u64,
    /// When it happened, ms.
    pub at_ms: i64,
    pub hash: String,
    /// Canonical JSON.
    pub body: String,
}

/// How much a page holds.
#[derive(Debug, Clone, Copy)]
pub struct PageSize {
    pub events: i64,
    /// Most entries or issues, unless the first event alone has more.
    pub entries: i64,
}

impl PageSize {
    /// For reading a stream from its begin: some 2 MB of text, 10 MB with the longest names.
    pub const REPLAY: Self = Self {
        events: 64,
        entries: 20_000,
    };
}

/// The next events after event `after`, at most up to event `last`; none at the end.
pub async fn page(
    sql: &Sql,
    kind: KindName,
    id: &Id,
    after: u64,
    last: u64,
    size: PageSize,
) -> Result<Vec<Stored>, sqlx::Error> {
    let text =
        "SELECT n, last_sequence FROM events WHERE kind = $1 AND id = $2 AND n > $3 AND n <= $4 ORDER BY n LIMIT $5";
    let select = sqlx::query_as(text).bind(kind.as_str()).bind(id.as_str());
    let select = select.bind(int(after)).bind(int(last)).bind(size.events);
    let places: Vec<(i64, i64)> = sql.reading(select.fetch_all(sql.reader())).await?;
    let Some(end) = end_of(&places, size.entries) else {
        return Ok(Vec::new());
    };
    let text = "SELECT n, at_ms, hash, body FROM events WHERE kind = $1 AND id = $2 AND n > $3 AND n <= $4 ORDER BY n";
    let select = sqlx::query_as(text).bind(kind.as_str()).bind(id.as_str());
    let select = select.bind(int(after)).bind(end);
    let rows: Vec<(i64, i64, String, String)> = sql.reading(select.fetch_all(sql.reader())).await?;
    let event = |(n, at_ms, hash, body): (i64, i64, String, String)| Stored {
        n: n.unsigned_abs(),
        at_ms,
        hash,
        body,
    };
    Ok(rows.into_iter().map(event).collect())
}

/// The end of a page. `places` are the numbers and last sequences of events.
fn end_of(places: &[(i64, i64)], most_entries: i64) -> Option<i64> {
    let (_, first) = places.first()?;
    let fit = places
        .iter()
        .take_while(|(_, last)| last.saturating_sub(*first) <= most_entries);
    fit.last().map(|(n, _)| *n)
}

impl Stored {
    /// Its fields.
    pub fn fields(&self) -> Result<EventFields, Unreadable> {
        serde_json::from_str(&self.body).map_err(|_| Unreadable {
            n: self.n.to_string(),
            field: "body",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_ends_before_it_holds_too_many_entries() {
        let end_of = |places: &[(i64, i64)]| end_of(places, 20_000);
        assert_eq!(end_of(&[]), None);
        assert_eq!(end_of(&[(7, 10)]), Some(7));
        let singles: Vec<_> = (1..=64).map(|n| (n, n)).collect();
        assert_eq!(end_of(&singles), Some(64));
        let batches: Vec<_> = (1..=64).map(|n| (n, n * 10_000)).collect();
        assert_eq!(end_of(&batches), Some(3));
        assert_eq!(end_of(&[(1, 1), (2, 20_001), (3, 20_002)]), Some(2));
        // An operator's event after a restore of fewer entries has a lower sequence.
        assert_eq!(end_of(&[(7, 50_000), (8, 45_000), (9, 100_000)]), Some(8));
    }
}

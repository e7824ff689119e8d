//! How many events are read at a time: one may hold a single entry or ten thousand.

use jackpot_core::ids::Id;

use jackpot_kernel::sql::Sql;

/// Events of a page.
const EVENTS: i64 = 64;
/// Entries of a page, unless its first event alone has more: some 2 MB of text, 10 MB with the longest names.
const ENTRIES: i64 = 20_000;

/// Number of the last event of the page after event `after`, at most `last`; `None` when there is none.
pub async fn end(sql: &Sql, jackpot: &Id, after: i64, last: i64) -> Result<Option<i64>, sqlx::Error> {
    let text = "SELECT n, last_sequence FROM events WHERE kind = 'jackpot' AND id = $1 AND n > $2 AND n <= $3 ORDER BY n LIMIT $4";
    let select = sqlx::query_as(text).bind(jackpot.as_str()).bind(after).bind(last);
    let places: Vec<(i64, i64)> = sql.reading(select.bind(EVENTS).fetch_all(sql.reader())).await?;
    Ok(end_of(&places))
}

/// `places` are the numbers and last sequences of events.
fn end_of(places: &[(i64, i64)]) -> Option<i64> {
    let (_, first) = places.first()?;
    let fit = places
        .iter()
        .take_while(|(_, last)| last.saturating_sub(*first) <= ENTRIES);
    fit.last().map(|(n, _)| *n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_ends_before_it_holds_too_many_entries() {
        assert_eq!(end_of(&[]), None);
        assert_eq!(end_of(&[(7, 10)]), Some(7));
        let singles: Vec<_> = (1..=64).map(|n| (n, n)).collect();
        assert_eq!(end_of(&singles), Some(64));
        let batches: Vec<_> = (1..=64).map(|n| (n, n * 10_000)).collect();
        assert_eq!(end_of(&batches), Some(3));
        let one_is_large = [(1, 1), (2, 1 + ENTRIES), (3, 2 + ENTRIES)];
        assert_eq!(end_of(&one_is_large), Some(2));
    }
}

//! The days that have an index of entries.

use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::ledger::queries::Queries;
use jackpot_kernel::ledger::queries::LedgerError;
use jackpot_kernel::sql::entry_days;

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// A day in UTC, `YYYYMMDD`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Day(String);

impl Day {
    /// The day of a time in ms.
    pub(super) fn of(at_ms: i64) -> Self {
        Self(entry_days::day_of(at_ms))
    }

    /// Parses a day of the table of days; `None` for text that is no day.
    fn parse(text: &str) -> Option<Self> {
        let digits = text.len() == 8 && text.bytes().all(|b| b.is_ascii_digit());
        (digits && Date::strptime("%Y%m%d", text).is_ok()).then(|| Self(text.to_owned()))
    }

    /// The table with its entries.
    pub(super) fn table(&self) -> String {
        entry_days::table(&self.0)
    }

    /// The first ms of the next day.
    pub(super) fn end_ms(&self) -> i64 {
        self.start_ms() + DAY_MS
    }

    /// Its first ms.
    pub(super) fn start_ms(&self) -> i64 {
        Date::strptime("%Y%m%d", &self.0)
            .and_then(|date| date.to_zoned(TimeZone::UTC))
            .map_or(0, |at| at.timestamp().as_millisecond())
    }
}

impl Queries {
    /// The days with an index, newest first, between two days (inclusive), at most `limit`.
    pub(super) async fn days(&self, first: &Day, last: &Day, limit: u32) -> Result<Vec<Day>, LedgerError> {
        let text = format!("SELECT day FROM entry_days WHERE day >= $1 AND day <= $2 ORDER BY day DESC LIMIT {limit}");
        let days: Vec<String> = sqlx::query_scalar(sqlx::AssertSqlSafe(text))
            .bind(first.0.clone())
            .bind(last.0.clone())
            .fetch_all(self.sql.reader())
            .await?;
        days.into_iter()
            .map(|day| Day::parse(&day).ok_or_else(|| LedgerError::Missing(format!("day in entry_days: '{day}'"))))
            .collect()
    }

    /// Whether a day still has its index.
    pub(super) async fn has_day(&self, day: &Day) -> Result<bool, LedgerError> {
        Ok(!self.days(day, day, 1).await?.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_begin_at_midnight_in_utc() {
        let day = Day::of(1_763_700_000_000);
        assert_eq!(day.table(), "entries_20251121");
        assert_eq!(day.start_ms(), 1_763_683_200_000);
        assert_eq!(Day::of(day.end_ms()).table(), "entries_20251122");
        assert_eq!(Day::of(day.start_ms()), day);
        assert_eq!(Day::of(day.start_ms() - 1).table(), "entries_20251120");
        assert_eq!(Day::of(i64::MIN).table(), "entries_19700101");
        assert_eq!(Day::of(i64::MAX).table(), "entries_99991230");
        for wrong in ["2025112", "20251321", "x; DROP ", "２025"] {
            assert_eq!(Day::parse(wrong), None, "{wrong}");
        }
    }
}

//! The tables of entries by player, one for each day (UTC). They are created and dropped with the days, so no migration
//! creates them.

use jiff::Timestamp;
use sqlx::{AnyPool, AssertSqlSafe};

use super::Tx;

/// The columns in order, and whether each is a text. The others are integers.
pub const COLUMNS: [(&str, bool); 12] = [
    ("player_id", true),
    ("at_ms", false),
    ("jackpot_id", true),
    ("sequence", false),
    ("entry_id", true),
    ("stake", false),
    ("client_seed", true),
    ("n", false),
    ("epoch", false),
    ("version", false),
    ("rank", false),
    ("settled", false),
];

/// The UTC day of a time, `YYYYMMDD`. Times before 1970 count as its first day.
pub fn day_of(at_ms: i64) -> String {
    let at = Timestamp::from_millisecond(at_ms.max(0)).unwrap_or(Timestamp::MAX);
    at.strftime("%Y%m%d").to_string()
}

/// Name of the table of a day. The day comes from [`day_of`] or [`days`].
pub fn table(day: &str) -> String {
    format!("entries_{day}")
}

/// Creates the table of a day if it does not exist.
///
/// Two projectors may do this concurrently: the second waits at the row of the day until the first has committed. A
/// caller that creates several days must do so in their order.
pub async fn ensure(tx: &mut Tx<'_>, day: &str) -> Result<(), sqlx::Error> {
    let made = sqlx::query("INSERT INTO entry_days (day) VALUES ($1) ON CONFLICT DO NOTHING")
        .bind(day)
        .execute(&mut **tx)
        .await?;
    if made.rows_affected() == 0 {
        return Ok(());
    }
    let statement = format!(
        "CREATE TABLE {} (player_id TEXT NOT NULL, at_ms BIGINT NOT NULL, jackpot_id TEXT NOT NULL, \
         sequence BIGINT NOT NULL, entry_id TEXT NOT NULL, stake BIGINT NOT NULL, client_seed TEXT NOT NULL, \
         n BIGINT NOT NULL, epoch BIGINT NOT NULL, version BIGINT NOT NULL, rank BIGINT NOT NULL, \
         settled BIGINT NOT NULL, PRIMARY KEY (player_id, at_ms, jackpot_id, sequence))",
        table(day)
    );
    sqlx::query(AssertSqlSafe(statement)).execute(&mut **tx).await?;
    Ok(())
}

/// The days that have a table, oldest first. One may expire before it is read.
pub async fn days(pool: &AnyPool) -> Result<Vec<String>, sqlx::Error> {
    let mut days: Vec<String> = sqlx::query_scalar("SELECT day FROM entry_days ORDER BY day")
        .fetch_all(pool)
        .await?;
    // They become names of tables, so anything else that got into the database must not pass.
    days.retain(|day| is_day(day));
    Ok(days)
}

/// Whether the text is a valid day, which may become part of a table's name.
pub fn is_day(text: &str) -> bool {
    text.len() == "YYYYMMDD".len() && text.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_the_utc_one() {
        assert_eq!(day_of(1_763_700_000_000), "20251121");
        assert_eq!(day_of(1_763_683_199_999), "20251120");
        assert_eq!(day_of(1_763_683_200_000), "20251121");
        assert_eq!(day_of(-1), "19700101");
        assert!(is_day("20251121") && !is_day("2025112;") && !is_day(""));
    }
}

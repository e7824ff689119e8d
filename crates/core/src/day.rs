//! Days that begin at a time of day in a time zone. Pure.
//!
//! The database of time zones is compiled in: every instance of a program, and each verifier with it, has the same.

use jiff::civil::{Date, Time};
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{Timestamp, ToSpan};

/// A time of day, `HH:MM`, 00:00 to 23:59.
#[must_use]
pub fn time_of_day(text: &str) -> Option<Time> {
    let bytes = text.as_bytes();
    if bytes.len() != 5 || bytes[2] != b':' {
        return None;
    }
    let number = |tens: u8, ones: u8| {
        let digits = tens.is_ascii_digit() && ones.is_ascii_digit();
        digits
            .then(|| i8::try_from((tens - b'0') * 10 + (ones - b'0')).ok())
            .flatten()
    };
    Time::new(number(bytes[0], bytes[1])?, number(bytes[3], bytes[4])?, 0, 0).ok()
}

/// A time zone of the IANA database.
#[must_use]
pub fn zone_named(name: &str) -> Option<TimeZone> {
    TimeZone::get(name).ok().filter(|zone| zone.iana_name().is_some())
}

/// A date, `YYYY-MM-DD`.
#[must_use]
pub fn date(text: &str) -> Option<Date> {
    let bytes = text.as_bytes();
    let is_form = bytes.len() == 10
        && bytes.iter().enumerate().all(|(i, byte)| match i {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<i16>().ok();
    let small = |range| i8::try_from(number(range)?).ok();
    is_form
        .then(|| Date::new(number(0..4)?, small(5..7)?, small(8..10)?).ok())
        .flatten()
}

/// The second in which a clock of the zone first shows this date and time, or is past it. A time that the zone skips is the
/// first instant after the gap; of one that comes twice, the first counts.
#[must_use]
pub fn instant(zone: &TimeZone, day: Date, time: Time) -> Option<i64> {
    let local = zone.to_ambiguous_timestamp(day.to_datetime(time));
    let at = match local.offset() {
        AmbiguousOffset::Gap { after, .. } => {
            let before_it = after.to_timestamp(day.to_datetime(time)).ok()?;
            // A transition at that very instant would have left no gap before it.
            zone.following(before_it).next()?.timestamp()
        }
        _ => local.earlier().ok()?,
    };
    Some(at.as_second())
}

/// The days of reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Days {
    begin: Time,
    zone: TimeZone,
}

impl Default for Days {
    /// Of UTC, from midnight.
    fn default() -> Self {
        Self {
            begin: Time::midnight(),
            zone: TimeZone::UTC,
        }
    }
}

impl Days {
    #[must_use]
    pub fn new(begin: Time, zone: TimeZone) -> Self {
        Self { begin, zone }
    }

    /// The first second of a day, and the first of the next one. A day has 23 or 25 hours where the zone's clock changes;
    /// it ends where the next one begins.
    #[must_use]
    pub fn bounds(&self, date: Date) -> Option<(i64, i64)> {
        let begin = instant(&self.zone, date, self.begin)?;
        let end = instant(&self.zone, date.tomorrow().ok()?, self.begin)?;
        Some((begin, end))
    }

    /// The day of a time, ms since 1970.
    #[must_use]
    pub fn date_of(&self, at_ms: i64) -> Date {
        let at = Timestamp::from_millisecond(at_ms).unwrap_or(Timestamp::UNIX_EPOCH);
        let local = self.zone.to_datetime(at).date();
        let is_before = self
            .bounds(local)
            .is_some_and(|(begin, _)| at_ms.div_euclid(1_000) < begin);
        if is_before {
            local.checked_sub(1.days()).unwrap_or(local)
        } else {
            local
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{parse_rfc3339, rfc3339};

    fn bounds(at: &str, zone: &str, day: &str) -> [String; 2] {
        let days = Days::new(time_of_day(at).expect("a time"), zone_named(zone).expect("a zone"));
        let (begin, end) = days.bounds(date(day).expect("a date")).expect("a day");
        [begin, end].map(|at| rfc3339(at * 1_000).replace(".000", ""))
    }

    #[test]
    fn a_day_ends_where_the_next_one_begins() {
        for (at, zone, day, expected) in [
            (
                "00:00",
                "UTC",
                "2026-03-29",
                ["2026-03-29T00:00:00Z", "2026-03-30T00:00:00Z"],
            ),
            (
                "06:00",
                "Asia/Seoul",
                "2026-03-29",
                ["2026-03-28T21:00:00Z", "2026-03-29T21:00:00Z"],
            ),
            // 23 and 25 hours
            (
                "00:00",
                "Europe/Berlin",
                "2026-03-29",
                ["2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"],
            ),
            (
                "00:00",
                "Europe/Berlin",
                "2026-10-25",
                ["2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"],
            ),
            // a begin that the zone skips, and one that comes twice
            (
                "02:30",
                "Europe/Berlin",
                "2026-03-29",
                ["2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"],
            ),
            (
                "02:30",
                "Europe/Berlin",
                "2026-10-25",
                ["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"],
            ),
        ] {
            assert_eq!(bounds(at, zone, day), expected, "{at} {zone} {day}");
        }
    }

    #[test]
    fn a_time_belongs_to_the_day_whose_bounds_hold_it() {
        let days = Days::new(
            time_of_day("02:30").expect("a time"),
            zone_named("Europe/Berlin").expect("a zone"),
        );
        for (at, day) in [
            ("2026-03-29T00:59:59Z", "2026-03-28"),
            ("2026-03-29T01:00:00Z", "2026-03-29"),
            ("2026-10-25T00:29:59Z", "2026-10-24"),
            ("2026-10-25T00:30:00Z", "2026-10-25"),
            ("2026-10-25T01:29:00Z", "2026-10-25"),
        ] {
            let at_ms = parse_rfc3339(at).expect("a time");
            assert_eq!(days.date_of(at_ms), date(day).expect("a date"), "{at}");
        }
    }

    #[test]
    fn only_whole_dates_and_times_are_read() {
        for wrong in [
            "",
            "today",
            "2026-13-01",
            "2026-02-30",
            "2026-1-1",
            "2026-01-01T00:00:00Z",
            "+026-01-01",
            "２026-01-01",
        ] {
            assert_eq!(date(wrong), None, "{wrong}");
        }
        for wrong in [
            "", "24:00", "1:00", "01:60", "01:00:00", "0a:00", "00:0a", "00:a0", "01-00",
        ] {
            assert_eq!(time_of_day(wrong), None, "{wrong}");
        }
        assert!(zone_named("Mars/Olympus").is_none());
        assert_eq!(
            date("2028-02-29").map(|day| day.to_string()).as_deref(),
            Some("2028-02-29")
        );
    }
}

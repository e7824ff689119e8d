//! Times at the edge: RFC 3339 UTC outside, milliseconds inside.

use jiff::civil::{DateTime, date};
use jiff::fmt::temporal::Pieces;
use jiff::{SignedDuration, Timestamp};

const EPOCH: DateTime = date(1970, 1, 1).at(0, 0, 0, 0);

/// 9999-12-31T23:59:59.999Z, the last time that RFC 3339 can write. [`Timestamp`] ends 26 hours before it.
const LAST_MS: i64 = 253_402_300_799_999;

/// RFC 3339 of a time in ms since 1970, always with three decimals, so that the texts sort by time.
#[must_use]
pub fn rfc3339(ms: i64) -> String {
    civil(ms).map(|at| format!("{at:.3}Z")).unwrap_or_default()
}

/// Date and time in UTC; `None` beyond the years of RFC 3339.
#[must_use]
pub fn civil(ms: i64) -> Option<DateTime> {
    EPOCH.checked_add(SignedDuration::from_millis(ms)).ok()
}

/// The inverse of [`rfc3339`], for any offset. It rounds fractions of a millisecond up, so that `from` and `to` of a
/// query keep their meaning. `None` for anything else.
#[must_use]
pub fn parse_rfc3339(text: &str) -> Option<i64> {
    let Ok(at) = text.parse::<Timestamp>() else {
        return parse_last_day(text);
    };
    let ms = at.as_millisecond();
    let finer = Timestamp::from_millisecond(ms).ok()? < at;
    Some(ms + i64::from(finer))
}

/// A time after the last [`Timestamp`]. Its fractions end with the last millisecond.
fn parse_last_day(text: &str) -> Option<i64> {
    let pieces = Pieces::parse(text).ok()?;
    let local = pieces.date().to_datetime(pieces.time()?);
    let offset = pieces.to_numeric_offset()?;
    let since = local.duration_since(EPOCH) - SignedDuration::from_secs(i64::from(offset.seconds()));
    let last_second = LAST_MS / 1_000;
    if since.as_secs() <= Timestamp::MAX.as_second() || since.as_secs() > last_second {
        return None;
    }
    let ms = since.as_nanos().unsigned_abs().div_ceil(1_000_000);
    i64::try_from(ms).ok().map(|ms| ms.min(LAST_MS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_sort_as_text() {
        let times = [
            0,
            1,
            10,
            100,
            120,
            999,
            1_000,
            1_763_700_000_000,
            1_763_700_000_100,
            1_763_700_060_000,
        ];
        let texts = times.map(rfc3339);
        assert!(texts.is_sorted(), "{texts:?}");
        assert!(
            texts.iter().all(|text| text.len() == "1970-01-01T00:00:00.000Z".len()),
            "{texts:?}"
        );
    }

    #[test]
    fn times_come_back_as_they_went_and_fractions_round_up() {
        for ms in [0, 1, 999, 1_763_700_000_000, -1] {
            assert_eq!(parse_rfc3339(&rfc3339(ms)), Some(ms));
        }
        assert_eq!(rfc3339(1_763_700_000_000), "2025-11-21T04:40:00.000Z");
        assert_eq!(parse_rfc3339("1970-01-01T00:00:00.0001Z"), Some(1));
        assert_eq!(parse_rfc3339("1970-01-01T01:00:00+01:00"), Some(0));
        let last = 253_402_300_799_999;
        assert_eq!(rfc3339(last), "9999-12-31T23:59:59.999Z");
        for (text, ms) in [
            ("9999-12-31T23:59:59Z", last - 999),
            ("9999-12-31T23:59:59.9999999Z", last),
            ("9999-12-31T12:00:00+01:00", last - 46_799_999),
        ] {
            assert_eq!(parse_rfc3339(text), Some(ms), "{text}");
            assert_eq!(parse_rfc3339(&rfc3339(ms)), Some(ms), "{text}");
        }
        for wrong in [
            "9999-12-31T23:59:59-01:00",
            "9999-12-31",
            "yesterday",
            "1970-01-01",
            "",
            "1970-01-01T00:00:00",
        ] {
            assert_eq!(parse_rfc3339(wrong), None, "{wrong}");
        }
    }
}

//! Times at the edge: RFC 3339 UTC outside, milliseconds inside.

use jiff::Timestamp;

/// RFC 3339 of a time in ms since 1970, always with three decimals, so that the texts sort by time.
#[must_use]
pub fn rfc3339(ms: i64) -> String {
    Timestamp::from_millisecond(ms)
        .map(|at| format!("{at:.3}"))
        .unwrap_or_default()
}

/// The inverse of [`rfc3339`], for any offset. It rounds fractions of a millisecond up, so that `from` and `to` of a
/// query keep their meaning. `None` for anything else.
#[must_use]
pub fn parse_rfc3339(text: &str) -> Option<i64> {
    let at: Timestamp = text.parse().ok()?;
    let ms = at.as_millisecond();
    let finer = Timestamp::from_millisecond(ms).ok()? < at;
    Some(ms + i64::from(finer))
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
        for wrong in ["yesterday", "1970-01-01", "", "1970-01-01T00:00:00"] {
            assert_eq!(parse_rfc3339(wrong), None, "{wrong}");
        }
    }
}

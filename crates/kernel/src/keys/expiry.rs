//! The end of a key's life: `--expires 90d`, or a time.

use std::str::FromStr;

use jackpot_core::clock::parse_rfc3339;
use jiff::{SignedDuration, Timestamp};

/// The longest life of a key, ten years. A key for longer is made without an end.
const MAX_LIFE: SignedDuration = SignedDuration::from_hours(24 * 3_650);

/// The end of a key, as the command line takes it: `90s`, `15m`, `12h`, `90d`, `2w`, or an RFC 3339 time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry {
    /// This long after the key is made.
    After(SignedDuration),
    /// At this time.
    At(Timestamp),
}

impl Expiry {
    /// The end of a key made at `now`.
    ///
    /// # Errors
    /// A time that is not in the future, or more than ten years away.
    pub fn at(self, now: Timestamp) -> Result<Timestamp, String> {
        let at = match self {
            Self::After(life) => now.checked_add(life).map_err(|_| Self::too_far())?,
            Self::At(at) => at,
        };
        // Whole milliseconds, so that file and list show the time that counts.
        let at = Timestamp::from_millisecond(at.as_millisecond()).map_err(|_| Self::too_far())?;
        if at <= now {
            Err("a key must end in the future".to_owned())
        } else if at.duration_since(now) > MAX_LIFE {
            Err(Self::too_far())
        } else {
            Ok(at)
        }
    }

    fn too_far() -> String {
        "a key lives ten years (3650d) at most; without --expires it has no end".to_owned()
    }
}

impl FromStr for Expiry {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || "give a number with s, m, h, d or w, such as 90d, or a time such as 2027-01-31T00:00:00Z".to_owned();
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let seconds = match &text[digits..] {
            "s" => 1,
            "m" => 60,
            "h" => 3_600,
            "d" => 86_400,
            "w" => 604_800,
            _ => {
                let ms = parse_rfc3339(text).ok_or_else(wrong)?;
                return Timestamp::from_millisecond(ms)
                    .map(Self::At)
                    .map_err(|_| Self::too_far());
            }
        };
        if digits == 0 {
            return Err(wrong());
        }
        let count: Option<i64> = text[..digits].parse().ok();
        let life = count
            .and_then(|count| count.checked_mul(seconds))
            .ok_or_else(Self::too_far)?;
        if life == 0 {
            return Err("a key must live for one second at least".to_owned());
        }
        Ok(Self::After(SignedDuration::from_secs(life)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(text: &str) -> Result<String, String> {
        let now: Timestamp = "2026-11-22T12:00:00Z".parse().unwrap();
        text.parse::<Expiry>()?.at(now).map(|at| at.to_string())
    }

    #[test]
    fn a_life_or_a_time_is_taken() {
        for (text, at) in [
            ("1s", "2026-11-22T12:00:01Z"),
            ("15m", "2026-11-22T12:15:00Z"),
            ("12h", "2026-11-23T00:00:00Z"),
            ("90d", "2027-02-20T12:00:00Z"),
            ("2w", "2026-12-06T12:00:00Z"),
            ("3650d", "2036-11-19T12:00:00Z"),
            ("2027-01-31T00:00:00Z", "2027-01-31T00:00:00Z"),
            ("2027-01-31T09:00:00.0001+09:00", "2027-01-31T00:00:00.001Z"),
        ] {
            assert_eq!(end(text).as_deref(), Ok(at), "{text}");
        }
    }

    #[test]
    fn the_last_time_of_all_is_too_far_and_no_mistake_in_writing() {
        assert_eq!(end("9999-12-31T23:59:59Z"), Err(Expiry::too_far()));
    }

    #[test]
    fn what_is_over_or_too_far_or_unclear_is_refused() {
        for text in [
            "0s",
            "0d",
            "-1d",
            "1.5d",
            "1",
            "d",
            "",
            "90 d",
            "90D",
            "1y",
            "3651d",
            "99999999999999999999w",
            "9223372036854775807w",
            "2026-11-22T12:00:00Z",
            "2020-01-01T00:00:00Z",
            "2036-11-20T12:00:00Z",
            "2027-01-31",
            "2027-02-30T00:00:00Z",
            "é",
            "9é",
        ] {
            assert!(end(text).is_err(), "{text}");
        }
    }
}

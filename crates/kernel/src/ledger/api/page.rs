//! What all lists take: a time range and a page.

use jackpot_core::clock::parse_rfc3339;
use jackpot_core::money::Minor;
use serde::Deserialize;

pub use crate::http::page::Limit;

/// Rows of a page when the request has no limit.
pub const DEFAULT_LIMIT: u32 = 100;

/// A smallest amount, minor units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Amount(pub Minor);

impl TryFrom<String> for Amount {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let amount = text.parse::<u64>().ok().and_then(|amount| Minor::try_from(amount).ok());
        amount.map(Self).ok_or("must be an integer from 0 to 2^53-1")
    }
}

/// A time, ms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Time(pub i64);

impl TryFrom<String> for Time {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        parse_rfc3339(&text)
            .map(Self)
            .ok_or("must be a time of RFC 3339, such as 2026-11-21T06:00:00Z (a + is sent as %2B)")
    }
}

/// Which page, and of which time range.
#[derive(Debug, Clone, Default)]
pub struct Paging {
    pub limit: Option<Limit>,
    pub cursor: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_and_times_are_those_of_the_contract() {
        for (rows, fits) in [("0", false), ("1", true), ("1000", true), ("1001", false), ("x", false)] {
            assert_eq!(Limit::try_from(rows.to_owned()).is_ok(), fits, "{rows}");
        }
        for (amount, fits) in [
            ("0", true),
            ("9007199254740991", true),
            ("9007199254740992", false),
            ("-1", false),
        ] {
            assert_eq!(Amount::try_from(amount.to_owned()).is_ok(), fits, "{amount}");
        }
        assert_eq!(Time::try_from("1970-01-01T00:00:01Z".to_owned()), Ok(Time(1000)));
        assert!(Time::try_from("yesterday".to_owned()).is_err());
    }
}

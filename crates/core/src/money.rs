//! Amounts and shares: exact integers, never floats.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The largest amount: 2^53 − 1 minor units, the largest integer that JSON readers and Lua keep exactly.
pub const MAX_MINOR: u64 = 9_007_199_254_740_991;

/// Millionths of a minor unit in one minor unit.
pub const MICRO: u128 = 1_000_000;

/// The amount exceeds [`MAX_MINOR`].
#[derive(Debug, Error, PartialEq, Eq)]
#[error("must be an integer from 0 to {MAX_MINOR}")]
pub struct TooLarge;

/// An amount in minor units (KRW 1 = 1, EUR 1 = 100), 0 to [`MAX_MINOR`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct Minor(u64);

impl Minor {
    pub const ZERO: Self = Self(0);
    /// The smallest amount above zero.
    pub const ONE: Self = Self(1);
    pub const MAX: Self = Self(MAX_MINOR);

    /// The amount as a plain number of minor units.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// In millionths of a minor unit.
    #[must_use]
    pub fn micro(self) -> u128 {
        u128::from(self.0) * MICRO
    }
}

impl TryFrom<u64> for Minor {
    type Error = TooLarge;

    fn try_from(value: u64) -> Result<Self, TooLarge> {
        if value > MAX_MINOR {
            Err(TooLarge)
        } else {
            Ok(Self(value))
        }
    }
}

impl From<Minor> for u64 {
    fn from(value: Minor) -> Self {
        value.0
    }
}

impl From<Minor> for i128 {
    fn from(value: Minor) -> Self {
        value.0.into()
    }
}

impl std::fmt::Display for Minor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// The share exceeds the whole.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("must be an integer from 0 to 1000000 (parts per million)")]
pub struct BeyondWhole;

/// A share in parts per million, 0 to 1,000,000.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct Ppm(u32);

impl Ppm {
    /// The whole: 1,000,000 parts.
    pub const WHOLE: Self = Self(1_000_000);

    /// Parts per million.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// This share of `amount`, rounded down. The product is below 2^94 for any amount in millionths.
    #[must_use]
    pub fn of(self, amount: u128) -> u128 {
        amount * u128::from(self.0) / u128::from(Self::WHOLE.0)
    }
}

impl TryFrom<u32> for Ppm {
    type Error = BeyondWhole;

    fn try_from(value: u32) -> Result<Self, BeyondWhole> {
        if value > Self::WHOLE.0 {
            Err(BeyondWhole)
        } else {
            Ok(Self(value))
        }
    }
}

impl From<Ppm> for u32 {
    fn from(value: Ppm) -> Self {
        value.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_ends_at_two_to_the_53_less_one() {
        assert_eq!(Minor::try_from(MAX_MINOR).map(Minor::get), Ok(MAX_MINOR));
        assert_eq!(Minor::try_from(MAX_MINOR + 1), Err(TooLarge));
        assert!(serde_json::from_str::<Minor>("9007199254740992").is_err());
        assert!(serde_json::from_str::<Minor>("1.0").is_err());
        assert!(serde_json::from_str::<Minor>("-1").is_err());
    }

    #[test]
    fn a_share_of_the_largest_amount_is_exact() {
        let most = Minor::try_from(MAX_MINOR).expect("in range");
        let half = Ppm::try_from(500_000).expect("in range");
        assert_eq!(half.of(most.micro()), 4_503_599_627_370_495_500_000);
        assert_eq!(Ppm::WHOLE.of(most.micro()), most.micro());
        assert_eq!(Ppm::try_from(1_000_001), Err(BeyondWhole));
    }
}

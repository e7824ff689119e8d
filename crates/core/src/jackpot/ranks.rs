//! What the game of an external source drew: the ranks that its entry tries, in order. Pure.

use serde::{Deserialize, Deserializer};

use super::definition::MAX_REDRAWS;
use crate::wire::Field;

/// Most ranks of an entry: one for each attempt that any definition allows.
pub const MAX_RANKS_SENT: usize = MAX_REDRAWS as usize + 1;

/// 1 to [`MAX_RANKS_SENT`] ranks, none twice; 0 (nothing) only as the last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ranks(Box<[u32]>);

impl Ranks {
    /// The ranks, or the rule that they break.
    pub fn new(ranks: Vec<u32>) -> Result<Self, String> {
        if !(1..=MAX_RANKS_SENT).contains(&ranks.len()) {
            return Err(format!("must be 1 to {MAX_RANKS_SENT} ranks"));
        }
        for (i, rank) in ranks.iter().enumerate() {
            if ranks[..i].contains(rank) {
                return Err(format!("has rank {rank} twice: a rank that refused once refuses again"));
            }
            if *rank == 0 && i + 1 < ranks.len() {
                return Err("has rank 0 before the last: an entry that draws nothing ends".to_owned());
            }
        }
        Ok(Self(ranks.into()))
    }

    /// The ranks, in the order of the attempts.
    #[must_use]
    pub fn all(&self) -> &[u32] {
        &self.0
    }

    /// The rank of attempt 0.
    #[must_use]
    pub fn first(&self) -> u32 {
        self.0[0]
    }

    /// The last attempt, from 0.
    #[must_use]
    pub fn last_attempt(&self) -> u32 {
        u32::try_from(self.0.len() - 1).expect("at most 101 ranks")
    }

    /// The rank of an attempt, from 0.
    #[must_use]
    pub fn of(&self, attempt: u32) -> Option<u32> {
        self.0.get(usize::try_from(attempt).ok()?).copied()
    }
}

impl Field for Ranks {
    const TYPE: &'static str = "ranks with commas";
    const PATTERN: &'static str = "[%d,]+";

    fn read(text: &str) -> Option<Self> {
        let ranks = text.split(',').map(u32::read).collect::<Option<Vec<_>>>()?;
        Self::new(ranks).ok()
    }

    fn write(&self, out: &mut String) {
        for (i, rank) in self.0.iter().enumerate() {
            if i > 0 {
                out.push(',');
            }
            rank.write(out);
        }
    }
}

impl<'de> Deserialize<'de> for Ranks {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(Vec::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_tried_once_and_nothing_ends_them() {
        for wrong in [
            "[]",
            "[1,1]",
            "[0,1]",
            "[0,0]",
            "[-1]",
            "[true]",
            "[1.5]",
            "\"1\"",
            "[4294967296]",
        ] {
            assert!(serde_json::from_str::<Ranks>(wrong).is_err(), "{wrong}");
        }
        let ranks = serde_json::from_str::<Ranks>("[3,1,0]").expect("ranks");
        assert_eq!(
            (ranks.first(), ranks.last_attempt(), ranks.text().as_str()),
            (3, 2, "3,1,0")
        );
        assert_eq!(
            [0, 1, 2, 3].map(|attempt| ranks.of(attempt)),
            [Some(3), Some(1), Some(0), None]
        );
        let many = |count: u32| Ranks::new((1..=count).collect());
        assert!(many(101).is_ok() && many(102).is_err());
        assert_eq!(Ranks::read("3,1,0"), Some(ranks));
        for wrong in ["", ",", "1,", "1,,2", "1,1", "x"] {
            assert_eq!(Ranks::read(wrong), None, "{wrong}");
        }
    }
}

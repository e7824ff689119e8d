//! The progress of a subject: how often it was restored, and the number of its last event.

use std::fmt;

/// Bits of the event number.
const N_BITS: u32 = 40;
/// Highest event number.
const MAX_N: u64 = (1 << N_BITS) - 1;
/// Most restores. With them a mark stays below 2^53, which Lua represents exactly.
const MAX_RESTORES: u64 = (1 << 13) - 1;

/// Restores and event number of a subject in one number, ordered by restores first. A Redis restored from the ledger
/// outranks every earlier state, though it may have fewer events.
///
/// Packed as `restores << 40 | n`, as `mark` in `lua/subject/events.lua` does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mark(u64);

impl Mark {
    /// The mark before the first event.
    pub const ZERO: Self = Self(0);

    /// `None` if one exceeds its bound: 2^13 − 1 restores, event number 2^40 − 1.
    #[must_use]
    pub fn new(restores: u64, n: u64) -> Option<Self> {
        (restores <= MAX_RESTORES && n <= MAX_N).then_some(Self(restores << N_BITS | n))
    }

    /// Unpacks it; `None` for 2^53 and beyond.
    #[must_use]
    pub fn unpack(packed: u64) -> Option<Self> {
        (packed >> N_BITS <= MAX_RESTORES).then_some(Self(packed))
    }

    /// Packs it, below 2^53.
    #[must_use]
    pub fn packed(self) -> u64 {
        self.0
    }

    /// Number of the last event; 0 for none.
    #[must_use]
    pub fn n(self) -> u64 {
        self.0 & MAX_N
    }

    /// How often the subject was restored.
    #[must_use]
    pub fn restores(self) -> u64 {
        self.0 >> N_BITS
    }
}

impl fmt::Display for Mark {
    /// For people: the event, and the restores if there were any.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.restores() {
            0 => write!(f, "event {}", self.n()),
            restores => write!(f, "event {} after {restores} restores", self.n()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_restore_goes_before_all_events_before_it() {
        let mark = |restores, n| Mark::new(restores, n).expect("within its bounds");
        assert!(mark(1, 101) > mark(0, 150));
        assert!(mark(0, 150) > mark(0, 120));
        assert_eq!((mark(3, 7).restores(), mark(3, 7).n()), (3, 7));
        assert_eq!(Mark::unpack(mark(3, 7).packed()), Some(mark(3, 7)));
    }

    #[test]
    fn the_highest_mark_is_the_largest_exact_number_of_lua() {
        let highest = Mark::new(8_191, 1_099_511_627_775).expect("within its bounds");
        assert_eq!(highest.packed(), (1 << 53) - 1);
        assert_eq!(Mark::new(8_192, 0), None);
        assert_eq!(Mark::new(0, 1 << 40), None);
        assert_eq!(Mark::unpack(1 << 53), None);
        assert_eq!(Mark::unpack(u64::MAX), None);
    }
}

//! The odds table: ranks with integer weights out of a total.

use std::collections::BTreeSet;

use thiserror::Error;

/// Largest total of an odds table: 2^32.
pub const MAX_TOTAL: u64 = 1 << 32;

/// Why a table is invalid.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum InvalidOdds {
    /// The total is 0 or beyond [`MAX_TOTAL`].
    #[error("must be an integer from 1 to {MAX_TOTAL}")]
    Total,
    /// The weights are more than the total.
    #[error("the weights sum to {sum}, more than the total of {total}")]
    Weights {
        /// The sum of the weights.
        sum: u128,
        /// The largest allowed sum.
        total: u64,
    },
}

/// Ranks in ascending order, each with the end of its tickets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Odds {
    total: u64,
    ends: Vec<(u64, u32)>,
}

impl Odds {
    /// A table of (rank, weight) in any order. Tickets of `total` without a rank draw nothing.
    pub fn new(total: u64, weights: impl IntoIterator<Item = (u32, u64)>) -> Result<Self, InvalidOdds> {
        if !(1..=MAX_TOTAL).contains(&total) {
            return Err(InvalidOdds::Total);
        }
        let mut ranks = weights.into_iter().collect::<Vec<_>>();
        ranks.sort_unstable();
        let sum = ranks.iter().map(|&(_, weight)| u128::from(weight)).sum::<u128>();
        if sum > u128::from(total) {
            return Err(InvalidOdds::Weights { sum, total });
        }
        // A rank without weight is never drawn.
        let ends = ranks
            .into_iter()
            .filter(|&(_, weight)| weight > 0)
            .scan(0, |end, (rank, weight)| {
                *end += weight;
                Some((*end, rank))
            })
            .collect();
        Ok(Self { total, ends })
    }

    /// Tickets are drawn from 0 to this, exclusive.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The rank of a ticket: the first whose running sum exceeds it; 0 past the last.
    #[must_use]
    pub fn rank_of(&self, ticket: u64) -> u32 {
        let found = self.ends.partition_point(|&(end, _)| end <= ticket);
        self.ends.get(found).map_or(0, |&(_, rank)| rank)
    }

    /// Whether every ticket draws one of these ranks. The caller has seen each of them drawn.
    #[must_use]
    pub fn only_has(&self, drawn: &BTreeSet<u32>) -> bool {
        let full = self.ends.last().is_some_and(|&(end, _)| end == self.total);
        full && drawn.len() == self.ends.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_walked_in_ascending_order_whatever_the_order_given() {
        let odds = Odds::new(10, [(5, 2), (1, 3), (2, 0)]).expect("odds");
        let ranks = (0..10).map(|t| odds.rank_of(t)).collect::<Vec<_>>();
        assert_eq!(ranks, [1, 1, 1, 5, 5, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn a_table_has_only_some_ranks_when_they_leave_nothing() {
        let only = |odds: &Odds, drawn: &[u32]| odds.only_has(&drawn.iter().copied().collect());
        let odds = Odds::new(10, [(1, 3), (2, 0), (5, 7)]).expect("odds");
        assert!(only(&odds, &[5, 1]));
        assert!(!only(&odds, &[1]) && !only(&odds, &[]));
        assert!(!only(&Odds::new(11, [(1, 3), (5, 7)]).expect("odds"), &[1, 5]));
        assert!(!only(&Odds::new(1, []).expect("odds"), &[]));
    }

    #[test]
    fn a_table_holds_no_more_than_its_total() {
        assert!(Odds::new(3, [(1, 3)]).is_ok());
        assert_eq!(
            Odds::new(3, [(1, 2), (2, 2)]),
            Err(InvalidOdds::Weights { sum: 4, total: 3 })
        );
        assert_eq!(
            Odds::new(3, [(1, u64::MAX), (2, u64::MAX)]).map_err(|e| matches!(e, InvalidOdds::Weights { .. })),
            Err(true)
        );
        assert_eq!(Odds::new(0, []), Err(InvalidOdds::Total));
        assert_eq!(Odds::new(MAX_TOTAL + 1, []), Err(InvalidOdds::Total));
    }
}

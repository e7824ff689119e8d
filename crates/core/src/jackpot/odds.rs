//! The odds table: ranks with integer weights out of a total.

use std::collections::BTreeSet;

use thiserror::Error;

use crate::money::Minor;

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
    /// Stake for which each weight counts once; `None` where odds do not depend on the stake.
    per_stake: Option<Minor>,
}

/// The table for entries of one stake: each weight counts `times`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OddsAt<'a> {
    odds: &'a Odds,
    times: u64,
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
        Ok(Self {
            total,
            ends,
            per_stake: None,
        })
    }

    /// The same odds by stake: each weight counts `floor(stake / per_stake)` times. `per_stake` is at least 1.
    #[must_use]
    pub fn per_stake(self, per_stake: Option<Minor>) -> Self {
        Self { per_stake, ..self }
    }

    /// Tickets are drawn from 0 to this, exclusive.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The sum of the weights.
    #[must_use]
    pub fn weights(&self) -> u64 {
        self.ends.last().map_or(0, |&(end, _)| end)
    }

    /// The table for entries of this stake.
    #[must_use]
    pub fn at(&self, stake: Minor) -> OddsAt<'_> {
        let times = match self.per_stake {
            Some(per_stake) => stake.get() / per_stake.get().max(1),
            None => 1,
        };
        OddsAt { odds: self, times }
    }
}

impl OddsAt<'_> {
    /// See [`Odds::total`].
    #[must_use]
    pub fn total(self) -> u64 {
        self.odds.total
    }

    /// The rank of a ticket: the first whose running sum exceeds it; 0 past the last.
    #[must_use]
    pub fn rank_of(self, ticket: u64) -> u32 {
        let found = self
            .odds
            .ends
            .partition_point(|&(end, _)| self.counted(end) <= u128::from(ticket));
        self.odds.ends.get(found).map_or(0, |&(_, rank)| rank)
    }

    /// Whether every ticket draws one of these ranks. The caller has seen each of them drawn.
    #[must_use]
    pub fn only_has(self, drawn: &BTreeSet<u32>) -> bool {
        self.counted(self.odds.weights()) >= u128::from(self.odds.total) && drawn.len() == self.odds.ends.len()
    }

    /// The end of a rank's tickets at this stake.
    fn counted(self, end: u64) -> u128 {
        u128::from(end) * u128::from(self.times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_walked_in_ascending_order_whatever_the_order_given() {
        let odds = Odds::new(10, [(5, 2), (1, 3), (2, 0)]).expect("odds");
        let ranks = (0..10).map(|t| odds.at(Minor::ZERO).rank_of(t)).collect::<Vec<_>>();
        assert_eq!(ranks, [1, 1, 1, 5, 5, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn a_table_has_only_some_ranks_when_they_leave_nothing() {
        let only = |odds: &Odds, drawn: &[u32]| odds.at(Minor::ZERO).only_has(&drawn.iter().copied().collect());
        let odds = Odds::new(10, [(1, 3), (2, 0), (5, 7)]).expect("odds");
        assert!(only(&odds, &[5, 1]));
        assert!(!only(&odds, &[1]) && !only(&odds, &[]));
        assert!(!only(&Odds::new(11, [(1, 3), (5, 7)]).expect("odds"), &[1, 5]));
        assert!(!only(&Odds::new(1, []).expect("odds"), &[]));
    }

    #[test]
    fn by_stake_each_weight_counts_as_often_as_the_stake_holds_it() {
        let odds = Odds::new(20, [(1, 1), (2, 3)]).expect("odds");
        let odds = odds.per_stake(Some(Minor::try_from(10).expect("in range")));
        let at = |stake| odds.at(Minor::try_from(stake).expect("in range"));
        let ranks = |stake| (0..20).map(|t| at(stake).rank_of(t)).collect::<Vec<_>>();
        assert_eq!(ranks(9), [0; 20]);
        for stake in [10, 19] {
            assert_eq!(ranks(stake)[..6], [1, 2, 2, 2, 0, 0]);
        }
        assert_eq!(ranks(29)[..10], [1, 1, 2, 2, 2, 2, 2, 2, 0, 0]);
        let (all, one) = (BTreeSet::from([1, 2]), BTreeSet::from([2]));
        assert!(at(50).only_has(&all) && !at(50).only_has(&one) && !at(49).only_has(&all));
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

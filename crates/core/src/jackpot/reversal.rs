//! Reversals of cancelled rounds: Redis' record of one, and what a tier has outside the packed meters. Pure.

use crate::ids::Id;
use crate::words;

words! {
    /// A reversal that was made, beside the records of entries under the name `!<sequence>`: an id that is used again,
    /// after its record was dropped, is another entry.
    pub struct ReversalRecord as "reversal" by ' ' {
        /// Its id.
        pub reversal_id: Id,
        /// When it was made, ms of Redis' clock.
        pub at_ms: i64,
        /// What each tier gave back.
        pub tiers: Vec<ReversedTier>,
    }
}

words! {
    /// What a reversal gave back of one tier, and how much of it the tier did not hold.
    pub struct ReversedTier as "reversed_tier" by ',' each ';' {
        /// The tier.
        pub tier: Id,
        /// The entry's exact contribution, whole minor units.
        pub amount: u64,
        /// Its millionths.
        pub amount_micro: u64,
        /// The part that the operator funded, because the tier did not hold it, whole minor units.
        pub uncovered: u64,
        /// Its millionths.
        pub uncovered_micro: u64,
        /// 1 when a take of all came after the entry, so that its pool share was gone.
        pub taken: u64,
    }
}

words! {
    /// What a tier has outside the packed meters, in the field `moved` of the state. The field is written by takes of all,
    /// reversals and transfers.
    pub struct Moved as "moved" by ' ' each ';' {
        /// The tier.
        pub tier: Id,
        /// Takes of all, at the last one that wrote this. A lower number than the meter `wins` means that an older version
        /// of the service made later ones.
        pub took_wins: u64,
        /// Number of the jackpot's last entry at that take.
        pub took_sequence: u64,
        /// Contributions that were reversed, whole units.
        pub reversed: u64,
        /// Its millionths.
        pub reversed_micro: u64,
        /// Millionths beside the meter `funded`: of uncovered reversals.
        pub funded_micro: u64,
        /// Whole units that reversals took out of the pool since the last take of all.
        pub pool_reversed: u64,
        /// Came from other jackpots, whole units. The meter `funded` counts it too.
        pub transferred_in: u64,
        /// Its millionths.
        pub transferred_in_micro: u64,
        /// Went to other jackpots, whole units.
        pub transferred_out: u64,
        /// Its millionths.
        pub transferred_out_micro: u64,
        /// Room for transfers that are to come, whole units. The meter `funded` counts it too.
        pub expected: u64,
    }
}

/// The name of the record of an entry's reversal.
#[must_use]
pub fn field(sequence: u64) -> String {
    format!("!{sequence}")
}

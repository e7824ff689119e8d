//! Reversals of cancelled rounds: Redis' record of one, and what a tier has outside the packed meters. Pure.

use super::definition::Definition;
use crate::event_part;
use crate::ids::Id;
use crate::unreadable::Unreadable;
use crate::wire::{Field, OrDash};
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

words! {
    /// A reversal that came before its entry. It refuses an entry of that id. Redis keeps a list of them under the id of the
    /// entry, after a `!`, where the look-up of the id finds it. For an entry of a batch a `!` stands under the name of the
    /// batch's record too.
    pub struct EarlyCancel as "early_cancel" by ',' list '+' {
        /// Id of the reversal.
        pub reversal_id: Id,
        /// Name of the key: it refuses entries of the sources that this key may send. `-`: of any source.
        pub by: OrDash<Id>,
        /// When it came, ms of Redis' clock.
        pub at_ms: i64,
    }
}

words! {
    /// What a reversal id was used for, beside the records of entries under the name `~<reversal id>`.
    pub struct ReversalUse as "reversal_use" by ',' {
        /// The entry.
        pub entry_id: String,
        /// Digest of the reason.
        pub reason: String,
    }
}

event_part!(ReversalUse);

words! {
    /// A record that an early cancel wrote.
    pub struct EarlyRow as "early_row" by ' ' each ';' {
        /// Its name beside the records of entries.
        pub name: String,
        /// 1 when the generation had no record of that name.
        pub is_new: bool,
        /// The record.
        pub text: String,
    }
}

words! {
    /// A record of early cancels that the record of an entry or a batch replaced.
    pub struct Replaced as "replaced" by ' ' each ';' {
        /// Its name.
        pub name: String,
    }
}

impl EarlyCancel {
    /// Reads a record of early cancels.
    pub fn all(record: &str) -> Result<Vec<Self>, Unreadable> {
        let list = record.strip_prefix(EARLY).and_then(Vec::read);
        list.ok_or_else(|| Unreadable::of(record))
    }

    /// Whether it refuses an entry of this source.
    #[must_use]
    pub fn binds(&self, definition: &Definition, source: Option<&str>) -> bool {
        let OrDash(key) = &self.by;
        key.as_ref().is_none_or(|key| !definition.forbids(source, key.as_str()))
    }
}

/// What a record of early cancels begins with.
pub const EARLY: char = '!';

/// The name of the record of a reversal id.
#[must_use]
pub fn use_field(reversal_id: &Id) -> String {
    format!("~{reversal_id}")
}

/// The name of the record of an entry's reversal.
#[must_use]
pub fn field(sequence: u64) -> String {
    format!("!{sequence}")
}

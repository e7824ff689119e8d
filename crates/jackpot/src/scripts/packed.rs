//! What the hash of a jackpot's state holds packed. Scripts read and write it
//! (`values`), and `expected`, which works out what they would write.

use jackpot_core::packed;
use jackpot_core::wire::packed::PackedField;
use jackpot_core::wire::packed::Packs::{Optional, Rows, Text, Whole};

/// A tier of a definition.
const TIER: &[PackedField] = &[
    PackedField {
        name: "name",
        doc: "Its name.",
        packs: Text,
    },
    PackedField {
        name: "seed",
        doc: "The pool after a take of all.",
        packs: Whole,
    },
    PackedField {
        name: "cap",
        doc: "Largest pool; false for no limit.",
        packs: Optional,
    },
];

packed! {
    /// Under what a jackpot takes entries, in the field `terms` of its state. Entries do not change it, unless they put a
    /// waiting definition in force. Versions and epochs are texts of digits, because scripts only compare them.
    pub TERMS as "terms", format 1 {
        /// Highest version of a definition so far.
        last_version: Whole,
        /// Number of entries when the generation of idempotency records was opened: records up to here are in the older one.
        gen_start: Whole,
        /// When the generation was opened, ms.
        gen_opened: Whole,
        /// Its age, ms: a sum of steps.
        gen_age: Whole,
        /// Time of the last step, ms.
        gen_looked: Whole,
        /// Shortest time for which ids are remembered, seconds: the longest setting of any instance.
        retention: Whole,
        /// Version of the definition in force.
        version: Text,
        /// Digest of its parts that touch money or odds.
        money: Text,
        /// Version of the definition that waits for the next take of all; empty for none.
        next: Text,
        /// Its digest; empty for none.
        next_money: Text,
        /// ISO 4217.
        currency: Text,
        /// Number of the open epoch, from 1.
        epoch: Text,
        /// Commitment of its seed.
        commitment: Text,
        /// Public input of its seed, 32 hexadecimal digits.
        nonce: Text,
        /// Id of the master secret of its seed, 16 hexadecimal digits.
        secret: Text,
        /// 16 hexadecimal digits, made at creation and at every restore.
        history: Text,
        /// Generation of idempotency records to write: `a` or `b`.
        gen: Text,
        /// Version in force when it was opened.
        gen_version: Text,
        /// Tiers of the definition in force.
        tiers: Rows(TIER),
        /// Tiers of the waiting definition.
        next_tiers: Rows(TIER),
    }
}

packed! {
    /// What entries change, in the field `meters` of a jackpot's state: one row for each tier that any definition has had.
    pub METERS as "meters", format 1 {
        /// Entries so far.
        seq: Whole,
        /// Paid claims so far.
        order: Whole,
    } each {
        /// Its tier.
        name: Text,
        /// The value that a script last wrote to the pool.
        pool: Whole,
        /// Hidden pool that pays the next seed.
        reserve: Whole,
        /// Contributions beyond the cap.
        overflow: Whole,
        /// Fraction not yet in the pool, millionths.
        pool_micro: Whole,
        /// Fraction not yet in the reserve, millionths.
        reserve_micro: Whole,
        /// Sum of contributions, whole units.
        contributed: Whole,
        /// Its millionths.
        contributed_micro: Whole,
        /// Paid in minus taken out by operators, signed.
        funded: Whole,
        /// Paid to winners.
        paid: Whole,
        /// Takes of all.
        wins: Whole,
    }
}

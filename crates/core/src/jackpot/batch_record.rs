//! The idempotency record of a batch in Redis. Pure.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};

use crate::ids::Id;
use crate::words;

words! {
    /// The idempotency record of a batch, in the same hash as those of entries by `<batch_id>:`. An entry of the batch that
    /// drew a prize has a record of its own, by `<batch_id>:<index>`. The results of the others follow from the event.
    pub struct BatchRecord as "batch_record" by ' ' {
        /// Sequence of its first entry; the others follow.
        pub first: u64,
        /// Entries.
        pub count: u64,
        /// Fingerprint of the whole request.
        pub fingerprint: String,
        /// Epoch in which it was drawn.
        pub epoch: u64,
        /// One for each tier of the last entry's definition, in order.
        pub totals: Vec<Total>,
        /// Indexes, from 1, of the entries whose attempt 0 drew a prize, in order.
        pub winners: Vec<u64>,
    }
}

words! {
    /// What a batch added to a tier.
    pub struct Total as "total" by '+' list ',' {
        /// The tier.
        pub tier: Id,
        /// Whole minor units by which the tier's contributions grew.
        pub amount: u64,
        /// The pool after the last entry.
        pub pool: u64,
    }
}

/// The field of a batch's own record: no client's id has a `:`.
#[must_use]
pub fn field(batch_id: &Id) -> String {
    format!("{batch_id}:")
}

/// The fingerprint of a batch's block in its record: 128 bits of a SHA-256.
#[must_use]
pub fn fingerprint(block: &str) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(&Sha256::digest(block)[..16])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Field;

    #[test]
    fn a_record_is_written_as_it_was_read() {
        for text in ["7 3 f 1 grand+5+100,mini+0+0 1,3", "1 10000 Zk3f-_ 2 grand+5+100 -"] {
            assert_eq!(BatchRecord::read(text).expect("readable").text(), text);
        }
        for bad in [
            "",
            "7 3 f 1 grand+5+100",
            "7 3 f 1 grand+5 -",
            "7 3 f 1 - -",
            "7 3 f 1 grand+5+100 1,x",
            "7 3 f 1 g+5+1 - -",
        ] {
            assert_eq!(BatchRecord::read(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_fingerprint_is_of_the_whole_block() {
        assert_eq!(fingerprint("abc"), "ungWv48Bz-pBQUDeXa4iIw");
        assert_ne!(fingerprint("p1 1 *"), fingerprint("p1 1 s"));
    }
}

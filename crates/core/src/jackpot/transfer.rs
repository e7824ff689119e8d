//! Transfers between jackpots: what moves, and Redis' records of it. Pure.
//!
//! The records are in the hash `adjustments` and in the ledger's table of that name, beside those of adjustments, with a
//! text of their own in place of a digest. So a restore, a skip and the count of a checkpoint know them. Their names begin with
//! `!`, as no id does.

use crate::ids::Id;
use crate::words;

words! {
    /// What a transfer moves out of one tier into a tier of the other jackpot.
    pub struct Part as "part" by ',' each ';' {
        /// The tier.
        pub tier: Id,
        /// The tier of the other jackpot.
        pub to_tier: Id,
        /// What the pool held, minor units.
        pub pool: u64,
        /// Fraction not yet in the pool, millionths.
        pub pool_micro: u64,
        /// What the reserve held, minor units.
        pub reserve: u64,
        /// Fraction not yet in the reserve, millionths.
        pub reserve_micro: u64,
        /// What the overflow held, minor units.
        pub overflow: u64,
    }
}

words! {
    /// A transfer that was given, in place of the digest of an adjustment's record under the name `!out!<transfer_id>`.
    pub struct GivenRecord as "given" by '|' {
        /// Digest of its content, by which the service knows a repeat.
        pub digest: String,
        /// The jackpot that it goes to.
        pub to: Id,
        /// What each tier gave.
        pub parts: Vec<Part>,
    }
}

/// How the name of a record begins that says of a transfer that it was given.
pub const OUT: &str = "!out!";
/// How the name of a record begins that says of a transfer that it came in.
pub const CAME_IN: &str = "!in!";

/// The name of the record that a jackpot gave this transfer.
#[must_use]
pub fn out(transfer_id: &Id) -> String {
    format!("{OUT}{transfer_id}")
}

/// The name of the record that a transfer came in. Its content is the parts.
#[must_use]
pub fn came_in(source: &Id, transfer_id: &Id) -> String {
    format!("{CAME_IN}{source}!{transfer_id}")
}

/// The name of the record that there is room for the parts with this digest. Its content is the parts.
#[must_use]
pub fn room(source: &Id, transfer_id: &Id, digest: &str) -> String {
    format!("!room!{source}!{transfer_id}!{digest}")
}

/// The name of the record that this room has ended.
#[must_use]
pub fn freed(source: &Id, transfer_id: &Id, digest: &str) -> String {
    format!("!free!{source}!{transfer_id}!{digest}")
}

/// The jackpot that gives, the transfer and the digest of the name that [`room`] gave.
#[must_use]
pub fn of_room(name: &str) -> Option<(Id, Id, &str)> {
    let (source, rest) = name.strip_prefix("!room!")?.split_once('!')?;
    let (transfer_id, digest) = rest.split_once('!')?;
    Some((Id::parse(source).ok()?, Id::parse(transfer_id).ok()?, digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let text = "5f0c|into|grand,big,20,999999,5,1,7;mini,big,0,0,0,0,0;";
        let record = GivenRecord::parse(text).expect("a record");
        assert_eq!(
            (record.to.as_str(), record.parts.len(), record.parts[0].pool_micro),
            ("into", 2, 999_999)
        );
        assert_eq!(record.to_string(), text);
        assert!(GivenRecord::parse("5f0c|into|grand,big,20;").is_err());
    }
}

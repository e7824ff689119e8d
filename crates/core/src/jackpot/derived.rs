//! Ids that the service makes, so that every answer and the ledger name them alike without storing them.

use sha2::{Digest, Sha256};

use crate::ids::Id;

/// The id of the payout of an entry: it is paid at most once, and its sequence is never used again in the same history.
/// A restore from an older ledger begins another one, so that a payout of the future that was lost keeps its id to itself.
#[must_use]
pub fn payout_id(jackpot_id: &Id, history: &str, entry_id: &str, sequence: u64) -> String {
    hex::encode(&Sha256::digest(format!("payout\n{jackpot_id}\n{history}\n{entry_id}\n{sequence}"))[..16])
}

/// The id of what event `n` of a jackpot produced: `i` numbers it, from 0. Here they are the payouts, in the order of
/// their claims.
#[must_use]
pub fn event_id(jackpot_id: &Id, history: &str, n: u64, i: u64) -> String {
    format!("jackpot:{jackpot_id}:{history}:{n}:{i}")
}

/// The id of an entry's request for a unit of a coupon. No client can send it, because of its colons; an entry asks each
/// coupon once, whoever asks for it and however often.
///
/// From epoch 2 on the epoch is part of it: an entry id that is used again after the retention is another entry, and a
/// coupon remembers for longer.
#[must_use]
pub fn draw_request(jackpot_id: impl std::fmt::Display, entry_id: &str, epoch: u64) -> String {
    match epoch {
        1 => format!("draw:{jackpot_id}:{entry_id}"),
        epoch => format!("draw:{jackpot_id}:{entry_id}~{epoch}"),
    }
}

//! Ids that the service derives, so that every answer and the ledger use the same ids without storing them.

use sha2::{Digest, Sha256};

use crate::ids::Id;

/// The id of an entry's payout. An entry is paid at most once, and its sequence is used once in a history. A restore
/// from an older ledger begins another history, so the id of a lost payout is not used again.
#[must_use]
pub fn payout_id(jackpot_id: &Id, history: &str, entry_id: &str, sequence: u64) -> String {
    hex::encode(&Sha256::digest(format!("payout\n{jackpot_id}\n{history}\n{entry_id}\n{sequence}"))[..16])
}

/// The id of a result of event `n` of a jackpot; `i` numbers the results, from 0. Results are payouts, in the order of
/// their claims.
#[must_use]
pub fn event_id(jackpot_id: &Id, history: &str, n: u64, i: u64) -> String {
    format!("jackpot:{jackpot_id}:{history}:{n}:{i}")
}

/// The id of an entry's request for a unit of a coupon. It has colons, so no client can send it. An entry asks each
/// coupon once, from whatever instance and however often.
///
/// From epoch 2 on the id has the epoch: an entry id that is used again after the retention is another entry, and a
/// coupon remembers its requests for longer.
#[must_use]
pub fn draw_request(jackpot_id: impl std::fmt::Display, entry_id: &str, epoch: u64) -> String {
    match epoch {
        1 => format!("draw:{jackpot_id}:{entry_id}"),
        epoch => format!("draw:{jackpot_id}:{entry_id}~{epoch}"),
    }
}

//! The id of a payout.

use sha2::{Digest, Sha256};

use crate::ids::Id;

/// The id of the payout of an entry. Derived, so that every answer and the ledger name it alike without storing it:
/// an entry is paid at most once, and its sequence is never used again.
#[must_use]
pub fn payout_id(jackpot_id: &Id, entry_id: &str, sequence: u64) -> String {
    hex::encode(&Sha256::digest(format!("payout\n{jackpot_id}\n{entry_id}\n{sequence}"))[..16])
}

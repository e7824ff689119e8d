//! Batches: up to 10,000 entries taken by one script call, with exactly their result one after the other.
//!
//! `entries` (what was sent, parsed straight into the block that the event keeps), `drawn` (everything drawn and summed
//! for the script), `work` (long work away from other requests), `play` (from the batch to its answer). The script:
//! `lua/jackpot/enter_batch.lua`.

mod drawn;
mod entries;
mod play;
mod work;

use jackpot_core::ids::BatchId;
use jackpot_core::jackpot::batch_record::fingerprint;

pub use drawn::Drawn;
pub use entries::{Entries, MAX_ENTRIES};
pub use play::{BatchPlayed, Winner};
pub(crate) use work::work;

/// A batch as it was sent.
#[derive(Debug)]
pub struct Batch {
    /// Its id, the unit of idempotency.
    pub batch_id: BatchId,
    /// Its entries.
    pub entries: Entries,
}

impl Batch {
    /// 22 characters (128 bits) of a SHA-256 over the block of all entries. It reveals the same id with other content.
    pub fn fingerprint(&self) -> String {
        fingerprint(self.entries.block())
    }
}

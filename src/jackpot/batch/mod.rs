//! Batches: up to 10,000 entries taken by one script call, with exactly their result one after the other.
//!
//! `entries` (what was sent, parsed straight into the block that the event keeps), `splits` (what each stake adds),
//! `segment` (everything drawn and summed for the script), `record` (what Redis keeps of a batch), `work` (long work
//! away from other requests), `play` (from the batch to its answer). The script: `lua/jackpot/enter_batch.lua`.

mod entries;
mod play;
mod record;
mod segment;
mod splits;
mod work;

pub use entries::{Entries, MAX_ENTRIES};
pub use play::{BatchPlayed, Winner};
pub use record::{BatchRecord, Total};
pub use segment::{Segment, Step, TooLarge};
pub(crate) use work::work;

use crate::ids::BatchId;

/// A batch as it was sent.
#[derive(Debug)]
pub struct Batch {
    /// Its id, the unit of idempotency.
    pub batch_id: BatchId,
    /// Its entries.
    pub entries: Entries,
}

impl Batch {
    /// 22 characters (128 bits) of a SHA-256 over the block of all entries: the same id with other content is told
    /// by it.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
        use sha2::{Digest, Sha256};
        let digest = Sha256::digest(self.entries.block(0..self.entries.len()));
        BASE64_URL_SAFE_NO_PAD.encode(&digest[..16])
    }
}

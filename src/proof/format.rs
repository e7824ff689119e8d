//! The format of an export: its lines, which [`super::export`] writes and [`super::verify`] reads. Pure.

use jackpot_core::ids::Id;
use jackpot_core::receipt::{Head, Receipt};
use jackpot_core::signing::Jwks;
use serde::{Deserialize, Serialize};

/// The format that this version writes and reads.
pub const FORMAT: u32 = 2;

/// A line of an export, in order: one ledger, epochs, cycles, then each event followed by the receipts of what it paid, one
/// head.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Line {
    /// What this is.
    JackpotLedger(Heading),
    /// An epoch, and its seed if that is published.
    Epoch(EpochLine),
    /// A cycle of a tier with a must-hit rule, and its seed if that is published.
    Cycle(CycleLine),
    /// An event.
    Event(EventLine),
    /// A receipt of what the previous event paid.
    Receipt(Receipt),
    /// The signed head: nothing is missing.
    Head(Head),
}

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
pub struct Heading {
    /// [`FORMAT`].
    pub format: u32,
    pub jackpot_id: Id,
    /// From which ledger.
    pub ledger_id: String,
    /// Every public key that the ledger was signed with.
    pub keys: Jwks,
}

/// An epoch.
#[derive(Debug, Serialize, Deserialize)]
pub struct EpochLine {
    /// From 1.
    pub epoch: u64,
    /// Its own part of the seed's derivation.
    pub nonce: String,
    /// Id of the master secret, the other part.
    pub secret_id: String,
    /// SHA-256 of its seed, hexadecimal.
    pub commitment: String,
    /// RFC 3339.
    pub opened_at: String,
    /// RFC 3339, null while open.
    pub closed_at: Option<String>,
    /// 32 bytes in hexadecimal, null while it is not published.
    pub seed: Option<String>,
}

/// A cycle. What was pinned when it began is in its event.
#[derive(Debug, Serialize, Deserialize)]
pub struct CycleLine {
    pub tier: Id,
    /// From 0.
    pub cycle: u64,
    /// Its own part of the seed's derivation.
    pub nonce: String,
    /// Id of the master secret, the other part.
    pub secret_id: String,
    /// SHA-256 of its seed, hexadecimal.
    pub commitment: String,
    /// 32 bytes in hexadecimal, null while it is not published.
    pub seed: Option<String>,
}

/// An event.
#[derive(Debug, Serialize, Deserialize)]
pub struct EventLine {
    /// Number, dense from 1.
    pub n: u64,
    /// Of the chain, hexadecimal.
    pub hash: String,
    /// The very bytes that were hashed.
    pub body: String,
}

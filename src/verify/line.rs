//! The lines of an export.

use std::io::{self, BufRead};

use serde::{Deserialize, Serialize};

use crate::ids::Id;
use crate::ledger::receipt::{Head, Receipt};
use crate::signing::Jwks;

/// The format that this version writes and reads.
pub const FORMAT: u32 = 2;

/// Longest line, in bytes. A call takes at most 1,000 entries, which with 8 tiers is below a megabyte.
pub const MAX_LINE: usize = 16 << 20;

/// A line of an export, in the order in which they come: one ledger, epochs, then each event and behind it the
/// receipts of what it paid, one head.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Line {
    /// What this is.
    JackpotLedger(Heading),
    /// An epoch, and its seed if that is published.
    Epoch(EpochLine),
    /// An event.
    Event(EventLine),
    /// A receipt of what the event before it paid.
    Receipt(Receipt),
    /// The signed head: nothing is missing.
    Head(Head),
}

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
pub struct Heading {
    /// [`FORMAT`].
    pub format: u32,
    /// Of which jackpot.
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
    /// Its own part of what its seed is derived from.
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

/// Reads the next line into `line`, without its end; `false` at the end of the file.
///
/// # Errors
/// What the system says; a line beyond [`MAX_LINE`] or not in UTF-8 is `InvalidData`.
pub(super) fn read(reader: &mut impl BufRead, line: &mut String) -> io::Result<bool> {
    use io::Read as _;
    line.clear();
    let limit = u64::try_from(MAX_LINE).unwrap_or(u64::MAX);
    if reader.by_ref().take(limit).read_line(line)? == 0 {
        return Ok(false);
    }
    if !line.ends_with('\n') && line.len() >= MAX_LINE {
        let what = format!("a line has more than {MAX_LINE} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    line.truncate(line.trim_end_matches(['\n', '\r']).len());
    Ok(true)
}

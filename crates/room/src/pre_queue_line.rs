//! The lines of the list of users who joined a room before its opening. The room writes them, and auditors read them.
//! Pure.

use jackpot_core::ids::Id;
use serde::{Deserialize, Serialize};

use super::ticket::Ticket;

/// The format that this version writes and reads: 2, since the seed depends on a nonce.
pub const FORMAT: u32 = 2;

/// The kind of the file, in its first line.
pub const KIND: &str = "room-pre-queue";

/// The first line, with [`KIND`] in front.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "kind", rename = "room-pre-queue")]
pub struct Heading {
    /// Always [`FORMAT`].
    pub format: u32,
    pub room_id: Id,
    /// RFC 3339; none if it was removed while users joined, which opened the room.
    pub opens_at: Option<String>,
    /// Input of the seed besides the secret: 32 hexadecimal digits, shown with the commitment.
    pub nonce: String,
    /// SHA-256 of the seed, hexadecimal, shown since the PUT of this opening.
    pub commitment: String,
    /// The seed: 32 bytes, hexadecimal.
    pub seed: String,
    /// How many users joined.
    pub joined: u64,
    /// SHA-256 of the tickets in join order, a line feed after each; hexadecimal.
    pub sha256: String,
}

/// Every other line: a user who joined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Join {
    /// Join number, dense from 1.
    pub join: u64,
    /// The user's ticket.
    pub ticket: Ticket,
}

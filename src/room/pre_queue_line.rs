//! The lines of the list of users who joined a room before its opening: what the room writes and an auditor reads. Pure.

use jackpot_core::ids::Id;
use serde::{Deserialize, Serialize};

use super::ticket::Ticket;

/// The format that this version writes and reads: 2 since the seed is made with a nonce.
pub const FORMAT: u32 = 2;

/// What the first line says that the file is.
pub const KIND: &str = "room-pre-queue";

/// The first line, with [`KIND`] in front.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "kind", rename = "room-pre-queue")]
pub struct Heading {
    /// [`FORMAT`].
    pub format: u32,
    /// Of which room.
    pub room_id: Id,
    /// RFC 3339; none when that was taken away while they joined, which opened the room.
    pub opens_at: Option<String>,
    /// What the seed was made with, and the secret: 32 hexadecimal digits, shown with the commitment.
    pub nonce: String,
    /// SHA-256 of the seed, hexadecimal: shown since the PUT of this opening.
    pub commitment: String,
    /// 32 bytes, hexadecimal.
    pub seed: String,
    /// How many joined.
    pub joined: u64,
    /// SHA-256 of their tickets in the order in which they joined, a line feed after each; hexadecimal.
    pub sha256: String,
}

/// Every other line: one who joined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Join {
    /// Number, dense from 1.
    pub join: u64,
    /// Their ticket.
    pub ticket: Ticket,
}

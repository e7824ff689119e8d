//! What the projector reads, and what the ledger keeps of every event of any kind.

use jackpot_core::chain::ChainHash;
use jackpot_core::fields::EventFields;

/// An event as the stream holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raw {
    /// Its id in the stream.
    pub stream_id: String,
    /// All its fields.
    pub fields: EventFields,
}

impl From<(String, EventFields)> for Raw {
    fn from((stream_id, fields): (String, EventFields)) -> Self {
        Self { stream_id, fields }
    }
}

/// The place of an event in its stream and chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    /// Its number, 0 before the first.
    pub n: u64,
    pub hash: ChainHash,
    /// Its id in the stream, empty before the first.
    pub stream_id: String,
}

/// A row of the record.
#[derive(Debug)]
pub struct EventRow {
    pub cursor: Cursor,
    /// When it happened, ms.
    pub at_ms: i64,
    /// Type of the event.
    pub kind: String,
    /// Number of entries or issues, including those of this event.
    pub last_sequence: u64,
    /// What it moved between accounts; empty for nothing.
    pub moved: String,
    /// Canonical JSON.
    pub body: String,
}

/// A definition, kept as it was put.
#[derive(Debug)]
pub struct DefinitionRow {
    pub version: u64,
    /// Event that put it in force.
    pub n: u64,
    /// When it was put, ms.
    pub at_ms: i64,
    /// The definition, JSON as Redis keeps it.
    pub json: String,
}

//! `lua/room/view.lua`.

use crate::room::known::OrderOf;
use crate::room::status::Status;
use crate::store::Store;
use crate::store::keys::RoomKeys;
use crate::stream::Marked;

use super::{Mark, Reply, ScriptError, VIEW, call, optional, run};

/// How many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// In the room.
    pub active: u64,
    /// In front of it.
    pub waiting: u64,
    /// Sessions ever begun.
    pub admitted: u64,
    /// Of them, those that had waited.
    pub promoted: u64,
    /// Sessions that came to their end.
    pub expired: u64,
    /// Waiters that were not seen in time.
    pub abandoned: u64,
    /// Who left, in the room or in front of it.
    pub left: u64,
    /// For which the promoted had waited, all together, ms.
    pub waited_ms: u64,
}

impl Counts {
    /// Reads them, the first being the i-th of what a reply has behind its mark.
    pub(super) fn parse(reply: &Reply, i: usize) -> Result<Self, ScriptError> {
        Ok(Self {
            active: reply.number(i)?,
            waiting: reply.number(i + 1)?,
            admitted: reply.number(i + 2)?,
            promoted: reply.number(i + 3)?,
            expired: reply.number(i + 4)?,
            abandoned: reply.number(i + 5)?,
            left: reply.number(i + 6)?,
            waited_ms: reply.number(i + 7)?,
        })
    }
}

/// A room at one instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The room's mark.
    pub mark: Mark,
    /// The room's time, ms.
    pub now_ms: i64,
    /// Redis' clock, ms.
    pub wall_ms: i64,
    /// Its status.
    pub status: Status,
    /// Version of its definition.
    pub version: u64,
    /// The definition, JSON.
    pub definition: String,
    /// What the order before the opening goes by, or went.
    pub order: OrderOf,
    /// What a checkpoint would say: all that decides, as the ledger compares it.
    pub decides: String,
    /// Number of the event that makes its opening final: of the last nonce, of what opened it, or of its list.
    pub defined: u64,
    /// Nobody is admitted before, by Redis' clock; `None` once it has come.
    pub opens_ms: Option<i64>,
    /// Nobody is admitted before, because passes were lost; `None` once it has come.
    pub hold_ms: Option<i64>,
    /// How many, as the last call that did a step left it.
    pub counts: Counts,
    /// How many joined before the opening, while that is kept.
    pub collected: u64,
    /// SHA-256 of the list of them, once it is published.
    pub collected_sha256: Option<String>,
}

impl Marked for Snapshot {
    fn mark(&self) -> Mark {
        self.mark
    }
}

/// Reads a room; writes nothing. `known`: the highest mark this instance has seen.
pub async fn snapshot(store: &Store, keys: &RoomKeys, known: Mark) -> Result<Snapshot, ScriptError> {
    let reply = run(store, &VIEW, call(&VIEW, keys, known), known).await?;
    if reply.code() != "ok" {
        return Err(reply.unexpected());
    }
    Ok(Snapshot {
        mark: reply.mark(),
        now_ms: reply.number(0)?,
        wall_ms: reply.number(1)?,
        status: Status::parse(&reply.text(2)?).ok_or_else(|| reply.unexpected())?,
        version: reply.number(3)?,
        definition: reply.text(4)?,
        order: OrderOf {
            nonce: reply.text(5)?,
            commitment: reply.text(6)?,
        },
        decides: reply.text(7)?,
        defined: reply.number(8)?,
        opens_ms: optional(&reply, 9)?,
        hold_ms: optional(&reply, 10)?,
        counts: Counts::parse(&reply, 11)?,
        collected: reply.number(19)?,
        collected_sha256: optional(&reply, 20)?,
    })
}

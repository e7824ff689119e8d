//! `lua/room/view.lua`.

use crate::room::known::OrderOf;
use crate::room::status::Status;
use crate::store::Store;
use crate::store::keys::RoomKeys;
use crate::subject::Marked;

use super::{Mark, Reply, ScriptError, VIEW, call, optional, run};

/// The counters of a room.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Sessions now.
    pub active: u64,
    /// Waiting tickets now.
    pub waiting: u64,
    /// Sessions begun.
    pub admitted: u64,
    /// How many of them had waited.
    pub promoted: u64,
    /// Sessions that reached their end.
    pub expired: u64,
    /// Waiting tickets that were not seen in time.
    pub abandoned: u64,
    /// Tickets whose user left, in or waiting.
    pub left: u64,
    /// Sum of the waits of the promoted, ms.
    pub waited_ms: u64,
}

impl Counts {
    /// Reads the counters from a reply; the first is the i-th value after the mark.
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    pub mark: Mark,
    /// The room's time, ms.
    pub now_ms: i64,
    /// Redis' clock, ms.
    pub wall_ms: i64,
    pub status: Status,
    pub version: u64,
    /// As JSON.
    pub definition: String,
    /// Nonce and commitment of the order before the opening.
    pub order: OrderOf,
    /// The state as in a checkpoint: every field that decides, as the ledger compares it.
    pub decides: String,
    /// Number of the event that makes the opening final: of the last nonce, of the opening, or of its list.
    pub defined: u64,
    /// Nobody is admitted before, by Redis' clock; `None` once it has come.
    pub opens_ms: Option<i64>,
    /// Nobody is admitted before, because passes were lost; `None` once it has come.
    pub hold_ms: Option<i64>,
    /// The counters, as the last step left them.
    pub counts: Counts,
    /// Length of the list of tickets from before the opening, while it is kept.
    pub collected: u64,
    /// SHA-256 of that list, once it is published.
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

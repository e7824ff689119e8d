//! What this instance remembers of rooms: their keys, how far each had come, how many passes it had given, and its time.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use serde::{Deserialize, Serialize};

use super::ticket::OrderSeed;
use crate::ids::Id;
use crate::master_secret::MasterSecret;
use crate::store::keys::{ROOM_INDEX, RoomKeys, StreamKeys};
use crate::stream::{self, Heard, Subject};

/// Within this an instance has heard again of a room where somebody is: it looks at one each second, and waits a second for
/// the answer.
const HEARD_AGAIN_MS: i64 = 2_000;

/// Everything remembered of one room.
#[derive(Debug)]
pub struct Known {
    /// Its keys.
    pub keys: RoomKeys,
    heard: Heard,
    passes: AtomicU64,
    passes_until_ms: AtomicI64,
    shown_ms: AtomicI64,
    order: RwLock<Option<Arc<OrderOf>>>,
    /// Visits of this instance that were not confirmed; and how many of them a later one, confirmed, has told Redis of.
    doubts: AtomicU64,
    settled: AtomicU64,
}

/// What the order of those who join before the opening goes by.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderOf {
    /// 32 hexadecimal digits, another one for each opening.
    pub nonce: String,
    /// SHA-256 of the seed.
    pub commitment: String,
}

impl OrderOf {
    /// That of this nonce.
    #[must_use]
    pub fn new(secret: &MasterSecret, room: &Id, nonce: String) -> Self {
        let commitment = OrderSeed::of(secret, room, &nonce).commitment();
        Self { nonce, commitment }
    }
}

/// A visit on its way, and what is not confirmed when it begins.
pub struct Doubt<'k> {
    known: &'k Known,
    before: u64,
    ended: bool,
}

impl Doubt<'_> {
    /// Whether visits before this one were not confirmed: users may have asked without being seen.
    pub fn is_there(&self) -> bool {
        self.before > self.known.settled.load(Ordering::Relaxed)
    }

    /// This one is confirmed, so that Redis knows of those before.
    pub fn settle(mut self) {
        self.known.settled.fetch_max(self.before, Ordering::Relaxed);
        self.ended = true;
    }

    /// This one was refused: it says nothing of those before.
    pub fn leave(mut self) {
        self.ended = true;
    }
}

impl Drop for Doubt<'_> {
    /// Nobody said how it ended, or nobody waited for it.
    fn drop(&mut self) {
        if !self.ended {
            self.known.doubts.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Known {
    /// The highest number of passes given that this instance has seen: a Redis with fewer lost some that may be out.
    pub fn passes(&self) -> u64 {
        self.passes.load(Ordering::Relaxed)
    }

    /// Remembers the number of passes out of a reply.
    pub fn hear_passes(&self, passes: u64) {
        self.passes.fetch_max(passes, Ordering::Relaxed);
    }

    /// The highest time of the room that this instance has seen, ms, 0 for none: it is not earlier now, whatever the clock
    /// of Redis says (`docs/decisions/0020-room-clock.md`).
    pub fn shown_ms(&self) -> i64 {
        self.shown_ms.load(Ordering::Relaxed)
    }

    /// Remembers the room's time out of a reply.
    pub fn hear_time(&self, now_ms: i64) {
        self.shown_ms.fetch_max(now_ms, Ordering::Relaxed);
    }

    /// What the order went by when this instance last heard of it; `None` once the room has opened, and before anything was
    /// heard.
    pub fn order(&self) -> Option<Arc<OrderOf>> {
        self.order.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Remembers what a reply says that the order goes by.
    pub fn hear_order(&self, heard: Option<OrderOf>) {
        if self.order().as_deref() != heard.as_ref() {
            *self.order.write().unwrap_or_else(PoisonError::into_inner) = heard.map(Arc::new);
        }
    }

    /// Begins a visit.
    pub fn visiting(&self) -> Doubt<'_> {
        Doubt {
            known: self,
            before: self.doubts.load(Ordering::Relaxed),
            ended: false,
        }
    }

    /// When every pass has expired of which this instance has heard, and those that others gave before it could hear
    /// again; ms, 0 for none. The ledger may lack the definition of which they were.
    pub fn passes_until_ms(&self) -> i64 {
        self.passes_until_ms.load(Ordering::Relaxed)
    }

    /// Remembers that somebody has been in, at this time with sessions so long.
    pub fn hear_session(&self, now_ms: i64, session_ms: u64) {
        let session_ms = i64::try_from(session_ms).unwrap_or(i64::MAX);
        let until_ms = now_ms.saturating_add(session_ms).saturating_add(HEARD_AGAIN_MS);
        self.passes_until_ms.fetch_max(until_ms, Ordering::Relaxed);
    }
}

impl Subject for Known {
    const INDEX: &'static str = ROOM_INDEX;

    fn new(id: &Id) -> Self {
        Self {
            keys: RoomKeys::new(id),
            heard: Heard::new("room", id),
            passes: AtomicU64::new(0),
            passes_until_ms: AtomicI64::new(0),
            shown_ms: AtomicI64::new(0),
            order: RwLock::default(),
            doubts: AtomicU64::new(0),
            settled: AtomicU64::new(0),
        }
    }

    fn stream(&self) -> StreamKeys<'_> {
        self.keys.stream()
    }
}

impl std::ops::Deref for Known {
    type Target = Heard;

    fn deref(&self) -> &Heard {
        &self.heard
    }
}

/// The rooms that this instance has used.
pub type Registry = stream::Registry<Known>;

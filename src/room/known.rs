//! What this instance remembers of rooms: their keys, how far each had come, and how many passes it had given.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::ids::Id;
use crate::store::keys::{ROOM_INDEX, RoomKeys, StreamKeys};
use crate::stream::{self, Heard, Subject};

/// Everything remembered of one room.
#[derive(Debug)]
pub struct Known {
    /// Its keys.
    pub keys: RoomKeys,
    heard: Heard,
    passes: AtomicU64,
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
}

impl Subject for Known {
    const INDEX: &'static str = ROOM_INDEX;

    fn new(id: &Id) -> Self {
        Self {
            keys: RoomKeys::new(id),
            heard: Heard::new("room", id),
            passes: AtomicU64::new(0),
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

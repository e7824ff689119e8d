//! What a run needs of the service beside its API. The command line passes it in: nothing here knows the service's code.

use std::path::PathBuf;

/// The service, as a program and as what it keeps in Redis.
#[derive(Debug, Clone)]
pub struct Product {
    /// Its executable: `serve` starts a private service.
    pub program: PathBuf,
    /// The keys of the room with this id.
    pub room_keys: fn(&str) -> RoomKeys,
}

/// The keys of a room that its monitor reads.
#[derive(Debug, Clone)]
pub struct RoomKeys {
    /// Sorted set: tickets that are in, by the end of their session (ms).
    pub active: String,
    /// Sorted set: tickets that wait.
    pub waiting: String,
    /// Hash with the field `admitted`.
    pub state: String,
}

//! What a run needs of the service beside its API. The command line passes it in: nothing here knows the service's code.

use std::future::Future;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::SimulateError;
use super::compare::Plays;

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

/// The service's own scripts for the comparison, called without HTTP: one connection per player.
pub trait Scripts: Sized {
    /// What one round plays.
    type Jackpot;
    /// One connection of the round.
    type Player: Plays;

    /// Opens the connections to the Redis at `url`. They may keep files in `data`.
    fn open(url: &str, data: &Path, connections: u32) -> impl Future<Output = Result<Self, SimulateError>>;

    /// Defines the jackpot `id`, whose tier is `grand`, and puts `start` minor units into its pool.
    fn jackpot(
        &self,
        id: &str,
        definition: Value,
        start: i64,
    ) -> impl Future<Output = Result<Self::Jackpot, SimulateError>>;

    /// One player per connection.
    fn players(&self, jackpot: &Self::Jackpot) -> Vec<Self::Player>;

    /// What the pool holds, in minor units.
    fn pool(&self, jackpot: &Self::Jackpot) -> impl Future<Output = Result<i64, SimulateError>>;

    /// Closes the connections.
    fn close(self) -> impl Future<Output = ()>;
}

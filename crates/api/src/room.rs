//! Waiting rooms: a definition, a room with its counts, its public state, and the token of its page.

use jackpot_core::ids::Id;
use jackpot_kernel::subject::emergency::Stopped;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

jackpot_core::names! {
    /// Whether a room takes visitors.
    #[derive(ToSchema)]
    #[schema(as = RoomState)]
    pub enum Status as "`open` or `suspended`" {
        /// It takes them.
        Open = "open",
        /// Stopped by the service, because Redis and the ledger do not agree: nobody joins or is admitted.
        Suspended = "suspended",
    }
}

/// A room as operators put and read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = RoomDefinition)]
pub struct Document {
    /// Most sessions at once, 0 to 1,000,000. A lower value ends no session: nobody is admitted until enough have
    /// ended.
    #[schema(example = 1000, maximum = 1_000_000)]
    pub capacity: u64,
    /// Length of a session in seconds, from admission or renewal to the next whole second, 1 to 86,400.
    #[schema(example = 300, minimum = 1, maximum = 86_400)]
    pub session_s: u64,
    /// Seconds after which the place of a silent waiting user is lost, 1 to 86,400.
    #[schema(example = 60, minimum = 1, maximum = 86_400)]
    pub waiting_timeout_s: u64,
    /// Most admissions in any 60 s, 1 to 1,000,000; null: no limit but the capacity.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 1_000_000, example = json!(null))]
    pub admissions_per_minute: Option<u64>,
    /// Opening time (RFC 3339): nobody is admitted before it, and users who join before it are ordered at random; null:
    /// it is open. It can be moved until it is reached. Then it can stay or become null.
    #[serde(default)]
    #[schema(format = "date-time", example = json!(null))]
    pub opens_at: Option<String>,
    /// A name for people, 1 to 200 characters, shown on the waiting page; null: none.
    #[serde(default)]
    #[schema(example = "The spring lobby", min_length = 1, max_length = 200)]
    pub name: Option<String>,
    /// Target of the waiting page's link back: an absolute https URL like `return_to` of a join token; null: no link.
    /// It needs no entry in `return_origins`.
    #[serde(default)]
    #[schema(format = "uri", max_length = 2_000, example = "https://shop.example/")]
    pub back: Option<String>,
    /// Origins to which the waiting page may send users with their pass, `scheme://host` or `scheme://host:port`. At
    /// most 100; https, or http for localhost and 127.0.0.1. Empty: the page sends nobody, and no join token is made.
    #[serde(default)]
    #[schema(max_items = 100, example = json!(["https://shop.example"]))]
    pub return_origins: Vec<String>,
}

/// A room: its definition, status and counts.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Room {
    #[schema(value_type = String, example = "lobby")]
    pub id: Id,
    #[serde(flatten)]
    pub definition: Document,
    /// Whether it takes visitors.
    #[schema(example = "open")]
    pub status: Status,
    /// The emergency stop while it lasts, else null.
    pub stopped: Option<Stopped>,
    /// Version of the definition.
    #[schema(example = 3)]
    pub version: u64,
    /// Sessions now.
    #[schema(example = 1000)]
    pub active: u64,
    /// Tickets in the queue now.
    #[schema(example = 17)]
    pub waiting: u64,
    /// Sessions begun so far.
    #[schema(example = 5200)]
    pub admitted: u64,
    /// How many of them reached their end.
    pub expired: u64,
    /// Waiting tickets that were not seen in time.
    pub abandoned: u64,
    /// Tickets whose user left, in or waiting.
    pub left: u64,
    /// Mean wait of users who were admitted from the queue, in seconds; null when there was none.
    #[schema(example = 31.5)]
    pub mean_wait_s: Option<f64>,
    /// Public input of the seed of the order before the opening: 32 hexadecimal digits, new with each new `opens_at`.
    #[schema(example = "00112233445566778899aabbccddeeff")]
    pub nonce: String,
    /// SHA-256 of that seed.
    pub commitment: String,
    /// The seed, once the ledger has the opening.
    pub seed: Option<String>,
    /// Nobody is admitted before this time, because passes from before a loss of Redis may still be outstanding.
    pub held_until: Option<String>,
}

/// The public state of a room.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct RoomStatus {
    #[schema(value_type = String, example = "lobby")]
    pub room_id: Id,
    /// `collecting`: it opens later, in a random order. `holding`: nobody is admitted until all passes from before a loss
    /// of Redis have expired.
    #[schema(example = "open")]
    pub status: RoomPhase,
    /// The emergency stop while it lasts, else null.
    pub stopped: Option<Stopped>,
    #[schema(example = 1000)]
    pub capacity: u64,
    /// Sessions now.
    #[schema(example = 1000)]
    pub active: u64,
    /// Tickets in the queue.
    #[schema(example = 17)]
    pub waiting: u64,
    /// Seconds until a user who joins now is admitted, by the rate at which sessions ended in the last minute; null
    /// when unknown.
    #[schema(example = 40)]
    pub eta_s: Option<u64>,
    pub opens_at: Option<String>,
    /// Public input of the seed of the order before the opening: 32 hexadecimal digits, new with each new `opens_at`.
    #[schema(example = "00112233445566778899aabbccddeeff")]
    pub nonce: String,
    /// SHA-256 of that seed.
    pub commitment: String,
    /// The seed, once the ledger has the opening. With it and the list of `GET /v1/rooms/{id}/pre-queue` (role read),
    /// which the operator can publish, anybody can check the order.
    pub seed: Option<String>,
    /// How many joined before the opening, once the ledger has it and while the list is kept.
    pub joined: Option<u64>,
    /// SHA-256 of the list of their tickets, each with a line feed, in join order.
    pub sha256: Option<String>,
    /// Time of this state, RFC 3339 like all times here.
    pub at: String,
}

jackpot_core::names! {
    /// Whether a room admits visitors now.
    #[derive(ToSchema)]
    pub enum RoomPhase {
        /// It does.
        Open = "open",
        /// It opens later, in a random order.
        Collecting = "collecting",
        /// Nobody is admitted until all passes from before a loss of Redis have expired.
        Holding = "holding",
        /// Stopped by the service.
        Suspended = "suspended",
    }
}

/// A token that opens the waiting page.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct JoinToken {
    /// JWT of the type `join+jwt`. Its holder can join as this user, so give it to the user's browser alone.
    pub token: String,
    /// Path of the page, with the token; for this service's origin.
    #[schema(example = "/rooms/lobby/wait?token=eyJhbGciOiJFZERTQSJ9")]
    pub url: String,
    /// When it expires, RFC 3339.
    #[schema(example = "2026-11-22T10:02:00.000Z")]
    pub expires_at: String,
}

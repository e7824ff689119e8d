//! Builds every key in Redis; no other file does.
//!
//! All keys of a jackpot, a coupon or a room carry its hash tag `{id}`, so that one script touches one slot of a
//! cluster.

use jackpot_core::ids::Id;

/// The state and the events of a subject: what the ledger reads.
#[derive(Debug, Clone, Copy)]
pub struct StreamKeys<'a> {
    /// Hash with `n`, `restores` and `status`.
    pub state: &'a str,
    /// The stream.
    pub events: &'a str,
}

/// The keys of one jackpot.
#[derive(Debug, Clone)]
pub struct JackpotKeys {
    /// Hash: event number, status, and packed the terms and the meters (`lua/jackpot/state.lua`).
    pub state: String,
    /// Hash: definition as JSON by version.
    pub definitions: String,
    /// Hash: "commitment opened closed" by epoch, times in ms, "-" while open.
    pub epochs: String,
    /// Hash: idempotency records by entry id (`lua/jackpot/record.lua`), one of two generations.
    pub seen_a: String,
    /// The other generation.
    pub seen_b: String,
    /// Sorted set: ids of entries without a final outcome, by sequence.
    pub pending: String,
    /// Hash: "digest at" by adjustment id.
    pub adjustments: String,
    /// Sorted set: payouts and settlement ids, by the number of their last event (`lua/jackpot/settle.lua`).
    pub steps: String,
    /// Stream of events, ids `<sequence>-<event number>`.
    pub events: String,
    prefix: String,
}

impl JackpotKeys {
    /// The keys of the jackpot `id`.
    pub fn new(id: &Id) -> Self {
        let prefix = format!("jp:{{{id}}}");
        let key = |name: &str| format!("{prefix}:{name}");
        Self {
            state: key("state"),
            definitions: key("definitions"),
            epochs: key("epochs"),
            seen_a: key("seen:a"),
            seen_b: key("seen:b"),
            pending: key("pending"),
            adjustments: key("adjustments"),
            steps: key("steps"),
            events: key("events"),
            prefix,
        }
    }

    pub fn stream(&self) -> StreamKeys<'_> {
        StreamKeys {
            state: &self.state,
            events: &self.events,
        }
    }

    /// The pool of a tier: a plain integer.
    pub fn pool(&self, tier: &Id) -> String {
        format!("{}:pool:{tier}", self.prefix)
    }
}

/// The keys of one coupon.
#[derive(Debug, Clone)]
pub struct CouponKeys {
    /// Hash: event number, status, definition, counts, the consumer's lease (`lua/coupon/state.lua`).
    pub state: String,
    /// Hash: record by request id (`lua/coupon/record.lua`).
    pub requests: String,
    /// Hash: the issues that count for a user, by user id.
    pub users: String,
    /// Sorted set: ids of queued requests, by arrival number.
    pub queue: String,
    /// Sorted set: ids of dead letters, by arrival number.
    pub dead: String,
    /// Stream of events, ids `<sequence>-<event number>`.
    pub events: String,
}

impl CouponKeys {
    /// The keys of the coupon `id`.
    pub fn new(id: &Id) -> Self {
        let key = |name: &str| format!("cp:{{{id}}}:{name}");
        Self {
            state: key("state"),
            requests: key("requests"),
            users: key("users"),
            queue: key("queue"),
            dead: key("dead"),
            events: key("events"),
        }
    }

    /// All keys, in the order in which every script gets them.
    pub fn all(&self) -> [&str; 6] {
        [
            &self.state,
            &self.requests,
            &self.users,
            &self.queue,
            &self.dead,
            &self.events,
        ]
    }

    pub fn stream(&self) -> StreamKeys<'_> {
        StreamKeys {
            state: &self.state,
            events: &self.events,
        }
    }
}

/// The keys of one room.
#[derive(Debug, Clone)]
pub struct RoomKeys {
    /// Hash: event number, status, definition, counts (`lua/room/state.lua`).
    pub state: String,
    /// Hash: record by ticket (`crates/room/src/record.rs`).
    pub tickets: String,
    /// Hash: the ticket of a user who waits or is in; before the opening, also of a user whose ticket ended.
    pub users: String,
    /// Sorted set: waiting tickets, by their order.
    pub waiting: String,
    /// Sorted set: waiting tickets, by the time (ms) at which they become abandoned.
    pub seen: String,
    /// Sorted set: tickets that are in, by the end of their session (ms).
    pub active: String,
    /// Sorted set: ended tickets, by the time (ms) at which their record is dropped.
    pub ended: String,
    /// Sorted set: `ticket exp_ms at_ms` of passes revoked before they expired, by revocation number.
    pub revoked: String,
    /// List: times (ms) of the last admissions, newest first, if there is a rate.
    pub recent: String,
    /// Sorted set: tickets from before the opening, by their number on the list, dense from 1.
    pub collected: String,
    /// Stream of events, ids `<event number>-<event number>`.
    pub events: String,
}

impl RoomKeys {
    /// The keys of the room `id`.
    pub fn new(id: &Id) -> Self {
        let key = |name: &str| format!("room:{{{id}}}:{name}");
        Self {
            state: key("state"),
            tickets: key("tickets"),
            users: key("users"),
            waiting: key("waiting"),
            seen: key("seen"),
            active: key("active"),
            ended: key("ended"),
            revoked: key("revoked"),
            recent: key("recent"),
            collected: key("collected"),
            events: key("events"),
        }
    }

    /// All keys, in the order in which every script gets them.
    pub fn all(&self) -> [&str; 11] {
        [
            &self.state,
            &self.tickets,
            &self.users,
            &self.waiting,
            &self.seen,
            &self.active,
            &self.ended,
            &self.revoked,
            &self.recent,
            &self.collected,
            &self.events,
        ]
    }

    pub fn stream(&self) -> StreamKeys<'_> {
        StreamKeys {
            state: &self.state,
            events: &self.events,
        }
    }
}

/// Sorted set with the ids of all rooms, all with score 0, for listing in order.
pub const ROOM_INDEX: &str = "room:index";

/// Sorted set with the ids of all coupons, all with score 0, for listing in order.
pub const COUPON_INDEX: &str = "cp:index";

/// Sorted set with the ids of all jackpots, all with score 0, for listing in order.
pub const JACKPOT_INDEX: &str = "jp:index";

/// Hash: the last decision about the emergency stop (`lua/subject/emergency_decision.lua`).
pub const EMERGENCY: &str = "jp:emergency";

/// String: id of the ledger that this Redis belongs to, and of this store (`lua/subject/name_store.lua`).
pub const LEDGER: &str = "jp:ledger";

//! The events of a room's stream, typed (`docs/decisions/0016-rooms.md`).

use std::ops::Deref;

use jackpot_core::fields::EventFields;
use jackpot_core::wire::{Field, FieldShape, OrDash};
use jackpot_core::words;
use serde::{Deserialize, Serialize};

use super::carried::CarriedRoom;
use crate::definition::Definition;
use crate::known::OrderOf;
use jackpot_api::room::Status;
use jackpot_core::wire::declared::EventPart;
use jackpot_core::{event_fields, event_types};
use jackpot_kernel::ledger::events::{Envelope, Fields, Mode, Obeyed, Put, Rebuilt, StatusChange, Unreadable, hex};
use jackpot_kernel::ledger::skipped::Skipped;

/// Digits of a SHA-256.
const DIGEST_DIGITS: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Number, dense from 1 in a room.
    pub n: u64,
    /// When it happened, ms of Redis' clock.
    pub at_ms: i64,
    /// The room's time: the highest that it has shown, ms.
    pub clock_ms: i64,
    /// The history that it belongs to; each restore begins another one.
    pub history: String,
    pub kind: Kind,
}

event_fields! {
    /// What every event of a room has.
    pub struct Common {
        /// The room's time: the highest that it has shown.
        pub clock_ms as "clock": i64,
    }
}

event_types! {
    /// Tickets, admissions and passes make no event: a room's stream holds what operators and the service do to the room.
    /// A room's time never goes back ([decision 0020](../decisions/0020-room-clock.md)).
    #[derive(Eq)]
    pub enum Kind with Common {
        /// The room was created, or its definition changed.
        "define" Define(Box<Define>),
        /// The list of the users who joined before the opening was published.
        "opened" Opened(Opened),
        /// The service suspended the room, or opened it again.
        "status" Status(StatusChange<Status>),
        /// The room obeys the emergency stop, or its end.
        "emergency" Emergency(Obeyed),
        /// What Redis held right before the event. The ledger compares it with its books.
        "checkpoint" Checkpoint {
            /// All that decides.
            held as "state": Checkpoint = "a `Checkpoint`" Field::read,
        },
        /// Redis was rebuilt from the events before this one. It has no records.
        "restore" Restore {
            /// As of every restore.
            rebuilt: Rebuilt<Status>,
            /// When the last pass from before has expired, in ms.
            passes_until_ms as "passes_until": i64,
            /// What decides the order before the opening. It is new if the room has not opened.
            order: OrderOf,
        },
        /// An operator skipped an event that could not be applied.
        "skipped" Skipped(Box<Skipped<CarriedRoom>>),
    }
}

event_fields! {
    /// A definition that was put.
    pub struct Define {
        /// As of every PUT.
        pub put: Put,
        /// The same definition, parsed.
        pub definition as "json": Definition = "JSON" |json| Definition::from_json(json).ok(),
        /// Whether the room had opened before.
        pub opened: bool,
        /// What decides, or decided, the order before the opening.
        pub order: OrderOf,
    }
    check |define| (define.put.mode == Mode::Waits).then_some("mode")
}

impl Deref for Define {
    type Target = Put;

    fn deref(&self) -> &Put {
        &self.put
    }
}

event_fields! {
    /// The list of users who joined before the opening.
    #[derive(Serialize, Deserialize)]
    pub struct Opened {
        /// Number of users.
        pub joined: u64,
        /// SHA-256 of their tickets in the order in which they joined, each followed by a line feed; hexadecimal.
        pub sha256: String = "hexadecimal" |text| hex(text, DIGEST_DIGITS),
    }
}

impl EventPart for OrderOf {
    fn shapes(_: &'static str, _: &'static str) -> Vec<FieldShape> {
        let nonce = "Nonce of the order before the opening.";
        let commitment = "SHA-256 of the seed of that order.";
        vec![
            FieldShape::text("order_nonce", nonce, "text"),
            FieldShape::text("commitment", commitment, "hexadecimal"),
        ]
    }

    fn read(fields: &Fields<'_>, _: &'static str) -> Result<Self, Unreadable> {
        Ok(Self {
            nonce: fields.text("order_nonce")?.to_owned(),
            commitment: fields.hex("commitment", DIGEST_DIGITS)?,
        })
    }
}

words! {
    /// What Redis held.
    pub struct Checkpoint as "checkpoint" by ' ' {
        /// Its status.
        pub status: Status,
        /// Version of the definition.
        pub version: u64,
        /// Most concurrent sessions.
        pub capacity: u64,
        /// Length of a session.
        pub session_ms: u64,
        /// How long the place of a silent waiter is kept.
        pub waiting_timeout_ms: u64,
        /// Most admissions in any 60 s, `-` for no limit.
        pub rate: OrDash<u64>,
        /// When it opens or opened.
        pub opens_ms: i64,
        /// When the last pass of an earlier definition, or from before a restore, has expired; 0 for none.
        pub passes_until_ms: i64,
        /// SHA-256 of the seed of the order before the opening.
        pub commitment: String,
        /// SHA-256 of the list of users who joined before the opening, once it is published; else `-`.
        pub collected_sha256: OrDash<String>,
    }
}

impl Event {
    /// Reads the fields of a stream entry.
    pub fn parse(fields: &EventFields) -> Result<Self, Unreadable> {
        let fields = Fields(fields);
        let Envelope { n, at_ms, history } = Envelope::read(&fields, "")?;
        let Common { clock_ms } = Common::read(&fields, "")?;
        Ok(Self {
            n,
            at_ms,
            clock_ms,
            history,
            kind: Kind::read(&fields)?,
        })
    }
}

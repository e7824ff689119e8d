//! The events of a room's stream, typed (`docs/decisions/0016-rooms.md`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::carried::CarriedRoom;
use crate::ledger::events::Fields;
use crate::ledger::events::Unreadable;
use crate::ledger::skipped::{self, Skipped};
use crate::room::definition::Definition;
use crate::room::known::OrderOf;
use crate::room::status::Status;

/// Digits of a SHA-256.
const DIGEST_DIGITS: usize = 64;

/// One event.
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

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// The room was created, or its definition changed.
    Define(Box<Define>),
    /// A list was published: the users who joined before the opening.
    Opened(Opened),
    /// The service suspended it, or opened it again.
    Status { before: Status, after: Status },
    /// What Redis held right before the event.
    Checkpoint(Checkpoint),
    /// Redis was rebuilt from the events before this one.
    Restore {
        /// Number of the last event that Redis had; `None` when it had nothing of the room.
        from_n: Option<u64>,
        /// How often it has been restored, including this time.
        restores: u64,
        /// The status after it.
        status: Status,
        /// When the last pass given before has expired, ms.
        passes_until_ms: i64,
        /// What decides the order before the opening. It is new if the room has not opened.
        order: OrderOf,
    },
    /// An operator skipped an event that could not be applied.
    Skipped(Box<Skipped<CarriedRoom>>),
}

/// A definition that was put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Define {
    /// Whether it created the room.
    pub created: bool,
    /// Whether the room had opened before.
    pub opened: bool,
    pub version: u64,
    /// The definition, JSON as Redis keeps it.
    pub json: String,
    /// The same definition, parsed.
    pub definition: Definition,
    /// What decides, or decided, the order before the opening.
    pub order: OrderOf,
    /// One for the PUT and all its repeats.
    pub nonce: String,
}

/// The list of users who joined before the opening.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    /// Number of users.
    pub joined: u64,
    /// SHA-256 of their tickets in the order in which they joined, each followed by a line feed; hexadecimal.
    pub sha256: String,
}

/// What Redis held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    pub status: Status,
    /// Version of the definition.
    pub version: u64,
    /// Most concurrent sessions.
    pub capacity: u64,
    /// Length of a session, ms.
    pub session_ms: u64,
    /// How long the place of a silent waiter is kept, ms.
    pub waiting_timeout_ms: u64,
    /// Most admissions in any 60 s.
    pub rate: Option<u64>,
    /// When it opens or opened, ms.
    pub opens_ms: i64,
    /// When the last pass of an earlier definition, or from before a restore, has expired, ms; 0 for none.
    pub passes_until_ms: i64,
    /// SHA-256 of the seed of the order before the opening.
    pub commitment: String,
    /// SHA-256 of the list of users who joined before the opening, once it is published.
    pub collected_sha256: Option<String>,
}

impl Event {
    /// Reads the fields of a stream entry.
    pub fn parse(fields: &BTreeMap<String, String>) -> Result<Self, Unreadable> {
        let fields = Fields(fields);
        Ok(Self {
            n: fields.parse("n")?,
            at_ms: fields.parse("at")?,
            clock_ms: fields.parse("clock")?,
            history: fields.history()?,
            kind: parse_kind(&fields)?,
        })
    }
}

fn parse_kind(fields: &Fields<'_>) -> Result<Kind, Unreadable> {
    Ok(match fields.text("type")? {
        "define" => Kind::Define(Box::new(Define {
            created: match fields.text("mode")? {
                "created" => true,
                "changed" => false,
                _ => return Err(fields.wrong("mode")),
            },
            opened: match fields.text("opened")? {
                "0" => false,
                "1" => true,
                _ => return Err(fields.wrong("opened")),
            },
            version: fields.parse("version")?,
            json: fields.text("json")?.to_owned(),
            definition: fields.read("json", |json| Definition::from_json(json).ok())?,
            order: order(fields)?,
            nonce: fields.text("nonce")?.to_owned(),
        })),
        "opened" => Kind::Opened(Opened {
            joined: fields.parse("joined")?,
            sha256: fields.read("sha256", digest)?,
        }),
        "status" => Kind::Status {
            before: fields.read("before", Status::parse)?,
            after: fields.read("after", Status::parse)?,
        },
        "checkpoint" => Kind::Checkpoint(fields.read("state", Checkpoint::parse)?),
        "restore" => Kind::Restore {
            from_n: fields.optional("from_n")?,
            restores: fields.parse("restores")?,
            status: fields.read("status", Status::parse)?,
            passes_until_ms: fields.parse("passes_until")?,
            order: order(fields)?,
        },
        skipped::TYPE => Kind::Skipped(Box::new(Skipped::parse(fields)?)),
        _ => return Err(fields.wrong("type")),
    })
}

fn order(fields: &Fields<'_>) -> Result<OrderOf, Unreadable> {
    Ok(OrderOf {
        nonce: fields.text("order_nonce")?.to_owned(),
        commitment: fields.read("commitment", digest)?,
    })
}

fn digest(text: &str) -> Option<String> {
    let digits = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    (digits && text.len() == DIGEST_DIGITS).then(|| text.to_owned())
}

impl Checkpoint {
    /// Reads the text that `decides` in `lua/room/state.lua` writes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let parts: Vec<_> = text.split(' ').collect();
        let [
            status,
            version,
            capacity,
            session,
            timeout,
            rate,
            opens,
            passes_until,
            commitment,
            sha256,
        ] = *parts.as_slice()
        else {
            return None;
        };
        let optional = |text: &'_ str| (text != "-").then(|| text.to_owned());
        Some(Self {
            status: Status::parse(status)?,
            version: version.parse().ok()?,
            capacity: capacity.parse().ok()?,
            session_ms: session.parse().ok()?,
            waiting_timeout_ms: timeout.parse().ok()?,
            rate: optional(rate).map(|rate| rate.parse()).transpose().ok()?,
            opens_ms: opens.parse().ok()?,
            passes_until_ms: passes_until.parse().ok()?,
            commitment: commitment.to_owned(),
            collected_sha256: optional(sha256),
        })
    }
}

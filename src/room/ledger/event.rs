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
    /// When, ms of Redis' clock.
    pub at_ms: i64,
    /// The highest time that the room has shown, ms.
    pub clock_ms: i64,
    /// The history that it belongs to: another one from each restore on.
    pub history: String,
    /// What happened.
    pub kind: Kind,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// The room was created, or its definition changed.
    Define(Box<Define>),
    /// The list of those who joined before the opening was published.
    Opened(Opened),
    /// The service suspended it, or opened it again.
    Status {
        /// What it was.
        before: Status,
        /// What it is.
        after: Status,
    },
    /// What Redis held at this instant, right before the event.
    Checkpoint(Checkpoint),
    /// Redis was rebuilt from the events before this one.
    Restore {
        /// Number of the last event that Redis had; `None` when it had nothing of the room.
        from_n: Option<u64>,
        /// How often it has been restored, with this time.
        restores: u64,
        /// The status it has now.
        status: Status,
        /// When the last pass that was given before has expired, ms.
        passes_until_ms: i64,
        /// What the order before the opening goes by: another one than before, where it has not opened.
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
    /// Its version.
    pub version: u64,
    /// As Redis keeps it.
    pub json: String,
    /// The same, read.
    pub definition: Definition,
    /// What the order before the opening goes by, or went.
    pub order: OrderOf,
    /// Of the PUT and its repeats.
    pub nonce: String,
}

/// The list of those who joined before the opening.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    /// How many they are.
    pub joined: u64,
    /// SHA-256 of their tickets in the order in which they joined, a line feed behind each; hexadecimal.
    pub sha256: String,
}

/// What Redis held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Its status.
    pub status: Status,
    /// Of its definition.
    pub version: u64,
    /// Sessions at once.
    pub capacity: u64,
    /// Of a session.
    pub session_ms: u64,
    /// For which the place of a silent waiter is kept.
    pub waiting_timeout_ms: u64,
    /// Most admissions in any 60 s.
    pub rate: Option<u64>,
    /// When it opens or opened, ms.
    pub opens_ms: i64,
    /// When the last pass of former definitions, or of before a restore, has expired, ms; 0 for none.
    pub passes_until_ms: i64,
    /// SHA-256 of the seed of the order before the opening.
    pub commitment: String,
    /// SHA-256 of the list of those who joined before the opening, once it is published.
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
    /// Reads it as `decides` in `lua/room/state.lua` writes it.
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

//! The events of a coupon's stream, typed (`docs/decisions/0015-coupons.md`).

use std::collections::BTreeMap;
use std::ops::Deref;

use jackpot_core::fields::EventFields;
use jackpot_core::ids::{Id, PersonId};
use jackpot_core::record;
use jackpot_core::wire::FieldShape;

use super::carried::CarriedCoupon;
use crate::code::Code;
use crate::definition::Definition;
use crate::metadata::Asker;
use crate::redemption::Reference;
use jackpot_api::coupon::Status;
use jackpot_core::wire::declared::EventPart;
use jackpot_core::{event_fields, event_part, event_types};
use jackpot_kernel::ledger::events::{
    By, Envelope, Fields, Mode, Obeyed, Put, Rebuilt, StatusChange, Unreadable, parse_held,
};
use jackpot_kernel::ledger::skipped::Skipped;

event_part!(Reference);

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Number, dense from 1 in a coupon.
    pub n: u64,
    /// When it happened, ms of Redis' clock.
    pub at_ms: i64,
    /// The history that it belongs to; each restore begins another one.
    pub history: String,
    pub kind: Kind,
}

event_types! {
    /// The lines of a `block` are in the order of their effect.
    #[derive(Eq)]
    pub enum Kind {
        /// The coupon was created, or its definition changed.
        "define" Define(Define),
        /// Requests were decided as they came, or joined the queue.
        "issue" Issue {
            /// One request a line.
            lines as "block": Vec<Line> = "a `Line` a line, without `c` and `d`" parse_asked,
            /// How many users got their first record.
            users: Option<u64>,
        },
        /// Requests of the queue were decided, or became dead letters.
        "serve" Serve {
            /// One request a line.
            lines as "block": Vec<Line> = "a `Line` a line, without `q`" parse_served,
            /// How many users got their first record.
            users: Option<u64>,
        },
        /// A dead letter went back into the queue.
        "redrive" Redrive {
            /// Id of the request.
            request: String,
            /// Its place in the queue.
            arrival: u64,
        }
        unread {
            /// Who put it back.
            by: By,
        },
        /// An issued unit was taken back.
        "void" Void {
            /// The unit.
            unit: Unit,
            /// -1 when no issue counts for the user any more, so that the user's record is gone; else 0.
            last_of_user as "users": LastOfUser,
        }
        unread {
            /// Who took it back.
            by: By,
        },
        /// An issued unit was used by its user.
        "redeem" Redeem {
            /// The unit.
            unit: Unit,
            /// The caller's id of the redemption.
            redemption: Id,
            /// The caller's text about it.
            reference: Reference,
        }
        unread {
            /// Who redeemed it.
            by: By,
        },
        /// An instance with a longer setting raised how long records are kept after the end.
        "retention" Retention {
            /// Before.
            before: u64,
            /// From now on.
            retention_s as "retention": u64,
        },
        /// An operator paused, resumed or closed the coupon, or the service suspended it or ended that.
        "status" Status(StatusChange<Status>),
        /// The coupon obeys the emergency stop, or its end.
        "emergency" Emergency(Obeyed),
        /// What Redis held right before the event. The ledger compares it with its books.
        "checkpoint" Checkpoint(Checkpoint),
        /// Redis was rebuilt from the events before this one.
        "restore" Restore {
            /// As of every restore.
            rebuilt: Rebuilt<Status>,
            /// How many users have a record, as the ledger wrote them.
            users: Option<u64>,
        },
        /// The coupon is over for good, and its records were dropped.
        "retire" Retire {
            /// How many requests had a record.
            requests: u64,
            /// How many of them were in the queue.
            queued: u64,
            /// How many of them were dead letters.
            dead: u64,
        },
        /// An operator skipped an event that could not be applied.
        "skipped" Skipped(Box<Skipped<CarriedCoupon>>),
    }
}

event_fields! {
    /// A definition that was put.
    pub struct Define {
        /// As of every PUT.
        pub put: Put,
        /// The same definition, parsed.
        pub definition as "json": Definition = "JSON" |json| Definition::from_json(json).ok(),
        /// For how long records are kept after the end.
        pub retention_s as "retention": Option<u64>,
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
    /// A unit that was issued.
    pub struct Unit {
        /// Id of the request.
        pub request: String,
        /// Its user.
        pub user: PersonId,
        /// Number of the issue.
        pub sequence as "seq": u64,
    }
}

record! {
    /// A request in an event: what came of it.
    pub struct Line as "line" {
        /// Its id.
        pub request: String,
        /// Its user, and its metadata.
        pub user: Asker,
    }
    /// The result for a request.
    pub what: pub enum What {
        /// The request got a unit.
        "i" Issued {
            /// Number of the issue.
            sequence: u64,
            /// The unit's code.
            code: Code,
        }
        /// The user already had the most units per user.
        "a" AlreadyIssued {
            /// The request of the oldest one.
            first: String,
        }
        /// No unit was left.
        "o" OutOfStock
        /// The coupon had not started, or was over.
        "n" NotOpen
        /// The coupon was closed. Only in a `serve` event.
        "c" Closed
        /// The request joined the queue. Only in an `issue` event.
        "q" Queued {
            /// Its number in the queue.
            arrival: u64,
        }
        /// The queue took the request too often without serving it. Only in a `serve` event.
        "d" Dead {
            /// How often.
            attempts: u32,
        }
    }
}

event_fields! {
    /// What Redis held.
    pub struct Checkpoint {
        /// The state and the numbers of records, by their names in `lua/coupon/state.lua`.
        pub held as "state": BTreeMap<String, String> = "`name value`, one a line" parse_held,
    }
}

impl Event {
    /// Reads the fields of a stream entry.
    pub fn parse(fields: &EventFields) -> Result<Self, Unreadable> {
        let fields = Fields(fields);
        let Envelope { n, at_ms, history } = Envelope::read(&fields, "")?;
        Ok(Self {
            n,
            at_ms,
            history,
            kind: Kind::read(&fields)?,
        })
    }
}

fn parse_asked(block: &str) -> Option<Vec<Line>> {
    parse_block(block, |what| !matches!(what, What::Dead { .. } | What::Closed))
}

fn parse_served(block: &str) -> Option<Vec<Line>> {
    parse_block(block, |what| !matches!(what, What::Queued { .. }))
}

/// Reads one request per line; at least one.
fn parse_block(block: &str, fits: impl Fn(&What) -> bool) -> Option<Vec<Line>> {
    let lines = block
        .split('\n')
        .map(|line| Line::parse(line).ok())
        .collect::<Option<Vec<_>>>()?;
    lines.iter().all(|line| fits(&line.what)).then_some(lines)
}

/// Whether the user has no issue left that counts. An event without the field, of an earlier version, does not say so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastOfUser(pub bool);

impl EventPart for LastOfUser {
    fn shapes(name: &'static str, doc: &'static str) -> Vec<FieldShape> {
        vec![FieldShape::text(name, doc, "-1 or 0")]
    }

    fn read(fields: &Fields<'_>, name: &'static str) -> Result<Self, Unreadable> {
        Ok(Self(fields.optional::<i64>(name)? == Some(-1)))
    }
}

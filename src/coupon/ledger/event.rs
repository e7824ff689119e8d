//! The events of a coupon's stream, typed (`docs/decisions/0015-coupons.md`).

use std::collections::BTreeMap;

use jackpot_core::ids::Id;

use super::carried::CarriedCoupon;
use crate::coupon::code::Code;
use crate::coupon::definition::Definition;
use crate::coupon::status::Status;
use crate::ledger::events::Unreadable;
use crate::ledger::events::{Fields, parse_held};
use crate::ledger::skipped::{self, Skipped};

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

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// The coupon was created, or its definition changed.
    Define(Define),
    /// Requests were decided on arrival, or joined the queue. With the number of users that got their first record.
    Issue(Vec<Line>, u64),
    /// Queued requests were decided or given up. With the number of users that got their first record.
    Serve(Vec<Line>, u64),
    /// A dead letter went back into the queue.
    Redrive {
        request: String,
        /// Its place in the queue.
        arrival: u64,
    },
    /// An issued unit was taken back.
    Void {
        request: String,
        user: Id,
        /// Number of the issue.
        sequence: u64,
        /// Whether no issue counts for the user any more; the user's record is gone then.
        last_of_user: bool,
    },
    /// An instance with a longer setting raised how long records are kept after the end.
    Retention {
        /// Seconds before.
        before: u64,
        /// Seconds from now on.
        retention_s: u64,
    },
    /// The service suspended it, or opened it again.
    Status { before: Status, after: Status },
    /// What Redis held right before the event.
    Checkpoint(Checkpoint),
    /// Redis was rebuilt from the events before this one.
    Restore {
        /// Number of the last event that Redis had; `None` when it had nothing of the coupon.
        from_n: Option<u64>,
        /// How often it has been restored, including this time.
        restores: u64,
        /// The status after it.
        status: Status,
        /// Number of users that have a record, as the ledger wrote them.
        users: u64,
    },
    /// The coupon is over for good, and its records were dropped.
    Retire {
        /// Number of requests that had a record.
        requests: u64,
        /// How many of them were queued.
        queued: u64,
        /// How many of them were dead letters.
        dead: u64,
    },
    /// An operator skipped an event that could not be applied.
    Skipped(Box<Skipped<CarriedCoupon>>),
}

/// A definition that was put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Define {
    /// Whether it created the coupon.
    pub created: bool,
    pub version: u64,
    /// The definition, JSON as Redis keeps it.
    pub json: String,
    /// The same definition, parsed.
    pub definition: Definition,
    /// One for the PUT and all its repeats.
    pub nonce: String,
    /// Seconds that records are kept after the end.
    pub retention_s: u64,
}

/// The result for one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Id of the request.
    pub request: String,
    pub user: Id,
    pub what: What,
}

/// The result for a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// The request got a unit.
    Issued {
        /// Number of the issue.
        sequence: u64,
        code: Code,
    },
    /// The user already had the most units per user. With the request of the oldest one.
    AlreadyIssued(String),
    /// No unit was left.
    OutOfStock,
    /// The coupon had not started, or was over.
    NotOpen,
    /// The request joined the queue with this number. Only in an `issue` event.
    Queued(u64),
    /// The queue took the request this many times without serving it. Only in a `serve` event.
    Dead(u32),
}

/// What Redis held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The state and the numbers of records, by their names in `lua/coupon/state.lua`.
    pub held: BTreeMap<String, String>,
}

impl Event {
    /// Reads the fields of a stream entry.
    pub fn parse(fields: &BTreeMap<String, String>) -> Result<Self, Unreadable> {
        let fields = Fields(fields);
        Ok(Self {
            n: fields.parse("n")?,
            at_ms: fields.parse("at")?,
            history: fields.history()?,
            kind: parse_kind(&fields)?,
        })
    }
}

fn parse_kind(fields: &Fields<'_>) -> Result<Kind, Unreadable> {
    let id = |id: &str| Id::parse(id).ok();
    let users = || Ok(fields.optional("users")?.unwrap_or_default());
    Ok(match fields.text("type")? {
        "define" => Kind::Define(Define {
            created: match fields.text("mode")? {
                "created" => true,
                "changed" => false,
                _ => return Err(fields.wrong("mode")),
            },
            version: fields.parse("version")?,
            json: fields.text("json")?.to_owned(),
            definition: fields.read("json", |json| Definition::from_json(json).ok())?,
            nonce: fields.text("nonce")?.to_owned(),
            retention_s: fields.optional("retention")?.unwrap_or_default(),
        }),
        "issue" => {
            let lines = parse_block(fields, |what| !matches!(what, What::Dead(_)))?;
            Kind::Issue(lines, users()?)
        }
        "serve" => {
            let lines = parse_block(fields, |what| !matches!(what, What::Queued(_)))?;
            Kind::Serve(lines, users()?)
        }
        "redrive" => Kind::Redrive {
            request: fields.text("request")?.to_owned(),
            arrival: fields.parse("arrival")?,
        },
        "void" => Kind::Void {
            request: fields.text("request")?.to_owned(),
            user: fields.read("user", id)?,
            sequence: fields.parse("seq")?,
            last_of_user: fields.optional::<i64>("users")? == Some(-1),
        },
        "retention" => Kind::Retention {
            before: fields.parse("before")?,
            retention_s: fields.parse("retention")?,
        },
        "status" => Kind::Status {
            before: fields.read("before", Status::parse)?,
            after: fields.read("after", Status::parse)?,
        },
        "checkpoint" => Kind::Checkpoint(Checkpoint {
            held: fields.read("state", parse_held)?,
        }),
        "restore" => Kind::Restore {
            from_n: fields.optional("from_n")?,
            restores: fields.parse("restores")?,
            status: fields.read("status", Status::parse)?,
            users: users()?,
        },
        "retire" => Kind::Retire {
            requests: fields.parse("requests")?,
            queued: fields.parse("queued")?,
            dead: fields.parse("dead")?,
        },
        skipped::TYPE => Kind::Skipped(Box::new(Skipped::parse(fields)?)),
        _ => return Err(fields.wrong("type")),
    })
}

/// Reads one request per line; at least one.
fn parse_block(fields: &Fields<'_>, fits: impl Fn(&What) -> bool) -> Result<Vec<Line>, Unreadable> {
    let block = fields.text("block")?;
    let lines = block.split('\n').map(parse_line).collect::<Option<Vec<_>>>();
    lines
        .filter(|lines| lines.iter().all(|line| fits(&line.what)))
        .ok_or_else(|| fields.wrong("block"))
}

/// Reads `request user i seq code` and the like.
pub(crate) fn parse_line(text: &str) -> Option<Line> {
    let parts: Vec<_> = text.split(' ').collect();
    let (head, rest) = parts.split_at_checked(2)?;
    let what = match rest {
        ["i", sequence, code] => What::Issued {
            sequence: sequence.parse().ok()?,
            code: Code::parse(code).ok()?,
        },
        ["a", first] if !first.is_empty() => What::AlreadyIssued((*first).to_owned()),
        ["o"] => What::OutOfStock,
        ["n"] => What::NotOpen,
        ["q", arrival] => What::Queued(arrival.parse().ok()?),
        ["d", attempts] => What::Dead(attempts.parse().ok()?),
        _ => return None,
    };
    Some(Line {
        request: Some(head[0].to_owned()).filter(|request| !request.is_empty())?,
        user: Id::parse(head[1]).ok()?,
        what,
    })
}

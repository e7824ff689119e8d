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
    /// When, ms of Redis' clock.
    pub at_ms: i64,
    /// The history that it belongs to: another one from each restore on.
    pub history: String,
    /// What happened.
    pub kind: Kind,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// The coupon was created, or its definition changed.
    Define(Define),
    /// Requests were decided as they came, or joined the line. Then how many users got their first record.
    Issue(Vec<Line>, u64),
    /// Requests that were in the line were decided, or given up. The same.
    Serve(Vec<Line>, u64),
    /// A dead letter went back into the line.
    Redrive {
        /// Which request.
        request: String,
        /// Its place in the line.
        arrival: u64,
    },
    /// An issued unit was taken back.
    Void {
        /// Which request.
        request: String,
        /// Whose.
        user: Id,
        /// Number of the issue.
        sequence: u64,
        /// Whether no issue counts for the user any more: the user's record is gone.
        last_of_user: bool,
    },
    /// An instance with a longer setting raised how long records are kept behind the end.
    Retention {
        /// Seconds before.
        before: u64,
        /// Seconds from now on.
        retention_s: u64,
    },
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
        /// Number of the last event that Redis had; `None` when it had nothing of the coupon.
        from_n: Option<u64>,
        /// How often it has been restored, with this time.
        restores: u64,
        /// The status it has now.
        status: Status,
        /// Users that have a record, by what the ledger wrote.
        users: u64,
    },
    /// It is over for good, and its records were dropped.
    Retire {
        /// How many there were.
        requests: u64,
        /// Of them in the line.
        queued: u64,
        /// Of them dead letters.
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
    /// Its version.
    pub version: u64,
    /// As Redis keeps it.
    pub json: String,
    /// The same, read.
    pub definition: Definition,
    /// Of the PUT and its repeats.
    pub nonce: String,
    /// Seconds that records are kept behind the end.
    pub retention_s: u64,
}

/// What became of one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its id.
    pub request: String,
    /// Who asked.
    pub user: Id,
    /// What became of it.
    pub what: What,
}

/// What became of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// A unit was given.
    Issued {
        /// Its number.
        sequence: u64,
        /// Its code.
        code: Code,
    },
    /// The user had as many as a user may have; the request of the oldest of them.
    AlreadyIssued(String),
    /// Nothing was left.
    OutOfStock,
    /// It had not started, or was over.
    NotOpen,
    /// It joined the line, with this number. Only of an issue.
    Queued(u64),
    /// Taken so often, and not served. Only of the line.
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

/// One request a line, at least one.
fn parse_block(fields: &Fields<'_>, fits: impl Fn(&What) -> bool) -> Result<Vec<Line>, Unreadable> {
    let block = fields.text("block")?;
    let lines = block.split('\n').map(parse_line).collect::<Option<Vec<_>>>();
    lines
        .filter(|lines| lines.iter().all(|line| fits(&line.what)))
        .ok_or_else(|| fields.wrong("block"))
}

/// `request user i seq code` and the like.
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

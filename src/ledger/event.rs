//! The events of a jackpot's stream, typed.
//!
//! Every script appends one event in the call in which it has its effect (`append_event` in
//! `lua/jackpot/state.lua`). Fields are text; numbers are dense from 1 in `n`, which is the event's identity. The
//! stream id `<sequence>-<n>` is metadata.

use std::collections::{BTreeMap, HashMap};

use thiserror::Error;

use crate::ids::Id;
use crate::jackpot::record::{Contributed, Sent};
use crate::jackpot::view::Status;

/// One event.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Number, dense from 1 in a jackpot.
    pub n: u64,
    /// When, ms of Redis' clock.
    pub at_ms: i64,
    /// What it did to the meters.
    pub changes: Vec<MeterChange>,
    /// The definition that came into force with it.
    pub applied: Option<u64>,
    /// What happened.
    pub kind: Kind,
}

/// A change of one meter of one tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeterChange {
    /// Which tier.
    pub tier: Id,
    /// Which meter, as `lua/jackpot/tiers.lua` names it.
    pub meter: String,
    /// By how much, minor units or (`*_micro`) millionths.
    pub delta: i64,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// The jackpot was created, or a definition was put.
    Define(Define),
    /// Entries were taken, in sequence.
    Enter {
        /// Epoch they were drawn in.
        epoch: u64,
        /// Definition they were drawn under.
        version: u64,
        /// Sequence of the first; the others follow.
        first: u64,
        /// The entries.
        entries: Vec<Entered>,
        /// What became of those that drew a prize.
        claims: Vec<Claim>,
    },
    /// The claim of a redraw.
    Claim {
        /// Which entry.
        entry_id: String,
        /// What became of it.
        claim: Claim,
    },
    /// A pending entry ended with no prize.
    Finish {
        /// Which entry.
        entry_id: String,
        /// Its sequence.
        sequence: u64,
    },
    /// An operator paused, resumed or closed, or the service suspended.
    Status {
        /// What it was.
        before: Status,
        /// What it is.
        after: Status,
    },
    /// An operator put in, took out or moved money.
    Adjust {
        /// Its id.
        adjustment_id: Id,
        /// Of its content.
        digest: String,
    },
    /// What Redis held at this instant, right before the event; to be compared with what the events say.
    Checkpoint(Checkpoint),
    /// Redis was rebuilt from the events before this one.
    Restore {
        /// Number of the last event that Redis had; `None` when it had nothing of the jackpot.
        from_n: Option<u64>,
        /// How often the jackpot has been restored, with this time.
        restores: u64,
        /// Records that were written.
        records: u64,
        /// The status it has now.
        status: Status,
    },
    /// An epoch closed and the next opened.
    Rotate {
        /// The next epoch.
        epoch: u64,
        /// Its commitment.
        commitment: String,
        /// Whether the older generation of records was dropped too.
        dropped: bool,
        /// Versions of definitions that no record needs any more.
        pruned: Vec<u64>,
    },
}

/// A definition that was put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Define {
    /// Its version.
    pub version: u64,
    /// JSON.
    pub json: String,
    /// Status and commitment of epoch 1, when it created the jackpot.
    pub created: Option<(Status, String)>,
    /// The waiting definition that it replaced.
    pub superseded: Option<u64>,
    /// Of the PUT and its repeats.
    pub nonce: String,
    /// `created`, `changed` or `waits`.
    pub mode: String,
}

/// PUTs whose repeats Redis knows (`lua/jackpot/define.lua`).
const MAX_PUTS: usize = 16;

impl Define {
    /// The PUTs that Redis knows after this one, out of those before: `nonce mode version;` each, the oldest leave.
    #[must_use]
    pub fn remember(&self, puts: &str) -> String {
        let all = puts.split_inclusive(';').collect::<Vec<_>>();
        let kept = all[(all.len() + 1).saturating_sub(MAX_PUTS)..].concat();
        format!("{kept}{} {} {};", self.nonce, self.mode, self.version)
    }
}

/// What Redis held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Its status.
    pub status: Status,
    /// Definition in force.
    pub version: u64,
    /// Definition that waits.
    pub waiting: Option<u64>,
    /// Entries so far.
    pub sequence: u64,
    /// Paid claims so far.
    pub claim_order: u64,
    /// The open epoch.
    pub epoch: u64,
    /// Entries without an outcome.
    pub pending: u64,
    /// Every meter of the tiers in force by `tier:meter`, with `tier:pool`.
    pub meters: BTreeMap<String, i64>,
}

/// An entry as it was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entered {
    /// Its id.
    pub entry_id: String,
    /// What was sent.
    pub sent: Sent,
    /// What it added to each tier.
    pub contributions: Vec<Contributed>,
}

/// One claim of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Of which entry.
    pub sequence: u64,
    /// Which attempt, from 0.
    pub attempt: u32,
    /// What it drew.
    pub rank: u32,
    /// What became of it.
    pub result: ClaimResult,
}

/// What became of a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimResult {
    /// Money was taken out of the pool.
    Paid {
        /// Of which tier.
        tier: Id,
        /// Minor units.
        amount: u64,
        /// Number of the paid claim.
        claim_order: u64,
        /// What the pool held before.
        pool_before: u64,
    },
    /// The pool held too little.
    Retry {
        /// Of which tier.
        tier: Id,
        /// What it held.
        pool_before: u64,
    },
    /// Not for money: decided by a later call.
    Later,
}

/// The meters of a tier in the order in which scripts write them.
const METERS: [&str; 10] = [
    "pool",
    "reserve",
    "overflow",
    "pool_micro",
    "reserve_micro",
    "contributed",
    "contributed_micro",
    "funded",
    "paid",
    "wins",
];

/// An event that no script of ours wrote.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("event {n}: field '{field}' is missing or unreadable")]
pub struct Unreadable {
    /// Number of the event as far as it can be told.
    pub n: String,
    /// Which field.
    pub field: &'static str,
}

struct Fields(HashMap<String, String>);

impl Fields {
    fn wrong(&self, field: &'static str) -> Unreadable {
        Unreadable {
            n: self.0.get("n").cloned().unwrap_or_default(),
            field,
        }
    }

    fn text(&self, field: &'static str) -> Result<&str, Unreadable> {
        self.0.get(field).map(String::as_str).ok_or_else(|| self.wrong(field))
    }

    fn parse<T: std::str::FromStr>(&self, field: &'static str) -> Result<T, Unreadable> {
        self.text(field)?.parse().map_err(|_| self.wrong(field))
    }

    fn optional<T: std::str::FromStr>(&self, field: &'static str) -> Result<Option<T>, Unreadable> {
        match self.0.get(field).map(String::as_str) {
            None | Some("") => Ok(None),
            Some(text) => text.parse().map(Some).map_err(|_| self.wrong(field)),
        }
    }

    /// The field, read by a function that says `None` to what it cannot read.
    fn read<T>(&self, field: &'static str, read: impl FnOnce(&str) -> Option<T>) -> Result<T, Unreadable> {
        read(self.text(field)?).ok_or_else(|| self.wrong(field))
    }
}

impl Event {
    /// Reads the fields of a stream entry.
    pub fn parse(fields: HashMap<String, String>) -> Result<Self, Unreadable> {
        let fields = Fields(fields);
        Ok(Self {
            n: fields.parse("n")?,
            at_ms: fields.parse("at")?,
            changes: fields.read("meters", parse_changes)?,
            applied: fields.optional("applied")?,
            kind: parse_kind(&fields)?,
        })
    }
}

fn parse_kind(fields: &Fields) -> Result<Kind, Unreadable> {
    Ok(match fields.text("type")? {
        "define" => Kind::Define(parse_define(fields)?),
        "enter" => parse_enter(fields)?,
        "claim" => {
            let claim = fields
                .read("claims", parse_claims)?
                .pop()
                .ok_or_else(|| fields.wrong("claims"))?;
            Kind::Claim {
                entry_id: fields.text("entry")?.to_owned(),
                claim,
            }
        }
        "finish" => Kind::Finish {
            entry_id: fields.text("entry")?.to_owned(),
            sequence: fields.parse("seq")?,
        },
        "status" => Kind::Status {
            before: fields.read("before", Status::parse)?,
            after: fields.read("after", Status::parse)?,
        },
        "adjust" => Kind::Adjust {
            adjustment_id: fields.read("adjustment", |id| Id::parse(id).ok())?,
            digest: fields.text("digest")?.to_owned(),
        },
        "checkpoint" => {
            let meters = fields.read("tiers", parse_meters)?;
            Kind::Checkpoint(fields.read("state", |state| parse_checkpoint(state, meters))?)
        }
        "restore" => Kind::Restore {
            from_n: fields.optional("from_n")?,
            restores: fields.parse("restores")?,
            records: fields.parse("records")?,
            status: fields.read("status", Status::parse)?,
        },
        "rotate" => Kind::Rotate {
            epoch: fields.parse("epoch")?,
            commitment: fields.text("commitment")?.to_owned(),
            dropped: fields.text("kind")? == "generation",
            pruned: fields.read("pruned", parse_numbers)?,
        },
        _ => return Err(fields.wrong("type")),
    })
}

fn parse_define(fields: &Fields) -> Result<Define, Unreadable> {
    let created = match fields.text("mode")? {
        "created" => Some((
            fields.read("status", Status::parse)?,
            fields.text("commitment")?.to_owned(),
        )),
        _ => None,
    };
    let (version, json) = (fields.parse("version")?, fields.text("json")?.to_owned());
    Ok(Define {
        version,
        json,
        created,
        superseded: fields.optional("superseded")?,
        nonce: fields.text("nonce")?.to_owned(),
        mode: fields.text("mode")?.to_owned(),
    })
}

fn parse_enter(fields: &Fields) -> Result<Kind, Unreadable> {
    let skipped = fields.read("skip", parse_numbers::<usize>)?;
    let lines = fields.text("block")?.lines().enumerate();
    let taken = lines
        .filter(|(i, _)| skipped.binary_search(&(i + 1)).is_err())
        .map(|(_, line)| line);
    let pools = fields.text("pools")?.split(';');
    let entry = |(line, pools): (&str, &str)| {
        let (entry_id, sent) = line.split_once(' ')?;
        let contributions = pools.split(',').map(Contributed::parse).collect::<Option<_>>()?;
        Some(Entered {
            entry_id: entry_id.to_owned(),
            sent: Sent::parse(sent)?,
            contributions,
        })
    };
    let entries = taken
        .zip(pools)
        .map(entry)
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| fields.wrong("block"))?;
    if entries.len() != fields.parse::<usize>("count")? {
        return Err(fields.wrong("count"));
    }
    Ok(Kind::Enter {
        epoch: fields.parse("epoch")?,
        version: fields.parse("version")?,
        first: fields.parse("first")?,
        entries,
        claims: fields.read("claims", parse_claims)?,
    })
}

/// `status version next sequence claim_order epoch pending`.
fn parse_checkpoint(text: &str, meters: BTreeMap<String, i64>) -> Option<Checkpoint> {
    let parts = text.split(' ').collect::<Vec<_>>();
    let [status, version, next, sequence, claim_order, epoch, pending] = parts[..] else {
        return None;
    };
    let waiting = if next == "-" { None } else { Some(next.parse().ok()?) };
    Some(Checkpoint {
        status: Status::parse(status)?,
        version: version.parse().ok()?,
        waiting,
        sequence: sequence.parse().ok()?,
        claim_order: claim_order.parse().ok()?,
        epoch: epoch.parse().ok()?,
        pending: pending.parse().ok()?,
        meters,
    })
}

/// `name pool reserve ... wins;` each.
fn parse_meters(text: &str) -> Option<BTreeMap<String, i64>> {
    let mut meters = BTreeMap::new();
    for row in text.split_terminator(';') {
        let (tier, values) = row.split_once(' ')?;
        let values = values.split(' ').collect::<Vec<_>>();
        if values.len() != METERS.len() {
            return None;
        }
        for (name, value) in METERS.iter().zip(values) {
            meters.insert(format!("{tier}:{name}"), value.parse().ok()?);
        }
    }
    Some(meters)
}

/// `1,2,3`, or nothing.
fn parse_numbers<T: std::str::FromStr>(text: &str) -> Option<Vec<T>> {
    text.split_terminator(',').map(|number| number.parse().ok()).collect()
}

/// `seq,attempt,rank,result,tier,amount,order,pool before;` each.
fn parse_claims(text: &str) -> Option<Vec<Claim>> {
    text.split_terminator(';').map(parse_claim).collect()
}

fn parse_claim(text: &str) -> Option<Claim> {
    let parts = text.split(',').collect::<Vec<_>>();
    let [sequence, attempt, rank, result, tier, amount, order, before] = parts[..] else {
        return None;
    };
    let result = match result {
        "paid" => ClaimResult::Paid {
            tier: Id::parse(tier).ok()?,
            amount: amount.parse().ok()?,
            claim_order: order.parse().ok()?,
            pool_before: before.parse().ok()?,
        },
        "retry" => ClaimResult::Retry {
            tier: Id::parse(tier).ok()?,
            pool_before: before.parse().ok()?,
        },
        "later" => ClaimResult::Later,
        _ => return None,
    };
    Some(Claim {
        sequence: sequence.parse().ok()?,
        attempt: attempt.parse().ok()?,
        rank: rank.parse().ok()?,
        result,
    })
}

/// `tier meter:delta ...;` each.
fn parse_changes(text: &str) -> Option<Vec<MeterChange>> {
    let mut changes = Vec::new();
    for row in text.split_terminator(';') {
        let (tier, meters) = row.split_once(' ')?;
        for change in meters.split(' ') {
            let (meter, delta) = change.split_once(':')?;
            changes.push(MeterChange {
                tier: Id::parse(tier).ok()?,
                meter: meter.to_owned(),
                delta: delta.parse().ok()?,
            });
        }
    }
    Some(changes)
}

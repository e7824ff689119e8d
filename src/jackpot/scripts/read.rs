//! Wrappers of the scripts that read: `lua/jackpot/view.lua` and `pending.lua`.

use std::collections::{BTreeMap, HashMap};

use jackpot_core::ids::Id;
use jackpot_core::jackpot::epoch::{Epoch, Opening};
use jackpot_core::jackpot::record::{Record, Unreadable};
use jackpot_core::mark::Mark;
use redis::{FromRedisValue, Value};

use crate::reply;
use crate::store::keys::JackpotKeys;
use crate::store::{Call, Store};

use super::Reply;
use super::{PENDING, ScriptError, VIEW, run};
use crate::jackpot::view::{Meter, Status};
use crate::subject::Marked;

/// Most rounds with the pools of another version. Each needs a PUT of a definition in between.
const MAX_ROUNDS: usize = 8;

#[derive(Debug)]
pub struct Snapshot {
    pub mark: Mark,
    /// Redis' clock, ms.
    pub now_ms: i64,
    /// Entries without a final outcome.
    pub pending: u64,
    /// The definition in force, as JSON.
    pub definition: String,
    /// The waiting definition, as JSON.
    pub waiting: Option<String>,
    pub status: Status,
    /// Version in force.
    pub version: u64,
    /// Highest version so far.
    pub last_version: u64,
    /// Entries so far.
    pub sequence: u64,
    /// Paid claims so far.
    pub claim_order: u64,
    /// The open epoch.
    pub epoch: u64,
    /// Its nonce, commitment and secret id.
    pub opening: Opening,
    /// The history.
    pub history: String,
    /// One for each tier.
    pub meters: Vec<Meter>,
    /// The state and the sizes of the other keys, by their names in `lua/jackpot/state.lua`.
    pub held: BTreeMap<String, String>,
}

impl Marked for Snapshot {
    fn mark(&self) -> Mark {
        self.mark
    }
}

/// Reads a jackpot. `known`: the highest mark this instance has seen.
pub async fn snapshot(store: &Store, keys: &JackpotKeys, known: Mark) -> Result<Snapshot, ScriptError> {
    let (mut version, mut tiers) = (String::new(), Vec::<Id>::new());
    for _ in 0..MAX_ROUNDS {
        let fixed = [
            &keys.state,
            &keys.definitions,
            &keys.pending,
            &keys.seen_a,
            &keys.seen_b,
            &keys.adjustments,
        ];
        let call = fixed.into_iter().fold(Call::new(&VIEW), Call::key);
        let call = tiers.iter().fold(call, |call, tier| call.key(keys.pool(tier)));
        let reply = run(store, &VIEW, call.arg(known.packed()).arg(&version), known).await?;
        if reply.code() != "stale" {
            return parse_snapshot(&reply);
        }
        version = reply.text(0)?;
        let rows = reply.text(1)?;
        let names = rows
            .split_terminator(';')
            .map(|row| Id::parse(row.split(' ').next().unwrap_or_default()));
        tiers = names.collect::<Result<_, _>>().map_err(|_| reply.unexpected())?;
    }
    Err(ScriptError::Stale)
}

fn parse_snapshot(reply: &Reply) -> Result<Snapshot, ScriptError> {
    let unexpected = || reply.unexpected();
    let texts = reply
        .texts()
        .into_iter()
        .collect::<Option<Vec<_>>>()
        .ok_or_else(unexpected)?;
    let (head, rest) = texts.split_at_checked(3).ok_or_else(unexpected)?;
    let bar = rest.iter().position(|text| text == "|").ok_or_else(unexpected)?;
    let state = rest[..bar]
        .chunks_exact(2)
        .map(|pair| (pair[0].clone(), pair[1].clone()))
        .collect::<BTreeMap<_, _>>();
    let field = |name: &str| state.get(name).map(String::as_str).ok_or_else(unexpected);
    let number = |name: &str| field(name)?.parse::<u64>().map_err(|_| unexpected());
    let meters = rest[bar + 1..]
        .chunks(12)
        .map(parse_meter)
        .collect::<Option<Vec<_>>>()
        .ok_or_else(unexpected)?;
    Ok(Snapshot {
        mark: reply.mark(),
        now_ms: head[0].parse().map_err(|_| unexpected())?,
        pending: number("pending")?,
        definition: head[1].clone(),
        waiting: Some(head[2].clone()).filter(|json| !json.is_empty()),
        status: Status::parse(field("status")?).ok_or_else(unexpected)?,
        version: number("version")?,
        last_version: number("last_version")?,
        sequence: number("seq")?,
        claim_order: number("order")?,
        epoch: number("epoch")?,
        opening: Opening {
            commitment: field("commitment")?.to_owned(),
            nonce: field("nonce")?.to_owned(),
            secret_id: field("secret")?.to_owned(),
        },
        history: field("history")?.to_owned(),
        meters,
        held: state,
    })
}

fn parse_meter(row: &[String]) -> Option<Meter> {
    let n = |i: usize| row.get(i)?.parse::<u64>().ok();
    Some(Meter {
        tier: Id::parse(row.first()?).ok()?,
        pool: n(1)?,
        reserve: n(2)?,
        overflow: n(3)?,
        remainder_micro: n(4)? + n(5)?,
        contributed: n(6)?,
        contributed_micro: n(7)?,
        funded: row.get(8)?.parse().ok()?,
        paid: n(9)?,
        wins: n(10)?,
        pool_written: n(11)?,
    })
}

/// An entry without a final outcome.
#[derive(Debug)]
pub struct PendingEntry {
    pub entry_id: String,
    pub record: Record,
}

reply! {
    /// `ok`: entries without an outcome, by sequence. Each follows.
    pub(super) struct Looked {
        /// The last sequence looked at; empty at the end.
        last: Option<u64>,
    }
}

reply! {
    /// An entry without an outcome.
    pub(super) struct Unsettled {
        /// Its id.
        entry_id: String,
        /// Its record; empty for a lost one.
        record: String,
    }
}

/// Pending entries.
#[derive(Debug)]
pub struct PendingPage {
    pub mark: Mark,
    /// The last sequence looked at, `None` at the end.
    pub last: Option<u64>,
    /// The entries; for an unreadable one, its id and the reason.
    pub entries: Vec<Result<PendingEntry, (String, Unreadable)>>,
}

/// Lists entries that have been pending for at least `age_ms`, at most `limit`, after sequence `after`.
pub async fn pending(
    store: &Store,
    keys: &JackpotKeys,
    known: Mark,
    (after, age_ms, limit): (u64, u64, usize),
) -> Result<PendingPage, ScriptError> {
    let fixed = [&keys.state, &keys.seen_a, &keys.seen_b, &keys.pending];
    let call = fixed
        .into_iter()
        .fold(Call::new(&PENDING), Call::key)
        .arg(known.packed())
        .arg(after)
        .arg(age_ms)
        .arg(limit);
    let reply = run(store, &PENDING, call, known).await?;
    let mut values = reply.values();
    let read = values.take().zip(values.rest());
    let (Looked { last }, entries) = read.ok_or_else(|| reply.unexpected())?;
    // An unreadable entry does not hide the others.
    let one = |Unsettled { entry_id, record }| match Record::parse(&record) {
        Ok(record) => Ok(PendingEntry { entry_id, record }),
        Err(error) => Err((entry_id, error)),
    };
    Ok(PendingPage {
        mark: reply.mark(),
        last,
        entries: entries.into_iter().map(one).collect(),
    })
}

/// All epochs, oldest first.
pub async fn epochs(store: &Store, keys: &JackpotKeys) -> Result<Vec<Epoch>, ScriptError> {
    let value: Value = store.run(&redis::cmd("HGETALL").arg(&keys.epochs).to_owned()).await?;
    let unexpected = |reply: String| ScriptError::Reply {
        script: "HGETALL",
        reply,
    };
    let all = HashMap::<u64, String>::from_redis_value(value).map_err(|error| unexpected(error.to_string()))?;
    let one = |(epoch, text): (u64, String)| Epoch::parse(epoch, &text);
    let mut epochs = all
        .into_iter()
        .map(one)
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| unexpected("an epoch".to_owned()))?;
    epochs.sort_unstable_by_key(|e| e.epoch);
    Ok(epochs)
}

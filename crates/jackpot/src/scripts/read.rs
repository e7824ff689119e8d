//! Wrappers of the scripts that read: `lua/jackpot/view.lua` and `pending.lua`.

use std::collections::{BTreeMap, HashMap};

use jackpot_core::ids::Id;
use jackpot_core::jackpot::cycle::Cycles;
use jackpot_core::jackpot::epoch::{Epoch, Opening};
use jackpot_core::jackpot::record::{Record, Unreadable};
use jackpot_core::jackpot::settlement::Hold;
use jackpot_core::mark::Mark;
use redis::{FromRedisValue, Value};

use jackpot_kernel::reply;
use jackpot_kernel::store::keys::JackpotKeys;
use jackpot_kernel::store::{Call, Store};

use super::Reply;
use super::{PENDING, ScriptError, VIEW, run};
use crate::ledger::books::Meters;
use crate::ledger::event;
use crate::view::Meter;
use jackpot_api::jackpot::Status;
use jackpot_kernel::subject::Marked;

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
    /// Rules and cycles of its tiers.
    pub cycles: Cycles,
    /// Under what payouts are tracked; `None` where the jackpot does not use it.
    pub hold: Option<Hold>,
    /// One for each tier.
    pub meters: Vec<Meter>,
    /// All of them, by their names in a report: `<tier>:<meter>`.
    pub compared: BTreeMap<String, i64>,
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
        let other = reply.read::<OtherVersion>()?.values;
        version = other.version;
        let rows = other.tiers.split_terminator(';');
        let names = rows.map(|row| Id::parse(row.split(' ').next().unwrap_or_default()));
        tiers = names.collect::<Result<_, _>>().map_err(|_| reply.unexpected())?;
    }
    Err(ScriptError::Stale)
}

reply! {
    /// A jackpot. Each value of its state follows.
    pub(super) struct Viewed {
        /// Redis' clock.
        now_ms: i64,
        /// The definition in force, as JSON.
        definition: String,
        /// The waiting definition, as JSON; empty for none.
        waiting: Option<String>,
        /// The meters of each tier, as in a checkpoint.
        tiers: String,
    }
}

reply! {
    /// A value of the state, or a count of another key.
    pub(super) struct HeldValue {
        /// Its name.
        name: String,
        /// The value.
        value: String,
    }
}

reply! {
    /// `stale`: another definition is in force, which has other tiers.
    pub(super) struct OtherVersion {
        /// Its version.
        version: String,
        /// Its tiers, `name seed cap;` each.
        tiers: String,
    }
}

fn parse_snapshot(reply: &Reply) -> Result<Snapshot, ScriptError> {
    let unexpected = || reply.unexpected();
    let mut values = reply.values();
    let viewed: Viewed = values.take().ok_or_else(unexpected)?;
    let (meters, compared) = meters_of(&viewed.tiers).ok_or_else(unexpected)?;
    let held = values.rest::<HeldValue>().ok_or_else(unexpected)?;
    let held: BTreeMap<_, _> = held.into_iter().map(|held| (held.name, held.value)).collect();
    let field = |name: &str| held.get(name).map(String::as_str).ok_or_else(unexpected);
    let number = |name: &str| field(name)?.parse::<u64>().map_err(|_| unexpected());
    Ok(Snapshot {
        mark: reply.mark(),
        now_ms: viewed.now_ms,
        pending: number("pending")?,
        definition: viewed.definition,
        waiting: viewed.waiting,
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
        cycles: Cycles::parse(held.get("cycles").map_or("", String::as_str)).ok_or_else(unexpected)?,
        hold: match held.get("hold") {
            Some(text) => Some(Hold::parse(text).map_err(|_| unexpected())?),
            None => None,
        },
        meters,
        compared,
        held,
    })
}

/// The meters of each tier, and the same by their names in a report.
fn meters_of(text: &str) -> Option<(Vec<Meter>, BTreeMap<String, i64>)> {
    let compared = event::parse::held_meters(text)?;
    let one = |row: &str| {
        let tier = Id::parse(row.split(' ').next()?).ok()?;
        let mut meters = Meters::default();
        for name in Meters::NAMES.into_iter().chain(Meters::MOVED) {
            let value = compared.get(&format!("{tier}:{name}"));
            *meters.named(name)? = value.copied().unwrap_or_default();
        }
        Meter::of(tier, &meters)
    };
    let each = text.split_terminator(';').map(one).collect::<Option<_>>()?;
    Some((each, compared))
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
    after: u64,
    age_ms: u64,
    limit: usize,
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
    let one = |Unsettled { entry_id, record }| match Record::parse_whole(&record) {
        Ok(record) => Ok(PendingEntry { entry_id, record }),
        Err(error) => Err((entry_id, error)),
    };
    Ok(PendingPage {
        mark: reply.mark(),
        last,
        entries: entries.into_iter().map(one).collect(),
    })
}

/// The rules and the newest cycle of each tier.
pub async fn cycles(store: &Store, keys: &JackpotKeys) -> Result<Cycles, ScriptError> {
    let value: Value = store
        .run(&redis::cmd("HGET").arg(&keys.state).arg("cycles").to_owned())
        .await?;
    let text = Option::<String>::from_redis_value(value).ok();
    text.and_then(|text| Cycles::parse(&text.unwrap_or_default()))
        .ok_or_else(|| ScriptError::Reply {
            script: "HGET",
            reply: "cycles that cannot be read".to_owned(),
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

//! The Lua scripts of `lua/jackpot/`, one wrapper each: it names the keys, orders the arguments and owns the codes
//! of the replies. The header of each script is the reference.

use std::sync::LazyLock;

use redis::Value;
use thiserror::Error;

use crate::store::keys::JackpotKeys;
use crate::store::{Call, Script, Store, StoreError};

use super::document::Tier;
use super::mark::Mark;
use super::record::Unreadable;

mod adjust;
mod checkpoint;
mod define;
mod enter;
mod enter_batch;
mod finish;
mod lookup;
mod read;
mod reply;
mod restore;
mod rotate;
mod status;
mod tail;

pub use adjust::{Adjust, Adjusted, adjust};
pub use checkpoint::checkpoint;
pub use define::{Define, Defined, Wanted, define};
pub use enter::{EnterEntry, Entered, EntryReply, MAX_ENTRIES, Refusal, enter, enter_here};
pub use enter_batch::{BatchCall, BatchReply, FoundBatch, enter_batch, lookup_batch};
pub use finish::{Finished, claim, finish};
pub use lookup::{Found, lookup};
pub use read::{PendingEntry, PendingPage, Snapshot, epochs, pending, snapshot};
pub use restore::{
    MAX_PAIRS, Part, RestoreBegun, RestoreEnded, RestoredState, Stamped, restore_begin, restore_end, restore_records,
};
pub use rotate::{Rotate, Rotated, rotate};
pub use status::{SetStatus, StatusSet, set_status};
pub use tail::{MAX_EVENTS, Tail, TailWish, tail};

macro_rules! script {
    ($name:literal, $flags:literal, $($part:literal),+) => {
        LazyLock::new(|| Script::new($name, $flags, &[$(include_str!(concat!("../../../lua/jackpot/", $part, ".lua"))),+]))
    };
}

static ENTER: LazyLock<Script> = script!("enter", "", "state", "tiers", "record", "take", "run", "enter");
static ENTER_BATCH: LazyLock<Script> = script!(
    "enter_batch",
    "",
    "state",
    "tiers",
    "record",
    "take",
    "batch",
    "run",
    "enter_batch"
);
static CLAIM: LazyLock<Script> = script!("claim", "allow-oom", "state", "tiers", "record", "take", "claim");
static FINISH: LazyLock<Script> = script!("finish", "allow-oom", "state", "tiers", "record", "finish");
static STATUS: LazyLock<Script> = script!("status", "allow-oom", "state", "tiers", "status");
static ADJUST: LazyLock<Script> = script!("adjust", "", "state", "tiers", "adjust");
static DEFINE: LazyLock<Script> = script!("define", "", "state", "tiers", "define");
static ROTATE: LazyLock<Script> = script!("rotate", "allow-oom", "state", "rotate");
static LOOKUP: LazyLock<Script> = script!("lookup", "no-writes", "state", "record", "lookup");
static LOOKUP_BATCH: LazyLock<Script> =
    script!("lookup_batch", "no-writes", "state", "record", "batch", "lookup_batch");
static VIEW: LazyLock<Script> = script!("view", "no-writes", "state", "tiers", "view");
static CHECKPOINT: LazyLock<Script> = script!("checkpoint", "", "state", "tiers", "checkpoint");
static RESTORE_BEGIN: LazyLock<Script> = script!("restore_begin", "allow-oom", "state", "restore_begin");
static RESTORE_RECORDS: LazyLock<Script> = script!("restore_records", "", "state", "restore_records");
static RESTORE_END: LazyLock<Script> = script!("restore_end", "allow-oom", "state", "restore_end");
static TAIL: LazyLock<Script> = script!("tail", "allow-oom", "state", "tail");
static PENDING: LazyLock<Script> = script!("pending", "no-writes", "state", "record", "pending");

/// What every script that writes checks first (`fence` in `lua/jackpot/state.lua`).
#[derive(Debug, Clone)]
pub struct Fence {
    /// Highest mark this instance has seen of the jackpot.
    pub known: Mark,
    /// The epoch this instance draws in.
    pub epoch: u64,
    /// Of that epoch's seed, from this instance's own secret.
    pub commitment: String,
    /// Definition this instance knows, `version digest`; empty for none.
    pub definition: String,
}

impl Fence {
    /// Version of the definition this instance knows; 0 for none.
    pub fn version(&self) -> u64 {
        let version = self.definition.split(' ').next();
        version.and_then(|version| version.parse().ok()).unwrap_or(0)
    }
}

/// Why a script did nothing, for reasons that any script may have.
#[derive(Debug, Clone, Error)]
pub enum ScriptError {
    /// There is no such jackpot.
    #[error("there is no such jackpot")]
    Unknown,
    /// This Redis lost events that this instance has seen.
    #[error("Redis is at {at}, behind {known} that this instance has seen: it lost events")]
    Behind {
        /// Where this Redis is.
        at: Mark,
        /// The highest seen.
        known: Mark,
    },
    /// It is being rebuilt from the ledger; nothing is wrong, and it is over soon.
    #[error("the jackpot is being restored")]
    Restoring,
    /// The caller must read again; nothing was written.
    #[error("the definition or the epoch changed")]
    Stale,
    /// The epoch was opened with another master secret.
    #[error("the open epoch's commitment is not that of this instance's fairness.master_secret")]
    Secret,
    /// Redis did not do it, or it is not known whether it did.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The reply has a form that the script does not give.
    #[error("unexpected reply of script {script}: {reply}")]
    Reply {
        /// Which script.
        script: &'static str,
        /// What it said.
        reply: String,
    },
    /// A record cannot be read.
    #[error(transparent)]
    Record(#[from] Unreadable),
}

fn fenced<'s>(script: &'s Script, keys: &[&str], fence: &Fence) -> Call<'s> {
    let call = keys.iter().fold(Call::new(script), |call, key| call.key(*key));
    call.arg(fence.known.packed())
        .arg(fence.epoch)
        .arg(&fence.commitment)
        .arg(&fence.definition)
}

fn pools<'a>(keys: &'a JackpotKeys, tiers: &'a [Tier]) -> impl Iterator<Item = String> + 'a {
    tiers.iter().map(|tier| keys.pool(&tier.tier))
}

/// Keys of the scripts that settle entries: state, meters, records, pending, events, pools.
fn settling_keys<'k>(keys: &'k JackpotKeys, pools: &'k [String]) -> Vec<&'k str> {
    let fixed = [
        &keys.state,
        &keys.meters,
        &keys.seen_a,
        &keys.seen_b,
        &keys.pending,
        &keys.events,
    ];
    fixed.into_iter().chain(pools).map(String::as_str).collect()
}

/// `name seed cap;` of each tier: what scripts need to know of a definition.
fn tiers_text(tiers: &[Tier]) -> String {
    let one = |tier: &Tier| {
        let cap = tier.cap.map_or_else(|| "-".to_owned(), |cap| cap.to_string());
        format!("{} {} {cap};", tier.tier, tier.seed)
    };
    tiers.iter().map(one).collect()
}

async fn run(store: &Store, script: &'static Script, call: Call<'_>, known: Mark) -> Result<reply::Reply, ScriptError> {
    let value: Value = store.call(&call).await?;
    reply::Reply::parse(script.name(), value, known)
}

/// The same over the calling thread's own connection: for what entries need.
async fn run_here(
    store: &Store,
    script: &'static Script,
    call: Call<'_>,
    known: Mark,
) -> Result<reply::Reply, ScriptError> {
    let value: Value = store.call_here(&call).await?;
    reply::Reply::parse(script.name(), value, known)
}

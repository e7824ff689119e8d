//! The Lua scripts of `lua/jackpot/`, one wrapper each: it names the keys, orders the arguments and owns the codes
//! of the replies. The header of each script is the reference.

use std::sync::LazyLock;

use jackpot_core::jackpot::document::Tier;
use jackpot_core::mark::Mark;

use jackpot_kernel::lua_files;
use jackpot_kernel::store::keys::JackpotKeys;
use jackpot_kernel::store::{Call, Folder, Script};
use jackpot_kernel::subject::restore::Early;
use jackpot_kernel::subject::{self, Declared, Reply, reply, reply_any, reply_part, run, run_here};
pub use jackpot_kernel::subject::{ScriptError, Wanted};

mod adjust;
mod approve_limit;
mod coupon;
mod enter;
mod enter_batch;
mod enter_expected;
mod finish;
mod lookup;
mod made;
mod operate;
pub mod packed;
mod read;
mod restore;
mod reverse;
mod rotate;
mod segment;
mod settle;
mod transfer;
mod withdraw;

pub use adjust::{Adjust, Adjusted, Approves, adjust, approve_adjustment};
pub use approve_limit::{Approval, Approved, approve_limit};
pub use coupon::{Granted, record_coupon};
pub use enter::{
    Block, EnterEntry, Entered, EntryReply, MAX_ENTRIES, MIN_RUN, Refusal, Told, call_name, enter, enter_despite,
    enter_here,
};
pub use enter_batch::{BatchCall, BatchReply, FoundBatch, enter_batch, lookup_batch};
pub use enter_expected::{ExpectedCall, enter_expected};
pub use finish::{Drawn, Finished, claim, finish};
pub use jackpot_kernel::subject::restore::{MAX_PAIRS, RestoreBegun, RestoreEnded, restore_begin};
pub use lookup::{Found, lookup};
use made::MADE;
pub use operate::{Define, DefineRefusal, Defined, NewJackpot, SetStatus, StatusSet, checkpoint, define, set_status};
pub use read::{PendingEntry, PendingPage, Snapshot, cycles, epochs, pending, snapshot};
pub use restore::{Begins, EPOCH_GAP, Part, RestoredState, Stamped, restore_end, restore_records, restored_keys};
pub use reverse::{Cancel, Cancelled, MAX_EARLY, Reverse, Reversed, cancel, reverse};
pub use rotate::{Rotate, Rotated, rotate, rotate_with};
pub use settle::{Settle, Stepped, settle};
pub use transfer::{
    Expect, Expected, Give, Given, Holds, Incoming, Received, Released, transfer_expect, transfer_give,
    transfer_receive, transfer_release,
};
pub use withdraw::{Withdrawn, withdraw};

/// The files of its scripts. Each says which others it needs.
pub static LUA: Folder = Folder {
    files: lua_files!("../../lua/jackpot", "":
        "adjust" "approve_limit" "batch" "cancel" "checkpoint" "claim" "coupon" "cycles" "define" "digest" "emergency"
        "enter" "enter_batch" "enter_expected" "entering" "exactly" "find_record" "finish" "held" "kept" "limit"
        "lookup" "lookup_batch" "opening" "pending" "pending_record" "record" "refusal" "restore_end" "reverse" "rooms"
        "rotate" "settle" "stake_rows" "state" "status" "take" "tier_rows" "tiers" "transfer_expect" "transfer_give"
        "transfer_parts" "transfer_receive" "transfer_release" "two_owners" "used" "view" "voided_rows" "withdraw"
    ),
    made: &MADE,
    shared: Some(&subject::LUA),
};

static ENTER: LazyLock<Script> = LazyLock::new(|| LUA.script("enter", "", "enter"));
static ENTER_EXPECTED: LazyLock<Script> = LazyLock::new(|| LUA.script("enter_expected", "", "enter_expected"));
static ENTER_BATCH: LazyLock<Script> = LazyLock::new(|| LUA.script("enter_batch", "", "enter_batch"));
static CLAIM: LazyLock<Script> = LazyLock::new(|| LUA.script("claim", "allow-oom", "claim"));
static COUPON: LazyLock<Script> = LazyLock::new(|| LUA.script("coupon", "allow-oom", "coupon"));
static FINISH: LazyLock<Script> = LazyLock::new(|| LUA.script("finish", "allow-oom", "finish"));
static STATUS: LazyLock<Script> = LazyLock::new(|| LUA.script("status", "allow-oom", "status"));
/// Obeys the emergency stop.
pub(super) static OBEY: LazyLock<Script> = LazyLock::new(|| LUA.script("obey", "allow-oom", "emergency"));
static ADJUST: LazyLock<Script> = LazyLock::new(|| LUA.script("adjust", "", "adjust"));
static WITHDRAW: LazyLock<Script> = LazyLock::new(|| LUA.script("withdraw", "", "withdraw"));
static REVERSE: LazyLock<Script> = LazyLock::new(|| LUA.script("reverse", "allow-oom", "reverse"));
static CANCEL: LazyLock<Script> = LazyLock::new(|| LUA.script("cancel", "", "cancel"));
static TRANSFER_EXPECT: LazyLock<Script> = LazyLock::new(|| LUA.script("transfer_expect", "", "transfer_expect"));
static TRANSFER_GIVE: LazyLock<Script> = LazyLock::new(|| LUA.script("transfer_give", "allow-oom", "transfer_give"));
static TRANSFER_RECEIVE: LazyLock<Script> =
    LazyLock::new(|| LUA.script("transfer_receive", "allow-oom", "transfer_receive"));
static TRANSFER_RELEASE: LazyLock<Script> =
    LazyLock::new(|| LUA.script("transfer_release", "allow-oom", "transfer_release"));
static DEFINE: LazyLock<Script> = LazyLock::new(|| LUA.script("define", "", "define"));
static SETTLE: LazyLock<Script> = LazyLock::new(|| LUA.script("settle", "allow-oom", "settle"));
static APPROVE_LIMIT: LazyLock<Script> = LazyLock::new(|| LUA.script("approve_limit", "", "approve_limit"));
static ROTATE: LazyLock<Script> = LazyLock::new(|| LUA.script("rotate", "allow-oom", "rotate"));
static LOOKUP: LazyLock<Script> = LazyLock::new(|| LUA.script("lookup", "no-writes", "lookup"));
static LOOKUP_BATCH: LazyLock<Script> = LazyLock::new(|| LUA.script("lookup_batch", "no-writes", "lookup_batch"));
static VIEW: LazyLock<Script> = LazyLock::new(|| LUA.script("view", "no-writes", "view"));
static CHECKPOINT: LazyLock<Script> = LazyLock::new(|| LUA.script("checkpoint", "", "checkpoint"));
static RESTORE_END: LazyLock<Script> = LazyLock::new(|| LUA.script("restore_end", "allow-oom", "restore_end"));
static PENDING: LazyLock<Script> = LazyLock::new(|| LUA.script("pending", "no-writes", "pending"));

/// The declared replies.
pub fn declared() -> Vec<Declared> {
    let mut all = Vec::from(of_entries());
    all.extend(of_operators());
    all
}

/// Of reads, of scripts that take and end entries, and of those that run by themselves.
fn of_entries() -> [Declared; 6] {
    [
        (
            "view_reply",
            vec![
                reply::<read::Viewed>("`view`", "viewed", "ok"),
                reply::<read::OtherVersion>("`view`", "other_version", "stale"),
                reply_part::<read::HeldValue>("`view`", "held"),
            ],
        ),
        (
            "restore_end_reply",
            vec![reply::<Early>("`restore_end`", "begin_later", "early")],
        ),
        (
            "enter_reply",
            vec![
                reply_any::<enter::TakenFrom>(
                    "`enter`",
                    "entered",
                    "ok, paused, suspended, closed, stale, too-large, cycles",
                ),
                reply_part::<enter::Said>("`enter`", "said"),
            ],
        ),
        (
            "batch_reply",
            vec![
                reply::<enter_batch::Taken>("`enter_batch`, `lookup_batch`", "taken", "ok"),
                reply_part::<enter_batch::Winner>("`enter_batch`, `lookup_batch`", "winner"),
                reply::<enter_batch::SplitAt>("`enter_batch`", "split", "split"),
                reply::<enter_batch::CancelledBefore>("`enter_batch`", "cancelled", "cancelled"),
            ],
        ),
        (
            "settled_reply",
            vec![reply::<finish::Settled>("`claim`, `coupon`, `finish`", "settled", "ok")],
        ),
        (
            "rotate_reply",
            vec![
                reply::<rotate::Opened>("`rotate`", "opened", "ok"),
                reply::<rotate::Raised>("`rotate`", "raised", "raised"),
                reply::<rotate::Early>("`rotate`", "early", "early"),
            ],
        ),
    ]
}

/// Of operators' requests, and of look-ups.
fn of_operators() -> [Declared; 8] {
    [
        (
            "adjust_reply",
            vec![
                reply_any::<adjust::Done>("`adjust`", "adjusted", "ok, same, held, waits, withdrawn"),
                reply::<adjust::Below>("`adjust`", "below", "below-zero"),
                reply::<adjust::Above>("`adjust`", "above", "above-cap"),
            ],
        ),
        (
            "reverse_reply",
            vec![reply_any::<reverse::Done>("`reverse`", "reversed", "ok, same, other")],
        ),
        (
            "transfer_reply",
            vec![
                reply_any::<transfer::Parts>("`transfer_give`", "given", "ok, same, held, waits, withdrawn"),
                reply::<transfer::Holding>("`transfer_give`", "holds", "holds"),
            ],
        ),
        (
            "settle_reply",
            vec![reply::<settle::Later>("`settle`", "later", "later")],
        ),
        (
            "approve_limit_reply",
            vec![reply_any::<approve_limit::InForce>(
                "`approve_limit`",
                "approved",
                "ok, same",
            )],
        ),
        (
            "define_reply",
            vec![
                reply::<operate::Removed>("`define`", "removed", "tier-removed"),
                reply::<operate::Kept>("`define`", "kept", "currency"),
            ],
        ),
        (
            "pending_reply",
            vec![
                reply::<read::Looked>("`pending`", "looked", "ok"),
                reply_part::<read::Unsettled>("`pending`", "unsettled"),
            ],
        ),
        ("lookup_reply", vec![reply::<lookup::Looked>("`lookup`", "found", "ok")]),
    ]
}

/// What every script that writes checks first (`fence` in `lua/jackpot/state.lua`).
#[derive(Debug, Clone)]
pub struct Fence {
    /// Highest mark this instance has seen of the jackpot.
    pub known: Mark,
    /// The epoch this instance draws in.
    pub epoch: u64,
    /// Commitment of that epoch's seed, from this instance's own secret.
    pub commitment: String,
    /// Definition this instance knows, `version digest`; empty for none.
    pub definition: String,
    /// The open cycles and those that may follow, with their triggers ([`Cycles::prepared`]); empty for none. Each script
    /// that may end a cycle takes it, in a place of its own.
    ///
    /// [`Cycles::prepared`]: jackpot_core::jackpot::cycle::Cycles::prepared
    pub prepared: String,
}

impl Fence {
    /// Version of the definition this instance knows; 0 for none.
    pub fn version(&self) -> u64 {
        let version = self.definition.split(' ').next();
        version.and_then(|version| version.parse().ok()).unwrap_or(0)
    }
}

fn fenced<'s>(script: &'s Script, keys: &[&str], fence: &Fence) -> Call<'s> {
    let call = keys.iter().fold(Call::new(script), |call, key| call.key(*key));
    call.arg(fence.known.packed())
        .arg(fence.epoch)
        .arg(&fence.commitment)
        .arg(&fence.definition)
}

/// A call with these keys, then the pool of each tier, and the fence.
fn with_pools<'s, const N: usize>(
    script: &'s Script,
    keys: &JackpotKeys,
    fixed: [&str; N],
    tiers: &[Tier],
    fence: &Fence,
) -> Call<'s> {
    let pools = pools(keys, tiers).collect::<Vec<_>>();
    let all = fixed.into_iter().chain(pools.iter().map(String::as_str));
    fenced(script, &all.collect::<Vec<_>>(), fence)
}

fn pools<'a>(keys: &'a JackpotKeys, tiers: &'a [Tier]) -> impl Iterator<Item = String> + 'a {
    tiers.iter().map(|tier| keys.pool(&tier.tier))
}

/// Keys of the scripts that settle entries: state, records, pending, events, pools.
fn settling_keys<'k>(keys: &'k JackpotKeys, pools: &'k [String]) -> Vec<&'k str> {
    let fixed = [&keys.state, &keys.seen_a, &keys.seen_b, &keys.pending, &keys.events];
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

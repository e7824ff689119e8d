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
pub use finish::{Finished, claim, finish};
pub use jackpot_kernel::subject::restore::{MAX_PAIRS, RestoreBegun, RestoreEnded, restore_begin};
pub use lookup::{Found, lookup};
pub use operate::{Define, DefineRefusal, Defined, NewJackpot, SetStatus, StatusSet, checkpoint, define, set_status};
pub use read::{PendingEntry, PendingPage, Snapshot, cycles, epochs, pending, snapshot};
pub use restore::{Begins, EPOCH_GAP, Part, RestoredState, Stamped, restore_end, restore_records, restored_keys};
pub use reverse::{Cancel, Cancelled, MAX_EARLY, Reverse, Reversed, cancel, reverse};
pub use rotate::{Rotate, Rotated, rotate, rotate_with};
pub use settle::{Settle, Stepped, settle};
pub use transfer::{
    Expect, Expected, Give, Given, Holds, Received, Released, transfer_expect, transfer_give, transfer_receive,
    transfer_release,
};
pub use withdraw::{Withdrawn, withdraw};

/// The files of its scripts. Each says which others it needs.
pub const LUA: Folder = Folder {
    files: lua_files!("../../lua/jackpot", "":
        "adjust" "adjust_reply" "adjustment" "amount_row" "approve_limit" "approve_limit_reply" "batch"
        "batch_reply" "call_fields" "cancel" "changes" "checkpoint" "claim" "claims" "contributed" "coupon" "cycles"
        "define" "define_reply" "digest" "early_cancel" "emergency" "enter" "enter_batch" "enter_expected"
        "enter_reply" "entering" "epoch" "event/adjust" "event/approval" "event/ask" "event/cancel"
        "event/checkpoint" "event/claim" "event/define" "event/emergency" "event/enter" "event/expect"
        "event/finish" "event/give" "event/payout" "event/receive" "event/release" "event/restore" "event/retention"
        "event/reverse" "event/rotate" "event/status" "event/withdraw" "exactly" "find_record" "finish" "held"
        "hold" "in_run" "kept" "leaving" "limit" "lookup" "lookup_batch" "lookup_reply" "moved" "opening" "pending"
        "pending_record" "pending_reply" "read_batch" "read_call" "read_pending" "record" "refusal" "replaced"
        "restore_end" "restore_end_reply" "reversal" "reverse" "reverse_reply" "rooms" "rotate" "rotate_reply"
        "runs" "settle" "settle_reply" "settled_reply" "stake_rows" "state" "status" "take" "tier_rows" "tiers"
        "transfer" "transfer_expect" "transfer_give" "transfer_parts" "transfer_receive" "transfer_release"
        "transfer_reply" "two_owners" "values" "view" "view_reply" "voided" "voided_rows" "withdraw" "write_batch"
        "write_call" "write_entry"
    ),
    shared: subject::LUA,
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
#[must_use]
pub fn declared() -> Vec<Declared> {
    let mut all = Vec::from(of_entries());
    all.extend(of_operators());
    all
}

/// Of reads, of scripts that take and end entries, and of those that run by themselves.
fn of_entries() -> [Declared; 6] {
    [
        Declared::new(
            "lua/jackpot/view_reply.lua",
            "crates/jackpot/src/scripts/read.rs",
            [
                reply::<read::Viewed>("`view`", "viewed", "ok"),
                reply::<read::OtherVersion>("`view`", "other_version", "stale"),
                reply_part::<read::TierMeters>("`view`", "tier_meters"),
                reply_part::<read::HeldValue>("`view`", "held"),
            ],
        ),
        Declared::new(
            "lua/jackpot/restore_end_reply.lua",
            "crates/kernel/src/subject/restore.rs",
            [reply::<Early>("`restore_end`", "begin_later", "early")],
        ),
        Declared::new(
            "lua/jackpot/enter_reply.lua",
            "crates/jackpot/src/scripts/enter.rs",
            [
                reply_any::<enter::TakenFrom>(
                    "`enter`",
                    "entered",
                    "ok, paused, suspended, closed, stale, too-large, cycles",
                ),
                reply_part::<enter::Said>("`enter`", "said"),
            ],
        ),
        Declared::new(
            "lua/jackpot/batch_reply.lua",
            "crates/jackpot/src/scripts/enter_batch.rs",
            [
                reply::<enter_batch::Taken>("`enter_batch`, `lookup_batch`", "taken", "ok"),
                reply_part::<enter_batch::Winner>("`enter_batch`, `lookup_batch`", "winner"),
                reply::<enter_batch::SplitAt>("`enter_batch`", "split", "split"),
                reply::<enter_batch::CancelledBefore>("`enter_batch`", "cancelled", "cancelled"),
            ],
        ),
        Declared::new(
            "lua/jackpot/settled_reply.lua",
            "crates/jackpot/src/scripts/finish.rs",
            [reply::<finish::Settled>("`claim`, `coupon`, `finish`", "settled", "ok")],
        ),
        Declared::new(
            "lua/jackpot/rotate_reply.lua",
            "crates/jackpot/src/scripts/rotate.rs",
            [
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
        Declared::new(
            "lua/jackpot/adjust_reply.lua",
            "crates/jackpot/src/scripts/adjust.rs",
            [
                reply_any::<adjust::Done>("`adjust`", "adjusted", "ok, same, held, waits, withdrawn"),
                reply::<adjust::Below>("`adjust`", "below", "below-zero"),
                reply::<adjust::Above>("`adjust`", "above", "above-cap"),
            ],
        ),
        Declared::new(
            "lua/jackpot/reverse_reply.lua",
            "crates/jackpot/src/scripts/reverse.rs",
            [reply_any::<reverse::Done>("`reverse`", "reversed", "ok, same, other")],
        ),
        Declared::new(
            "lua/jackpot/transfer_reply.lua",
            "crates/jackpot/src/scripts/transfer.rs",
            [
                reply_any::<transfer::Parts>("`transfer_give`", "given", "ok, same, held, waits, withdrawn"),
                reply::<transfer::Held>("`transfer_give`", "holds", "holds"),
            ],
        ),
        Declared::new(
            "lua/jackpot/settle_reply.lua",
            "crates/jackpot/src/scripts/settle.rs",
            [reply::<settle::Later>("`settle`", "later", "later")],
        ),
        Declared::new(
            "lua/jackpot/approve_limit_reply.lua",
            "crates/jackpot/src/scripts/approve_limit.rs",
            [reply_any::<approve_limit::InForce>(
                "`approve_limit`",
                "approved",
                "ok, same",
            )],
        ),
        Declared::new(
            "lua/jackpot/define_reply.lua",
            "crates/jackpot/src/scripts/operate.rs",
            [
                reply::<operate::Removed>("`define`", "removed", "tier-removed"),
                reply::<operate::Kept>("`define`", "kept", "currency"),
            ],
        ),
        Declared::new(
            "lua/jackpot/pending_reply.lua",
            "crates/jackpot/src/scripts/read.rs",
            [
                reply::<read::Looked>("`pending`", "looked", "ok"),
                reply_part::<read::Unsettled>("`pending`", "unsettled"),
            ],
        ),
        Declared::new(
            "lua/jackpot/lookup_reply.lua",
            "crates/jackpot/src/scripts/lookup.rs",
            [reply::<lookup::Looked>("`lookup`", "found", "ok")],
        ),
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

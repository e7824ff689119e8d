//! The Lua scripts of `lua/jackpot/`, one wrapper each: it names the keys, orders the arguments and owns the codes
//! of the replies. The header of each script is the reference.

use std::sync::LazyLock;

use jackpot_core::jackpot::document::Tier;
use jackpot_core::mark::Mark;

use jackpot_kernel::store::keys::JackpotKeys;
use jackpot_kernel::store::{Call, Script};
use jackpot_kernel::subject::restore::Early;
use jackpot_kernel::subject::{Declared, EVENTS, Reply, reply, reply_any, reply_part, run, run_here};
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

macro_rules! script {
    ($name:literal, $flags:literal, $($part:literal),+) => {
        LazyLock::new(|| {
            let parts = [EVENTS, PACKED, VALUES, STATE, $(include_str!(concat!("../../../../lua/jackpot/", $part, ".lua"))),+];
            Script::new($name, $flags, &parts)
        })
    };
}

/// The parts that read and write the state, in every script.
const PACKED: &str = include_str!("../../../../lua/subject/packed.lua");
const VALUES: &str = include_str!("../../../../lua/jackpot/values.lua");
const STATE: &str = include_str!("../../../../lua/jackpot/state.lua");

static ENTER: LazyLock<Script> = script!(
    "enter",
    "",
    "changes",
    "moved",
    "cycles",
    "tiers",
    "kept",
    "in_run",
    "record",
    "claims",
    "take",
    "event/enter",
    "refusal",
    "write_entry",
    "contributed",
    "runs",
    "../subject/sent",
    "entering",
    "enter_reply",
    "replaced",
    "amount_row",
    "stake_rows",
    "write_call",
    "digest",
    "enter"
);
static ENTER_EXPECTED: LazyLock<Script> = LazyLock::new(|| {
    let parts = [
        EVENTS,
        include_str!("../../../../lua/jackpot/digest.lua"),
        include_str!("../../../../lua/jackpot/enter_expected.lua"),
    ];
    Script::new("enter_expected", "", &parts)
});
static ENTER_BATCH: LazyLock<Script> = script!(
    "enter_batch",
    "",
    "changes",
    "moved",
    "cycles",
    "tiers",
    "in_run",
    "record",
    "find_record",
    "claims",
    "take",
    "read_batch",
    "write_batch",
    "batch_reply",
    "batch",
    "replaced",
    "event/enter",
    "refusal",
    "write_entry",
    "contributed",
    "runs",
    "../subject/sent",
    "entering",
    "enter_batch"
);
static CLAIM: LazyLock<Script> = script!(
    "claim",
    "allow-oom",
    "changes",
    "moved",
    "cycles",
    "tiers",
    "in_run",
    "record",
    "find_record",
    "refusal",
    "write_entry",
    "read_pending",
    "pending_record",
    "claims",
    "take",
    "event/claim",
    "settled_reply",
    "claim"
);
static COUPON: LazyLock<Script> = script!(
    "coupon",
    "allow-oom",
    "changes",
    "moved",
    "cycles",
    "tiers",
    "in_run",
    "record",
    "find_record",
    "refusal",
    "write_entry",
    "read_pending",
    "claims",
    "pending_record",
    "event/claim",
    "settled_reply",
    "coupon"
);
static FINISH: LazyLock<Script> = script!(
    "finish",
    "allow-oom",
    "changes",
    "moved",
    "cycles",
    "tiers",
    "in_run",
    "record",
    "find_record",
    "refusal",
    "write_entry",
    "read_pending",
    "pending_record",
    "event/finish",
    "settled_reply",
    "finish"
);
static STATUS: LazyLock<Script> = script!(
    "status",
    "allow-oom",
    "changes",
    "moved",
    "cycles",
    "tiers",
    "epoch",
    "../subject/status",
    "event/status",
    "status"
);
/// Obeys the emergency stop.
pub(super) static OBEY: LazyLock<Script> = script!(
    "obey",
    "allow-oom",
    "changes",
    "moved",
    "cycles",
    "tiers",
    "../subject/emergency",
    "event/emergency",
    "emergency"
);
static ADJUST: LazyLock<Script> = script!(
    "adjust",
    "",
    "changes",
    "moved",
    "cycles",
    "tiers",
    "hold",
    "limit",
    "leaving",
    "adjustment",
    "two_owners",
    "event/ask",
    "event/adjust",
    "adjust_reply",
    "adjust"
);
static WITHDRAW: LazyLock<Script> = script!(
    "withdraw",
    "",
    "hold",
    "limit",
    "leaving",
    "adjustment",
    "two_owners",
    "event/withdraw",
    "withdraw"
);
static REVERSE: LazyLock<Script> = script!(
    "reverse",
    "allow-oom",
    "changes",
    "moved",
    "cycles",
    "tiers",
    "exactly",
    "reversal",
    "early_cancel",
    "event/reverse",
    "reverse_reply",
    "reverse"
);
static CANCEL: LazyLock<Script> = script!(
    "cancel",
    "",
    "in_run",
    "record",
    "find_record",
    "exactly",
    "read_batch",
    "early_cancel",
    "event/cancel",
    "cancel"
);
static TRANSFER_EXPECT: LazyLock<Script> = script!(
    "transfer_expect",
    "",
    "changes",
    "moved",
    "cycles",
    "tiers",
    "exactly",
    "hold",
    "limit",
    "adjustment",
    "transfer",
    "transfer_parts",
    "rooms",
    "event/expect",
    "transfer_expect"
);
static TRANSFER_GIVE: LazyLock<Script> = script!(
    "transfer_give",
    "allow-oom",
    "changes",
    "moved",
    "cycles",
    "tiers",
    "exactly",
    "hold",
    "limit",
    "leaving",
    "adjustment",
    "two_owners",
    "transfer",
    "event/ask",
    "event/give",
    "transfer_reply",
    "transfer_give"
);
static TRANSFER_RECEIVE: LazyLock<Script> = script!(
    "transfer_receive",
    "allow-oom",
    "changes",
    "moved",
    "cycles",
    "tiers",
    "exactly",
    "adjustment",
    "transfer",
    "transfer_parts",
    "rooms",
    "event/receive",
    "transfer_receive"
);
static TRANSFER_RELEASE: LazyLock<Script> = script!(
    "transfer_release",
    "allow-oom",
    "changes",
    "moved",
    "cycles",
    "tiers",
    "exactly",
    "adjustment",
    "transfer",
    "transfer_parts",
    "rooms",
    "event/release",
    "transfer_release"
);
static DEFINE: LazyLock<Script> = script!(
    "define",
    "",
    "../subject/put_reply",
    "../subject/puts",
    "tier_rows",
    "changes",
    "moved",
    "cycles",
    "tiers",
    "epoch",
    "opening",
    "hold",
    "limit",
    "event/define",
    "define_reply",
    "define"
);
static SETTLE: LazyLock<Script> = script!(
    "settle",
    "allow-oom",
    "changes",
    "moved",
    "cycles",
    "tiers",
    "voided",
    "voided_rows",
    "hold",
    "limit",
    "event/payout",
    "settle_reply",
    "settle"
);
static APPROVE_LIMIT: LazyLock<Script> = script!(
    "approve_limit",
    "",
    "hold",
    "limit",
    "event/approval",
    "approve_limit_reply",
    "approve_limit"
);
static ROTATE: LazyLock<Script> = script!(
    "rotate",
    "allow-oom",
    "changes",
    "moved",
    "cycles",
    "tiers",
    "epoch",
    "opening",
    "event/retention",
    "event/rotate",
    "rotate_reply",
    "rotate"
);
static LOOKUP: LazyLock<Script> = script!(
    "lookup",
    "no-writes",
    "in_run",
    "record",
    "find_record",
    "call_fields",
    "read_call",
    "read_batch",
    "lookup_reply",
    "../subject/event_fields",
    "lookup"
);
static LOOKUP_BATCH: LazyLock<Script> = script!(
    "lookup_batch",
    "no-writes",
    "in_run",
    "record",
    "find_record",
    "read_batch",
    "batch_reply",
    "batch",
    "lookup_batch"
);
static VIEW: LazyLock<Script> = script!(
    "view",
    "no-writes",
    "tier_rows",
    "moved",
    "cycles",
    "tiers",
    "voided",
    "voided_rows",
    "held",
    "view_reply",
    "view"
);
static CHECKPOINT: LazyLock<Script> = script!(
    "checkpoint",
    "",
    "tier_rows",
    "moved",
    "cycles",
    "tiers",
    "voided",
    "voided_rows",
    "held",
    "../subject/checkpoint",
    "event/checkpoint",
    "checkpoint"
);
static RESTORE_END: LazyLock<Script> = script!(
    "restore_end",
    "allow-oom",
    "tier_rows",
    "moved",
    "cycles",
    "epoch",
    "opening",
    "hold",
    "leaving",
    "voided",
    "../subject/restored",
    "event/restore",
    "restore_end_reply",
    "restore_end"
);
static PENDING: LazyLock<Script> = script!(
    "pending",
    "no-writes",
    "in_run",
    "record",
    "find_record",
    "read_pending",
    "pending_reply",
    "pending"
);

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

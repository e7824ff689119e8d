//! One wrapper for each Lua script of `lua/coupon/`. It names the keys, orders the arguments and owns the codes of the
//! replies. The header of each script is the reference.

use std::sync::LazyLock;

use jackpot_core::mark::Mark;

use crate::store::keys::CouponKeys;
use crate::store::{Call, Script};
use crate::subject::{EVENTS, Reply, run, run_here};
pub use crate::subject::{ScriptError, Wanted};

mod answers;
mod issue;
mod operate;
mod read;
mod redrive;
mod restore;
mod retire;
mod serve;
mod void;

pub use answers::Answer;
pub use issue::{Ask, AskReply, Asked, MAX_REQUESTS, Mode, Refusal, issue, issue_here, issue_owed};
pub use operate::{Define, DefineRefusal, Defined, SetStatus, StatusSet, checkpoint, define, set_status};
pub use read::{DeadLetter, DeadPage, Looked, MAX_DEAD, Snapshot, dead_letters, lookup, snapshot};
pub use redrive::{Redriven, redrive};
pub use restore::{Part, RestoredState, restore_end};
pub use retire::{Retired, retire};
pub use serve::{MAX_TAKEN, Serve, Served, Taken, serve};
pub use void::{Voided, void};

macro_rules! script {
    ($name:literal, $flags:literal, $($part:literal),+) => {
        LazyLock::new(|| Script::new($name, $flags, &[EVENTS, $(include_str!(concat!("../../../lua/coupon/", $part, ".lua"))),+]))
    };
}

static DEFINE: LazyLock<Script> = script!(
    "coupon_define",
    "",
    "../subject/puts",
    "state",
    "event/define",
    "define"
);
static ISSUE: LazyLock<Script> = script!("coupon_issue", "", "state", "record", "decide", "event/issue", "issue");
static ISSUE_OWED: LazyLock<Script> = script!(
    "coupon_issue_owed",
    "allow-oom",
    "state",
    "record",
    "decide",
    "event/issue",
    "issue"
);
static SERVE: LazyLock<Script> = script!(
    "coupon_serve",
    "allow-oom",
    "state",
    "record",
    "decide",
    "event/serve",
    "serve"
);
static VOID: LazyLock<Script> = script!("coupon_void", "allow-oom", "state", "record", "event/void", "void");
static REDRIVE: LazyLock<Script> = script!("coupon_redrive", "", "state", "record", "event/redrive", "redrive");
static LOOKUP: LazyLock<Script> = script!("coupon_lookup", "no-writes", "state", "record", "lookup");
static VIEW: LazyLock<Script> = script!("coupon_view", "no-writes", "state", "view");
static DEAD: LazyLock<Script> = script!("coupon_dead", "no-writes", "state", "dead");
static STATUS: LazyLock<Script> = script!(
    "coupon_status",
    "allow-oom",
    "state",
    "../subject/status",
    "event/status",
    "status"
);
static CHECKPOINT: LazyLock<Script> = script!(
    "coupon_checkpoint",
    "",
    "state",
    "../subject/checkpoint",
    "event/checkpoint",
    "checkpoint"
);
static RETIRE: LazyLock<Script> = script!(
    "coupon_retire",
    "allow-oom",
    "state",
    "event/retention",
    "event/retire",
    "retire"
);
static RESTORE_END: LazyLock<Script> = script!(
    "coupon_restore_end",
    "allow-oom",
    "state",
    "../subject/restored",
    "event/restore",
    "restore_end"
);

/// A call of a coupon's script, with all its keys and the known mark, which every script gets first.
fn call<'s>(script: &'s Script, keys: &CouponKeys, known: Mark) -> Call<'s> {
    let call = keys.all().into_iter().fold(Call::new(script), Call::key);
    call.arg(known.packed())
}

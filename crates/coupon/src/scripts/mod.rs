//! One wrapper for each Lua script of `lua/coupon/`. It names the keys, orders the arguments and owns the codes of the
//! replies. The header of each script is the reference.

use std::sync::LazyLock;

use jackpot_core::mark::Mark;

use jackpot_kernel::lua_files;
use jackpot_kernel::store::keys::CouponKeys;
use jackpot_kernel::store::{Call, Folder, Script};
use jackpot_kernel::subject::{self, Declared, Reply, reply, reply_part, run, run_here};
pub use jackpot_kernel::subject::{ScriptError, Wanted};

mod answers;
mod issue;
mod operate;
mod read;
mod redeem;
mod redrive;
mod restore;
mod retire;
mod serve;
mod void;

pub use answers::Answer;
pub use issue::{Ask, AskReply, Asked, MAX_REQUESTS, Mode, Refusal, issue, issue_here, issue_owed};
pub use operate::{Define, DefineRefusal, Defined, SetStatus, StatusSet, checkpoint, define, set_status};
pub use read::{DeadLetter, DeadPage, Looked, MAX_DEAD, Snapshot, dead_letters, lookup, snapshot};
pub use redeem::{FromLedger, Redeem, Redeemed, redeem};
pub use redrive::{Redriven, redrive};
pub use restore::{Part, RestoredState, restore_end};
pub use retire::{Retired, retire};
pub use serve::{MAX_TAKEN, Serve, Served, Taken, serve};
pub use void::{Voided, void};

/// The files of its scripts. Each says which others it needs.
pub const LUA: Folder = Folder {
    files: lua_files!("../../lua/coupon", "":
        "answered_reply" "asker" "checkpoint" "dead" "dead_reply" "decide" "define" "define_reply" "emergency"
        "event/checkpoint" "event/define" "event/emergency" "event/issue" "event/redeem" "event/redrive"
        "event/restore" "event/retention" "event/retire" "event/serve" "event/status" "event/void" "issue" "lines"
        "lookup" "read_request" "record" "redeem" "redrive" "restore_end" "retire" "retire_reply" "serve"
        "serve_reply" "state" "status" "user_issue" "view" "view_reply" "void" "write_request"
    ),
    shared: subject::LUA,
};

static DEFINE: LazyLock<Script> = LazyLock::new(|| LUA.script("coupon_define", "", "define"));
static ISSUE: LazyLock<Script> = LazyLock::new(|| LUA.script("coupon_issue", "", "issue"));
static ISSUE_OWED: LazyLock<Script> = LazyLock::new(|| LUA.script("coupon_issue_owed", "allow-oom", "issue"));
static SERVE: LazyLock<Script> = LazyLock::new(|| LUA.script("coupon_serve", "allow-oom", "serve"));
static VOID: LazyLock<Script> = LazyLock::new(|| LUA.script("coupon_void", "allow-oom", "void"));
static REDEEM: LazyLock<Script> = LazyLock::new(|| LUA.script("coupon_redeem", "", "redeem"));
static REDRIVE: LazyLock<Script> = LazyLock::new(|| LUA.script("coupon_redrive", "", "redrive"));
static LOOKUP: LazyLock<Script> = LazyLock::new(|| LUA.script("coupon_lookup", "no-writes", "lookup"));
static VIEW: LazyLock<Script> = LazyLock::new(|| LUA.script("coupon_view", "no-writes", "view"));
static DEAD: LazyLock<Script> = LazyLock::new(|| LUA.script("coupon_dead", "no-writes", "dead"));
static STATUS: LazyLock<Script> = LazyLock::new(|| LUA.script("coupon_status", "allow-oom", "status"));
/// Obeys the emergency stop.
pub(super) static OBEY: LazyLock<Script> = LazyLock::new(|| LUA.script("coupon_obey", "allow-oom", "emergency"));
static CHECKPOINT: LazyLock<Script> = LazyLock::new(|| LUA.script("coupon_checkpoint", "", "checkpoint"));
static RETIRE: LazyLock<Script> = LazyLock::new(|| LUA.script("coupon_retire", "allow-oom", "retire"));
static RESTORE_END: LazyLock<Script> = LazyLock::new(|| LUA.script("coupon_restore_end", "allow-oom", "restore_end"));

/// The declared replies.
#[must_use]
pub fn declared() -> [Declared; 6] {
    let answering = "`coupon_issue`, `coupon_serve`, `coupon_void`, `coupon_redeem`, `coupon_redrive`, `coupon_lookup`";
    [
        Declared::new(
            "lua/coupon/answered_reply.lua",
            "crates/coupon/src/scripts/answers.rs",
            [
                reply_part::<answers::Answered>(answering, "answered"),
                reply_part::<answers::Detail>(answering, "detail"),
            ],
        ),
        Declared::new(
            "lua/coupon/serve_reply.lua",
            "crates/coupon/src/scripts/serve.rs",
            [
                reply::<serve::Stepped>("`coupon_serve`", "stepped", "ok"),
                reply_part::<serve::Taken>("`coupon_serve`", "taken"),
                reply::<serve::Leased>("`coupon_serve`", "leased", "held"),
            ],
        ),
        Declared::new(
            "lua/coupon/retire_reply.lua",
            "crates/coupon/src/scripts/retire.rs",
            [
                reply::<retire::Raised>("`coupon_retire`", "raised", "raised"),
                reply::<retire::NotOver>("`coupon_retire`", "not_over", "not-over"),
                reply::<retire::Queued>("`coupon_retire`", "queued", "line"),
            ],
        ),
        Declared::new(
            "lua/coupon/define_reply.lua",
            "crates/coupon/src/scripts/operate.rs",
            [reply::<operate::Below>("`coupon_define`", "below", "below")],
        ),
        Declared::new(
            "lua/coupon/view_reply.lua",
            "crates/coupon/src/scripts/read.rs",
            [
                reply::<read::Viewed>("`coupon_view`", "viewed", "ok"),
                reply_part::<read::Told>("`coupon_view`", "told"),
            ],
        ),
        Declared::new(
            "lua/coupon/dead_reply.lua",
            "crates/coupon/src/scripts/read.rs",
            [
                reply::<read::Letters>("`coupon_dead`", "letters", "ok"),
                reply_part::<read::Letter>("`coupon_dead`", "letter"),
            ],
        ),
    ]
}

/// A call of a coupon's script, with all its keys and the known mark, which every script gets first.
fn call<'s>(script: &'s Script, keys: &CouponKeys, known: Mark) -> Call<'s> {
    let call = keys.all().into_iter().fold(Call::new(script), Call::key);
    call.arg(known.packed())
}

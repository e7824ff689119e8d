//! One wrapper for each Lua script of `lua/coupon/`. It names the keys, orders the arguments and owns the codes of the
//! replies. The header of each script is the reference.

use std::sync::LazyLock;

use jackpot_core::mark::Mark;
use jackpot_core::wire::lua;

use jackpot_kernel::lua_files;
use jackpot_kernel::store::keys::CouponKeys;
use jackpot_kernel::store::{Call, Folder, Made, Script};
use jackpot_kernel::subject::{self, Declared, Reply, made, reply, reply_part, run, run_here};
pub use jackpot_kernel::subject::{ScriptError, Wanted};

use crate::ledger::event::{Kind, Line};
use crate::record::{Record, UserIssue};

mod act;
mod answers;
mod issue;
mod operate;
mod read;
mod redeem;
mod restore;
mod retire;
mod serve;

pub use act::{Acted, redrive, void};
pub use answers::Answer;
pub use issue::{Ask, AskReply, Asked, MAX_REQUESTS, Mode, Refusal, issue, issue_here, issue_owed};
pub use operate::{Define, DefineRefusal, Defined, SetStatus, StatusSet, checkpoint, define, set_status};
pub use read::{DeadLetter, DeadPage, Looked, MAX_DEAD, Snapshot, dead_letters, lookup, snapshot};
pub use redeem::{FromLedger, Redeem, Redeemed, redeem};
pub use restore::{Part, RestoredState, restore_end};
pub use retire::{Retired, retire};
pub use serve::{MAX_TAKEN, Serve, Served, Taken, serve};

/// The files of its scripts. Each says which others it needs.
pub static LUA: Folder = Folder {
    files: lua_files!("../../lua/coupon", "":
        "asker" "checkpoint" "dead" "decide" "define" "emergency" "issue" "lookup" "record" "redeem" "redrive"
        "restore_end" "retire" "serve" "state" "status" "view" "void"
    ),
    made: &MADE,
    shared: Some(&subject::LUA),
};

/// What follows from its declarations.
static MADE: LazyLock<Made> = LazyLock::new(|| {
    let records = [
        ("read_request", lua::record_reader(&Record::shape())),
        ("write_request", lua::record_writers(&Record::shape())),
        ("user_issue", lua::record_list(&UserIssue::shape())),
        ("lines", lua::record_writers(&Line::shape())),
    ];
    made::<Kind>(records, declared())
});

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
pub fn declared() -> [Declared; 6] {
    let answering = "`coupon_issue`, `coupon_serve`, `coupon_void`, `coupon_redeem`, `coupon_redrive`, `coupon_lookup`";
    [
        (
            "answered_reply",
            vec![
                reply_part::<answers::Answered>(answering, "answered"),
                reply_part::<answers::Detail>(answering, "detail"),
            ],
        ),
        (
            "serve_reply",
            vec![
                reply::<serve::Stepped>("`coupon_serve`", "stepped", "ok"),
                reply_part::<serve::Taken>("`coupon_serve`", "taken"),
                reply::<serve::Leased>("`coupon_serve`", "leased", "held"),
            ],
        ),
        (
            "retire_reply",
            vec![
                reply::<retire::Raised>("`coupon_retire`", "raised", "raised"),
                reply::<retire::NotOver>("`coupon_retire`", "not_over", "not-over"),
                reply::<retire::Queued>("`coupon_retire`", "queued", "line"),
            ],
        ),
        (
            "define_reply",
            vec![reply::<operate::Below>("`coupon_define`", "below", "below")],
        ),
        (
            "view_reply",
            vec![
                reply::<read::Viewed>("`coupon_view`", "viewed", "ok"),
                reply_part::<read::Told>("`coupon_view`", "told"),
            ],
        ),
        (
            "dead_reply",
            vec![
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

//! One wrapper for each Lua script of `lua/room/`. It names the keys, orders the arguments and owns the codes of the
//! replies. The header of each script is the reference.

use std::sync::LazyLock;

use jackpot_core::mark::Mark;
use jackpot_core::wire::lua;

use jackpot_kernel::lua_files;
use jackpot_kernel::store::keys::RoomKeys;
use jackpot_kernel::store::{Call, Folder, Made, Script};
use jackpot_kernel::subject::{self, Declared, Reply, made, reply, reply_part, run, run_here};
pub use jackpot_kernel::subject::{ScriptError, Wanted};

use crate::ledger::event::{Checkpoint, Kind};
use crate::record::Record;

mod collected;
mod glance;
mod operate;
mod restore;
mod revoked;
mod view;
mod visit;

pub use super::record::End;
pub use collected::{CollectedPage, MAX_COLLECTED, MAX_REORDERED, Reordered, collected, publish, reorder};
pub use glance::are_quiet;
pub use operate::{Define, DefineRefusal, Defined, SetStatus, StatusSet, checkpoint, define, set_status};
pub use restore::{RestoredState, restore_end};
pub use revoked::{MAX_REVOKED, Revoked, RevokedPass, revoked};
pub use view::{Counts, Snapshot, Viewed, snapshot};
pub use visit::{Answer, MAX_VISITS, Place, Seen, Stepped, Visit, VisitReply, Visited, visit, visit_here};

/// The files of its scripts. Each says which others it needs.
pub static LUA: Folder = Folder {
    files: lua_files!("../../lua/room", "":
        "checkpoint" "collected" "decides" "define" "emergency" "places" "publish" "reorder" "restore_end" "revoked"
        "state" "status" "step" "view" "visit" "write"
    ),
    made: &MADE,
    shared: Some(&subject::LUA),
};

/// What follows from its declarations.
static MADE: LazyLock<Made> = LazyLock::new(|| {
    let records = [
        ("record", lua::record(&Record::shape())),
        ("checkpoint_text", lua::record_writers(&Checkpoint::shape())),
    ];
    made::<Kind>(records, declared())
});

/// With joins: they need memory.
static JOIN: LazyLock<Script> = LazyLock::new(|| LUA.script("room_join", "", "visit"));
/// Without joins: it ends and admits tickets also when memory is full.
static VISIT: LazyLock<Script> = LazyLock::new(|| LUA.script("room_visit", "allow-oom", "visit"));
static DEFINE: LazyLock<Script> = LazyLock::new(|| LUA.script("room_define", "", "define"));
static VIEW: LazyLock<Script> = LazyLock::new(|| LUA.script("room_view", "no-writes", "view"));
static REVOKED: LazyLock<Script> = LazyLock::new(|| LUA.script("room_revoked", "no-writes", "revoked"));
static COLLECTED: LazyLock<Script> = LazyLock::new(|| LUA.script("room_collected", "no-writes", "collected"));
static REORDER: LazyLock<Script> = LazyLock::new(|| LUA.script("room_reorder", "allow-oom", "reorder"));
static PUBLISH: LazyLock<Script> = LazyLock::new(|| LUA.script("room_publish", "", "publish"));
static STATUS: LazyLock<Script> = LazyLock::new(|| LUA.script("room_status", "allow-oom", "status"));
/// Obeys the emergency stop.
pub(super) static OBEY: LazyLock<Script> = LazyLock::new(|| LUA.script("room_obey", "allow-oom", "emergency"));
static CHECKPOINT: LazyLock<Script> = LazyLock::new(|| LUA.script("room_checkpoint", "", "checkpoint"));
static RESTORE_END: LazyLock<Script> = LazyLock::new(|| LUA.script("room_restore_end", "allow-oom", "restore_end"));

/// The declared replies.
pub fn declared() -> [Declared; 5] {
    [
        ("view_reply", vec![reply::<Viewed>("`room_view`", "viewed", "ok")]),
        (
            "visit_reply",
            vec![
                reply::<Stepped>("`room_visit`, `room_join`", "stepped", "ok"),
                reply_part::<Answer>("`room_visit`, `room_join`", "answer"),
            ],
        ),
        (
            "revoked_reply",
            vec![
                reply::<revoked::RevokedPage>("`room_revoked`", "revoked_page", "ok"),
                reply_part::<RevokedPass>("`room_revoked`", "revoked_pass"),
            ],
        ),
        (
            "collected_reply",
            vec![
                reply::<collected::Page>("`room_collected`", "collected_page", "ok"),
                reply_part::<collected::Collected>("`room_collected`", "collected"),
            ],
        ),
        (
            "reorder_reply",
            vec![reply::<collected::Ordered>("`room_reorder`", "ordered", "ok")],
        ),
    ]
}

/// A call of a room's script, with all its keys and the known mark, which every script gets first.
fn call<'s>(script: &'s Script, keys: &RoomKeys, known: Mark) -> Call<'s> {
    let call = keys.all().into_iter().fold(Call::new(script), Call::key);
    call.arg(known.packed())
}

//! One wrapper for each Lua script of `lua/room/`. It names the keys, orders the arguments and owns the codes of the
//! replies. The header of each script is the reference.

use std::sync::LazyLock;

use jackpot_core::mark::Mark;

use jackpot_kernel::store::keys::RoomKeys;
use jackpot_kernel::store::{Call, Script};
use jackpot_kernel::subject::{Declared, EVENTS, Reply, reply, reply_part, run, run_here};
pub use jackpot_kernel::subject::{ScriptError, Wanted};

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

macro_rules! script {
    ($name:literal, $flags:literal, $($part:literal),+) => {
        LazyLock::new(|| Script::new($name, $flags, &[EVENTS, $(include_str!(concat!("../../../../lua/room/", $part, ".lua"))),+]))
    };
}

/// With joins: they need memory.
static JOIN: LazyLock<Script> = script!(
    "room_join",
    "",
    "state",
    "record",
    "places",
    "step",
    "write",
    "visit_reply",
    "visit"
);
/// Without joins: it ends and admits tickets also when memory is full.
static VISIT: LazyLock<Script> = script!(
    "room_visit",
    "allow-oom",
    "state",
    "record",
    "places",
    "step",
    "write",
    "visit_reply",
    "visit"
);
static DEFINE: LazyLock<Script> = script!(
    "room_define",
    "",
    "../subject/put_reply",
    "../subject/puts",
    "state",
    "event/define",
    "define"
);
static VIEW: LazyLock<Script> = script!(
    "room_view",
    "no-writes",
    "state",
    "checkpoint_text",
    "decides",
    "view_reply",
    "view"
);
static REVOKED: LazyLock<Script> = script!("room_revoked", "no-writes", "state", "revoked_reply", "revoked");
static COLLECTED: LazyLock<Script> = script!("room_collected", "no-writes", "state", "collected_reply", "collected");
static REORDER: LazyLock<Script> = script!("room_reorder", "allow-oom", "state", "reorder_reply", "reorder");
static PUBLISH: LazyLock<Script> = script!("room_publish", "", "state", "event/opened", "publish");
static STATUS: LazyLock<Script> = script!(
    "room_status",
    "allow-oom",
    "state",
    "../subject/status",
    "event/status",
    "status"
);
/// Obeys the emergency stop.
pub(super) static OBEY: LazyLock<Script> = script!(
    "room_obey",
    "allow-oom",
    "state",
    "../subject/emergency",
    "event/emergency",
    "emergency"
);
static CHECKPOINT: LazyLock<Script> = script!(
    "room_checkpoint",
    "",
    "state",
    "checkpoint_text",
    "decides",
    "event/checkpoint",
    "checkpoint"
);
static RESTORE_END: LazyLock<Script> = script!(
    "room_restore_end",
    "allow-oom",
    "state",
    "../subject/restored",
    "event/restore",
    "restore_end"
);

/// The declared replies.
#[must_use]
pub fn declared() -> [Declared; 5] {
    let (visit, view) = ("crates/room/src/scripts/visit.rs", "crates/room/src/scripts/view.rs");
    [
        Declared::new(
            "lua/room/view_reply.lua",
            view,
            [reply::<Viewed>("`room_view`", "viewed", "ok")],
        ),
        Declared::new(
            "lua/room/visit_reply.lua",
            visit,
            [
                reply::<Stepped>("`room_visit`, `room_join`", "stepped", "ok"),
                reply_part::<Answer>("`room_visit`, `room_join`", "answer"),
            ],
        ),
        Declared::new(
            "lua/room/revoked_reply.lua",
            "crates/room/src/scripts/revoked.rs",
            [
                reply::<revoked::RevokedPage>("`room_revoked`", "revoked_page", "ok"),
                reply_part::<RevokedPass>("`room_revoked`", "revoked_pass"),
            ],
        ),
        Declared::new(
            "lua/room/collected_reply.lua",
            "crates/room/src/scripts/collected.rs",
            [
                reply::<collected::Page>("`room_collected`", "collected_page", "ok"),
                reply_part::<collected::Collected>("`room_collected`", "collected"),
            ],
        ),
        Declared::new(
            "lua/room/reorder_reply.lua",
            "crates/room/src/scripts/collected.rs",
            [reply::<collected::Ordered>("`room_reorder`", "ordered", "ok")],
        ),
    ]
}

/// A call of a room's script, with all its keys and the known mark, which every script gets first.
fn call<'s>(script: &'s Script, keys: &RoomKeys, known: Mark) -> Call<'s> {
    let call = keys.all().into_iter().fold(Call::new(script), Call::key);
    call.arg(known.packed())
}

//! One wrapper for each script of `tests/it/subject/lua/`.

use std::sync::LazyLock;

use jackpot::lua_files;
use jackpot::operator::Operator;
use jackpot::reply;
use jackpot::store::keys::StreamKeys;
use jackpot::store::{Call, Folder, Made, Script, Store};
use jackpot::subject::operate::{self, Define, Defined, SetStatus, StatusSet};
use jackpot::subject::restore::{self, RestoreEnded};
use jackpot::subject::{self, Declared, Marked, ScriptError, made, run};
use jackpot_core::mark::Mark;

use super::ledger::Event;
use super::{Definition, Status};

static LUA: Folder = Folder {
    files: lua_files!("tests/it/subject/lua", "":
        "checkpoint" "count" "define" "emergency" "restore_end" "state" "status" "view"
    ),
    made: &MADE,
    shared: Some(&subject::LUA),
};

static MADE: LazyLock<Made> = LazyLock::new(|| made::<Event>([], [declared()]));

static DEFINE: LazyLock<Script> = LazyLock::new(|| LUA.script("toy_define", "", "define"));
static COUNT: LazyLock<Script> = LazyLock::new(|| LUA.script("toy_count", "", "count"));
static VIEW: LazyLock<Script> = LazyLock::new(|| LUA.script("toy_view", "no-writes", "view"));
static STATUS: LazyLock<Script> = LazyLock::new(|| LUA.script("toy_status", "allow-oom", "status"));
static CHECKPOINT: LazyLock<Script> = LazyLock::new(|| LUA.script("toy_checkpoint", "", "checkpoint"));
/// Obeys the emergency stop.
pub static OBEY: LazyLock<Script> = LazyLock::new(|| LUA.script("toy_obey", "allow-oom", "emergency"));
static RESTORE_END: LazyLock<Script> = LazyLock::new(|| LUA.script("toy_restore_end", "allow-oom", "restore_end"));

/// What Redis holds, as a checkpoint and a view report it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    pub status: Status,
    pub version: u64,
    pub limit: u64,
    pub count: u64,
}

impl Held {
    /// Parses what `held` in `state.lua` writes.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(' ');
        Some(Self {
            status: Status::parse(parts.next()?)?,
            version: parts.next()?.parse().ok()?,
            limit: parts.next()?.parse().ok()?,
            count: parts.next()?.parse().ok()?,
        })
    }
}

/// A whole toy at one instant.
#[derive(Debug)]
pub struct Snapshot {
    pub mark: Mark,
    pub now_ms: i64,
    pub definition: Definition,
    pub held: Held,
}

impl Marked for Snapshot {
    fn mark(&self) -> Mark {
        self.mark
    }
}

/// What a count did.
#[derive(Debug, PartialEq, Eq)]
pub enum Counted {
    To(u64),
    /// It is full, suspended or stopped.
    Refused(String),
}

fn call<'s>(script: &'s Script, keys: StreamKeys<'_>, known: Mark) -> Call<'s> {
    Call::new(script).key(keys.state).key(keys.events).arg(known.packed())
}

pub async fn define(
    store: &Store,
    keys: StreamKeys<'_>,
    known: Mark,
    put: &Define<'_, Definition>,
) -> Result<(Mark, Defined<()>), ScriptError> {
    let json = serde_json::to_string(put.definition).expect("plain data is JSON");
    let call = call(&DEFINE, keys, known).arg(put.named(&json).with("limit", put.definition.limit));
    operate::define(store, &DEFINE, call, known, |reply| match reply.code() {
        "below" => Ok(()),
        _ => Err(reply.unexpected()),
    })
    .await
}

pub async fn set_status(
    store: &Store,
    keys: StreamKeys<'_>,
    known: Mark,
    wish: &SetStatus<Status>,
) -> Result<StatusSet<Status>, ScriptError> {
    let call = call(&STATUS, keys, known).arg(wish.named(wish.wanted.as_str()));
    operate::set_status(store, &STATUS, call, known, Status::parse).await
}

pub async fn checkpoint(store: &Store, keys: StreamKeys<'_>, known: Mark) -> Result<Mark, ScriptError> {
    operate::checkpoint(store, &CHECKPOINT, call(&CHECKPOINT, keys, known), known).await
}

reply! {
    /// Counted one further.
    pub struct CountedTo {
        /// The count.
        count: u64,
    }
}

reply! {
    /// A toy.
    pub struct Viewed {
        /// Redis' clock.
        now_ms: i64,
        /// The definition, as JSON.
        definition: String,
        /// The state as in a checkpoint.
        held: String,
    }
}

/// The declared replies.
fn declared() -> Declared {
    let replies = vec![
        subject::reply::<CountedTo>("`count`", "counted", "ok"),
        subject::reply::<Viewed>("`view`", "viewed", "ok"),
    ];
    ("replies", replies)
}

pub async fn count(store: &Store, keys: StreamKeys<'_>, known: Mark) -> Result<(Mark, Counted), ScriptError> {
    let reply = run(store, &COUNT, call(&COUNT, keys, known), known).await?;
    let counted = match reply.code() {
        "ok" => Counted::To(reply.read::<CountedTo>()?.count),
        code => Counted::Refused(code.to_owned()),
    };
    Ok((reply.mark(), counted))
}

pub async fn snapshot(store: &Store, keys: StreamKeys<'_>, known: Mark) -> Result<Snapshot, ScriptError> {
    let reply = run(store, &VIEW, call(&VIEW, keys, known), known).await?;
    if reply.code() != "ok" {
        return Err(reply.unexpected());
    }
    let viewed = reply.read::<Viewed>()?.values;
    Ok(Snapshot {
        mark: reply.mark(),
        now_ms: viewed.now_ms,
        definition: serde_json::from_str(&viewed.definition).map_err(|_| reply.unexpected())?,
        held: Held::parse(&viewed.held).ok_or_else(|| reply.unexpected())?,
    })
}

/// Writes the state and lets the other scripts run again. `state`: name and value of each field.
pub async fn restore_end(
    store: &Store,
    keys: StreamKeys<'_>,
    token: &str,
    state: &[(&str, String)],
    by: &Operator,
    reason: &str,
) -> Result<RestoreEnded, ScriptError> {
    let call = Call::new(&RESTORE_END).key(keys.state).key(keys.events);
    restore::restore_end(store, &RESTORE_END, call, restore::wish(token, by, reason), state).await
}

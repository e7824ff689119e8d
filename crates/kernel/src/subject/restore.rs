//! The common part of restores from the ledger: `lua/subject/restore_begin.lua` and `restore_records.lua`. Each kind of
//! subject has an end of its own.

use std::sync::LazyLock;

use jackpot_core::mark::Mark;

use crate::reply;
use crate::store::{Call, Script, Store};

use super::emergency::Decision;
use super::{LUA, Named, ScriptError, run};
use crate::operator::Operator;

static BEGIN: LazyLock<Script> = LazyLock::new(|| LUA.script("restore_begin", "allow-oom", "subject/restore_begin"));
static RECORDS: LazyLock<Script> = LazyLock::new(|| LUA.script("restore_records", "", "subject/restore_records"));

/// Most pairs of one call. It bounds the work to a millisecond, and stays within the stack of `unpack`.
pub const MAX_PAIRS: usize = 1_000;

/// The result of a begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestoreBegun {
    /// The restore runs under this token.
    Begun {
        /// Redis' clock, ms.
        at_ms: i64,
    },
    /// Redis has another mark than the caller saw: nothing was done.
    Changed(Mark),
}

/// The result of an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestoreEnded {
    /// The subject is as in the ledger, at this mark.
    Done(Mark),
    /// Another restore has taken over.
    Other,
    /// Redis has lost records since they were written: begin again.
    Incomplete,
    /// The second that numbers the new epoch has not passed: repeat after this many ms.
    Early(u64),
}

reply! {
    /// `ok`: the restore has begun.
    pub(super) struct Begun {
        /// Redis' clock.
        at_ms: i64,
    }
}

/// Deletes a subject's keys in Redis and makes it `restoring`. `keys`: its state, then every other key. `expected`: its
/// mark, `None` if it has none. `token`: one for this restore and all its repeats. `emergency`: the last
/// decision about the emergency stop, which the restored subject obeys.
pub async fn restore_begin(
    store: &Store,
    keys: impl IntoIterator<Item = &str>,
    token: &str,
    expected: Option<Mark>,
    emergency: Option<&Decision>,
) -> Result<RestoreBegun, ScriptError> {
    let call = keys.into_iter().fold(Call::new(&BEGIN), Call::key);
    let expected = expected.map(|mark| mark.packed().to_string()).unwrap_or_default();
    let field = emergency.map(Decision::field).unwrap_or_default();
    let reply = run(store, &BEGIN, call.arg(token).arg(expected).arg(field), Mark::ZERO).await?;
    match reply.code() {
        "ok" => Ok(RestoreBegun::Begun {
            at_ms: reply.read::<Begun>()?.at_ms,
        }),
        "changed" => Ok(RestoreBegun::Changed(reply.mark())),
        _ => Err(reply.unexpected()),
    }
}

/// Writes records into the hash `key` (name, value), or into the sorted set `key`, where values are scores (`sorted`).
/// `false` when another restore has taken over.
///
/// # Panics
/// When there is no pair, or more than `MAX_PAIRS`.
pub async fn restore_records(
    store: &Store,
    state: &str,
    key: &str,
    token: &str,
    sorted: bool,
    pairs: &[(String, String)],
) -> Result<bool, ScriptError> {
    assert!((1..=MAX_PAIRS).contains(&pairs.len()), "1 to {MAX_PAIRS} pairs a call");
    let call = Call::new(&RECORDS)
        .key(state)
        .key(key)
        .arg(token)
        .arg(if sorted { "scores" } else { "hash" });
    let call = pairs.iter().fold(call, |call, (name, value)| {
        if sorted {
            call.arg(value).arg(name)
        } else {
            call.arg(name).arg(value)
        }
    });
    let reply = run(store, &RECORDS, call, Mark::ZERO).await?;
    match reply.code() {
        "ok" => Ok(true),
        "other" => Ok(false),
        _ => Err(reply.unexpected()),
    }
}

reply! {
    /// `early`: the number of the new epoch is a second that has not passed. Nothing was written.
    pub struct Early {
        /// When it has passed.
        pub wait_ms: u64,
    }
}

/// The named values that every script which ends a restore takes.
pub fn wish(token: &str, by: &Operator, reason: &str) -> Named {
    Named::new().with("token", token).why(by, reason)
}

/// Calls the script that ends a restore. `call`: with its keys. `state`: of the ledger, by the names of its fields.
pub async fn restore_end(
    store: &Store,
    script: &'static Script,
    call: Call<'_>,
    wish: Named,
    state: &[(&str, String)],
) -> Result<RestoreEnded, ScriptError> {
    let state = state
        .iter()
        .fold(Named::new(), |state, (name, value)| state.with(name, value));
    let reply = run(store, script, call.arg(wish).arg(state), Mark::ZERO).await?;
    match reply.code() {
        "ok" | "same" => Ok(RestoreEnded::Done(reply.mark())),
        "other" => Ok(RestoreEnded::Other),
        "incomplete" => Ok(RestoreEnded::Incomplete),
        "early" => Ok(RestoreEnded::Early(reply.read::<Early>()?.values.wait_ms)),
        _ => Err(reply.unexpected()),
    }
}

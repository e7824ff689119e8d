//! The scripts of operators' requests that every capability has: put a definition, set a status, append a checkpoint.
//! A capability names the keys and its own arguments; the rest is here. Their parts in Lua: `lua/subject/puts.lua`,
//! `status.lua`, `checkpoint.lua` and `restored.lua`.

use jackpot_core::mark::Mark;

use super::{Marked, Named, Reply, ScriptError, Wanted, new_history, run};
use crate::operator::Operator;
use crate::random::{self, RandomError};
use crate::reply;
use crate::store::{Call, Script, Store};

/// A PUT of a definition.
#[derive(Debug)]
pub struct Define<'a, D> {
    /// The new definition.
    pub definition: &'a D,
    /// The precondition.
    pub wanted: Wanted,
    /// The last version that this instance has read; `None`: no such subject.
    pub last_version: Option<u64>,
    /// One for this PUT and all its repeats, here and in the store after a lost reply.
    pub nonce: &'a str,
    /// History of a subject that this call creates.
    pub history: &'a str,
    pub by: &'a Operator,
}

/// What is made once for a PUT and all its repeats.
#[derive(Debug)]
pub struct Stamp {
    /// 32 hexadecimal digits.
    pub nonce: String,
    history: String,
}

impl Stamp {
    /// # Errors
    /// The system has no randomness.
    pub fn new() -> Result<Self, RandomError> {
        Ok(Self {
            nonce: hex::encode(random::bytes::<16>()?),
            history: new_history()?,
        })
    }

    /// A PUT with this stamp.
    pub fn put<'a, D>(&'a self, definition: &'a D, wanted: Wanted, by: &'a Operator) -> Define<'a, D> {
        Define {
            definition,
            wanted,
            last_version: None,
            nonce: &self.nonce,
            history: &self.history,
            by,
        }
    }
}

impl<D> Define<'_, D> {
    /// The values that `lua/subject/puts.lua` reads. `json`: the definition.
    pub fn named(&self, json: &str) -> Named {
        Named::new()
            .with("json", json)
            .with("wanted", self.wanted.to_text())
            .with("read", text(self.last_version))
            .with("nonce", self.nonce)
            .with("history", self.history)
            .by(self.by)
    }
}

/// The result of a PUT. `R`: why the capability refuses it.
#[derive(Debug, PartialEq, Eq)]
pub enum Defined<R> {
    /// The subject is new.
    Created(u64),
    /// The subject existed: the definition is in force, waits, or was there before. With the last version.
    Changed(u64),
    /// The precondition does not hold.
    Mismatch,
    Refused(R),
}

reply! {
    /// The effect of a PUT: the subject was created, the definition is in force, waits, or was there before.
    pub(super) struct Version {
        /// The last version.
        version: u64,
    }
}

/// Calls a script that puts a definition. Returns the subject's mark with the result. `refused` reads the replies that
/// only this capability has.
///
/// # Errors
/// [`ScriptError::Stale`] when Redis has another version than the one read.
pub async fn define<R>(
    store: &Store,
    script: &'static Script,
    call: Call<'_>,
    known: Mark,
    refused: impl FnOnce(&Reply) -> Result<R, ScriptError>,
) -> Result<(Mark, Defined<R>), ScriptError> {
    let reply = run(store, script, call, known).await?.fenced()?;
    let defined = match reply.code() {
        "created" => Defined::Created(reply.read::<Version>()?.version),
        "changed" | "waits" | "same" => Defined::Changed(reply.read::<Version>()?.version),
        "mismatch" => Defined::Mismatch,
        _ => Defined::Refused(refused(&reply)?),
    };
    Ok((reply.mark(), defined))
}

/// A wanted status.
#[derive(Debug, Clone)]
pub struct SetStatus<S> {
    pub wanted: S,
    pub reason: String,
    pub by: Operator,
    /// Redis was compared with the ledger, and they agree. An operator may open a suspended jackpot only then.
    pub reconciled: bool,
    /// A pause leaves a waiting definition waiting.
    pub keep_waiting: bool,
}

impl<S> SetStatus<S> {
    pub fn new(wanted: S, reason: String, by: &Operator) -> Self {
        Self {
            wanted,
            reason,
            by: by.clone(),
            reconciled: false,
            keep_waiting: false,
        }
    }

    /// The values that `status.lua` of a capability reads. `wanted`: the name of the status.
    pub fn named(&self, wanted: &str) -> Named {
        Named::new()
            .with("wanted", wanted)
            .why(&self.by, &self.reason)
            .with_flag("reconciled", self.reconciled)
            .with_flag("keep_waiting", self.keep_waiting)
    }
}

/// The result, with the subject's mark.
#[derive(Debug, PartialEq, Eq)]
pub enum StatusSet<S> {
    /// Done, or it had that status before.
    Done(Mark),
    /// Its status stays: it is final, or only a clean comparison with the ledger can end it.
    Stays(Mark, S),
}

impl<S> Marked for StatusSet<S> {
    fn mark(&self) -> Mark {
        let (Self::Done(mark) | Self::Stays(mark, _)) = self;
        *mark
    }
}

/// Calls a script that sets a status. `parse` reads the name of a status.
pub async fn set_status<S>(
    store: &Store,
    script: &'static Script,
    call: Call<'_>,
    known: Mark,
    parse: impl FnOnce(&str) -> Option<S>,
) -> Result<StatusSet<S>, ScriptError> {
    let reply = run(store, script, call, known).await?.fenced()?;
    match reply.code() {
        "ok" | "same" => Ok(StatusSet::Done(reply.mark())),
        status => {
            let status = parse(status).ok_or_else(|| reply.unexpected())?;
            Ok(StatusSet::Stays(reply.mark(), status))
        }
    }
}

/// Calls a script that appends an event with what Redis holds. Returns the subject's mark.
pub async fn checkpoint(
    store: &Store,
    script: &'static Script,
    call: Call<'_>,
    known: Mark,
) -> Result<Mark, ScriptError> {
    let reply = run(store, script, call, known).await?.fenced()?;
    match reply.code() {
        "ok" => Ok(reply.mark()),
        _ => Err(reply.unexpected()),
    }
}

/// An optional argument.
pub fn text(argument: Option<impl ToString>) -> String {
    argument.map(|argument| argument.to_string()).unwrap_or_default()
}

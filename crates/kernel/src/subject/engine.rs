//! The requests of operators to every capability: read a subject, set its status, append a checkpoint, put its
//! definition. The engine asks again when a script finds what was read stale, and remembers marks and losses. A
//! capability gives its scripts ([`Operated`]), and how it puts definitions ([`Defines`]).

use std::future::{Future, ready};
use std::sync::Arc;

use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;
use redis::Cmd;

use super::operate::{Define, Defined, SetStatus, StatusSet};
use super::{Marked, MaybeScript, Registry, ScriptError, Subject, Wanted};
use crate::store::{Script, Store};

/// Largest number of repeats of a call whose definition or epoch changed meanwhile.
pub const MAX_STALE: usize = 16;

/// A subject with the scripts that every capability has.
pub trait Operated: Subject {
    type Status: Copy;
    /// A whole subject at one instant.
    type Snapshot: Marked;
    /// What this instance has read and a script compares, beside the mark; `()` where scripts compare nothing.
    type Seen;

    const OPEN: Self::Status;
    const SUSPENDED: Self::Status;

    /// Reads the subject.
    fn snapshot(&self, store: &Store) -> impl Future<Output = Result<Self::Snapshot, ScriptError>>;
    /// Sets a status.
    fn set_status(
        &self,
        store: &Store,
        seen: &Self::Seen,
        wish: &SetStatus<Self::Status>,
    ) -> impl Future<Output = Result<StatusSet<Self::Status>, ScriptError>>;
    /// Appends an event with what Redis holds, for the ledger to compare.
    fn checkpoint(&self, store: &Store, seen: &Self::Seen) -> impl Future<Output = Result<Mark, ScriptError>>;
    /// The script by which it obeys the emergency stop (`lua/subject/emergency.lua`).
    fn obey_script() -> &'static Script;
    /// Commands that read all of Redis that a comparison with the ledger looks at, `n` and `restores` included. While their
    /// answers stay the same, so does the comparison. None where only a snapshot shows it.
    fn compared(&self) -> Vec<Cmd> {
        Vec::new()
    }
}

impl<K: Operated> Registry<K> {
    /// Reads a whole subject.
    pub async fn snapshot(&self, id: &Id) -> Result<K::Snapshot, ScriptError> {
        let known = self.whole(id)?;
        let snapshot = known.snapshot(self.store()).await;
        self.observe_reply(&known, snapshot)
    }
}

/// The subjects of a capability. A [`Registry`] is one where scripts compare nothing that was read.
pub trait Engine {
    type Known: Operated;
    type Error: From<ScriptError>;
    /// What a script compares changed more often than the engine repeats a call.
    const UNSETTLED: Self::Error;

    fn registry(&self) -> &Registry<Self::Known>;
    /// What is known of a subject, and what this instance has read of it: the last reading, or a new one (`again`).
    #[expect(clippy::type_complexity, reason = "a pair of associated types")]
    fn seen(
        &self,
        id: &Id,
        again: bool,
    ) -> impl Future<Output = Result<(Arc<Self::Known>, <Self::Known as Operated>::Seen), Self::Error>>;
}

impl<K: Operated<Seen = ()>> Engine for Registry<K> {
    type Known = K;
    type Error = ScriptError;
    const UNSETTLED: ScriptError = ScriptError::Stale;

    fn registry(&self) -> &Registry<K> {
        self
    }

    async fn seen(&self, id: &Id, _: bool) -> Result<(Arc<K>, ()), ScriptError> {
        Ok((self.whole(id)?, ()))
    }
}

/// The tries of one call, until a script finds that what was read is not stale.
pub struct Tries<'e, E: Engine> {
    engine: &'e E,
    id: &'e Id,
    left: usize,
    /// Whether this call has read it itself.
    fresh: bool,
    pub known: Arc<E::Known>,
    /// What the next try goes by.
    pub seen: <E::Known as Operated>::Seen,
}

impl<'e, E: Engine> Tries<'e, E> {
    pub async fn begin(engine: &'e E, id: &'e Id) -> Result<Self, E::Error> {
        let (known, seen) = engine.seen(id, false).await?;
        let left = MAX_STALE;
        Ok(Self {
            engine,
            id,
            left,
            fresh: false,
            known,
            seen,
        })
    }

    /// Reads what the next try goes by, once: a refusal by what another instance has changed meanwhile is none. Returns
    /// whether it did.
    pub async fn again(&mut self) -> Result<bool, E::Error> {
        if self.fresh {
            return Ok(false);
        }
        self.fresh = true;
        (self.known, self.seen) = self.engine.seen(self.id, true).await?;
        Ok(true)
    }

    /// Remembers what a reply says. `None`: it was stale; try again with what is read now.
    pub async fn reply<T: Marked>(&mut self, reply: Result<T, ScriptError>) -> Result<Option<T>, E::Error> {
        match self.engine.registry().observe_reply(&self.known, reply) {
            Err(ScriptError::Stale) => {
                self.left -= 1;
                if self.left == 0 {
                    return Err(E::UNSETTLED);
                }
                (self.known, self.seen) = self.engine.seen(self.id, true).await?;
                Ok(None)
            }
            other => Ok(Some(other?)),
        }
    }
}

/// Sets a status. A repeat changes nothing.
pub async fn set_status<E: Engine>(
    engine: &E,
    id: &Id,
    wish: &SetStatus<<E::Known as Operated>::Status>,
) -> Result<StatusSet<<E::Known as Operated>::Status>, E::Error> {
    let (store, mut tries) = (engine.registry().store(), Tries::begin(engine, id).await?);
    loop {
        let reply = tries.known.set_status(store, &tries.seen, wish).await;
        if let Some(set) = tries.reply(reply).await? {
            return Ok(set);
        }
    }
}

/// Appends an event with what Redis holds, for the ledger to compare.
pub async fn checkpoint<E: Engine>(engine: &E, id: &Id) -> Result<Mark, E::Error> {
    let (store, mut tries) = (engine.registry().store(), Tries::begin(engine, id).await?);
    loop {
        let reply = tries.known.checkpoint(store, &tries.seen).await;
        if let Some(mark) = tries.reply(reply).await? {
            return Ok(mark);
        }
    }
}

/// A PUT that was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Put {
    /// Whether the subject is new.
    pub created: bool,
    /// The last version of its definition, right after this PUT.
    pub version: u64,
}

/// How a capability puts definitions.
pub trait Defines {
    type Known: Operated;
    type Definition;
    /// What one PUT makes beside its [`Stamp`](super::Stamp), for itself and all its repeats.
    type Made;
    /// What is read of a subject before each try.
    type Read;
    /// Why the capability refuses a PUT.
    type Refused;
    type Error: From<ScriptError> + MaybeScript;
    /// The precondition does not hold.
    const MISMATCH: Self::Error;
    /// The definition changed more often than the engine repeats a call.
    const UNSETTLED: Self::Error;

    fn registry(&self) -> &Registry<Self::Known>;
    /// Reads a subject before a PUT: its last version, and what its script compares beside it.
    fn read(&self, id: &Id) -> impl Future<Output = Result<(u64, Self::Read), Self::Error>>;
    /// Calls the script. `read` is `None` for a subject that does not exist.
    fn define(
        &self,
        known: &Self::Known,
        read: Option<&Self::Read>,
        put: &Define<'_, Self::Definition>,
        made: &Self::Made,
    ) -> impl Future<Output = Result<(Mark, Defined<Self::Refused>), ScriptError>>;
    fn refused(&self, id: &Id, why: Self::Refused) -> Self::Error;
    /// The script answered, whatever it said.
    fn answered(&self, _: &Id) -> impl Future<Output = ()> {
        ready(())
    }
    /// The script failed.
    fn failed(&self, _: &Id, error: ScriptError) -> impl Future<Output = Self::Error> {
        ready(error.into())
    }
    /// Logs a PUT that was done.
    fn log(&self, id: &Id, put: &Define<'_, Self::Definition>, done: Put);
}

/// Creates a subject or changes its definition. A repeat changes nothing.
pub async fn define<C: Defines>(
    capability: &C,
    id: &Id,
    mut put: Define<'_, C::Definition>,
    made: &C::Made,
) -> Result<Put, C::Error> {
    let registry = capability.registry();
    if matches!(put.wanted, Wanted::Any | Wanted::Absent) {
        // The index first: a crash in between leaves a name without a subject, and listing skips it.
        registry.add_to_index(std::slice::from_ref(id)).await?;
    }
    for _ in 0..MAX_STALE {
        let read = match capability.read(id).await {
            Ok((last_version, read)) => {
                put.last_version = Some(last_version);
                Some(read)
            }
            Err(error) if error.is_unknown() => {
                put.last_version = None;
                if matches!(put.wanted, Wanted::Any | Wanted::Absent) {
                    registry.begins(id).await?;
                }
                None
            }
            Err(error) => return Err(error),
        };
        let known = registry.known(id);
        let defined = capability.define(&known, read.as_ref(), &put, made).await;
        let defined = match registry.observe_reply(&known, defined) {
            Err(ScriptError::Stale) => continue,
            Err(error) => return Err(capability.failed(id, error).await),
            Ok((_, defined)) => defined,
        };
        capability.answered(id).await;
        let (created, version) = match defined {
            Defined::Created(version) => (true, version),
            Defined::Changed(version) => (false, version),
            Defined::Mismatch => return Err(C::MISMATCH),
            Defined::Refused(why) => return Err(capability.refused(id, why)),
        };
        let done = Put { created, version };
        capability.log(id, &put, done);
        return Ok(done);
    }
    Err(C::UNSETTLED)
}

//! Redis: the connection in four modes, keys, script calls, health.
//!
//! - [`keys`]: every key there is.
//! - [`Script`], [`Call`]: what is sent. [`StoreError`]: what can go wrong.
//! - `address`: settings to clients. `connection`: the link to one server. `lane`: its connections, shared or a thread's
//!   own. `cluster`, `sentinel`, `topology`: which server.
//! - `dispatch`: one call to its end, repeats and redirections included. `together`: reads of many subjects.
//! - `checks`: what a server must be like. `health`: how it is now. `about`: what it says of itself, for people.
//! - `embedded`: the private server: start, adopt, supervise, stop.

mod about;
mod address;
mod checks;
mod cluster;
mod connection;
mod data_dir;
mod dispatch;
mod embedded;
mod error;
mod health;
pub mod keys;
mod lane;
mod open;
pub mod rights;
mod script;
mod sentinel;
mod together;
mod topology;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use tokio::task::AbortHandle;

pub use about::Node;
pub use checks::CheckError;
pub use data_dir::{DataDirError, DataDirLock};
pub use embedded::{EmbeddedError, program as embedded_program};
pub use error::{Outcome, StoreError};
pub use health::Health;
pub use open::OpenError;
pub use script::{Call, Folder, Made, Script};

use dispatch::{Dispatcher, Request};
use embedded::Embedded;
use lane::Via;

/// Called once for each call, with the script's name (or "command"), how it ended, and how long it took with all its
/// retries.
pub type Observer = Arc<dyn Fn(&'static str, Outcome, Duration) + Send + Sync>;

/// The connection to Redis; clones share it.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    dispatcher: Arc<Dispatcher>,
    health: Arc<ArcSwap<Health>>,
    watcher: AbortHandle,
    observer: OnceLock<Observer>,
    /// Whether [`Inner::shut`] has a reason to send nothing.
    is_shut: AtomicBool,
    shut: Mutex<Option<Arc<str>>>,
    embedded: Mutex<Option<Embedded>>,
    lock: Mutex<Option<DataDirLock>>,
}

impl Store {
    /// Runs one script. If the server forgot it, sends its source. Retries on connection loss, time-outs and temporary
    /// states until the total limit, so the script must be idempotent by its arguments.
    ///
    /// With `durability = replicated` an answer means that one replica has the effect too.
    pub fn call(&self, call: &Call<'_>) -> impl Future<Output = Result<redis::Value, StoreError>> {
        self.observed(
            call.script().name(),
            Request::Script(call),
            Via::Shared,
            WhenShut::Refuse,
        )
    }

    /// The same, even when the store is [shut](Self::shut).
    pub fn call_always(&self, call: &Call<'_>) -> impl Future<Output = Result<redis::Value, StoreError>> {
        self.observed(call.script().name(), Request::Script(call), Via::Shared, WhenShut::Send)
    }

    /// The same over the calling thread's own connection, so that no other thread wakes: for frequent calls of each
    /// thread.
    pub fn call_here(&self, call: &Call<'_>) -> impl Future<Output = Result<redis::Value, StoreError>> {
        self.observed(call.script().name(), Request::Script(call), Via::Own, WhenShut::Refuse)
    }

    /// The same over one of the calling thread's own connections for long commands, so that short commands do not wait
    /// for it.
    pub fn call_long(&self, call: &Call<'_>) -> impl Future<Output = Result<redis::Value, StoreError>> {
        self.observed(
            call.script().name(),
            Request::Script(call),
            Via::next_long(),
            WhenShut::Refuse,
        )
    }

    /// Runs one idempotent command, under the same limits and retries. In a cluster it goes to the node of its first
    /// argument with a hash tag. Not for blocking reads: they would delay everyone's calls.
    pub fn run(&self, command: &redis::Cmd) -> impl Future<Output = Result<redis::Value, StoreError>> {
        self.observed("command", Request::Plain(command), Via::Shared, WhenShut::Refuse)
    }

    /// The same, even when the store is [shut](Self::shut).
    pub fn run_always(&self, command: &redis::Cmd) -> impl Future<Output = Result<redis::Value, StoreError>> {
        self.observed("command", Request::Plain(command), Via::Shared, WhenShut::Send)
    }

    /// How many keys all nodes have together, from any writer.
    ///
    /// # Errors
    /// When a node does not answer.
    pub async fn count_keys(&self) -> Result<u64, StoreError> {
        let mut count = 0;
        for node in self.inner.dispatcher.topology.primaries() {
            let answer = node.send(&redis::cmd("DBSIZE")).await;
            let size = answer
                .map_err(|failure| failure.to_string())
                .and_then(|answer| redis::from_redis_value::<u64>(answer).map_err(|error| error.to_string()));
            count += size.map_err(|cause| StoreError::Unavailable {
                what: "DBSIZE".to_owned(),
                cause,
            })?;
        }
        Ok(count)
    }

    /// Shuts the store: from here on only `…_always` sends, and each other call gets [`StoreError::Unavailable`].
    /// `None` opens it again. Returns whether this is new.
    pub fn shut(&self, cause: Option<&str>) -> bool {
        let mut shut = self.inner.shut.lock().unwrap_or_else(PoisonError::into_inner);
        if shut.as_deref() == cause {
            return false;
        }
        *shut = cause.map(Into::into);
        self.inner.is_shut.store(shut.is_some(), Ordering::Release);
        true
    }

    /// Why the store is shut.
    pub fn shut_cause(&self) -> Option<Arc<str>> {
        let shut = || self.inner.shut.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.inner.is_shut.load(Ordering::Acquire).then(shut).flatten()
    }

    fn is_open(&self) -> Result<(), StoreError> {
        self.shut_cause().map_or(Ok(()), |cause| {
            Err(StoreError::Unavailable {
                what: "this instance".to_owned(),
                cause: cause.as_ref().to_owned(),
            })
        })
    }

    /// The state of Redis, as of half a second ago; costs nothing.
    pub fn health(&self) -> Health {
        let health = Health::clone(&self.inner.health.load());
        match self.shut_cause() {
            Some(cause) => Health {
                refuse_entries: true,
                cause: Some(cause),
                ..health
            },
            None => health,
        }
    }

    /// The name of the node that has a key, as last known; `None` while no node has it.
    pub fn node_of(&self, key: &str) -> Option<Arc<str>> {
        let (link, _) = self.inner.dispatcher.topology.pick(Some(key.as_bytes()));
        link.map(|link| Arc::clone(link.node()))
    }

    /// The longest time of a call, with all its retries.
    pub fn total_limit(&self) -> Duration {
        self.inner.dispatcher.limits.total
    }

    /// Sets the observer of calls. Only the first one set counts.
    pub fn observe(&self, observer: Observer) {
        if self.inner.observer.set(observer).is_err() {
            tracing::debug!("the store has an observer already");
        }
    }

    /// Stops the health watcher and the embedded server, if this instance runs one, and unlocks the data directory.
    /// Later calls fail.
    pub async fn close(&self) {
        self.inner.watcher.abort();
        let embedded = self
            .inner
            .embedded
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(embedded) = embedded {
            embedded.stop().await;
        }
        // Last, because from here on another instance may start a server on the same files.
        self.inner.lock.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    async fn observed(
        &self,
        name: &'static str,
        request: Request<'_>,
        via: Via,
        when_shut: WhenShut,
    ) -> Result<redis::Value, StoreError> {
        if when_shut == WhenShut::Refuse {
            self.is_open()?;
        }
        let began_at = Instant::now();
        let result = self.inner.dispatcher.perform(request, via).await;
        if let Some(observer) = self.inner.observer.get() {
            observer(name, Outcome::from(&result), began_at.elapsed());
        }
        result
    }
}

/// What happens to a request while the store is [shut](Store::shut).
#[derive(Clone, Copy, PartialEq, Eq)]
enum WhenShut {
    Refuse,
    Send,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store")
            .field("health", &self.health())
            .finish_non_exhaustive()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.watcher.abort();
    }
}

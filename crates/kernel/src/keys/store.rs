//! The keys of a running service: read from the file, and again when it changes.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use jiff::Timestamp;
use subtle::ConstantTimeEq;

use super::file::{KeyFile, KeysError};
use super::model::{Key, sha256};
use crate::durable_file::Stamp;
use crate::rate::{Bucket, Left, Moment, Rate};
use crate::stopping::Stopping;

/// How often to look at the file and the clock. A change counts after this and the time to read it.
const POLL: Duration = Duration::from_millis(500);

/// The rate of one key.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Requests per second; 0: no limit.
    pub per_second: u32,
    /// Requests above the rate that may come at once; 0: as many as the rate.
    pub burst: u32,
}

impl Limits {
    fn limiter(self) -> Option<Arc<Limiter>> {
        let rate = Rate::new(self.per_second, self.burst)?;
        Some(Arc::new((rate, Bucket::default())))
    }
}

type Limiter = (Rate, Bucket);

/// A key of the service. Its limiter lives as long as the key, so there are never more limiters than keys.
pub struct KnownKey {
    /// As in the file.
    pub key: Key,
    limiter: Option<Arc<Limiter>>,
    ended: Stopping,
}

impl fmt::Debug for KnownKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KnownKey")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

impl KnownKey {
    /// A key without a store.
    #[cfg(test)]
    pub fn of(key: Key) -> KnownKey {
        KnownKey {
            key,
            limiter: None,
            ended: Stopping::default(),
        }
    }

    /// Returns when the key is revoked, changed in the file, or expired: within 2 s.
    pub async fn ended(&self) {
        self.ended.wait().await;
    }

    /// Counts a request. Returns the limit and its rest, if there is one.
    ///
    /// # Errors
    /// The limit, and the time until this key may ask again.
    pub fn admit(&self, now: Moment) -> Result<Option<(Rate, Left)>, (Rate, Duration)> {
        match self.limiter.as_deref() {
            None => Ok(None),
            Some((rate, bucket)) => match bucket.take(*rate, now) {
                Ok(left) => Ok(Some((*rate, left))),
                Err(wait) => Err((*rate, wait)),
            },
        }
    }
}

/// The keys of a running service.
pub struct KeyStore {
    file: KeyFile,
    limits: Limits,
    known: ArcSwap<Vec<Arc<KnownKey>>>,
}

impl KeyStore {
    /// Reads the file, and makes it first if there is none.
    ///
    /// # Errors
    /// At start a broken file is an error: there are no earlier keys to keep.
    pub fn open(file: KeyFile, limits: Limits) -> Result<KeyStore, KeysError> {
        file.initialise()?;
        let store = KeyStore {
            file,
            limits,
            known: ArcSwap::default(),
        };
        store.reload()?;
        Ok(store)
    }

    /// Whether keys have a limit.
    pub fn is_limited(&self) -> bool {
        self.limits.per_second > 0
    }

    /// The key with this text. The time does not depend on which key it is, or whether it is one.
    pub fn find(&self, text: &str) -> Option<Arc<KnownKey>> {
        let digest = sha256(text);
        let known = self.known.load();
        let mut found = None;
        for candidate in known.iter() {
            if bool::from(candidate.key.sha256.ct_eq(&digest)) {
                found = Some(candidate);
            }
        }
        // The store may be late by one look at the clock; a request is not.
        found
            .filter(|known| known.key.expires_at.is_none_or(|at| Timestamp::now() < at))
            .cloned()
    }

    /// All keys of the file, in the order they were made, also those that are over.
    pub fn all(&self) -> Arc<Vec<Arc<KnownKey>>> {
        self.known.load_full()
    }

    /// The valid key whose digest begins with `name`.
    pub fn find_named(&self, name: &[u8]) -> Option<Arc<KnownKey>> {
        let known = self.known.load();
        let found = known.iter().find(|known| known.key.sha256.starts_with(name));
        found.filter(|known| !known.key.is_over(Timestamp::now())).cloned()
    }

    /// The valid key of this name.
    pub fn called(&self, name: &str) -> Option<Arc<KnownKey>> {
        let known = self.known.load();
        let mut of_name = known.iter().filter(|known| known.key.name.as_str() == name);
        of_name.find(|known| !known.key.is_over(Timestamp::now())).cloned()
    }

    /// Follows the file and the clock while it is polled.
    pub async fn follow(self: Arc<Self>) {
        // In parallel: an unreadable file keeps no expired key alive.
        tokio::join!(Arc::clone(&self).follow_file(), self.follow_clock());
    }

    /// Ends the keys whose time has passed, each once.
    async fn follow_clock(&self) {
        let mut ticks = tokio::time::interval(POLL);
        loop {
            ticks.tick().await;
            let now = Timestamp::now();
            for known in self.known.load().iter() {
                if known.key.is_over(now) && !known.ended.has_begun() {
                    tracing::info!(key = known.key.name.as_str(), role = %known.key.role, "API key expired");
                    known.ended.begin();
                }
            }
        }
    }

    /// A broken or missing file leaves the earlier keys in use.
    async fn follow_file(self: Arc<Self>) {
        let mut seen = Stamp::of(self.file.path()).await;
        let mut ticks = tokio::time::interval(POLL);
        // The file may have changed between `open` and the first stamp.
        let mut first = true;
        loop {
            ticks.tick().await;
            let now = Stamp::of(self.file.path()).await;
            if now == seen && !first {
                continue;
            }
            let store = Arc::clone(&self);
            match tokio::task::spawn_blocking(move || store.reload()).await {
                Ok(Ok(count)) => {
                    // Only now, because a file that could not be read must be read again. Otherwise a revoked key would
                    // stay valid.
                    (seen, first) = (now, false);
                    tracing::debug!(keys = count, "API keys read");
                }
                Ok(Err(error)) => {
                    tracing::error!(%error, "API keys not read; the earlier ones stay in force");
                }
                Err(error) => tracing::error!(%error, "reading the API keys panicked"),
            }
        }
    }

    fn reload(&self) -> Result<usize, KeysError> {
        let keys = self.file.read()?;
        let before = self.known.load();
        let limiter = |key: &Key| match before.iter().find(|known| known.key.sha256 == key.sha256) {
            Some(known) => known.limiter.clone(),
            None => self.limits.limiter(),
        };
        // An unchanged key stays the same object, so what is open under it stays open.
        let known = |key: Key| match before.iter().find(|known| known.key == key) {
            Some(known) => Arc::clone(known),
            None => Arc::new(KnownKey {
                limiter: limiter(&key),
                key,
                ended: Stopping::default(),
            }),
        };
        let known: Vec<_> = keys.into_iter().map(known).collect();
        let count = known.len();
        // The keys of the start were logged when they were made.
        if !before.is_empty() {
            tell_changes(&before, &known);
        }
        let gone: Vec<_> = before
            .iter()
            .filter(|old| known.iter().all(|new| !Arc::ptr_eq(old, new)))
            .cloned()
            .collect();
        self.known.store(Arc::new(known));
        // After the change, so that a client that is cut off and asks again is refused.
        for old in gone {
            old.ended.begin();
        }
        Ok(count)
    }
}

/// Names and roles of the keys that were made and revoked. A name that is used again belongs to another key.
fn tell_changes(before: &[Arc<KnownKey>], after: &[Arc<KnownKey>]) {
    let lacks = |all: &[Arc<KnownKey>], one: &Arc<KnownKey>| all.iter().all(|other| other.key.sha256 != one.key.sha256);
    for gone in before.iter().filter(|one| lacks(after, one)) {
        tracing::info!(key = gone.key.name.as_str(), role = %gone.key.role, "API key revoked");
    }
    for new in after.iter().filter(|one| lacks(before, one)) {
        tracing::info!(key = new.key.name.as_str(), role = %new.key.role, "API key made");
    }
}

//! What an instance remembers of all subjects of a kind that it has used, by id.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Debug;
use std::ops::{Bound, Deref};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;

use super::emergency::Decision;
use super::glance::{Glances, glance};
use super::listed::Listed;
use super::{Observed, ScriptError, TailWish, index, tail};
use crate::single_flight::{Read, SingleFlight};
use crate::store::Store;
use crate::store::keys::StreamKeys;

/// How long a reading of the index answers requests without a key. A subject that another instance has made is found
/// within this time.
const NAMES_FOR: Duration = Duration::from_secs(1);
/// Least time between two such readings, also after a failure.
const NAMES_PAUSE: Duration = Duration::from_millis(100);
/// Subjects of a kind in one reading of marks, each second: some 2 ms of Redis' time.
const GLANCES: usize = 1_000;
/// How long such a reading answers. Its users ask each second.
const GLANCES_FOR: Duration = Duration::from_millis(900);
/// Least time between two such readings.
const GLANCES_PAUSE: Duration = Duration::from_millis(100);

/// What is remembered of one subject.
pub trait Subject: Deref<Target = Observed> + Debug + Send + Sync + 'static {
    /// Key of the index.
    const INDEX: &'static str;

    fn new(id: &Id) -> Self;

    /// The keys of its state and its events.
    fn stream(&self) -> StreamKeys<'_>;

    /// Drops readings from before a restore, which may be of events that no longer exist. By default there are none.
    fn forget(&self) {}

    /// Remembers a mark from a reply or the ledger.
    fn observe(&self, mark: Mark) {
        if self.raise(mark) {
            self.forget();
        }
    }
}

/// A reply with a mark.
pub trait Marked {
    fn mark(&self) -> Mark;
}

impl Marked for Mark {
    fn mark(&self) -> Mark {
        *self
    }
}

impl<T> Marked for (Mark, T) {
    fn mark(&self) -> Mark {
        self.0
    }
}

/// All subjects of a kind that this instance has used.
#[derive(Debug)]
pub struct Registry<K> {
    store: Store,
    known: RwLock<HashMap<Id, Arc<K>>>,
    names: SingleFlight<Result<BTreeSet<Id>, ScriptError>>,
    listed: Listed,
    glances: SingleFlight<Glances>,
    /// The last decision about the emergency stop, for answers and for subjects that are created.
    pub(super) decision: RwLock<Option<Arc<Decision>>>,
    /// The last subject of the last turn; `None`: all had their turn.
    glanced_to: Mutex<Option<Id>>,
}

impl<K: Subject> Registry<K> {
    pub fn new(store: Store) -> Self {
        Self {
            store,
            known: RwLock::default(),
            names: SingleFlight::default(),
            listed: Listed::default(),
            glances: SingleFlight::default(),
            decision: RwLock::default(),
            glanced_to: Mutex::default(),
        }
    }

    /// The store that holds the subjects.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// What is remembered of one subject. Only [`observe`](Self::observe) keeps a new, empty one, so a name that a
    /// client sent takes no memory.
    pub fn known(&self, id: &Id) -> Arc<K> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.get(id).cloned().unwrap_or_else(|| Arc::new(K::new(id)))
    }

    /// Remembers the mark of a subject, from a reply or the ledger. A Redis without the subject, or with a smaller
    /// mark, has lost events.
    pub fn observe(&self, id: &Id, mark: Mark) -> Arc<K> {
        let known = self.keep(&self.known(id));
        known.observe(mark);
        known
    }

    /// The record that is kept from now on: this one, or an earlier one.
    fn keep(&self, known: &Arc<K>) -> Arc<K> {
        let of = |all: &HashMap<Id, Arc<K>>| all.get(known.id()).cloned();
        if let Some(kept) = of(&self.known.read().unwrap_or_else(PoisonError::into_inner)) {
            return kept;
        }
        let mut all = self.known.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(known.id().clone()).or_insert_with(|| Arc::clone(known)))
    }

    /// What is remembered of one subject, unless this instance found that Redis lost some of it.
    pub fn whole(&self, id: &Id) -> Result<Arc<K>, ScriptError> {
        let known = self.known(id);
        known.whole()?;
        Ok(known)
    }

    /// Remembers the mark of a script's reply, or that Redis lost events. A subject without events does not exist and
    /// is not remembered.
    pub fn observe_reply<T: Marked>(&self, known: &Arc<K>, reply: Result<T, ScriptError>) -> Result<T, ScriptError> {
        let reply = known.observe_loss(reply)?;
        if reply.mark() > Mark::ZERO {
            self.keep(known).observe(reply.mark());
        }
        Ok(reply)
    }

    /// Whether it exists, as far as this instance knows.
    pub fn is_used(&self, id: &Id) -> bool {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.contains_key(id)
    }

    /// Whether it may exist, for requests without a key: it is used here, or in the index. The index is read at most
    /// once a second, however many ids clients make up.
    pub async fn may_exist(&self, id: &Id) -> Result<bool, ScriptError> {
        if self.is_used(id) {
            return Ok(true);
        }
        let read = || index::whole(&self.store, K::INDEX);
        let names = self
            .names
            .get(
                NAMES_PAUSE,
                |names| names.value.is_ok() && names.begun.elapsed() < NAMES_FOR,
                read,
            )
            .await;
        match &names.value {
            Ok(names) => Ok(names.contains(id)),
            Err(error) => Err(error.clone()),
        }
    }

    /// Number of subjects used so far; it never falls.
    pub fn count_used(&self) -> usize {
        self.known.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    pub fn used(&self) -> Vec<Id> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.keys().cloned().collect()
    }

    /// What is remembered of all subjects.
    pub fn each(&self) -> Vec<Arc<K>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.values().cloned().collect()
    }

    /// Handles a lost subject that Redis holds whole again, with SQL's last event at `mark`. Returns whether this
    /// instance uses it now.
    pub fn is_whole(&self, id: &Id, lost_at: u64, mark: Mark) -> bool {
        let known = self.known(id);
        let whole = known.found_whole(lost_at, mark);
        if whole {
            // Readings in between were of the older state.
            known.forget();
            known.observe(mark);
        }
        whole
    }

    /// Ids after `after`, in order, at most `limit`. Some may have no subject.
    pub async fn ids(&self, after: Option<&Id>, limit: usize) -> Result<Vec<Id>, ScriptError> {
        index::ids(&self.store, K::INDEX, after, limit).await
    }

    /// Adds names to the index.
    pub async fn add_to_index(&self, ids: &[Id]) -> Result<(), ScriptError> {
        index::add(&self.store, K::INDEX, ids).await
    }

    /// The names of the index and the used ones, at most a second old. `repair`: adds names that the index has lost, and
    /// logs problems.
    pub async fn all(&self, repair: bool) -> Arc<BTreeSet<Id>> {
        let used = || (self.count_used(), || self.used());
        self.listed.all(&self.store, K::INDEX, used, repair).await
    }

    /// Marks of the subjects whose turn it is, read once a second for all that ask. With more than `GLANCES` subjects,
    /// each has its turn every few seconds.
    pub async fn glances(&self) -> Arc<Read<Glances>> {
        let is_new = |read: &Read<Glances>| read.begun.elapsed() < GLANCES_FOR;
        self.glances.get(GLANCES_PAUSE, is_new, || self.glance_in_turn()).await
    }

    async fn glance_in_turn(&self) -> Glances {
        let all = self.all(false).await;
        let turn: Vec<Arc<K>> = {
            let mut to = self.glanced_to.lock().unwrap_or_else(PoisonError::into_inner);
            let from = to.take().map_or(Bound::Unbounded, Bound::Excluded);
            let mut rest = all.range((from, Bound::Unbounded));
            let turn: Vec<&Id> = rest.by_ref().take(GLANCES).collect();
            *to = turn.last().map(|id| (*id).clone()).filter(|_| rest.next().is_some());
            turn.into_iter().map(|id| self.known(id)).collect()
        };
        glance(&self.store, &turn).await
    }

    /// The marks of these subjects, read now.
    pub async fn glance_at(&self, ids: impl IntoIterator<Item = &Id>) -> Glances {
        let subjects: Vec<_> = ids.into_iter().map(|id| self.known(id)).collect();
        glance(&self.store, &subjects).await
    }

    /// Checks whether a subject that was found behind has been restored since, and uses it again then. Returns
    /// whether it does.
    pub async fn recheck(&self, id: &Id) -> Result<bool, ScriptError> {
        let known = self.known(id);
        let Some(lost_at) = known.lost_at() else {
            return Ok(true);
        };
        // This reads only the mark: it is the smallest possible read.
        let wish = TailWish {
            after: None,
            max_events: 1,
            max_bytes: 1,
            trim_before: None,
        };
        match tail(&self.store, known.stream(), Mark::ZERO, &wish).await {
            Ok(tail) => {
                let before = known.mark().restores();
                let restored = known.restored(lost_at, tail.mark);
                if before < known.mark().restores() {
                    known.forget();
                }
                Ok(restored)
            }
            Err(ScriptError::Unknown) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

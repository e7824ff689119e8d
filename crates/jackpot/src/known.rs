//! What this instance remembers of one jackpot: its highest mark, and its last reading.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use jackpot_core::ids::Id;
use jackpot_core::jackpot::definition::Definition;
use jackpot_core::jackpot::draw::EpochSeed;
use jackpot_core::jackpot::record::{Record, State};
use jackpot_core::mark::Mark;
use redis::Cmd;

use jackpot_kernel::combiner::Queues;
use jackpot_kernel::store::keys::{JACKPOT_INDEX, JackpotKeys, StreamKeys};
use jackpot_kernel::store::{Script, Store};

use super::cycling::{FOLLOWING, MOST_FOLLOWING};
use super::entering::Entries;
use super::expected::Expectation;
use super::scripts::{self, Fence, ScriptError, SetStatus, Snapshot, StatusSet};
use super::view::View;
use jackpot_api::jackpot::Status;
use jackpot_kernel::subject::engine::Operated;
use jackpot_kernel::subject::kinds::JACKPOT;
use jackpot_kernel::subject::{self, Observed, Subject};

/// Definitions kept for each jackpot, for pending entries and repeats. An older one is read again when needed.
const MAX_DEFINITIONS: usize = 16;
/// Seeds of earlier epochs kept for each jackpot, for the same.
const MAX_SEEDS: usize = 16;

/// Everything cached of one jackpot. Grows by one for each existing jackpot that is used.
#[derive(Debug)]
pub struct Known {
    pub keys: JackpotKeys,
    /// Entries that wait for a call.
    pub(super) queues: Queues<Entries>,
    /// The state that the next call of entries expects.
    pub(super) expectation: Expectation,
    /// How many cycles after the open ones a call brings.
    following: AtomicUsize,
    /// How often this instance may have ended or begun cycles.
    cycle_changes: AtomicU64,
    /// Held while its view is read again, so that one call reads for all that found it stale.
    pub(super) renewing: tokio::sync::Mutex<()>,
    observed: Observed,
    /// Whether the warning about the retention, and the one about damage, was logged.
    warned: [AtomicBool; 2],
    view: RwLock<Option<Arc<View>>>,
    definitions: RwLock<BTreeMap<u64, Arc<Definition>>>,
    seeds: RwLock<BTreeMap<u64, EpochSeed>>,
}

impl std::ops::Deref for Known {
    type Target = Observed;

    fn deref(&self) -> &Observed {
        &self.observed
    }
}

impl Subject for Known {
    const INDEX: &'static str = JACKPOT_INDEX;

    fn new(id: &Id) -> Self {
        Self {
            keys: JackpotKeys::new(id),
            queues: Queues::default(),
            expectation: Expectation::default(),
            following: AtomicUsize::new(FOLLOWING),
            cycle_changes: AtomicU64::new(0),
            renewing: tokio::sync::Mutex::default(),
            observed: Observed::new(JACKPOT, id),
            warned: [AtomicBool::new(false), AtomicBool::new(false)],
            view: RwLock::default(),
            definitions: RwLock::default(),
            seeds: RwLock::default(),
        }
    }

    fn stream(&self) -> StreamKeys<'_> {
        self.keys.stream()
    }

    /// After a restore, a version or an epoch may mean something else.
    fn forget(&self) {
        *self.view.write().unwrap_or_else(PoisonError::into_inner) = None;
        self.expectation.forget();
        let mut definitions = self.definitions.write().unwrap_or_else(PoisonError::into_inner);
        definitions.clear();
        self.seeds.write().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl Operated for Known {
    type Status = Status;
    type Snapshot = Snapshot;
    type Seen = Arc<View>;

    const OPEN: Status = Status::Open;
    const SUSPENDED: Status = Status::Suspended;

    async fn snapshot(&self, store: &Store) -> Result<Snapshot, ScriptError> {
        scripts::snapshot(store, &self.keys, self.mark()).await
    }

    async fn set_status(&self, store: &Store, view: &Arc<View>, wish: &SetStatus) -> Result<StatusSet, ScriptError> {
        let (fence, tiers) = (self.fence(view), view.definition.tiers());
        scripts::set_status(store, &self.keys, &fence, tiers, wish).await
    }

    fn obey_script() -> &'static Script {
        &scripts::OBEY
    }

    async fn checkpoint(&self, store: &Store, view: &Arc<View>) -> Result<Mark, ScriptError> {
        let (fence, tiers) = (self.fence(view), view.definition.tiers());
        scripts::checkpoint(store, &self.keys, &fence, tiers).await
    }

    fn compared(&self) -> Vec<Cmd> {
        let Some(view) = self.view() else {
            return Vec::new();
        };
        let keys = &self.keys;
        let mut state = redis::cmd("HMGET");
        state
            .arg(&keys.state)
            .arg(&["n", "restores", "status", "terms", "meters"]);
        let mut pools = redis::cmd("MGET");
        for tier in view.definition.tiers() {
            pools.arg(keys.pool(&tier.tier));
        }
        let sizes = [&keys.seen_a, &keys.seen_b, &keys.definitions, &keys.adjustments];
        let sizes = sizes.map(|key| redis::cmd("HLEN").arg(key).to_owned());
        let pending = redis::cmd("ZCARD").arg(&keys.pending).to_owned();
        [state, pools, pending].into_iter().chain(sizes).collect()
    }
}

impl Known {
    /// The fence for a script call under this view.
    pub fn fence(&self, view: &View) -> Fence {
        Fence {
            known: self.mark(),
            epoch: view.epoch,
            commitment: view.commitment.clone(),
            definition: view.stamp.clone(),
            prepared: view.cycles.prepared(&view.id, self.following.load(Ordering::Relaxed)),
        }
    }

    /// A call brought too few cycles. Usually its view was old, and a new one is enough. If the call before `lacked` some
    /// too, the next ones bring more.
    pub(super) fn lacks_cycles(&self, lacked: &mut bool) {
        if !std::mem::replace(lacked, true) {
            return;
        }
        let more = |now: usize| Some((now * 4).min(MOST_FOLLOWING));
        let _ = self.following.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
    }

    /// Each call prepares its cycles, so usual calls bring few.
    pub(super) fn bring_usual_cycles(&self) {
        self.following.store(FOLLOWING, Ordering::Relaxed);
    }

    /// How often this instance may have ended or begun cycles: a reading of them from before the last time is old.
    pub(super) fn cycle_changes(&self) -> u64 {
        self.cycle_changes.load(Ordering::Acquire)
    }

    /// This instance did what may end or begin a cycle.
    fn cycles_may_have_changed(&self) {
        self.cycle_changes.fetch_add(1, Ordering::Release);
    }

    /// A call gave an entry this record: a prize of a pool may have ended a cycle.
    pub(super) fn saw_outcome(&self, record: &Record) {
        let is_paid = matches!(record.state, State::Paid { .. } | State::MustHit { .. });
        if is_paid && self.view().is_some_and(|view| !view.cycles.is_empty()) {
            self.cycles_may_have_changed();
        }
    }

    /// Whether this is the first call, so that the warning about the retention is logged once.
    pub(super) fn is_first_warning(&self) -> bool {
        !self.warned[0].swap(true, Ordering::Relaxed)
    }

    /// Whether this is the first call, so that the warning about damage is logged once.
    pub(super) fn is_first_damage(&self) -> bool {
        !self.warned[1].swap(true, Ordering::Relaxed)
    }

    /// The view as last read.
    pub(super) fn view(&self) -> Option<Arc<View>> {
        self.view.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps a view, unless there was a restore since it was read. [`saw`](Subject::saw) takes the same lock after it
    /// has raised the mark, and drops a view that was kept too early.
    pub(super) fn keep_view(&self, view: Arc<View>) {
        let mut kept = self.view.write().unwrap_or_else(PoisonError::into_inner);
        if view.restores == self.mark().restores() {
            if kept
                .as_ref()
                .is_some_and(|last| !last.cycles.has_same_open(&view.cycles))
            {
                self.cycles_may_have_changed();
            }
            *kept = Some(view);
        }
    }

    /// A definition that was read before.
    pub(super) fn definition(&self, version: u64) -> Option<Arc<Definition>> {
        let definitions = self.definitions.read().unwrap_or_else(PoisonError::into_inner);
        definitions.get(&version).cloned()
    }

    /// Keeps a definition that was read after `restores`, unless there was another one since.
    pub(super) fn keep_definition(&self, version: u64, definition: Arc<Definition>, restores: u64) {
        let mut definitions = self.definitions.write().unwrap_or_else(PoisonError::into_inner);
        if self.mark().restores() != restores {
            return;
        }
        definitions.insert(version, definition);
        while definitions.len() > MAX_DEFINITIONS {
            definitions.pop_first();
        }
    }

    /// The seed of an epoch that was read before.
    pub(super) fn seed(&self, epoch: u64) -> Option<EpochSeed> {
        let seeds = self.seeds.read().unwrap_or_else(PoisonError::into_inner);
        seeds.get(&epoch).cloned()
    }

    /// Keeps the seed of an epoch that was read after `restores`, unless there was another one since.
    pub(super) fn keep_seed(&self, epoch: u64, seed: EpochSeed, restores: u64) {
        let mut seeds = self.seeds.write().unwrap_or_else(PoisonError::into_inner);
        if self.mark().restores() != restores {
            return;
        }
        seeds.insert(epoch, seed);
        while seeds.len() > MAX_SEEDS {
            seeds.pop_first();
        }
    }
}

/// The jackpots that this instance has used.
pub type Registry = subject::Registry<Known>;

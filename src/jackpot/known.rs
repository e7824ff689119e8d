//! What this instance remembers of one jackpot: how far it had come, and what was last read of it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::ids::Id;
use crate::store::keys::JackpotKeys;

use super::definition::Definition;
use super::mark::Mark;
use super::scripts::{Fence, ScriptError};
use super::view::View;

/// Definitions kept per jackpot for pending entries and repeats; an older one is read again when needed.
const MAX_DEFINITIONS: usize = 16;
/// Of a number that is not known; beyond every event number and every count of restores.
const NONE: u64 = u64::MAX;

/// Everything cached of one jackpot. Grows by one for each jackpot that exists and is used.
#[derive(Debug)]
pub struct Known {
    id: Id,
    /// Its keys.
    pub keys: JackpotKeys,
    /// Held while its view is read again, so that one call reads for all that found it stale.
    pub(super) renewing: tokio::sync::Mutex<()>,
    mark: AtomicU64,
    /// Restores at which Redis was seen behind; [`NONE`] while it was not.
    lost_at: AtomicU64,
    ledger_n: AtomicU64,
    view: RwLock<Option<Arc<View>>>,
    definitions: RwLock<BTreeMap<u64, Arc<Definition>>>,
}

impl Known {
    /// Nothing yet.
    #[must_use]
    pub fn new(id: &Id) -> Self {
        Self {
            id: id.clone(),
            keys: JackpotKeys::new(id),
            renewing: tokio::sync::Mutex::default(),
            mark: AtomicU64::new(0),
            lost_at: AtomicU64::new(NONE),
            ledger_n: AtomicU64::new(NONE),
            view: RwLock::default(),
            definitions: RwLock::default(),
        }
    }

    /// Highest mark that this instance has seen.
    pub fn mark(&self) -> Mark {
        Mark::unpack(self.mark.load(Ordering::Relaxed)).expect("only `saw` writes it, from a mark")
    }

    /// Remembers a mark out of a reply, or out of the ledger.
    pub fn saw(&self, mark: Mark) {
        let before = self.mark.fetch_max(mark.packed(), Ordering::Relaxed);
        if Mark::unpack(before).is_some_and(|before| before.restores() < mark.restores()) {
            // What was read before a restore may be of events that are no more: a version may mean something else now.
            *self.view.write().unwrap_or_else(PoisonError::into_inner) = None;
            let mut definitions = self.definitions.write().unwrap_or_else(PoisonError::into_inner);
            definitions.clear();
        }
    }

    /// Remembers that Redis lost events: from then on this instance does not play this jackpot, also when others
    /// have gone on from the older state and passed the number that this instance knows; until it is restored.
    pub fn note<T>(&self, result: Result<T, ScriptError>) -> Result<T, ScriptError> {
        if let Err(error @ ScriptError::Behind { .. }) = &result {
            let at = self.mark().restores();
            let first = self
                .lost_at
                .compare_exchange(NONE, at, Ordering::Relaxed, Ordering::Relaxed);
            if first.is_ok() {
                // Also where no request's span names the jackpot.
                tracing::error!(jackpot_id = %self.id, %error, "this jackpot is suspended on this instance until its events are restored");
            }
        }
        result
    }

    /// Whether this instance saw Redis behind and no restore since.
    pub fn is_lost(&self) -> bool {
        self.lost_at().is_some()
    }

    /// How often the jackpot had been restored when Redis was seen behind.
    pub(super) fn lost_at(&self) -> Option<u64> {
        Some(self.lost_at.load(Ordering::Relaxed)).filter(|at| *at != NONE)
    }

    /// Plays again if Redis, now at `mark`, was restored after it was seen behind at `lost_at`; whether it was.
    pub(super) fn restored(&self, lost_at: u64, mark: Mark) -> bool {
        if mark.restores() <= lost_at || mark < self.mark() {
            return false;
        }
        self.saw(mark);
        self.lost_at
            .compare_exchange(lost_at, NONE, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    }

    /// An error once Redis was seen behind.
    pub(super) fn whole(&self) -> Result<(), ScriptError> {
        if self.is_lost() {
            let (at, known) = (Mark::ZERO, self.mark());
            Err(ScriptError::Behind { at, known })
        } else {
            Ok(())
        }
    }

    /// Number of the last event that the ledger has, as last heard; `None` before that.
    pub fn ledger_n(&self) -> Option<u64> {
        Some(self.ledger_n.load(Ordering::Relaxed)).filter(|n| *n != NONE)
    }

    /// Remembers the number of the last event that the ledger has; `None` when it is not known.
    pub fn set_ledger_n(&self, n: Option<u64>) {
        self.ledger_n.store(n.unwrap_or(NONE), Ordering::Relaxed);
    }

    /// Events that this instance has seen and the ledger does not have yet; 0 when nothing is known of the ledger.
    pub fn backlog(&self) -> u64 {
        self.ledger_n().map_or(0, |n| self.mark().n().saturating_sub(n))
    }

    /// The fence for a script call under this view.
    pub fn fence(&self, view: &View) -> Fence {
        Fence {
            known: self.mark(),
            epoch: view.epoch,
            commitment: view.commitment.clone(),
            definition: view.stamp.clone(),
        }
    }

    /// The view as last read.
    pub(super) fn view(&self) -> Option<Arc<View>> {
        self.view.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps a view, unless there was a restore since it was read. Under the lock, which [`saw`](Self::saw) takes
    /// behind its mark: what is kept here too early, it takes away.
    pub(super) fn keep_view(&self, view: Arc<View>) {
        let mut kept = self.view.write().unwrap_or_else(PoisonError::into_inner);
        if view.restores == self.mark().restores() {
            *kept = Some(view);
        }
    }

    /// A definition that was read before.
    pub(super) fn definition(&self, version: u64) -> Option<Arc<Definition>> {
        let definitions = self.definitions.read().unwrap_or_else(PoisonError::into_inner);
        definitions.get(&version).cloned()
    }

    /// Keeps a definition that was read after `restores`, unless there was one more since.
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
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(restores: u64, n: u64) -> Mark {
        Mark::new(restores, n).expect("within its bounds")
    }

    fn lost_at(seen: Mark) -> Known {
        let known = Known::new(&Id::parse("spring").expect("an id"));
        known.saw(seen);
        let (at, seen) = (mark(0, 1), known.mark());
        assert!(known.note::<()>(Err(ScriptError::Behind { at, known: seen })).is_err());
        known
    }

    #[test]
    fn only_a_restore_behind_the_loss_ends_it() {
        let known = lost_at(mark(1, 150));
        for still in [mark(1, 120), mark(1, 200), mark(0, 500)] {
            assert!(!known.restored(1, still) && known.is_lost());
        }
        known.saw(mark(2, 160)); // by what the ledger says
        assert!(
            !known.restored(1, mark(2, 159)),
            "a restore of less than the ledger has"
        );
        assert!(known.restored(1, mark(2, 160)) && !known.is_lost());
        assert!(known.whole().is_ok());
    }

    #[test]
    fn the_backlog_is_unknown_until_the_ledger_was_heard_of() {
        let known = Known::new(&Id::parse("spring").expect("an id"));
        known.saw(mark(3, 50));
        assert_eq!(known.backlog(), 0);
        known.set_ledger_n(Some(20));
        assert_eq!(known.backlog(), 30);
        known.set_ledger_n(Some(60));
        assert_eq!(
            known.backlog(),
            0,
            "the ledger may be ahead of what this instance has seen"
        );
        known.set_ledger_n(None);
        assert_eq!(known.ledger_n(), None);
    }
}

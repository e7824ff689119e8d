//! What this instance remembers of something with a stream: how far it had come, whether Redis lost some of it, and how
//! far the ledger is.

use std::sync::atomic::{AtomicU64, Ordering};

use super::{Mark, ScriptError};
use crate::ids::Id;

/// Of a number that is not known; beyond every event number and every count of restores.
const NONE: u64 = u64::MAX;

/// What was heard of one jackpot, coupon or room.
#[derive(Debug)]
pub struct Heard {
    what: &'static str,
    id: Id,
    mark: AtomicU64,
    /// Restores at which Redis was seen behind; [`NONE`] while it was not.
    lost_at: AtomicU64,
    ledger_n: AtomicU64,
}

impl Heard {
    /// Nothing yet. `what`: "jackpot", "coupon" or "room", for the log.
    #[must_use]
    pub fn new(what: &'static str, id: &Id) -> Self {
        Self {
            what,
            id: id.clone(),
            mark: AtomicU64::new(0),
            lost_at: AtomicU64::new(NONE),
            ledger_n: AtomicU64::new(NONE),
        }
    }

    /// Of what.
    pub fn id(&self) -> &Id {
        &self.id
    }

    /// Highest mark that this instance has seen.
    pub fn mark(&self) -> Mark {
        Mark::unpack(self.mark.load(Ordering::Relaxed)).expect("only `hear` writes it, from a mark")
    }

    /// Remembers a mark out of a reply, or out of the ledger. Whether there was a restore since the highest one before:
    /// what was read earlier may be of events that are no more.
    pub fn hear(&self, mark: Mark) -> bool {
        let before = self.mark.fetch_max(mark.packed(), Ordering::Relaxed);
        Mark::unpack(before).is_some_and(|before| before.restores() < mark.restores())
    }

    /// Remembers that Redis lost events: from then on this instance does not play it, also when others
    /// have gone on from the older state and passed the number that this instance knows; until it is restored.
    pub fn note<T>(&self, result: Result<T, ScriptError>) -> Result<T, ScriptError> {
        if let Err(error @ ScriptError::Behind { .. }) = &result
            && self.lose()
        {
            // Also where no request's span names it.
            tracing::error!(what = self.what, id = %self.id, %error, "it is suspended on this instance until its events are restored");
        }
        result
    }

    /// The same without a line in the log, for a caller that restores it. Whether it was not known to be lost.
    pub fn lose(&self) -> bool {
        let at = self.mark().restores();
        let first = self
            .lost_at
            .compare_exchange(NONE, at, Ordering::Relaxed, Ordering::Relaxed);
        first.is_ok()
    }

    /// Whether this instance saw Redis behind and no restore since.
    pub fn is_lost(&self) -> bool {
        self.lost_at().is_some()
    }

    /// How often it had been restored when Redis was seen behind.
    pub fn lost_at(&self) -> Option<u64> {
        Some(self.lost_at.load(Ordering::Relaxed)).filter(|at| *at != NONE)
    }

    /// Plays again if Redis, now at `mark`, was restored after it was seen behind at `lost_at`; whether it was.
    pub fn restored(&self, lost_at: u64, mark: Mark) -> bool {
        if mark.restores() <= lost_at || mark < self.mark() {
            return false;
        }
        self.hear(mark);
        self.lost_at
            .compare_exchange(lost_at, NONE, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    }

    /// An error once Redis was seen behind.
    pub fn whole(&self) -> Result<(), ScriptError> {
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

    /// Counts the backlog from the first event on, where nothing is known of the ledger yet.
    pub fn count_backlog(&self) {
        if self.ledger_n().is_none() {
            self.set_ledger_n(Some(0));
        }
    }

    /// Events that this instance has seen and the ledger does not have yet; 0 when nothing is known of the ledger.
    pub fn backlog(&self) -> u64 {
        self.ledger_n().map_or(0, |n| self.mark().n().saturating_sub(n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(restores: u64, n: u64) -> Mark {
        Mark::new(restores, n).expect("within its bounds")
    }

    fn lost_at(seen: Mark) -> Heard {
        let known = Heard::new("jackpot", &Id::parse("spring").expect("an id"));
        known.hear(seen);
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
        known.hear(mark(2, 160)); // by what the ledger says
        assert!(
            !known.restored(1, mark(2, 159)),
            "a restore of less than the ledger has"
        );
        assert!(known.restored(1, mark(2, 160)) && !known.is_lost());
        assert!(known.whole().is_ok());
    }

    #[test]
    fn the_backlog_is_unknown_until_the_ledger_was_heard_of() {
        let known = Heard::new("jackpot", &Id::parse("spring").expect("an id"));
        known.hear(mark(3, 50));
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

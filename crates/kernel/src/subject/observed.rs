//! What this instance remembers of a subject: its highest mark, whether Redis lost events, and the ledger's progress.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, Instant};

use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;

use super::ScriptError;
use super::kinds::KindName;

/// Stands for an unknown number; beyond every event number and every count of restores.
const NONE: u64 = u64::MAX;

/// How long a reason that was read answers refused requests.
const STOP_REASON_FOR: Duration = Duration::from_secs(1);

/// How often the mark of any subject has risen in this process. One count for all: it says that nothing happened, and the
/// marks say where something did.
static RISES: AtomicU64 = AtomicU64::new(0);

/// The count of risen marks. While it stays the same, this process saw no news of any subject.
pub fn rises() -> u64 {
    RISES.load(Ordering::Acquire)
}

/// SQL's view of a subject, for people.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LedgerView {
    /// Its status as of the last event in SQL; empty before the first.
    pub status: String,
    /// Why its next event can't be applied; empty while it can.
    pub stopped: String,
}

jackpot_core::names! {
    /// Why an instance refuses a subject without an operator's request.
    #[derive(PartialOrd, Ord, Hash, utoipa::ToSchema)]
    #[schema(as = RefusedReason)]
    pub enum Reason {
        /// Redis has fewer events than this instance has seen, or than SQL has.
        Lost = "lost",
        /// Its next event can't be applied, so the ledger can't go on.
        LedgerStopped = "ledger-stopped",
        /// Redis and the ledger did not agree.
        Suspended = "suspended",
        /// Too many of its events wait for SQL.
        Backlog = "backlog",
    }
}

/// What is remembered of one subject.
#[derive(Debug)]
pub struct Observed {
    kind: KindName,
    id: Id,
    mark: AtomicU64,
    /// The restores at which Redis was found behind; [`NONE`] while it was not.
    lost_at: AtomicU64,
    /// Redis' mark then, packed.
    lost_to: AtomicU64,
    ledger_n: AtomicU64,
    /// Last event in Redis at the last look outside of calls; only for the lag.
    redis_n: AtomicU64,
    /// The lag that was last reported; [`NONE`] before the first report.
    told_lag: AtomicU64,
    ledger_view: RwLock<LedgerView>,
    /// Why the emergency stop holds it, and when that was read.
    stop_reason: RwLock<Option<(Instant, String)>>,
}

impl Observed {
    /// A subject of which nothing is known yet.
    pub fn new(kind: KindName, id: &Id) -> Self {
        Self {
            kind,
            id: id.clone(),
            mark: AtomicU64::new(0),
            lost_at: AtomicU64::new(NONE),
            lost_to: AtomicU64::new(0),
            ledger_n: AtomicU64::new(NONE),
            redis_n: AtomicU64::new(0),
            told_lag: AtomicU64::new(NONE),
            ledger_view: RwLock::default(),
            stop_reason: RwLock::default(),
        }
    }

    pub fn kind(&self) -> KindName {
        self.kind
    }

    pub fn id(&self) -> &Id {
        &self.id
    }

    /// Highest mark that this instance has seen.
    pub fn mark(&self) -> Mark {
        Mark::unpack(self.mark.load(Ordering::Relaxed)).expect("only `raise` writes it, from a mark")
    }

    /// Remembers a mark from a reply or the ledger. Returns whether there was a restore since the previous highest
    /// mark. After a restore, earlier readings may be of events that no longer exist.
    pub fn raise(&self, mark: Mark) -> bool {
        let before = self.mark.fetch_max(mark.packed(), Ordering::Relaxed);
        if before < mark.packed() {
            RISES.fetch_add(1, Ordering::Release);
        }
        Mark::unpack(before).is_some_and(|before| before.restores() < mark.restores())
    }

    /// Remembers that Redis lost events. From then on this instance does not use the subject until it is restored.
    /// That holds even when others have continued from the older state and passed the known number.
    pub fn observe_loss<T>(&self, result: Result<T, ScriptError>) -> Result<T, ScriptError> {
        if let Err(error @ ScriptError::Behind { at: redis, .. }) = &result
            && self.lose(*redis)
        {
            // The log line names it, because there may be no request's span.
            tracing::error!(what = self.kind.as_str(), id = %self.id, %error, "suspended on this instance until its events are restored");
        }
        result
    }

    /// Does the same without a log line, for a caller that restores it. Returns whether the loss is new.
    pub fn lose(&self, redis: Mark) -> bool {
        let at = self.mark().restores();
        if !self.is_lost() {
            self.lost_to.store(redis.packed(), Ordering::Relaxed);
        }
        let first = self
            .lost_at
            .compare_exchange(NONE, at, Ordering::Relaxed, Ordering::Relaxed);
        first.is_ok()
    }

    /// Whether this instance found Redis behind, and no restore since.
    pub fn is_lost(&self) -> bool {
        self.lost_at().is_some()
    }

    /// How often it had been restored when Redis was found behind.
    pub fn lost_at(&self) -> Option<u64> {
        Some(self.lost_at.load(Ordering::Relaxed)).filter(|at| *at != NONE)
    }

    /// Uses the subject again if Redis, now at `mark`, was restored after it was found behind at `lost_at`. Returns
    /// whether it was.
    pub fn restored(&self, lost_at: u64, mark: Mark) -> bool {
        if mark.restores() <= lost_at || mark < self.mark() {
            return false;
        }
        self.raise(mark);
        self.lost_at
            .compare_exchange(lost_at, NONE, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    }

    /// Uses the subject again because Redis holds SQL's last event again, and SQL is at `mark`. Returns whether it
    /// does: nothing that this instance has seen may be after `mark`.
    pub fn found_whole(&self, lost_at: u64, mark: Mark) -> bool {
        mark >= self.mark()
            && self
                .lost_at
                .compare_exchange(lost_at, NONE, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }

    /// An error once Redis was found behind.
    pub fn whole(&self) -> Result<(), ScriptError> {
        if self.is_lost() {
            let (at, known) = (Mark::ZERO, self.mark());
            Err(ScriptError::Behind { at, known })
        } else {
            Ok(())
        }
    }

    /// Number of the ledger's last event, as last known; `None` before that.
    pub fn ledger_n(&self) -> Option<u64> {
        Some(self.ledger_n.load(Ordering::Relaxed)).filter(|n| *n != NONE)
    }

    /// Remembers the number of the ledger's last event; `None` when unknown.
    pub fn set_ledger_n(&self, n: Option<u64>) {
        self.ledger_n.store(n.unwrap_or(NONE), Ordering::Relaxed);
    }

    /// SQL's view at the last look.
    pub fn ledger_view(&self) -> LedgerView {
        self.ledger_view.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether its next event can't be applied, by SQL's last view.
    pub fn is_ledger_stopped(&self) -> bool {
        !self
            .ledger_view
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .stopped
            .is_empty()
    }

    /// Remembers SQL's view.
    pub fn set_ledger_view(&self, view: LedgerView) {
        if *self.ledger_view.read().unwrap_or_else(PoisonError::into_inner) != view {
            *self.ledger_view.write().unwrap_or_else(PoisonError::into_inner) = view;
        }
    }

    /// Why the emergency stop holds it, if that was read within a second.
    pub(super) fn stop_reason(&self) -> Option<String> {
        let kept = self.stop_reason.read().unwrap_or_else(PoisonError::into_inner);
        let kept = kept.as_ref().filter(|(at, _)| at.elapsed() < STOP_REASON_FOR);
        kept.map(|(_, reason)| reason.clone())
    }

    pub(super) fn keep_stop_reason(&self, reason: &str) {
        let mut kept = self.stop_reason.write().unwrap_or_else(PoisonError::into_inner);
        *kept = Some((Instant::now(), reason.to_owned()));
    }

    /// Remembers the number of the last event in Redis, from a look that must not decide anything.
    pub fn set_redis_n(&self, n: u64) {
        self.redis_n.store(n, Ordering::Relaxed);
    }

    /// Events in Redis that the ledger does not have yet, by the last looks at both; 0 while the ledger's progress is
    /// unknown.
    pub fn lag(&self) -> u64 {
        let seen = self.redis_n.load(Ordering::Relaxed);
        let beside = self.ledger_n().map_or(0, |n| seen.saturating_sub(n));
        self.backlog().max(beside)
    }

    /// The lag, if it is another one than at the last such call.
    pub fn news_of_lag(&self) -> Option<u64> {
        let lag = self.lag();
        (self.told_lag.swap(lag, Ordering::Relaxed) != lag).then_some(lag)
    }

    /// Why this instance refuses it, with details; `None` while it does not. `max_backlog`: the backlog that refuses.
    pub fn refusal(&self, max_backlog: Option<u64>) -> Option<(Reason, String)> {
        if self.is_lost() {
            let at = Mark::unpack(self.lost_to.load(Ordering::Relaxed)).unwrap_or_default();
            let text = format!("Redis was at {at}, and {} was seen: it lost events", self.mark());
            return Some((Reason::Lost, text));
        }
        let view = self.ledger_view.read().unwrap_or_else(PoisonError::into_inner);
        if !view.stopped.is_empty() {
            return Some((Reason::LedgerStopped, view.stopped.clone()));
        }
        if view.status == "suspended" {
            let text = "Redis and the ledger do not agree; GET /v1/reconciliation says in what".to_owned();
            return Some((Reason::Suspended, text));
        }
        drop(view);
        let waiting = self.backlog();
        max_backlog.filter(|most| waiting > *most).map(|most| {
            let text = format!("{waiting} of its events wait for the ledger; {most} are allowed");
            (Reason::Backlog, text)
        })
    }

    /// Looks at its status in SQL's last view; empty before the first event.
    pub fn with_status<T>(&self, look: impl FnOnce(&str) -> T) -> T {
        look(&self.ledger_view.read().unwrap_or_else(PoisonError::into_inner).status)
    }

    /// Whether it can be used: nothing refuses it, and no operator stopped it.
    pub fn is_open(&self) -> bool {
        let view = self.ledger_view.read().unwrap_or_else(PoisonError::into_inner);
        matches!(view.status.as_str(), "" | "open")
    }

    /// Counts the backlog from the first event on, if nothing is known of the ledger yet.
    pub fn count_backlog(&self) {
        if self.ledger_n().is_none() {
            self.set_ledger_n(Some(0));
        }
    }

    /// Events that this instance has seen and the ledger does not have yet; 0 while the ledger's progress is unknown.
    pub fn backlog(&self) -> u64 {
        self.ledger_n().map_or(0, |n| self.mark().n().saturating_sub(n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::kinds::JACKPOT;

    fn mark(restores: u64, n: u64) -> Mark {
        Mark::new(restores, n).expect("within its bounds")
    }

    fn lost_at(seen: Mark) -> Observed {
        let known = Observed::new(JACKPOT, &Id::parse("spring").expect("an id"));
        known.raise(seen);
        let (at, seen) = (mark(0, 1), known.mark());
        assert!(
            known
                .observe_loss::<()>(Err(ScriptError::Behind { at, known: seen }))
                .is_err()
        );
        known
    }

    #[test]
    fn only_a_restore_behind_the_loss_ends_it() {
        let known = lost_at(mark(1, 150));
        for still in [mark(1, 120), mark(1, 200), mark(0, 500)] {
            assert!(!known.restored(1, still) && known.is_lost());
        }
        known.raise(mark(2, 160)); // by what the ledger says
        assert!(
            !known.restored(1, mark(2, 159)),
            "a restore of less than the ledger has"
        );
        assert!(known.restored(1, mark(2, 160)) && !known.is_lost());
        assert!(known.whole().is_ok());
    }

    #[test]
    fn a_redis_that_came_back_whole_ends_it_unless_more_was_seen() {
        let known = lost_at(mark(1, 150));
        assert!(
            !known.found_whole(1, mark(1, 149)) && known.is_lost(),
            "SQL lacks an event"
        );
        assert!(!known.found_whole(0, mark(1, 150)) && known.is_lost(), "another loss");
        assert!(known.found_whole(1, mark(1, 150)) && !known.is_lost());
    }

    #[test]
    fn a_refusal_says_why() {
        let reason = |known: &Observed| known.refusal(Some(10)).map(|(reason, _)| reason);
        assert_eq!(reason(&lost_at(mark(0, 2))), Some(Reason::Lost));
        let known = Observed::new(JACKPOT, &Id::parse("spring").expect("an id"));
        known.raise(mark(0, 31));
        assert!(reason(&known).is_none() && known.is_open());
        let view = |status: &str, stopped: &str| {
            known.set_ledger_view(LedgerView {
                status: status.to_owned(),
                stopped: stopped.to_owned(),
            });
        };
        view("paused", "");
        assert!(
            reason(&known).is_none() && !known.is_open(),
            "an operator's pause refuses nothing"
        );
        view("suspended", "");
        assert_eq!(reason(&known), Some(Reason::Suspended));
        view("suspended", "a gap");
        assert_eq!(reason(&known), Some(Reason::LedgerStopped));
        view("open", "");
        known.set_ledger_n(Some(21));
        assert!(reason(&known).is_none());
        known.set_ledger_n(Some(20));
        assert_eq!(reason(&known), Some(Reason::Backlog));
        assert_eq!(known.refusal(None), None, "a room has no backlog");
    }

    #[test]
    fn the_lag_counts_what_others_wrote() {
        let known = Observed::new(JACKPOT, &Id::parse("spring").expect("an id"));
        known.set_redis_n(70);
        assert_eq!(known.lag(), 0, "nothing is known of the ledger");
        known.set_ledger_n(Some(20));
        assert_eq!((known.lag(), known.backlog()), (50, 0));
        known.raise(mark(0, 80));
        assert_eq!((known.lag(), known.backlog()), (60, 60));
    }

    #[test]
    fn the_backlog_is_unknown_until_the_ledger_is_known() {
        let known = Observed::new(JACKPOT, &Id::parse("spring").expect("an id"));
        known.raise(mark(3, 50));
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

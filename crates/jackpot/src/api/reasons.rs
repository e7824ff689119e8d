//! Finds the operator's reason why a jackpot takes no entries, for the answers to refused entries.
//!
//! The reason is in the ledger, also after a restore. Only refusals read it. Of concurrent refusals one reads it, at
//! most once a second for each jackpot, even while the ledger does not answer. The others use the last known reason.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jackpot_core::ids::Id;

use crate::error::PlayError;
use crate::kept;
use jackpot_api::jackpot::Status;
use jackpot_kernel::http::Problem;
use jackpot_kernel::sql::Sql;

/// How long an answer is cached. By then the ledger has this instance's own actions, and other instances' actions show.
const KEPT: Duration = Duration::from_secs(1);
/// Longest wait of a refusal for its reason.
const PATIENCE: Duration = Duration::from_millis(250);
/// Most jackpots with a kept reason.
const MAX_KEPT: usize = 10_000;

#[derive(Debug, Clone)]
struct KnownReason {
    status: Status,
    reason: Option<Arc<str>>,
    /// When it was read, or when a refusal began to read it again.
    at: Instant,
}

/// The known reasons.
#[derive(Debug, Clone)]
pub struct Reasons {
    sql: Sql,
    known: Arc<Mutex<HashMap<Id, KnownReason>>>,
}

impl Reasons {
    pub fn new(sql: Sql) -> Self {
        Self {
            sql,
            known: Arc::default(),
        }
    }

    /// Records that this instance has stopped the jackpot; the ledger may not have this event yet.
    pub(super) fn observe(&self, id: &Id, status: Status, reason: &str) {
        self.keep(id, status, Some(reason.into()));
    }

    fn keep(&self, id: &Id, status: Status, reason: Option<Arc<str>>) {
        put(&mut self.locked(), id, status, reason);
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<Id, KnownReason>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn of(&self, id: &Id, status: Status) -> Option<Arc<str>> {
        let before = match look(&mut self.locked(), id, status) {
            Look::Known(reason) => return reason,
            Look::Ask(before) => before,
        };
        let found = tokio::time::timeout(PATIENCE, kept::stopped_because(&self.sql, id, status.as_str())).await;
        let Ok(Ok(reason)) = found else {
            return before;
        };
        let reason = reason.map(Arc::from);
        self.keep(id, status, reason.clone());
        reason
    }

    /// The problem of a refused entry.
    pub(super) async fn problem(&self, id: &Id, error: PlayError) -> Problem {
        let PlayError::Stopped(status) = error else {
            return error.into();
        };
        let mut problem = Problem::from(error);
        if let Some(reason) = self.of(id, status).await.filter(|reason| !reason.is_empty()) {
            problem.detail = format!("{}: {reason}", problem.detail);
        }
        problem
    }
}

/// The known reason, before the ledger is read.
#[derive(Debug, PartialEq, Eq)]
enum Look {
    /// Fresh, or another refusal is reading it now.
    Known(Option<Arc<str>>),
    /// The caller must read it. Holds the last known reason.
    Ask(Option<Arc<str>>),
}

fn look(known: &mut HashMap<Id, KnownReason>, id: &Id, status: Status) -> Look {
    let found = known.get(id).filter(|known| known.status == status);
    let reason = found.and_then(|known| known.reason.clone());
    if found.is_some_and(|known| known.at.elapsed() < KEPT) {
        return Look::Known(reason);
    }
    // From here on it counts as fresh, so that one of a thousand refusals reads it.
    put(known, id, status, reason.clone());
    Look::Ask(reason)
}

fn put(known: &mut HashMap<Id, KnownReason>, id: &Id, status: Status, reason: Option<Arc<str>>) {
    if known.len() >= MAX_KEPT && !known.contains_key(id) {
        known.clear();
    }
    let at = Instant::now();
    known.insert(id.clone(), KnownReason { status, reason, at });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aged(known: &mut HashMap<Id, KnownReason>, id: &Id) {
        known.get_mut(id).expect("kept").at -= KEPT;
    }

    #[test]
    fn of_many_one_asks_and_the_others_say_what_was_known() {
        let (mut known, id) = (HashMap::new(), Id::parse("spring").expect("an id"));
        let ask = |known: &mut HashMap<Id, KnownReason>, status| look(known, &id, status);
        assert_eq!(ask(&mut known, Status::Paused), Look::Ask(None));
        assert_eq!(ask(&mut known, Status::Paused), Look::Known(None), "one asks");
        let reason: Option<Arc<str>> = Some("a leak".into());
        put(&mut known, &id, Status::Paused, reason.clone());
        assert_eq!(ask(&mut known, Status::Paused), Look::Known(reason.clone()));
        // The ledger did not answer. The next refusal reads a second later; until then the old reason is used.
        for _ in 0..3 {
            aged(&mut known, &id);
            assert_eq!(ask(&mut known, Status::Paused), Look::Ask(reason.clone()));
            assert_eq!(ask(&mut known, Status::Paused), Look::Known(reason.clone()));
        }
        assert_eq!(
            ask(&mut known, Status::Closed),
            Look::Ask(None),
            "another status, another reason"
        );
    }
}

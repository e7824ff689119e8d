//! Why a jackpot takes no entries, in the words of who stopped it: for those whose entries are refused.
//!
//! The ledger has it, also after a restore. Only a refusal asks: one of those that come together, and for each jackpot
//! once a second at most, also while the ledger does not answer. The others say what was known before.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jackpot_core::ids::Id;

use crate::http::problem::Problem;
use crate::jackpot::error::PlayError;
use crate::jackpot::kept;
use crate::jackpot::view::Status;
use crate::sql::Sql;

/// For how long an answer is kept: the ledger has what an instance just did by then, and what another one did is seen.
const KEPT: Duration = Duration::from_secs(1);
/// Longer than this no refusal waits for its reason.
const PATIENCE: Duration = Duration::from_millis(250);
/// Jackpots whose reasons are kept.
const MAX_KEPT: usize = 10_000;

#[derive(Debug, Clone)]
struct Known {
    status: Status,
    reason: Option<Arc<str>>,
    /// When it was learnt, or when somebody began to ask again.
    at: Instant,
}

/// The reasons that were asked for.
#[derive(Debug, Clone)]
pub struct Reasons {
    sql: Sql,
    known: Arc<Mutex<HashMap<Id, Known>>>,
}

impl Reasons {
    /// None yet.
    #[must_use]
    pub fn new(sql: Sql) -> Self {
        Self {
            sql,
            known: Arc::default(),
        }
    }

    /// This instance has stopped it, which the ledger may not have read yet.
    pub(super) fn learn(&self, id: &Id, status: Status, reason: &str) {
        self.keep(id, status, Some(reason.into()));
    }

    fn keep(&self, id: &Id, status: Status, reason: Option<Arc<str>>) {
        put(&mut self.locked(), id, status, reason);
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<Id, Known>> {
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

    /// The problem of an entry that was not taken.
    pub(super) async fn told(&self, id: &Id, error: PlayError) -> Problem {
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

/// What is known before the ledger is asked.
#[derive(Debug, PartialEq, Eq)]
enum Look {
    /// Fresh, or asked for by somebody else right now.
    Known(Option<Arc<str>>),
    /// The caller asks; what was known till now.
    Ask(Option<Arc<str>>),
}

fn look(known: &mut HashMap<Id, Known>, id: &Id, status: Status) -> Look {
    let found = known.get(id).filter(|known| known.status == status);
    let reason = found.and_then(|known| known.reason.clone());
    if found.is_some_and(|known| known.at.elapsed() < KEPT) {
        return Look::Known(reason);
    }
    // From here on it counts as fresh, so that of a thousand refusals one asks.
    put(known, id, status, reason.clone());
    Look::Ask(reason)
}

fn put(known: &mut HashMap<Id, Known>, id: &Id, status: Status, reason: Option<Arc<str>>) {
    if known.len() >= MAX_KEPT && !known.contains_key(id) {
        known.clear();
    }
    let at = Instant::now();
    known.insert(id.clone(), Known { status, reason, at });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aged(known: &mut HashMap<Id, Known>, id: &Id) {
        known.get_mut(id).expect("kept").at -= KEPT;
    }

    #[test]
    fn of_many_one_asks_and_the_others_say_what_was_known() {
        let (mut known, id) = (HashMap::new(), Id::parse("spring").expect("an id"));
        let ask = |known: &mut HashMap<Id, Known>, status| look(known, &id, status);
        assert_eq!(ask(&mut known, Status::Paused), Look::Ask(None));
        assert_eq!(ask(&mut known, Status::Paused), Look::Known(None), "one asks");
        let reason: Option<Arc<str>> = Some("a leak".into());
        put(&mut known, &id, Status::Paused, reason.clone());
        assert_eq!(ask(&mut known, Status::Paused), Look::Known(reason.clone()));
        // Nobody answered: the next one asks a second later, and until then the old one counts.
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

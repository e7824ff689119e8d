//! Why a jackpot takes no entries, in the words of who stopped it: for those whose entries are refused.
//!
//! The ledger has it, also after a restore. Only a refusal asks, once a second for each jackpot at most.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::http::problem::Problem;
use crate::ids::Id;
use crate::jackpot::error::PlayError;
use crate::jackpot::view::Status;
use crate::ledger::Ledger;

/// For how long an answer is kept: the ledger has what an instance just did by then, and what another one did is seen.
const KEPT: Duration = Duration::from_secs(1);
/// Longer than this no refusal waits for its reason.
const PATIENCE: Duration = Duration::from_millis(250);
/// Jackpots whose reasons are kept.
const MAX_KEPT: usize = 10_000;

/// A status and its reason, and when it was learnt.
type Known = (Status, Option<Arc<str>>, Instant);

/// The reasons that were asked for.
#[derive(Debug, Clone)]
pub struct Reasons {
    ledger: Ledger,
    known: Arc<Mutex<HashMap<Id, Known>>>,
}

impl Reasons {
    /// None yet.
    #[must_use]
    pub fn new(ledger: Ledger) -> Self {
        Self {
            ledger,
            known: Arc::default(),
        }
    }

    /// This instance has stopped it, which the ledger may not have read yet.
    pub(super) fn learn(&self, id: &Id, status: Status, reason: &str) {
        self.keep(id, status, Some(reason.into()));
    }

    fn keep(&self, id: &Id, status: Status, reason: Option<Arc<str>>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_KEPT {
            known.clear();
        }
        known.insert(id.clone(), (status, reason, Instant::now()));
    }

    async fn of(&self, id: &Id, status: Status) -> Option<Arc<str>> {
        let kept = {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            let found = known.get(id).filter(|(of, _, at)| *of == status && at.elapsed() < KEPT);
            found.map(|(_, reason, _)| reason.clone())
        };
        if let Some(reason) = kept {
            return reason;
        }
        let found = tokio::time::timeout(PATIENCE, self.ledger.stopped_because(id, status.as_str())).await;
        let reason = found.ok()?.ok()?.map(Arc::from);
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

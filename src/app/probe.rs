//! Observes the parts of the service: script calls as metrics, and whether this instance can serve.

use std::sync::Arc;

use jackpot_core::clock::rfc3339;

use crate::http::health::{EmergencyStop, LedgerState, Readiness, ReadinessFn, RedisState, Refused, RefusedSubject};
use crate::http::problem::FieldError;
use crate::ledger::Ledger;
use crate::ledger::emergency::Emergency;
use crate::ledger::kinds::Kinds;
use crate::store::{Health, Outcome, Store};
use crate::subject::Observed;
use crate::subject::kinds::KindName;
use crate::telemetry::{Metrics, ScriptResult, trace};

/// Script calls as metrics.
pub(super) fn observe(store: &Store, metrics: &Arc<Metrics>) {
    let metrics = Arc::clone(metrics);
    store.observe(Arc::new(move |script, outcome, time| {
        let result = if outcome == Outcome::Ok {
            ScriptResult::Ok
        } else {
            ScriptResult::Error
        };
        metrics.script(script, result, time);
        trace::called(script, outcome.as_str(), outcome == Outcome::Ok, time);
    }));
}

/// What this instance remembers of all subjects.
#[derive(Clone)]
pub(super) struct KnownKinds {
    pub(super) kinds: Kinds,
    /// The backlog that refuses subjects of a kind that limits it.
    pub(super) max_backlog_events: u64,
}

/// The result of a look at all subjects.
#[derive(Default)]
pub(super) struct Found {
    /// The refused ones.
    pub(super) refused: Vec<RefusedSubject>,
    /// Kinds without which this instance is not ready, with how many of their subjects can be served.
    servable: Vec<(KindName, usize)>,
    /// How many subjects of each kind have a status.
    pub(super) statuses: Vec<(KindName, String, usize)>,
    lag_events: u64,
}

impl KnownKinds {
    pub(super) fn look(&self) -> Found {
        let mut found = Found::default();
        for kind in self.kinds.iter() {
            let about = kind.about();
            let most = about.limits_backlog.then_some(self.max_backlog_events);
            let mut servable = 0;
            kind.each(&mut |known| {
                let is_refused = found.add(known, most);
                servable += usize::from(!is_refused && known.is_open());
            });
            if about.gates_readiness {
                found.servable.push((kind.name(), servable));
            }
        }
        found
    }
}

impl Found {
    /// Whether it is refused.
    fn add(&mut self, known: &Observed, max_backlog: Option<u64>) -> bool {
        self.lag_events = self.lag_events.max(known.lag());
        self.count_status(known);
        let Some((reason, detail)) = known.refusal(max_backlog) else {
            return false;
        };
        self.refused.push(RefusedSubject {
            kind: known.kind(),
            id: known.id().clone(),
            reason,
            detail,
        });
        true
    }
}

impl Found {
    fn count_status(&mut self, known: &Observed) {
        let kind = known.kind();
        known.with_status(|status| {
            let is_it = |(of, text, _): &&mut (KindName, String, usize)| *of == kind && text == status;
            match self.statuses.iter_mut().find(is_it) {
                Some((.., count)) => *count += 1,
                None if status.is_empty() => {}
                None => self.statuses.push((kind, status.to_owned(), 1)),
            }
        });
    }
}

/// Not ready: Redis takes no entries, this instance is not the ledger's, or jackpots are refused and none can be
/// played. A database that does not answer is shown, but is no cause by itself: play goes on, and otherwise all
/// instances would leave at once.
pub(super) fn readiness(store: &Store, ledger: &Ledger, known: KnownKinds, emergency: Emergency) -> ReadinessFn {
    let (store, ledger) = (store.clone(), ledger.clone());
    Arc::new(move || {
        let health = store.health();
        let found = known.look();
        let refused = Refused::count(&found.refused);
        let store_cause = store.shut_cause().map(|cause| FieldError::new("store", cause.as_ref()));
        let mut causes: Vec<_> = store_cause.or_else(|| redis_cause(&health)).into_iter().collect();
        for (kind, servable) in found.servable {
            let count = refused.of(kind);
            if count > 0 && servable == 0 {
                let text =
                    format!("none can be played, {count} refused: GET /readyz with a key that may read says why");
                causes.push(FieldError::new(kind.plural, text));
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "a ratio for a graph")]
        let memory_ratio = health.used_bytes as f64 / health.limit_bytes.max(1) as f64;
        Readiness {
            redis: Some(RedisState {
                up: health.up,
                memory_ratio,
            }),
            ledger: Some(LedgerState {
                up: ledger.sql.down().is_none(),
                lag_events: found.lag_events,
            }),
            emergency_stop: emergency
                .known()
                .filter(|last| last.is_stop())
                .map(|last| EmergencyStop {
                    since: rfc3339(last.at_ms),
                    unreached: emergency.unreached(),
                }),
            refused,
            subjects: found.refused,
            causes,
        }
    })
}

fn redis_cause(health: &Health) -> Option<FieldError> {
    if health.up && !health.refuse_entries {
        return None;
    }
    let full = || format!("memory is at {} % of its limit", health.memory_pct());
    let cause = health.cause.as_deref().map_or_else(full, str::to_owned);
    Some(FieldError::new("redis", cause))
}

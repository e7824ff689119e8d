//! What the parts of the service tell of themselves: script calls as metrics, and whether this instance can serve.

use std::sync::Arc;

use crate::http::health::{LedgerState, Readiness, ReadinessFn, RedisState};
use crate::http::problem::FieldError;
use crate::ledger::Ledger;
use crate::ledger::progress::Progress;
use crate::ledger::streams::{COUPONS, JACKPOTS, ROOMS, Tables};
use crate::store::{Health, Outcome, Store};
use crate::telemetry::{Metrics, ScriptResult};

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
    }));
}

/// Not ready: Redis takes no entries, or the ledger is so far behind that entries are refused. A database that does not
/// answer is shown, and no cause by itself: play goes on, and all instances would leave at once.
pub(super) fn readiness(store: &Store, ledger: &Ledger, max_backlog_events: u64) -> ReadinessFn {
    let (store, ledger) = (store.clone(), ledger.clone());
    Arc::new(move || {
        let health = store.health();
        let mut causes = redis_cause(&health).into_iter().collect::<Vec<_>>();
        let of = |kind: Tables, progress: &Progress| progress.largest_lag().map(|(id, lag)| (lag, kind.what, id));
        let lags = [
            of(JACKPOTS, &ledger.progress),
            of(COUPONS, &ledger.coupons),
            of(ROOMS, &ledger.rooms),
        ];
        let largest = lags.into_iter().flatten().max_by_key(|(lag, ..)| *lag);
        let lag_events = largest.as_ref().map_or(0, |(lag, ..)| *lag);
        if let Some((_, what, id)) = largest.filter(|_| lag_events > max_backlog_events) {
            let text = format!("is {lag_events} events of {what} '{id}' behind; {max_backlog_events} are allowed");
            causes.push(FieldError::new("ledger", text));
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
                lag_events,
                stopped: ledger.progress.stopped(),
                stopped_coupons: ledger.coupons.stopped(),
                stopped_rooms: ledger.rooms.stopped(),
            }),
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

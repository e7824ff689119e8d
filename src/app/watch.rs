//! Watches whether ledger and Redis are still this instance's own, and which subjects it refuses.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use jackpot_core::ids::Id;
use tokio::time::MissedTickBehavior;
use tracing::{debug, error, info, warn};

use super::probe::KnownKinds;
use crate::ledger::Ledger;
use crate::ledger::pair::Standing;
use crate::store::Store;
use crate::subject::Reason;
use crate::subject::kinds::KindName;
use crate::telemetry::Metrics;

/// Between two looks. An instance whose ledger was taken over must refuse within 5 s, and SQL may take 2 of them.
const EVERY: Duration = Duration::from_secs(1);
/// Most changes logged one by one: a Redis that lost everything would write a hundred thousand lines.
const MAX_LINES: usize = 100;

/// Shuts the store for good when the ledger belongs to another store; and for as long as Redis is another one. Looks
/// whether the ledger's database takes writes.
pub(super) async fn ownership(ledger: Ledger, store: Store) {
    let mut ticks = tokio::time::interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        ledger.sql.look().await;
        match ledger.still_ours(&store).await {
            Ok(Standing::Ours) => {
                if store.shut(None) {
                    info!("this instance may use Redis again; play continues");
                }
            }
            Ok(Standing::Foreign(cause)) => {
                if store.shut(Some(&cause)) {
                    error!(cause, "nothing is played");
                }
            }
            Ok(Standing::Taken(cause)) => {
                store.shut(Some(&cause));
                error!(cause, "nothing is played on this instance any more");
                return;
            }
            Err(error) => debug!(%error, "could not check whether Redis is still this instance's"),
        }
    }
}

/// Counts refused subjects, and logs each change once.
pub(super) async fn refusals(known: KnownKinds, metrics: Arc<Metrics>) {
    let mut before: BTreeSet<(KindName, Id, Reason)> = BTreeSet::new();
    let mut with_status = BTreeSet::new();
    let mut ticks = tokio::time::interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let found = known.look();
        show_statuses(&metrics, &found.statuses, &mut with_status);
        let refused = found.refused;
        for kind in known.kinds.iter().map(|kind| kind.name()) {
            for reason in Reason::ALL {
                let of = refused.iter().filter(|one| (one.kind, one.reason) == (kind, reason));
                metrics.ledger.refused(kind.as_str(), reason.as_str(), of.count());
            }
        }
        let mut lines = 0;
        for one in &refused {
            let is_new = !before.contains(&(one.kind, one.id.clone(), one.reason));
            lines += usize::from(is_new);
            if is_new && lines <= MAX_LINES {
                warn!(what = one.kind.as_str(), id = %one.id, reason = one.reason.as_str(), detail = one.detail, "refused from now on");
            }
        }
        let now: BTreeSet<_> = refused
            .iter()
            .map(|one| (one.kind, one.id.clone(), one.reason))
            .collect();
        for (what, id, reason) in before.difference(&now) {
            lines += 1;
            if lines <= MAX_LINES {
                info!(what = what.as_str(), %id, reason = reason.as_str(), "requests are no longer refused for this reason");
            }
        }
        if lines > MAX_LINES {
            warn!(changes = lines, "more refusals changed; /readyz lists them");
        }
        before = now;
    }
}

/// `shown`: what was shown before. A status that no subject has any more is shown as 0.
fn show_statuses(metrics: &Metrics, statuses: &[(KindName, String, usize)], shown: &mut BTreeSet<(KindName, String)>) {
    let now: BTreeSet<_> = statuses
        .iter()
        .map(|(kind, status, _)| (*kind, status.clone()))
        .collect();
    for (kind, status) in shown.difference(&now) {
        metrics.subjects(kind.as_str(), status, 0);
    }
    for (kind, status, count) in statuses {
        metrics.subjects(kind.as_str(), status, *count);
    }
    shown.extend(now);
}

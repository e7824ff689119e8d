//! Makes all subjects obey the last decision about the emergency stop. The worker of each instance does it, and a repeat
//! changes nothing.
//!
//! Subjects on nodes that do not answer hold up no others. They are tried again each second. While everything is
//! stopped, all subjects are gone through again every few seconds: an instance of an earlier version may have created
//! one, and a failover may have lost what a replica did not have yet.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::{join, join_all};
use futures_util::stream;
use jackpot_core::ids::Id;
use tokio::time::{Instant, MissedTickBehavior};

use super::{Emergency, name_of};
use crate::stopping::Stopping;
use crate::subject::MaybeScript as _;
use crate::subject::emergency::{Decision, Obedience};
use crate::subject::kinds::KindName;

/// Between two looks at the last decision in Redis, and two tries to reach the rest.
const EVERY: Duration = Duration::from_secs(1);
/// Between two looks at the last decision in SQL while Redis answers.
const SQL_EVERY: Duration = Duration::from_secs(5);
/// Between two rounds through all subjects while everything is stopped.
const AGAIN: Duration = Duration::from_secs(5);
/// Calls in flight to one node.
const AT_ONCE: usize = 64;
/// Most subjects in an answer.
const MAX_NAMES: usize = 1_000;

/// How far a decision has reached.
#[derive(Debug, Clone, Default)]
pub struct Progress {
    /// Of the decision.
    pub order: u64,
    /// The subjects that do not obey it yet.
    pub left: BTreeSet<(KindName, Id)>,
    /// Whether `left` began with all subjects: every index was read.
    is_whole: bool,
}

impl Progress {
    /// Whether all subjects obey this decision.
    #[must_use]
    pub fn is_done_with(&self, order: u64) -> bool {
        self.order == order && self.is_whole && self.left.is_empty()
    }

    /// The subjects that do not obey it yet, the first [`MAX_NAMES`].
    pub(super) fn names(&self, order: u64) -> Vec<String> {
        let left = self.left.iter().take(MAX_NAMES);
        if self.order == order {
            left.map(name_of).collect()
        } else {
            Vec::new()
        }
    }
}

impl Emergency {
    /// The worker. Ends with the service.
    pub async fn work(self, stopping: Stopping) {
        let mut ticks = tokio::time::interval(EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut looked, mut gone_through) = (None::<Instant>, None::<Instant>);
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                () = self.bell.notified() => {}
                () = stopping.wait() => return,
            }
            let is_old = looked.is_none_or(|at: Instant| at.elapsed() >= SQL_EVERY);
            if !self.glance().await || is_old {
                looked = Some(Instant::now());
                if let Err(error) = self.look().await {
                    tracing::debug!(%error, "the last decision about the emergency stop can't be read");
                }
            }
            let Some(last) = self.known() else {
                continue;
            };
            let (is_new, is_done, is_whole) = {
                let progress = self.progress.borrow();
                (
                    progress.order != last.order,
                    progress.is_done_with(last.order),
                    progress.is_whole,
                )
            };
            let is_due = last.is_stop() && gone_through.is_none_or(|at| at.elapsed() >= AGAIN);
            if !is_new && is_done && !is_due {
                continue;
            }
            let all = is_new || is_due || !is_whole;
            let round = async {
                if all {
                    self.go_through(&last, is_new).await;
                } else {
                    self.try_again(&last).await;
                }
            };
            // A later decision ends this round: its own follows at once.
            let mut decided = self.last.subscribe();
            let is_later = |now: &Option<Arc<Decision>>| now.as_ref().is_some_and(|now| now.order > last.order);
            tokio::select! {
                () = round => {
                    if all {
                        gone_through = Some(Instant::now());
                    }
                }
                _ = decided.wait_for(is_later) => self.bell.notify_one(),
                () = stopping.wait() => return,
            }
            self.metrics.ledger.emergency_unreached(self.unreached());
        }
    }

    /// Goes through all subjects.
    async fn go_through(&self, decision: &Decision, is_new: bool) {
        let used = self.kinds.iter().flat_map(|kind| {
            let ids = kind.obeys().used().into_iter();
            ids.map(|id| (kind.name(), id))
        });
        let used: BTreeSet<_> = used.collect();
        if is_new {
            self.progress.send_replace(Progress {
                order: decision.order,
                left: used.clone(),
                is_whole: false,
            });
        }
        // The node of an index may be away, so the known ones do not wait for it.
        let listed = join_all(self.kinds.iter().map(|kind| async move {
            let listed = kind.obeys().listed().await;
            listed.map(|ids| ids.into_iter().map(|id| (kind.name(), id)).collect::<Vec<_>>())
        }));
        let (listed, ()) = join(listed, self.reach(decision, used.clone())).await;
        let is_whole = listed.iter().all(Result::is_ok);
        let listed = listed.into_iter().flatten().flatten();
        let rest: BTreeSet<_> = listed.filter(|subject| !used.contains(subject)).collect();
        self.progress.send_modify(|progress| {
            progress.left.extend(rest.iter().cloned());
            progress.is_whole = is_whole;
        });
        self.reach(decision, rest).await;
    }

    /// Tries those again that did not obey.
    async fn try_again(&self, decision: &Decision) {
        let left = self.progress.borrow().left.clone();
        self.reach(decision, left).await;
    }

    async fn reach(&self, decision: &Decision, subjects: BTreeSet<(KindName, Id)>) {
        let mut by_node: HashMap<Option<Arc<str>>, Vec<(KindName, Id)>> = HashMap::new();
        for (kind, id) in subjects {
            if let Some(of) = self.kinds.named(kind) {
                by_node.entry(of.obeys().node_of(&id)).or_default().push((kind, id));
            }
        }
        let nodes = by_node
            .into_values()
            .map(|subjects| self.reach_node(decision, subjects));
        join_all(nodes).await;
    }

    /// After the first call without an answer, the node is not asked again in this round.
    async fn reach_node(&self, decision: &Decision, subjects: Vec<(KindName, Id)>) {
        let is_away = AtomicBool::new(false);
        let calls = stream::iter(subjects).map(|subject| {
            let is_away = &is_away;
            async move {
                let Some(kind) = self.kinds.named(subject.0).filter(|_| !is_away.load(Ordering::Relaxed)) else {
                    return;
                };
                match kind.obeys().obey(&subject.1, decision).await {
                    Ok(Obedience::Obeys) => {
                        _ = self
                            .progress
                            .send_if_modified(|progress| progress.left.remove(&subject))
                    }
                    // The next look finds the later decision.
                    Ok(Obedience::Newer) => {}
                    Err(error) if error.is_unavailable() => is_away.store(true, Ordering::Relaxed),
                    Err(error) => {
                        let subject = name_of(&subject);
                        tracing::error!(%error, subject, "does not obey the last decision about the emergency stop");
                    }
                }
            }
        });
        calls.buffer_unordered(AT_ONCE).for_each(|()| async {}).await;
    }
}

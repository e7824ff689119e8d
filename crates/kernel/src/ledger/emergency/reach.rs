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

/// Which subjects a round tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Round {
    /// All of them, for a new decision.
    First,
    /// All of them, because an index could not be read.
    Whole,
    /// All of them, though they obeyed.
    Again,
    /// The subjects that have not obeyed yet.
    Rest,
}

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
        let (mut looked, mut gone_through) = (None, None);
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                () = self.bell.notified() => {}
                () = stopping.wait() => return,
            }
            self.look_again(&mut looked).await;
            let Some((last, round)) = self.due(gone_through) else {
                continue;
            };
            // A later decision ends this round: its own follows at once.
            let mut decided = self.last.subscribe();
            let is_later = |now: &Option<Arc<Decision>>| now.as_ref().is_some_and(|now| now.order > last.order);
            tokio::select! {
                () = self.go_round(&last, round) => {
                    if round != Round::Rest {
                        gone_through = Some(Instant::now());
                    }
                }
                _ = decided.wait_for(is_later) => self.bell.notify_one(),
                () = stopping.wait() => return,
            }
            self.metrics.ledger.emergency_unreached(self.unreached());
        }
    }

    /// Looks at Redis, and now and then at SQL too.
    async fn look_again(&self, looked: &mut Option<Instant>) {
        let is_old = looked.is_none_or(|at| at.elapsed() >= SQL_EVERY);
        if self.glance().await && !is_old {
            return;
        }
        *looked = Some(Instant::now());
        if let Err(error) = self.look().await {
            tracing::debug!(%error, "the last decision about the emergency stop can't be read");
        }
    }

    /// The round that is due for the last decision, if any.
    fn due(&self, gone_through: Option<Instant>) -> Option<(Arc<Decision>, Round)> {
        let last = self.known()?;
        let progress = self.progress.borrow();
        let is_old = gone_through.is_none_or(|at| at.elapsed() >= AGAIN);
        let round = if progress.order != last.order {
            Round::First
        } else if !progress.is_whole {
            Round::Whole
        } else if last.is_stop() && is_old {
            Round::Again
        } else if progress.left.is_empty() {
            return None;
        } else {
            Round::Rest
        };
        drop(progress);
        Some((last, round))
    }

    async fn go_round(&self, decision: &Decision, round: Round) {
        if round == Round::Rest {
            let left = self.progress.borrow().left.clone();
            self.reach(decision, left, round).await;
        } else {
            self.go_through(decision, round).await;
        }
    }

    /// Goes through all subjects.
    async fn go_through(&self, decision: &Decision, round: Round) {
        let used = self.kinds.iter().flat_map(|kind| {
            let ids = kind.obeys().used().into_iter();
            ids.map(|id| (kind.name(), id))
        });
        let used: BTreeSet<_> = used.collect();
        if round == Round::First {
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
        let (listed, ()) = join(listed, self.reach(decision, used.clone(), round)).await;
        let is_whole = listed.iter().all(Result::is_ok);
        let listed = listed.into_iter().flatten().flatten();
        let rest: BTreeSet<_> = listed.filter(|subject| !used.contains(subject)).collect();
        self.progress.send_modify(|progress| {
            if round != Round::Again {
                progress.left.extend(rest.iter().cloned());
            }
            progress.is_whole = is_whole;
        });
        self.reach(decision, rest, round).await;
    }

    async fn reach(&self, decision: &Decision, subjects: BTreeSet<(KindName, Id)>, round: Round) {
        let mut by_node: HashMap<Option<Arc<str>>, Vec<(KindName, Id)>> = HashMap::new();
        for (kind, id) in subjects {
            if let Some(of) = self.kinds.named(kind) {
                by_node.entry(of.obeys().node_of(&id)).or_default().push((kind, id));
            }
        }
        let nodes = by_node
            .into_values()
            .map(|subjects| self.reach_node(decision, subjects, round));
        join_all(nodes).await;
    }

    /// After the first call without an answer, the node is not asked again in this round.
    async fn reach_node(&self, decision: &Decision, subjects: Vec<(KindName, Id)>, round: Round) {
        let is_away = AtomicBool::new(false);
        let calls = stream::iter(subjects).map(|subject| {
            let is_away = &is_away;
            async move {
                let Some(kind) = self.kinds.named(subject.0).filter(|_| !is_away.load(Ordering::Relaxed)) else {
                    return;
                };
                match kind.obeys().obey(&subject.1, decision).await {
                    Ok(Obedience::Obeys) => {
                        self.progress
                            .send_if_modified(|progress| progress.left.remove(&subject));
                    }
                    // The next look finds the later decision.
                    Ok(Obedience::Newer) => {}
                    Err(error) if error.is_unavailable() => is_away.store(true, Ordering::Relaxed),
                    Err(error) if round == Round::First => {
                        let subject = name_of(&subject);
                        tracing::error!(%error, subject, "does not obey the last decision about the emergency stop");
                    }
                    Err(error) => tracing::debug!(%error, "still does not obey"),
                }
            }
        });
        calls.buffer_unordered(AT_ONCE).for_each(|()| async {}).await;
    }
}

//! Finishes entries that were left pending, and drops records after the retention.
//!
//! Any number of instances do this at once: a script does every step once, whichever instance calls it.
//!
//! A round looks at the jackpots in which something happened: this instance saw it, or the shared reading of marks shows
//! it. So its cost does not grow with the number of jackpots that rest.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::{StreamExt, stream};
use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;
use redis::Cmd;
use tracing::{Instrument, debug, error, info_span, warn};

use jackpot_kernel::settings;
use jackpot_kernel::single_flight::Read;
use jackpot_kernel::stopping::Stopping;
use jackpot_kernel::store::{Store, StoreError};
use jackpot_kernel::subject::{Glance, Glances, Quiet, Subject, rises};

use super::error::PlayError;
use super::known::{Known, Registry};
use super::metrics::PlayMetrics;
use super::operate::Operate;
use super::play::Play;
use super::scripts::{self, PendingEntry, Rotated, ScriptError};

/// Pending entries looked at in one call.
const BATCH: usize = 100;
/// Jackpots worked on in parallel, so that one on a frozen node does not delay the others.
const AT_ONCE: usize = 32;
/// Rounds between two log lines about a lasting trouble, and between two repairs of the index.
const ROUNDS_PER_LINE: u64 = 10;
/// The longest time between two looks at the retention of a jackpot: the age of a generation counts at most 60 s between
/// two looks.
const ROTATION_WITHIN: Duration = Duration::from_secs(45);
/// The shortest such time.
const ROTATION_PAUSE: Duration = Duration::from_secs(1);
/// The time after a look that something kept from its end.
const ROTATION_AGAIN: Duration = Duration::from_secs(5);
/// Most looks at the retention in one round.
const ROTATIONS: usize = 500;

/// The recovery worker of an instance.
#[derive(Debug, Clone)]
pub struct Recovery {
    pub play: Play,
    pub operate: Operate,
    pub store: Store,
    pub metrics: PlayMetrics,
    pub settings: settings::Play,
    /// Shortest time for which records stay, by this instance's setting.
    pub retention_s: u64,
}

/// What a worker remembers between its rounds.
#[derive(Debug, Default)]
struct Rounds {
    number: u64,
    /// The count of risen marks at the last round.
    rises: u64,
    quiet: Quiet,
    /// Jackpots that had pending entries, or could not be read.
    busy: BTreeSet<Id>,
    /// When to look at the retention of each, in order.
    rotations: BTreeSet<(Instant, Id)>,
    rotates: HashMap<Id, Instant>,
    /// Jackpots whose retention was looked at.
    rotated: HashSet<Id>,
}

impl Rounds {
    /// The jackpots to look at, with their marks from before the look.
    fn due(&mut self, registry: &Registry, read: &Read<Glances>) -> BTreeMap<Id, Mark> {
        let mut due = BTreeMap::new();
        for (id, glance) in self.quiet.news(read) {
            let seen = registry.known(id).mark();
            let mark = match glance {
                Glance::At(mark) => mark.max(seen),
                Glance::Unclear => seen,
            };
            due.insert(id.clone(), mark);
        }
        let rises = rises();
        if std::mem::replace(&mut self.rises, rises) != rises {
            let own = registry.each().into_iter();
            for known in own.filter(|known| !self.quiet.covers(known.id(), known.mark())) {
                due.entry(known.id().clone()).or_insert_with(|| known.mark());
            }
        }
        for id in &self.busy {
            due.entry(id.clone()).or_insert_with(|| registry.known(id).mark());
        }
        let now = Instant::now();
        for (id, _) in &read.value {
            if !self.rotates.contains_key(id) {
                self.rotate_at(id, now);
            }
        }
        due
    }

    fn rotate_at(&mut self, id: &Id, at: Instant) {
        if let Some(before) = self.rotates.insert(id.clone(), at) {
            self.rotations.remove(&(before, id.clone()));
        }
        self.rotations.insert((at, id.clone()));
    }

    /// The jackpots whose retention is to be looked at.
    fn rotations(&self, now: Instant) -> Vec<Id> {
        let due = self.rotations.iter().take_while(|(at, _)| *at <= now);
        due.take(ROTATIONS).map(|(_, id)| id.clone()).collect()
    }
}

impl Recovery {
    /// Works until the service stops: at start, and then continuously.
    pub async fn run(self, stopping: Stopping) {
        let pause = Duration::from_millis(self.settings.recovery_interval_ms);
        let mut rounds = Rounds::default();
        loop {
            tokio::select! {
                () = self.round(&mut rounds) => {}
                () = stopping.wait() => return,
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = stopping.wait() => return,
            }
        }
    }

    async fn round(&self, rounds: &mut Rounds) {
        let loud = rounds.number.is_multiple_of(ROUNDS_PER_LINE);
        rounds.number += 1;
        let registry = &self.operate.views.registry;
        let read = registry.glances().await;
        if loud {
            registry.all(true).await;
        }
        let due = rounds.due(registry, &read);
        let busy = self.with_pending(&due, rounds).await;
        let work = |id: Id| async move {
            let span = info_span!("recovery", jackpot_id = %id);
            let done = self.jackpot(&id, loud).instrument(span.clone()).await;
            span.in_scope(|| skipped(done, loud));
        };
        stream::iter(busy).for_each_concurrent(AT_ONCE, work).await;
        let rotate = |id: Id| async move {
            let span = info_span!("recovery", jackpot_id = %id);
            let next = self.rotate(&id).instrument(span.clone()).await;
            let next = next.unwrap_or_else(|error| {
                let is_none = matches!(error, PlayError::Script(ScriptError::Unknown));
                span.in_scope(|| skipped(Err(error), loud));
                if is_none { ROTATION_WITHIN } else { ROTATION_AGAIN }
            });
            (id, next)
        };
        let (due, empty) = self.with_records(rounds).await;
        for id in empty {
            rounds.rotate_at(&id, Instant::now() + ROTATION_WITHIN);
        }
        let rotated: Vec<_> = stream::iter(due).map(rotate).buffer_unordered(AT_ONCE).collect().await;
        for (id, next) in rotated {
            rounds.rotate_at(&id, Instant::now() + next);
        }
    }

    /// The jackpots whose retention is to be looked at, and those of them without any record. Nothing of these expires: the
    /// age of a generation may begin later. At its first look each is among the former, for the setting.
    async fn with_records(&self, rounds: &mut Rounds) -> (Vec<Id>, Vec<Id>) {
        let ids = rounds.rotations(Instant::now());
        let (again, first): (Vec<Id>, Vec<Id>) = ids.into_iter().partition(|id| rounds.rotated.contains(id));
        rounds.rotated.extend(first.iter().cloned());
        let known: Vec<_> = again.iter().map(|id| self.operate.views.registry.known(id)).collect();
        let exists = |known: &Arc<Known>| {
            let keys = &known.keys;
            redis::cmd("EXISTS").arg(&keys.seen_a).arg(&keys.seen_b).to_owned()
        };
        let reads: Vec<Cmd> = known.iter().map(exists).collect();
        let (mut due, mut empty) = (first, Vec::new());
        for (id, answer) in again.into_iter().zip(self.store.read_together(&reads).await) {
            match answer {
                Ok(redis::Value::Int(0)) => empty.push(id),
                _ => due.push(id),
            }
        }
        (due, empty)
    }

    /// Those of the jackpots that have pending entries, or can't be read.
    async fn with_pending(&self, due: &BTreeMap<Id, Mark>, rounds: &mut Rounds) -> Vec<Id> {
        let known: Vec<_> = due.keys().map(|id| self.operate.views.registry.known(id)).collect();
        let reads: Vec<Cmd> = known.iter().map(|known| count(known)).collect();
        let mut busy = Vec::new();
        for ((id, mark), pending) in due.iter().zip(self.store.read_together(&reads).await) {
            match pending.map(redis::from_redis_value::<u64>) {
                Ok(Ok(0)) => {
                    self.metrics.pending(id, 0);
                    rounds.quiet.found(id, *mark);
                    rounds.busy.remove(id);
                    continue;
                }
                Ok(Ok(pending)) => self.metrics.pending(id, pending),
                // A call for each of its jackpots would wait for the frozen node in turn.
                Err(StoreError::Unavailable { .. }) => {
                    rounds.busy.insert(id.clone());
                    continue;
                }
                Ok(Err(_)) | Err(_) => {}
            }
            rounds.quiet.lost(id);
            rounds.busy.insert(id.clone());
            busy.push(id.clone());
        }
        busy
    }

    async fn jackpot(&self, id: &Id, loud: bool) -> Result<(), PlayError> {
        let (known, _) = self.play.views.view(id).await?;
        let mut after = Some(0);
        while let Some(from) = after {
            let age = self.settings.recovery_after_ms;
            let found = scripts::pending(&self.store, &known.keys, known.mark(), from, age, BATCH).await;
            let found = known.observe_loss(found)?;
            // Its records may be from after a restore, and the cache from before it.
            known.observe(found.mark);
            // In parallel: an entry that waits for its coupon's node does not delay the money of the others.
            let finishing = found.entries.into_iter().map(|entry| async {
                match entry {
                    Ok(entry) => self.finish(id, entry).await,
                    Err((entry_id, error)) => Err((entry_id, PlayError::Script(error.into()))),
                }
            });
            let mut finished = pin!(stream::iter(finishing).buffered(AT_ONCE));
            while let Some(result) = finished.next().await {
                // The others go on, and the next round tries it again. Logged in every tenth round.
                match result {
                    Err((entry_id, error)) if loud => {
                        error!(entry_id, %error, "a pending entry could not be finished");
                    }
                    Err(_) | Ok(()) => {}
                }
            }
            after = found.last;
        }
        Ok(())
    }

    async fn finish(&self, id: &Id, entry: PendingEntry) -> Result<(), (String, PlayError)> {
        let PendingEntry { entry_id, record } = entry;
        debug!(entry_id, "finishing a pending entry");
        let finished = self.play.finish_pending(id, &entry_id, record).await;
        finished.map_err(|error| (entry_id, error))
    }

    /// Looks at the retention. Returns when to look again.
    async fn rotate(&self, id: &Id) -> Result<Duration, PlayError> {
        Ok(match self.operate.rotate_by_retention(id, self.retention_s).await? {
            Some(Rotated::Opened(epoch)) => {
                debug!(epoch, "dropped the older records and opened an epoch");
                ROTATION_WITHIN
            }
            Some(Rotated::Pending) => {
                warn!("the older records stay: an entry among them has no outcome yet");
                ROTATION_AGAIN
            }
            Some(Rotated::Early { left_ms, .. }) => {
                Duration::from_millis(left_ms).clamp(ROTATION_PAUSE, ROTATION_WITHIN)
            }
            Some(Rotated::Idle | Rotated::Closed) => ROTATION_WITHIN,
            Some(Rotated::Raised(_)) | None => ROTATION_PAUSE,
        })
    }
}

/// Logs why a jackpot was skipped: in every tenth round, because a frozen node or a suspended jackpot lasts.
fn skipped(done: Result<(), PlayError>, loud: bool) {
    match done {
        Ok(()) | Err(PlayError::Script(ScriptError::Unknown)) => {}
        Err(error) if loud => warn!(%error, "recovery skipped this jackpot in this round"),
        Err(error) => debug!(%error, "recovery skipped this jackpot in this round"),
    }
}

fn count(known: &Known) -> Cmd {
    redis::cmd("ZCARD").arg(&known.keys.pending).to_owned()
}

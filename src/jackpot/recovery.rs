//! Finishes entries that were left pending, and drops records after the retention.
//!
//! Any number of instances do this at once: a script does every step once, whichever instance calls it.

use std::pin::pin;
use std::time::{Duration, Instant};

use futures_util::{StreamExt, stream};
use jackpot_core::ids::Id;
use tracing::{Instrument, debug, error, info_span, warn};

use crate::settings;
use crate::stopping::Stopping;
use crate::store::Store;
use crate::subject::Subject;

use super::error::PlayError;
use super::metrics::PlayMetrics;
use super::operate::Operate;
use super::play::Play;
use super::scripts::{self, PendingEntry, Rotated, ScriptError};

/// Pending entries looked at in one call.
const BATCH: usize = 100;
/// Jackpots worked on in parallel, so that one on a frozen node does not delay the others.
const AT_ONCE: usize = 32;
/// Rounds between two looks at the retention and at the index.
const ROUNDS_PER_ROTATION: u64 = 10;
/// The longest such time: the age of a generation counts at most 60 s between two looks.
const ROTATION_WITHIN: Duration = Duration::from_secs(20);

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

impl Recovery {
    /// Works until the service stops: at start, and then continuously.
    pub async fn run(self, stopping: Stopping) {
        let pause = Duration::from_millis(self.settings.recovery_interval_ms);
        let mut rotated_at: Option<Instant> = None;
        for round in 0_u64.. {
            let late = rotated_at.is_none_or(|at| at.elapsed() >= ROTATION_WITHIN);
            let rotate = late || round.is_multiple_of(ROUNDS_PER_ROTATION);
            if rotate {
                rotated_at = Some(Instant::now());
            }
            tokio::select! {
                () = self.round(rotate) => {}
                () = stopping.wait() => return,
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = stopping.wait() => return,
            }
        }
    }

    async fn round(&self, rotate: bool) {
        let work = |id: Id| async move {
            let span = info_span!("recovery", jackpot_id = %id);
            if let Err(error) = self.jackpot(&id, rotate).instrument(span.clone()).await {
                // Logged in every tenth round, because a frozen node or a suspended jackpot lasts.
                span.in_scope(|| match error {
                    PlayError::Script(ScriptError::Unknown) => {}
                    error if rotate => warn!(%error, "recovery skipped this jackpot in this round"),
                    error => debug!(%error, "recovery skipped this jackpot in this round"),
                });
            }
        };
        let all = self.operate.views.registry.all(rotate).await;
        stream::iter(all).for_each_concurrent(AT_ONCE, work).await;
    }

    async fn jackpot(&self, id: &Id, rotate: bool) -> Result<(), PlayError> {
        let (known, _) = self.play.views.view(id).await?;
        self.metrics.pending(id, self.count(&known.keys.pending).await?);
        let mut after = Some(0);
        while let Some(from) = after {
            let age = self.settings.recovery_after_ms;
            let found = scripts::pending(&self.store, &known.keys, known.mark(), (from, age, BATCH)).await;
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
                    Err((entry_id, error)) if rotate => {
                        error!(entry_id, %error, "a pending entry could not be finished");
                    }
                    Err(_) | Ok(()) => {}
                }
            }
            after = found.last;
        }
        if rotate {
            self.rotate(id).await?;
        }
        Ok(())
    }

    async fn finish(&self, id: &Id, entry: PendingEntry) -> Result<(), (String, PlayError)> {
        let PendingEntry { entry_id, record } = entry;
        debug!(entry_id, "finishing a pending entry");
        let finished = self.play.finish_pending(id, &entry_id, record).await;
        finished.map_err(|error| (entry_id, error))
    }

    async fn rotate(&self, id: &Id) -> Result<(), PlayError> {
        match self.operate.rotate_by_retention(id, self.retention_s).await? {
            Some(Rotated::Opened(epoch)) => debug!(epoch, "dropped the older records and opened an epoch"),
            Some(Rotated::Pending) => warn!("the older records stay: an entry among them has no outcome yet"),
            Some(Rotated::Raised(_) | Rotated::Early { .. } | Rotated::Idle) | None => {}
        }
        Ok(())
    }

    async fn count(&self, pending: &str) -> Result<u64, PlayError> {
        let value = self.store.run(&redis::cmd("ZCARD").arg(pending).to_owned()).await?;
        let reply = |error: redis::ParsingError| ScriptError::Reply {
            script: "ZCARD",
            reply: error.to_string(),
        };
        Ok(redis::from_redis_value(value).map_err(reply)?)
    }
}

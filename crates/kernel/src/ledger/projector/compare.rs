//! Compares Redis with the ledger now and then, for every stream that this instance reads.

use std::ops::Bound;
use std::time::{Duration, Instant};

use futures_util::{StreamExt, stream as futures};
use jackpot_core::ids::Id;
use tracing::{debug, error, info};

use super::stream::{Stream, is_damage};
use super::{AT_ONCE, Projector};
use crate::ledger::kind::{Folded, Kind, Verdict};
use crate::ledger::reconcile::report::{Report, StateRow};
use crate::ledger::reconcile::store;
use crate::operator::Operator;
use crate::subject::MaybeScript;

impl<K: Kind> Projector<K> {
    /// Compares idle streams as they stand. Appends a checkpoint to busy streams: they are compared when it is
    /// applied. Returns whether a checkpoint was appended.
    pub(super) async fn reconcile(&mut self) -> Result<bool, sqlx::Error> {
        let kind = &self.kind.clone();
        let turn = self.turns();
        let (same, turn) = self.same(turn).await;
        if !same.is_empty() {
            self.save_same(&same).await?;
        }
        let looks = turn.into_iter().map(|(id, sum)| async move {
            let redis = kind.look(&id).await;
            (id, sum, redis)
        });
        let looks: Vec<_> = futures::iter(looks).buffer_unordered(AT_ONCE).collect().await;
        let (mut compared, mut busy) = (Vec::new(), Vec::new());
        for (id, sum, redis) in looks {
            let Some(stream) = self.streams.get(&id) else {
                continue;
            };
            let n = stream.cursor.n;
            match redis {
                Ok(redis) if redis.mark == stream.mark() => {
                    let report = K::compare(&redis.side, &stream.books);
                    let report = K::count(&self.ledger.sql, &id, n, report).await?;
                    self.agreed(&id, sum, &report);
                    compared.push((id, (n, redis.now_ms), report));
                }
                Ok(_) => busy.push(id),
                Err(error) if error.script().is_some_and(is_damage) => {
                    compared.push((id, (n, stream.books.at_ms()), unreadable(error.to_string())));
                }
                Err(error) => debug!(what = K::NAME.as_str(), %id, %error, "not reconciled: Redis could not be read"),
            }
        }
        if !compared.is_empty() {
            self.ledger.sql.writing(self.save(&compared)).await?;
        }
        for (id, (n, _), report) in &compared {
            self.judge(id, *n, report).await;
        }
        let checkpoints = busy.into_iter().map(|id| async move {
            let put = kind.checkpoint(&id).await;
            put.inspect_err(|error| debug!(what = K::NAME.as_str(), %id, %error, "no checkpoint was written; the next round tries again"))
        });
        let put: Vec<_> = futures::iter(checkpoints).buffer_unordered(AT_ONCE).collect().await;
        Ok(put.iter().any(Result::is_ok))
    }

    /// The streams whose turn it is, once per interval. A sweep takes a share of them, so that thousands of idle ones
    /// do not hold up the events.
    fn turns(&mut self) -> Vec<Id> {
        let interval = self.settings.reconcile_interval_s;
        if self.reconciled_to.is_none() {
            let early = |at: Instant| at.elapsed() < Duration::from_secs(interval);
            if self.reconciled_at.is_some_and(early) {
                return Vec::new();
            }
            self.reconciled_at = Some(Instant::now());
        }
        let sweeps = usize::try_from(interval).unwrap_or(usize::MAX).max(1);
        let share = self.streams.len().div_ceil(sweeps).max(1);
        let from = self.reconciled_to.take().map_or(Bound::Unbounded, Bound::Excluded);
        let mut left = self.streams.range((from, Bound::Unbounded));
        let turn: Vec<_> = left.by_ref().take(share).collect();
        let last = turn.last().map(|(id, _)| (*id).clone());
        self.reconciled_to = last.filter(|_| left.next().is_some());
        let due = turn
            .into_iter()
            .filter(|(_, stream)| !stream.is_stopped() && stream.cursor.n > 0);
        due.map(|(id, _)| id.clone()).collect()
    }

    async fn save(&self, compared: &[(Id, (u64, i64), Report)]) -> Result<(), sqlx::Error> {
        let mut tx = self.ledger.sql.begin().await?;
        for (id, (n, at_ms), report) in compared {
            store::save(&mut tx, K::NAME, id, *n, *at_ms, report).await?;
        }
        tx.commit().await
    }

    /// Judges a committed checkpoint: what its comparison found, completed by the rows that were committed with it.
    pub(super) async fn judge_at(&self, id: &Id, n: u64, at_ms: i64, found: Report) {
        if !K::COUNTS {
            return self.judge(id, n, &found).await;
        }
        let report = match K::count(&self.ledger.sql, id, n, found).await {
            Ok(report) => report,
            Err(error) => {
                debug!(what = K::NAME.as_str(), %id, %error, "not reconciled: its rows could not be counted");
                return;
            }
        };
        let compared = [(id.clone(), (n, at_ms), report)];
        if let Err(error) = self.ledger.sql.writing(self.save(&compared)).await {
            debug!(what = K::NAME.as_str(), %id, %error, "the comparison was not stored; the next one will be");
        }
        let [(.., report)] = &compared;
        self.judge(id, n, report).await;
    }

    /// Suspends a subject on which Redis and the ledger do not agree. Opens one on which they agree again, where no
    /// operator does.
    async fn judge(&self, id: &Id, n: u64, report: &Report) {
        let stream = self.streams.get(id);
        if report.clean {
            let opens = |stream: &Stream<K>| !stream.is_stopped() && K::verdict(&stream.books) == Verdict::Opens;
            if stream.is_some_and(opens) {
                self.open(id, format!("Redis and the ledger agree at event {n}")).await;
            }
            return;
        }
        let faults = report.faults().join("; ");
        error!(what = K::NAME.as_str(), %id, event = n, faults, "Redis and the ledger do not agree");
        self.metrics.ledger.mismatch(K::NAME.as_str(), id);
        if !stream.is_some_and(|stream| stream.books.is_stopped()) {
            self.suspend(id, format!("Redis and the ledger do not agree at event {n}: {faults}"))
                .await;
        }
    }

    async fn open(&self, id: &Id, reason: String) {
        match self.kind.open(id, reason, &Operator::service()).await {
            Ok(()) => info!(what = K::NAME.as_str(), %id, "Redis and the ledger agree again; it is open"),
            Err(error) => {
                error!(what = K::NAME.as_str(), %id, %error, "it could not be opened again; the next comparison tries");
            }
        }
    }
}

/// The report for a subject that Redis has and no script can read: a pool is missing, or is no number.
fn unreadable(why: String) -> Report {
    let row = StateRow {
        name: "readable".to_owned(),
        redis: why,
        ledger: "yes".to_owned(),
        agrees: false,
    };
    Report {
        state: vec![row],
        ..Report::default()
    }
}

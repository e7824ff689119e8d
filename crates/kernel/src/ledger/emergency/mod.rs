//! The emergency stop of everything: [`Emergency`] keeps the last decision in Redis and in SQL, and makes all subjects
//! obey it.
//!
//! A decision is made once it is in Redis, or in SQL while the node of Redis is away; a worker copies it to the other
//! one. The worker of each instance makes all subjects obey, so it does not matter which instance took the request, or
//! whether it lives: `reach`. A subject obeys the decision with the highest order that has reached it.
//! docs/decisions/0050 gives the reasons.

mod decisions;
mod reach;

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join;
use jiff::Timestamp;
use thiserror::Error;
use tokio::sync::{Notify, watch};
use tokio::time::timeout;

use super::kinds::Kinds;
use crate::operator::Operator;
use crate::sql::Sql;
use crate::store::Store;
use crate::subject::ScriptError;
use crate::subject::emergency::{Decision, last_in_redis, next_order, write_in_redis};
use crate::subject::kinds::KindName;
use crate::telemetry::Metrics;

pub use decisions::{last, last_in_sql};
pub use reach::Progress;

/// Longest wait for SQL. A stop must not wait for a database that is away.
const SQL_LIMIT: Duration = Duration::from_millis(500);
/// Longest wait of a request until all subjects obey. 1,000 of them take some 0.2 s.
const PATIENCE: Duration = Duration::from_secs(2);
/// Most decisions of others that come between a look and a write.
const MAX_TRIES: usize = 16;

/// Why nothing was decided.
#[derive(Debug, Error)]
pub enum EmergencyError {
    /// Neither Redis nor SQL can be used.
    #[error("Redis: {redis}; the ledger: {sql}")]
    Unavailable { redis: ScriptError, sql: String },
    /// Others decided each time.
    #[error("other decisions came first, {MAX_TRIES} times")]
    Crowded,
}

/// What came of a request.
#[derive(Debug, Clone)]
pub struct Decided {
    /// The last decision; `None`: there was none, and nothing to start.
    pub last: Option<Arc<Decision>>,
    /// The subjects that do not obey it yet, as far as they are known.
    pub unreached: Vec<String>,
    /// Whether all obey.
    pub is_done: bool,
}

/// The emergency stop. All clones are one.
#[derive(Clone)]
pub struct Emergency {
    sql: Sql,
    store: Store,
    kinds: Kinds,
    metrics: Arc<Metrics>,
    last: Arc<watch::Sender<Option<Arc<Decision>>>>,
    progress: Arc<watch::Sender<Progress>>,
    bell: Arc<Notify>,
}

impl Emergency {
    pub fn new(sql: Sql, store: Store, kinds: Kinds, metrics: Arc<Metrics>) -> Self {
        Self {
            sql,
            store,
            kinds,
            metrics,
            last: Arc::new(watch::Sender::new(None)),
            progress: Arc::new(watch::Sender::new(Progress::default())),
            bell: Arc::default(),
        }
    }

    /// The last decision that this instance knows.
    pub fn known(&self) -> Option<Arc<Decision>> {
        self.last.borrow().clone()
    }

    /// The subjects that do not obey the last decision yet, as this instance knows.
    pub fn unreached(&self) -> usize {
        self.progress.borrow().left.len()
    }

    /// Their names, the first 1,000; `None`: all obey.
    pub(super) fn unreached_names(&self) -> Option<Vec<String>> {
        let order = self.known()?.order;
        let progress = self.progress.borrow();
        (!progress.is_done_with(order)).then(|| progress.names(order))
    }

    /// The last decision that Redis, SQL or this instance has. Copies it to where it is missing.
    ///
    /// # Errors
    /// Neither Redis nor SQL answers, and this instance knows none.
    pub async fn look(&self) -> Result<Option<Arc<Decision>>, EmergencyError> {
        let in_sql = async {
            let read = timeout(SQL_LIMIT, last_in_sql(&self.sql)).await;
            read.unwrap_or(Err(sqlx::Error::PoolTimedOut))
        };
        let (in_redis, in_sql) = join(last_in_redis(&self.store), in_sql).await;
        if let (Err(redis), Err(sql), None) = (&in_redis, &in_sql, self.known()) {
            return Err(EmergencyError::Unavailable {
                redis: redis.clone(),
                sql: sql.to_string(),
            });
        }
        for found in [in_redis.as_ref().ok(), in_sql.as_ref().ok()]
            .into_iter()
            .flatten()
            .flatten()
        {
            self.remember(found);
        }
        let Some(last) = self.known() else {
            return Ok(None);
        };
        let lacks = |found: &Option<Decision>| found.as_ref().is_none_or(|found| found.order < last.order);
        if in_redis.as_ref().is_ok_and(lacks)
            && let Err(error) = write_in_redis(&self.store, &last).await
        {
            tracing::warn!(%error, "Redis does not have the last decision about the emergency stop yet");
        }
        if in_sql.as_ref().is_ok_and(lacks) {
            self.write_in_sql(&last).await;
        }
        Ok(Some(last))
    }

    /// The same from Redis alone. `false`: Redis does not answer, or lacks what this instance knows.
    async fn glance(&self) -> bool {
        match last_in_redis(&self.store).await {
            Ok(Some(found)) => {
                self.remember(&found);
                self.known().is_none_or(|last| last.order == found.order)
            }
            Ok(None) => self.known().is_none(),
            Err(_) => false,
        }
    }

    fn remember(&self, found: &Decision) {
        let is_new = self.last.send_if_modified(|last| {
            let is_new = last.as_ref().is_none_or(|last| last.order < found.order);
            if is_new {
                *last = Some(Arc::new(found.clone()));
            }
            is_new
        });
        let Some(last) = self.known().filter(|_| is_new) else {
            return;
        };
        for kind in self.kinds.iter() {
            kind.obeys().remember(&last);
        }
        self.metrics.ledger.emergency(last.is_stop());
        let (who, request_id, reason) = (&last.who, &last.request_id, &last.reason);
        if last.is_stop() {
            tracing::warn!(order = last.order, who, request_id, reason, "emergency stop");
        } else {
            tracing::warn!(order = last.order, who, request_id, reason, "the emergency stop ended");
        }
    }

    async fn write_in_sql(&self, decision: &Decision) {
        let write = timeout(SQL_LIMIT, decisions::write_in_sql(&self.sql, decision)).await;
        if let Err(error) = write.unwrap_or(Err(sqlx::Error::PoolTimedOut)) {
            tracing::warn!(%error, "the ledger does not have the last decision about the emergency stop yet");
        }
    }

    /// Stops everything, or lets it take requests again, and waits until all subjects obey, for some time. A repeat
    /// decides nothing new, and waits again.
    ///
    /// # Errors
    /// Nothing was decided.
    pub async fn decide(&self, stops: bool, reason: &str, by: &Operator) -> Result<Decided, EmergencyError> {
        let last = self.last_after(stops, reason, by).await?;
        let Some(last) = last else {
            return Ok(Decided {
                last: None,
                unreached: Vec::new(),
                is_done: true,
            });
        };
        let mut progress = self.progress.subscribe();
        self.bell.notify_one();
        let ends = |progress: &Progress| progress.order > last.order || progress.is_done_with(last.order);
        // After a timeout, what was reached until then.
        let _ = timeout(PATIENCE, progress.wait_for(ends)).await;
        let reached = self.progress.borrow().clone();
        Ok(Decided {
            // A later decision of somebody else may hold by now.
            last: self.known(),
            unreached: reached.names(last.order),
            is_done: ends(&reached),
        })
    }

    /// The last decision after this request; `None`: everything takes requests, and always did.
    async fn last_after(
        &self,
        stops: bool,
        reason: &str,
        by: &Operator,
    ) -> Result<Option<Arc<Decision>>, EmergencyError> {
        for _ in 0..MAX_TRIES {
            let last = self.look().await?;
            let is_there = last.as_ref().map_or(!stops, |last| {
                last.is_stop() == stops && (!stops || last.reason == reason)
            });
            if is_there {
                return Ok(last);
            }
            let decision = Decision {
                order: next_order(last.map_or(0, |last| last.order), stops),
                reason: reason.to_owned(),
                at_ms: Timestamp::now().as_millisecond(),
                who: by.who.clone(),
                request_id: by.request_id.clone(),
            };
            match write_in_redis(&self.store, &decision).await {
                Ok(true) => {
                    self.remember(&decision);
                    self.write_in_sql(&decision).await;
                    return Ok(self.known());
                }
                Ok(false) => {}
                // Its node is away. It gets the decision from SQL when it is back.
                Err(redis) => match decisions::write_in_sql(&self.sql, &decision).await {
                    Ok(()) => self.remember(&decision),
                    Err(sql) => {
                        let sql = sql.to_string();
                        return Err(EmergencyError::Unavailable { redis, sql });
                    }
                },
            }
        }
        Err(EmergencyError::Crowded)
    }
}

impl std::fmt::Debug for Emergency {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Emergency")
            .field("last", &*self.last.borrow())
            .finish_non_exhaustive()
    }
}

/// A subject, as answers name it where all kinds are together.
fn name_of(subject: &(KindName, jackpot_core::ids::Id)) -> String {
    subject.0.subject(&subject.1)
}

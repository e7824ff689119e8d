//! Handles streams that can't go on: the projector stops each one, loudly, and leaves the others alone.

use futures_util::{StreamExt, stream as futures};
use jackpot_core::chain;
use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;
use jackpot_core::text::printable;
use sqlx::AssertSqlSafe;
use tracing::{debug, error, info, warn};

use super::load::last_event;
use super::stream::Stream;
use super::{AT_ONCE, Projector};
use crate::ledger::kind::Kind;
use crate::ledger::pair::Standing;
use crate::ledger::restore::Replace;
use crate::operator::Operator;
use crate::subject::{self, LedgerView, ScriptError, Subject, TailWish};

/// Longest reason kept in SQL and in the event of the suspension, in characters.
const MAX_REASON_CHARS: usize = 400;

impl<K: Kind> Projector<K> {
    /// Stops a stream and suspends its subject. An event can't be applied, or the stream is not the one that the
    /// ledger knows. Nothing is skipped.
    pub(super) async fn stop(&mut self, id: &Id, reason: &str) {
        let Some(stream) = self.streams.get(id) else {
            return;
        };
        match self.tell_stopped(id, reason, stream.token, !stream.is_stopped()).await {
            Ok(true) => _ = self.streams.get_mut(id).map(Stream::stop),
            // This instance was stalled, and its finding is out of date: the new holder has trimmed the stream
            // meanwhile.
            Ok(false) => self.drop_stream(id),
            Err(error) => {
                warn!(what = K::NAME.as_str(), %id, %error, "could not check whether this instance still projects this stream");
            }
        }
    }

    /// Resumes a stream. Redis holds SQL's last event and nothing more, so the cause, another Redis for a moment, is
    /// gone.
    pub(super) async fn goes_on(&mut self, id: &Id) {
        let Some(stream) = self.streams.get(id) else {
            return;
        };
        // Also a stream that another holder stopped.
        if !self.kind.registry().known(id).is_ledger_stopped() {
            return;
        }
        let sql = format!(
            "UPDATE streams SET stopped = '' WHERE kind = '{}' AND id = $1 AND lease_token = $2",
            K::NAME.as_str()
        );
        let update = sqlx::query(AssertSqlSafe(sql)).bind(id.as_str()).bind(stream.token);
        match self.ledger.sql.execute(update).await {
            Ok(0) => self.drop_stream(id),
            Ok(_) => {
                info!(what = K::NAME.as_str(), %id, "the ledger continues with this {}", K::NAME.as_str());
                _ = self.streams.get_mut(id).map(Stream::go_on);
                self.metrics.ledger.stopped(K::NAME.as_str(), id, false);
                let known = self.kind.registry().known(id);
                known.set_ledger_view(LedgerView {
                    stopped: String::new(),
                    ..known.ledger_view()
                });
            }
            Err(error) => {
                warn!(what = K::NAME.as_str(), %id, %error, "could not check whether this instance still projects this stream");
            }
        }
    }

    /// Reports why a stream stopped: in SQL, the log, the metrics and its status. Returns `false`, and does nothing
    /// else, when the lease with this token is over.
    pub(super) async fn tell_stopped(&self, id: &Id, reason: &str, token: i64, new: bool) -> Result<bool, sqlx::Error> {
        let short = printable(reason, MAX_REASON_CHARS);
        let sql = format!(
            "UPDATE streams SET stopped = $1 WHERE kind = '{}' AND id = $2 AND lease_token = $3",
            K::NAME.as_str()
        );
        let update = sqlx::query(AssertSqlSafe(sql))
            .bind(&short)
            .bind(id.as_str())
            .bind(token);
        if self.ledger.sql.execute(update).await? == 0 {
            return Ok(false);
        }
        if new {
            error!(what = K::NAME.as_str(), %id, reason, "the ledger can't continue with this {}; it is suspended", K::NAME.as_str());
        }
        self.metrics.ledger.stopped(K::NAME.as_str(), id, true);
        let known = self.kind.registry().known(id);
        known.set_ledger_view(LedgerView {
            stopped: short.clone(),
            ..known.ledger_view()
        });
        // Suspend it again at each look: the last attempt may have failed.
        self.suspend(id, format!("the ledger can't go on: {short}")).await;
        Ok(true)
    }

    /// Suspends a subject because Redis and the ledger do not agree.
    pub(super) async fn suspend(&self, id: &Id, reason: String) {
        if let Err(error) = self.kind.suspend(id, reason, &Operator::service()).await {
            error!(what = K::NAME.as_str(), %id, %error, "this {} could not be suspended", K::NAME.as_str());
        }
    }

    /// Rebuilds subjects of which Redis, now at these marks, has less than the ledger, or than this instance has
    /// seen. Several restores run concurrently, because each restore of a jackpot waits for the second that numbers
    /// its new epoch to pass. Returns whether one was rebuilt.
    pub(super) async fn rebuild(&mut self, lost: Vec<(Id, Mark)>) -> bool {
        let mut due = Vec::new();
        for (id, at) in lost {
            due.extend(self.may_rebuild(&id, at).await.map(|seen| (id, seen)));
        }
        if due.is_empty() {
            return false;
        }
        let this = &*self;
        let restores = due
            .into_iter()
            .map(|(id, seen)| async move { (this.rebuild_one(&id, seen).await, id) });
        let restores = futures::iter(restores).buffer_unordered(AT_ONCE).collect::<Vec<_>>();
        let done = self.leases.during(restores).await;
        for (_, id) in done.iter().filter(|(rebuilt, _)| !rebuilt) {
            // The events of subjects that were not rebuilt are not read for now.
            _ = self.streams.get_mut(id).map(Stream::rest);
        }
        done.iter().any(|(rebuilt, _)| *rebuilt)
    }

    /// Returns what this instance has seen of a lost subject, if it is to be rebuilt here.
    async fn may_rebuild(&mut self, id: &Id, at: Mark) -> Option<Mark> {
        let (ledger, token) = self.streams.get(id).map(|stream| (stream.mark(), stream.token))?;
        let known = self.kind.registry().known(id);
        let seen = known.mark();
        // From here on this instance does not use the subject.
        if !self.auto_restore {
            let _ = known.observe_loss::<()>(Err(ScriptError::Behind {
                at,
                known: seen.max(ledger),
            }));
            return None;
        }
        if known.lose(at) {
            warn!(what = K::NAME.as_str(), %id, redis = %at, ledger = %ledger, %seen, "Redis lost events of this {}; it is rebuilt from the ledger", K::NAME.as_str());
        }
        match self.leases.holds(id, token).await {
            Ok(true) => {}
            Ok(false) => {
                // This instance was stalled, or an operator restores the subject by hand.
                self.drop_stream(id);
                return None;
            }
            Err(error) => {
                error!(what = K::NAME.as_str(), %id, %error, "this {} could not be rebuilt; the service tries again", K::NAME.as_str());
                return None;
            }
        }
        // A Redis that lost everything lost its name too. A Redis that now belongs to another store is left alone.
        match self.ledger.still_ours(&self.store).await {
            Ok(Standing::Ours) => {}
            Ok(Standing::Taken(cause) | Standing::Foreign(cause)) => {
                error!(what = K::NAME.as_str(), %id, cause, "this {} is not rebuilt here", K::NAME.as_str());
                return None;
            }
            Err(error) => {
                error!(what = K::NAME.as_str(), %id, %error, "this {} is not rebuilt here", K::NAME.as_str());
                return None;
            }
        }
        Some(seen)
    }

    async fn rebuild_one(&self, id: &Id, seen: Mark) -> bool {
        let reason = format!("Redis had lost events of this {}", K::NAME.as_str());
        match self
            .kind
            .restore(&self.restorer, id, Replace::Seen(seen), &Operator::service(), &reason)
            .await
        {
            Ok(done) => {
                warn!(what = K::NAME.as_str(), %id, records = done.records, redis = %done.mark, "this {} is rebuilt from the ledger", K::NAME.as_str());
                self.metrics.ledger.restored(K::NAME.as_str(), id);
                self.after_restore(id, done.mark).await;
                true
            }
            Err(error) => {
                error!(what = K::NAME.as_str(), %id, %error, "this {} could not be rebuilt; the service tries again", K::NAME.as_str());
                false
            }
        }
    }

    async fn after_restore(&self, id: &Id, mark: Mark) {
        self.kind.registry().observe(id, mark);
        if let Err(error) = self.kind.registry().add_to_index(std::slice::from_ref(id)).await {
            warn!(what = K::NAME.as_str(), %id, %error, "not in the index yet; recovery adds it");
        }
        self.look_again(id).await;
    }

    /// Uses a lost subject again: it was restored, or Redis came back with all that SQL has.
    pub(super) async fn look_again(&self, id: &Id) {
        if !self.kind.registry().known(id).is_lost() {
            return;
        }
        let whole = match self.kind.registry().recheck(id).await {
            Ok(false) => self.is_whole_again(id).await,
            Ok(true) => Ok(()),
            Err(error) => Err(error.to_string()),
        };
        if let Err(error) = whole {
            debug!(what = K::NAME.as_str(), %id, error, "it was lost and can't be read; the next round tries again");
        }
    }

    /// Checks whether Redis is itself again, after it was briefly another one, an empty or an older one. It must hold
    /// SQL's last event, by number and content, and SQL must have all that this instance has seen.
    async fn is_whole_again(&self, id: &Id) -> Result<(), String> {
        let known = self.kind.registry().known(id);
        let (seen, Some(lost_at)) = (known.mark(), known.lost_at()) else {
            return Ok(());
        };
        let last = last_event(&self.ledger.sql, K::NAME, id).await;
        let Some(last) = last
            .map_err(|error| error.to_string())?
            .filter(|last| last.mark >= seen)
        else {
            return Ok(());
        };
        let wish = TailWish {
            after: Some(last.previous_stream_id.as_str()).filter(|id| !id.is_empty()),
            max_events: 1,
            max_bytes: 1,
            trim_before: None,
        };
        let tail = match subject::tail(&self.store, known.stream(), last.mark, &wish).await {
            Ok(tail) => tail,
            // It still lacks events.
            Err(ScriptError::Behind { .. } | ScriptError::Unknown | ScriptError::Restoring) => return Ok(()),
            Err(error) => return Err(error.to_string()),
        };
        let holds =
            |(stream_id, fields): &(String, _)| *stream_id == last.stream_id && chain::body(fields) == last.body;
        let is_it = tail.mark.restores() == last.mark.restores() && tail.events.first().is_some_and(holds);
        if is_it && self.kind.registry().is_whole(id, lost_at, last.mark) {
            info!(what = K::NAME.as_str(), %id, n = last.mark.n(), "Redis has the last event of SQL again; requests are no longer refused");
        }
        Ok(())
    }
}

//! What the projector does when a stream can't go on: it stops that one, loudly, and leaves the others alone.

use sqlx::AssertSqlSafe;
use tracing::{debug, error, warn};

use super::Projector;
use super::kind::Kind;
use super::stream::Stream;
use crate::ids::Id;
use crate::jackpot::operate::Operator;
use crate::stream::{Mark, ScriptError};
use crate::text::printable;

/// Longest reason kept in SQL and in the event of the suspension, in characters.
const MAX_REASON_CHARS: usize = 400;

impl<K: Kind> Projector<K> {
    /// An event can't be applied, or the stream is not the one that the ledger knows: nothing is skipped, and it is
    /// suspended.
    pub(super) async fn stop(&mut self, id: &Id, reason: &str) {
        let Some(stream) = self.streams.get(id) else {
            return;
        };
        match self.tell_stopped(id, reason, stream.token, !stream.is_stopped()).await {
            Ok(true) => _ = self.streams.get_mut(id).map(Stream::stop),
            // It was stalled, and what it has seen is no news: the other one has trimmed the stream meanwhile.
            Ok(false) => self.drop_stream(id),
            Err(error) => warn!(what = K::TABLES.what, %id, %error, "not known whether this stream is still read here"),
        }
    }

    /// Says why a stream stopped: in SQL, the log, the metrics and its status. `false` and nothing else when
    /// the lease with this token is over.
    pub(super) async fn tell_stopped(&self, id: &Id, reason: &str, token: i64, new: bool) -> Result<bool, sqlx::Error> {
        let short = printable(reason, MAX_REASON_CHARS);
        let sql = format!(
            "UPDATE {} SET stopped = $1 WHERE {} = $2 AND lease_token = $3",
            K::TABLES.heads,
            K::TABLES.id
        );
        let update = sqlx::query(AssertSqlSafe(sql))
            .bind(&short)
            .bind(id.as_str())
            .bind(token)
            .execute(self.ledger.sql.writer());
        if self.ledger.sql.writing(update).await?.rows_affected() == 0 {
            return Ok(false);
        }
        if new {
            error!(what = K::TABLES.what, %id, reason, "the ledger can't go on with this {}; it is suspended", K::TABLES.what);
        }
        self.metrics.ledger.stopped(K::TABLES.what, id, true);
        // Again at each look: it may have failed before.
        self.suspend(id, format!("the ledger can't go on: {short}")).await;
        Ok(true)
    }

    /// Stops play: Redis and the ledger do not agree.
    pub(super) async fn suspend(&self, id: &Id, reason: String) {
        if let Err(error) = self.kind.suspend(id, reason, &service()).await {
            error!(what = K::TABLES.what, %id, %error, "this {} could not be suspended", K::TABLES.what);
        }
    }

    /// Redis, now at `at`, has less than the ledger, or than this instance has seen. Whether it is rebuilt now.
    pub(super) async fn lost(&mut self, id: &Id, at: Mark) -> bool {
        let Some((ledger, token)) = self.streams.get(id).map(|stream| (stream.mark(), stream.token)) else {
            return false;
        };
        let known = self.kind.registry().known(id);
        let seen = known.mark();
        // From here on this instance does not play it.
        if !self.auto_restore {
            let _ = known.note::<()>(Err(ScriptError::Behind {
                at,
                known: seen.max(ledger),
            }));
            return false;
        }
        if known.lose() {
            warn!(what = K::TABLES.what, %id, redis = %at, ledger = %ledger, %seen, "Redis lost events of this {}; it is rebuilt from the ledger", K::TABLES.what);
        }
        match self.leases.holds(id, token).await {
            Ok(true) => {}
            Ok(false) => {
                // It was stalled, or somebody restores it by hand.
                self.drop_stream(id);
                return false;
            }
            Err(error) => {
                error!(what = K::TABLES.what, %id, %error, "this {} could not be rebuilt; it is tried again", K::TABLES.what);
                return false;
            }
        }
        // A Redis that lost all lost this too; and one that belongs to another ledger by now is left alone.
        if let Err(error) = self.ledger.claim(&self.store).await {
            error!(what = K::TABLES.what, %id, %error, "this {} is not rebuilt here", K::TABLES.what);
            return false;
        }
        let reason = format!("Redis had lost events of this {}", K::TABLES.what);
        let by = service();
        let restore = self.kind.restore(&self.restorer, id, seen, &by, &reason);
        match self.leases.during(restore).await {
            Ok(done) => {
                warn!(what = K::TABLES.what, %id, records = done.records, redis = %done.mark, "this {} is rebuilt from the ledger", K::TABLES.what);
                self.metrics.ledger.restored(K::TABLES.what, id);
                self.after_restore(id, done.mark).await;
                true
            }
            Err(error) => {
                error!(what = K::TABLES.what, %id, %error, "this {} could not be rebuilt; it is tried again", K::TABLES.what);
                // The others' events are not read meanwhile.
                _ = self.streams.get_mut(id).map(Stream::rest);
                false
            }
        }
    }

    async fn after_restore(&self, id: &Id, mark: Mark) {
        self.kind.registry().learn(id, mark);
        if let Err(error) = self.kind.registry().add_to_index(std::slice::from_ref(id)).await {
            warn!(what = K::TABLES.what, %id, %error, "not in the index yet; recovery adds it");
        }
        self.look_again(id).await;
    }

    /// Works with one again that was lost and has been restored since, by whomever.
    pub(super) async fn look_again(&self, id: &Id) {
        if !self.kind.registry().known(id).is_lost() {
            return;
        }
        if let Err(error) = self.kind.registry().recheck(id).await {
            debug!(what = K::TABLES.what, %id, %error, "it was lost and can't be read; the next look at it may");
        }
    }
}

/// Who acts when no operator does.
pub(super) fn service() -> Operator {
    Operator {
        who: "service".to_owned(),
        request_id: String::new(),
    }
}

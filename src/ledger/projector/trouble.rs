//! What the projector does when a stream can't go on: it stops that one, loudly, and leaves the others alone.

use tracing::{debug, error, warn};

use super::Projector;
use super::stream::Stream;
use crate::ids::Id;
use crate::jackpot::operate::Operator;
use crate::jackpot::scripts::ScriptError;
use crate::jackpot::view::Status;
use crate::ledger::restore::Replace;
use crate::stream::Mark;

/// Longest reason kept in SQL and in the event of the suspension, in characters.
const MAX_REASON_CHARS: usize = 400;

impl Projector {
    /// An event can't be applied, or the stream is not the one that the ledger knows: nothing is skipped, the jackpot
    /// is suspended.
    pub(super) async fn stop(&mut self, id: &Id, reason: &str) {
        let Some(stream) = self.streams.get(id) else {
            return;
        };
        match self.tell_stopped(id, reason, stream.token, !stream.is_stopped()).await {
            Ok(true) => _ = self.streams.get_mut(id).map(Stream::stop),
            // It was stalled, and what it has seen is no news: the other one has trimmed the stream meanwhile.
            Ok(false) => self.drop_stream(id),
            Err(error) => warn!(jackpot_id = %id, %error, "not known whether this stream is still read here"),
        }
    }

    /// Says why a stream stopped: in SQL, the log, the metrics and the jackpot's status. `false` and nothing else when
    /// the lease with this token is over.
    pub(super) async fn tell_stopped(&self, id: &Id, reason: &str, token: i64, new: bool) -> Result<bool, sqlx::Error> {
        let short: String = reason.chars().take(MAX_REASON_CHARS).collect();
        let sql = "UPDATE jackpots SET stopped = $1 WHERE jackpot_id = $2 AND lease_token = $3";
        let update = sqlx::query(sql)
            .bind(&short)
            .bind(id.as_str())
            .bind(token)
            .execute(self.ledger.sql.writer());
        if self.ledger.sql.writing(update).await?.rows_affected() == 0 {
            return Ok(false);
        }
        if new {
            error!(jackpot_id = %id, reason, "the ledger can't go on with this jackpot; it is suspended");
        }
        self.metrics.ledger.stopped(id.as_str(), true);
        // Again at each look: it may have failed before.
        self.suspend(id, format!("the ledger can't go on: {short}")).await;
        Ok(true)
    }

    /// Stops play: Redis and the ledger do not agree.
    pub(super) async fn suspend(&self, id: &Id, reason: String) {
        if let Err(error) = self.operate.set_status(id, Status::Suspended, reason, &service()).await {
            error!(jackpot_id = %id, %error, "this jackpot could not be suspended");
        }
    }

    /// Redis has less than the ledger, or than this instance has seen. Whether it is rebuilt now.
    pub(super) async fn lost(&mut self, id: &Id) -> bool {
        let Some((at, token)) = self.streams.get(id).map(|stream| (stream.mark(), stream.token)) else {
            return false;
        };
        let known = self.operate.views.known(id);
        let seen = known.mark();
        // From here on no instance that knows more plays it.
        let _ = known.note::<()>(Err(ScriptError::Behind { at, known: seen }));
        if !self.auto_restore {
            return false;
        }
        match self.leases.holds(id, token).await {
            Ok(true) => {}
            Ok(false) => {
                // It was stalled, or somebody restores this jackpot by hand.
                self.drop_stream(id);
                return false;
            }
            Err(error) => {
                error!(jackpot_id = %id, %error, "this jackpot could not be rebuilt; it is tried again");
                return false;
            }
        }
        // A Redis that lost all lost this too; and one that belongs to another ledger by now is left alone.
        if let Err(error) = self.ledger.claim(&self.store).await {
            error!(jackpot_id = %id, %error, "this jackpot is not rebuilt here");
            return false;
        }
        let reason = "Redis had lost events of this jackpot";
        let by = service();
        let restore = self.restorer.restore(id, Replace::Seen(seen), &by, reason);
        match self.leases.during(restore).await {
            Ok(done) => {
                warn!(jackpot_id = %id, records = done.records, n = done.mark.n(), "Redis had lost this jackpot; it is rebuilt from the ledger");
                self.metrics.ledger.restored(id.as_str());
                self.after_restore(id, done.mark).await;
                true
            }
            Err(error) => {
                error!(jackpot_id = %id, %error, "this jackpot could not be rebuilt; it is tried again");
                // The others' events are not read meanwhile.
                _ = self.streams.get_mut(id).map(Stream::rest);
                false
            }
        }
    }

    async fn after_restore(&self, id: &Id, mark: Mark) {
        self.operate.views.learn(id, mark);
        if let Err(error) = self.operate.add_to_index(std::slice::from_ref(id)).await {
            warn!(jackpot_id = %id, %error, "not in the index of jackpots yet; recovery adds it");
        }
        self.look_again(id).await;
    }

    /// Plays a jackpot again that was lost and has been restored since, by whomever.
    pub(super) async fn look_again(&self, id: &Id) {
        let views = &self.operate.views;
        if !views.known(id).is_lost() {
            return;
        }
        if let Err(error) = views.recheck(id).await {
            debug!(jackpot_id = %id, %error, "a lost jackpot can't be read; the next look at it may");
        }
    }
}

/// Who acts when no operator does.
fn service() -> Operator {
    Operator {
        who: "service".to_owned(),
        request_id: String::new(),
    }
}

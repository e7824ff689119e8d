//! The one writer of cursors of an instance: it takes what all its streams have reached, and commits it at once.

use std::collections::BTreeMap;
use std::mem::take;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tracing::{debug, warn};

use super::place::{Cursor, Key, Place};
use jackpot_kernel::sql::{Sql, cells, update};

/// Between two commits: each takes the disk from the players for a moment. A kill repeats what a target took within it.
const PAUSE: Duration = Duration::from_millis(20);
/// Between two tries after SQL failed.
const AFTER_FAILURE: Duration = Duration::from_millis(500);

/// Cursors that are to be written.
#[derive(Debug, Default)]
pub struct Cursors {
    dirty: Mutex<BTreeMap<Key, Arc<Place>>>,
    notify: Notify,
    /// Something that is written without a pause has changed.
    urgent: Notify,
    /// One commit at a time.
    writing: tokio::sync::Mutex<()>,
}

impl Cursors {
    /// The cursor of this place has changed.
    pub fn changed(&self, place: &Arc<Place>) {
        if place.is_lost() {
            return;
        }
        let mut dirty = self.dirty.lock().unwrap_or_else(PoisonError::into_inner);
        let before = dirty.insert(place.key.clone(), Arc::clone(place));
        drop(dirty);
        if before.is_none() {
            self.notify.notify_one();
        }
    }

    /// The same after a failure. It is written without a pause: failures are rare, and operators should see them at once.
    pub fn failed(&self, place: &Arc<Place>) {
        self.changed(place);
        self.urgent.notify_one();
    }

    /// Writes without end.
    pub async fn write(&self, sql: &Sql) {
        self.write_every(sql, PAUSE).await;
    }

    async fn write_every(&self, sql: &Sql, pause: Duration) {
        loop {
            self.notify.notified().await;
            while !self.flush(sql).await {
                tokio::time::sleep(AFTER_FAILURE).await;
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.urgent.notified() => {}
            }
        }
    }

    /// Writes what is there, after a commit that is under way. Returns whether all is in SQL.
    pub async fn flush(&self, sql: &Sql) -> bool {
        let _turn = self.writing.lock().await;
        let all = take(&mut *self.dirty.lock().unwrap_or_else(PoisonError::into_inner));
        let all: Vec<_> = all.into_values().filter(|place| !place.is_lost()).collect();
        let all: Vec<(Arc<Place>, Cursor)> = all
            .into_iter()
            .map(|place| (Arc::clone(&place), place.cursor()))
            .collect();
        if all.is_empty() {
            return true;
        }
        match write(sql, &all).await {
            Ok(lost) => {
                for (place, cursor) in &all {
                    if lost.contains(&place.key) {
                        debug!(subscription = %place.key.subscription, kind = %place.key.kind, id = %place.key.id,
                            "another instance delivers this subject now, or its cursor was moved");
                        place.lose();
                    } else {
                        place.wrote(cursor);
                    }
                }
                true
            }
            Err(error) => {
                warn!(%error, "cursors of subscriptions were not written");
                let mut dirty = self.dirty.lock().unwrap_or_else(PoisonError::into_inner);
                for (place, _) in all {
                    dirty.entry(place.key.clone()).or_insert(place);
                }
                false
            }
        }
    }
}

/// Writes cursors whose tokens are in force. Returns the others.
async fn write(sql: &Sql, all: &[(Arc<Place>, Cursor)]) -> Result<Vec<Key>, sqlx::Error> {
    let rows = all.iter().map(|(place, cursor)| {
        cells! {
            subscription_id: &place.key.subscription,
            kind: place.key.kind.as_str(),
            id: &place.key.id,
            token: place.token,
            n: cursor.n,
            i: cursor.i,
            tries: cursor.tries,
            wait_ms: cursor.wait_ms,
            last_error: &cursor.last_error,
        }
    });
    let now = sql.now_ms();
    let set = format!(
        "n = given.n, i = given.i, tries = given.tries, last_error = given.last_error, \
         failing_ms = CASE WHEN given.tries = 0 THEN 0 WHEN subscription_streams.failing_ms > 0 \
         THEN subscription_streams.failing_ms ELSE {now} END, \
         next_try_ms = CASE WHEN given.tries = 0 THEN 0 ELSE {now} + given.wait_ms END"
    );
    let is_it = |table: &str| {
        format!(
            "{table}.subscription_id = given.subscription_id AND {table}.kind = given.kind AND {table}.id = given.id \
             AND {table}.token = given.token"
        )
    };
    let which = is_it("subscription_streams");
    let work = async {
        let mut tx = sql.begin_hasty().await?;
        let moved = update(&mut tx, "subscription_streams", &set, &which, rows).await?;
        let mut lost = Vec::new();
        if moved != all.len() as u64 {
            for (place, _) in all {
                let text =
                    "SELECT token FROM subscription_streams WHERE subscription_id = $1 AND kind = $2 AND id = $3";
                let token: Option<i64> = sqlx::query_scalar(text)
                    .bind(place.key.subscription.as_str())
                    .bind(place.key.kind.as_str())
                    .bind(place.key.id.as_str())
                    .fetch_optional(&mut *tx)
                    .await?;
                if token != Some(place.token) {
                    lost.push(place.key.clone());
                }
            }
        }
        tx.commit().await?;
        Ok(lost)
    };
    sql.writing(work).await
}

#[cfg(test)]
mod tests {
    use jackpot_core::ids::Id;
    use tokio::time::timeout;

    use super::super::store::StreamRow;
    use super::*;
    use jackpot_kernel::settings::Settings;
    use jackpot_kernel::subject::kinds::JACKPOT;

    /// Of a subscription that is not in SQL: a write finds it lost.
    fn place() -> Arc<Place> {
        let id = Id::parse("spring").expect("an id");
        let row = StreamRow {
            kind: JACKPOT,
            id: id.clone(),
            n: 1,
            i: 0,
            token: 1,
            tries: 0,
            failing_ms: 0,
            next_try_ms: 0,
            last_error: String::new(),
        };
        Arc::new(Place::of(&id, &row))
    }

    #[tokio::test]
    async fn a_failure_is_written_without_a_pause() {
        let data = tempfile::tempdir().expect("a directory");
        let settings = Settings::load(None).expect("the defaults");
        let sql = Sql::open(&settings.ledger, data.path()).await.expect("a database");
        let (cursors, day) = (Cursors::default(), Duration::from_hours(24));
        let written = async |place: &Place| {
            while !place.is_lost() {
                tokio::task::yield_now().await;
            }
        };
        let look = async {
            let first = place();
            cursors.changed(&first);
            written(&first).await;
            let (delivered, failed) = (place(), place());
            cursors.changed(&delivered);
            cursors.failed(&failed);
            written(&failed).await;
        };
        let done = timeout(Duration::from_secs(30), async {
            tokio::select! {
                () = cursors.write_every(&sql, day) => {}
                () = look => {}
            }
        });
        done.await.expect("in SQL long before the pause ends");
    }
}

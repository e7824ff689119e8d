//! Reads the events after a batch while it is being committed, so that Redis and the database work concurrently.
//!
//! These events count only if the cursor then stands where they were read from. After a failed commit they are
//! dropped, and read again.

use std::sync::Arc;

use futures_util::{StreamExt, stream as futures};
use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;
use tracing::debug;

use super::batch::Batch;
use super::rows::Raw;
use super::stream::{MAX_BYTES, MAX_EVENTS};
use super::{AT_ONCE, Projector};
use crate::ledger::kind::Kind;
use crate::store::Store;
use crate::subject::{self, Subject, TailWish};

impl<K: Kind> Projector<K> {
    /// What to read while this batch is committed.
    pub(super) fn look_ahead(&mut self, batch: &Batch<K>) -> Option<Look<K>> {
        let stream = self.streams.get_mut(&batch.id)?;
        if batch.stop.is_some() || !stream.goes_on_behind(&batch.to) {
            return None;
        }
        Some(Look {
            id: batch.id.clone(),
            known: self.kind.registry().known(&batch.id),
            mark: stream.mark(),
            after: batch.to.stream_id.clone(),
            trim_before: stream.trim_before(self.settings.trim_margin_events),
        })
    }

    /// Keeps what was read, after the commit.
    pub(super) fn keep_ahead(&mut self, ahead: Vec<Ahead>) {
        for ahead in ahead {
            if let Some(stream) = self.streams.get_mut(&ahead.id) {
                stream.keep(ahead);
            }
        }
    }
}

/// A look at one stream.
pub(super) struct Look<K: Kind> {
    pub(super) id: Id,
    pub(super) known: Arc<K::Known>,
    /// The ledger's mark: a Redis with a smaller one is not read.
    pub(super) mark: Mark,
    /// Where the batch ends.
    pub(super) after: String,
    pub(super) trim_before: Option<String>,
}

/// Events after a place that the cursor has not reached yet.
#[derive(Debug)]
pub(super) struct Ahead {
    pub(super) id: Id,
    /// Stream id of that place.
    pub(super) after: String,
    /// Number of the last event in Redis.
    pub(super) last_n: u64,
    pub(super) events: Vec<Raw>,
}

/// Reads what can be read. The next round retries the rest, and reports the reason.
pub(super) async fn read<K: Kind>(store: &Store, looks: Vec<Look<K>>) -> Vec<Ahead> {
    let reads = looks.into_iter().map(|look| one(store, look));
    let reads: Vec<_> = futures::iter(reads).buffer_unordered(AT_ONCE).collect().await;
    reads.into_iter().flatten().collect()
}

async fn one<K: Kind>(store: &Store, look: Look<K>) -> Option<Ahead> {
    let wish = TailWish {
        after: Some(&look.after),
        max_events: MAX_EVENTS,
        max_bytes: MAX_BYTES,
        trim_before: look.trim_before.as_deref(),
    };
    match subject::tail(store, look.known.stream(), look.mark, &wish).await {
        Ok(tail) if tail.events.is_empty() => None,
        Ok(tail) => Some(Ahead {
            last_n: tail.mark.n(),
            events: tail.events.into_iter().map(Raw::from).collect(),
            id: look.id,
            after: look.after,
        }),
        Err(error) => {
            debug!(what = K::NAME.as_str(), id = %look.id, %error, "could not read ahead");
            None
        }
    }
}

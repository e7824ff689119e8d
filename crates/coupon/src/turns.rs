//! Notifies waiting requests when their turn has passed. It reads the head of each queue once for all requests that
//! wait here.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jackpot_core::ids::Id;
use tokio::sync::watch;
use tokio::time::sleep;
use tracing::debug;

use super::known::Known;
use jackpot_kernel::store::Store;
use jackpot_kernel::subject::ScriptError;

/// How often the head of a queue is read, and so the delay of an answer at most.
const READ_EVERY: Duration = Duration::from_millis(20);

/// The head of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Head {
    /// Not read yet.
    Unknown,
    /// The queue is empty.
    Nobody,
    /// The request with this arrival number.
    Arrival(u64),
}

impl Head {
    /// Whether a request has left the queue, by its turn or as a dead letter: it joined the queue, and all requests in
    /// it now came later.
    pub fn is_behind(self, arrival: u64) -> bool {
        match self {
            Self::Unknown => false,
            Self::Nobody => true,
            Self::Arrival(head) => head > arrival,
        }
    }
}

/// The heads of the queues in which requests wait.
#[derive(Debug)]
pub struct Turns {
    store: Store,
    heads: Mutex<HashMap<Id, watch::Receiver<Head>>>,
}

impl Turns {
    pub fn new(store: Store) -> Self {
        Self {
            store,
            heads: Mutex::default(),
        }
    }

    /// Watches the head of a coupon's queue from now on.
    pub fn watch(self: &Arc<Self>, id: &Id, known: &Arc<Known>) -> watch::Receiver<Head> {
        let mut heads = self.heads.lock().unwrap_or_else(PoisonError::into_inner);
        // A reader whose task has ended has dropped its sender.
        if let Some(head) = heads.get(id).filter(|head| head.has_changed().is_ok()) {
            return head.clone();
        }
        let (sender, head) = watch::channel(Head::Unknown);
        heads.insert(id.clone(), head.clone());
        tokio::spawn(Arc::clone(self).keep_reading(id.clone(), Arc::clone(known), sender));
        head
    }

    async fn keep_reading(self: Arc<Self>, id: Id, known: Arc<Known>, sender: watch::Sender<Head>) {
        loop {
            match self.read(&known).await {
                Ok(head) => {
                    sender.send_if_modified(|last| std::mem::replace(last, head) != head);
                }
                Err(error) => debug!(coupon_id = %id, %error, "the queue could not be read; its requests wait"),
            }
            sleep(READ_EVERY).await;
            let mut heads = self.heads.lock().unwrap_or_else(PoisonError::into_inner);
            // The map itself has one receiver.
            if sender.receiver_count() <= 1 {
                heads.remove(&id);
                return;
            }
        }
    }

    async fn read(&self, known: &Known) -> Result<Head, ScriptError> {
        let mut command = redis::cmd("ZRANGE");
        command.arg(&known.keys.queue).arg(0).arg(0).arg("WITHSCORES");
        let value = self.store.run(&command).await?;
        let unexpected = |error: redis::ParsingError| ScriptError::Reply {
            script: "ZRANGE",
            reply: error.to_string(),
        };
        let head: Vec<(String, u64)> = redis::from_redis_value(value).map_err(unexpected)?;
        Ok(head
            .first()
            .map_or(Head::Nobody, |(_, arrival)| Head::Arrival(*arrival)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_has_passed_when_all_in_the_line_came_later() {
        assert!(!Head::Unknown.is_behind(7));
        assert!(Head::Nobody.is_behind(7));
        assert!(Head::Arrival(8).is_behind(7));
        for waits in [Head::Arrival(7), Head::Arrival(6)] {
            assert!(!waits.is_behind(7), "{waits:?}");
        }
    }
}

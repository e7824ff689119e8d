//! Shared resources such as memory for large bodies: a limit for all, and a part of it for each key. A client that
//! stalls takes its key's part, and nothing from the others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Keys remembered before idle ones are dropped.
const MANY_KEYS: usize = 64;

/// Units for all callers. One key may have a part of them.
pub struct Budget {
    all: Arc<Semaphore>,
    each: usize,
    keys: Mutex<HashMap<Arc<str>, Arc<Semaphore>>>,
}

/// Units that a caller has until this is dropped.
#[derive(Debug)]
pub struct Share {
    _of_key: OwnedSemaphorePermit,
    _of_all: OwnedSemaphorePermit,
}

/// The limit that a caller reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Full {
    /// The limit of its own key.
    Key,
    /// The limit of all together.
    All,
}

impl Budget {
    /// `all` units, of which a key has at most `each`.
    pub fn new(all: usize, each: usize) -> Self {
        Self {
            all: Arc::new(Semaphore::new(all)),
            each,
            keys: Mutex::default(),
        }
    }

    /// Takes units for the key of this name, without waiting.
    pub fn take(&self, key: &Arc<str>, units: u32) -> Result<Share, Full> {
        let of_key = self.of(key).try_acquire_many_owned(units).map_err(|_| Full::Key)?;
        let of_all = Arc::clone(&self.all).try_acquire_many_owned(units);
        Ok(Share {
            _of_key: of_key,
            _of_all: of_all.map_err(|_| Full::All)?,
        })
    }

    /// The same, but waits, in the order of the calls, for at most this time for each of the two limits.
    pub async fn wait(&self, key: &Arc<str>, units: u32, most: Duration) -> Result<Share, Full> {
        // A caller that waits for its own key takes nothing from the others meanwhile.
        let of_key = timeout(most, self.of(key).acquire_many_owned(units)).await;
        let of_key = of_key.ok().and_then(Result::ok).ok_or(Full::Key)?;
        let of_all = timeout(most, Arc::clone(&self.all).acquire_many_owned(units)).await;
        Ok(Share {
            _of_key: of_key,
            _of_all: of_all.ok().and_then(Result::ok).ok_or(Full::All)?,
        })
    }

    /// The part of a key.
    fn of(&self, key: &Arc<str>) -> Arc<Semaphore> {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if keys.len() >= MANY_KEYS {
            // Each taken unit, and each waiting caller, holds its key's part.
            keys.retain(|_, part| Arc::strong_count(part) > 1);
        }
        let part = keys
            .entry(Arc::clone(key))
            .or_insert_with(|| Arc::new(Semaphore::new(self.each)));
        Arc::clone(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_key_takes_its_part_and_leaves_the_rest_to_others() {
        let budget = Budget::new(6, 4);
        let (one, other): (Arc<str>, Arc<str>) = ("one".into(), "other".into());
        let mut held: Vec<_> = (0..4).map(|_| budget.take(&one, 1).unwrap()).collect();
        assert_eq!(budget.take(&one, 1).unwrap_err(), Full::Key);
        assert_eq!(
            budget.wait(&one, 1, Duration::from_millis(1)).await.unwrap_err(),
            Full::Key
        );
        let others = budget.take(&other, 2).unwrap();
        assert_eq!(budget.take(&other, 1).unwrap_err(), Full::All);
        assert_eq!(
            budget.wait(&other, 1, Duration::from_millis(1)).await.unwrap_err(),
            Full::All
        );
        held.pop();
        // A refusal by the limit of all returned the key's part.
        held.push(budget.wait(&other, 1, Duration::from_secs(9)).await.unwrap());
        drop((held, others));
        assert!(budget.take(&one, 4).is_ok());
    }

    #[tokio::test]
    async fn a_waiting_caller_gets_what_another_gives_back() {
        let budget = Arc::new(Budget::new(1, 1));
        let key: Arc<str> = "one".into();
        let held = budget.take(&key, 1).unwrap();
        let waiting = {
            let (budget, key) = (Arc::clone(&budget), Arc::clone(&key));
            tokio::spawn(async move { budget.wait(&key, 1, Duration::from_secs(9)).await.map(drop) })
        };
        tokio::task::yield_now().await;
        drop(held);
        assert_eq!(waiting.await.unwrap(), Ok(()));
    }

    #[test]
    fn keys_that_have_nothing_out_are_forgotten() {
        let budget = Budget::new(1_000, 1);
        let key = |i: usize| Arc::from(format!("key-{i}"));
        let held = budget.take(&key(0), 1).unwrap();
        for i in 1..10 * MANY_KEYS {
            drop(budget.take(&key(i), 1).unwrap());
        }
        assert!(budget.keys.lock().unwrap().len() <= MANY_KEYS);
        assert_eq!(budget.take(&key(0), 1).unwrap_err(), Full::Key, "it still has its part");
        drop(held);
    }
}

//! Runs the long work of one request apart from the other requests of its worker thread.

use std::num::NonZeroUsize;
use std::sync::LazyLock;
use std::thread::available_parallelism;

use tokio::sync::Semaphore;

/// Batches of at most this many entries run where they are: some hundred microseconds, about the cost of waking another
/// thread.
const MAX_HERE: usize = 1_024;

/// Largest number of larger batches at work at once: one for each core. The others wait instead of taking the cores
/// from the threads that answer.
static AWAY: LazyLock<Semaphore> =
    LazyLock::new(|| Semaphore::new(available_parallelism().map_or(1, NonZeroUsize::get)));

/// Does the work for this many entries, on a thread of its own when there are many. `None` when the service stops.
pub(crate) async fn work<T: Send + 'static>(entries: usize, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    if entries <= MAX_HERE {
        return Some(work());
    }
    let _permit = AWAY.acquire().await.ok()?;
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => Some(done),
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(_) => None,
    }
}

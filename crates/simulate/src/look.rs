//! Looks that are repeated until the service has what a run waits for.

use std::time::{Duration, Instant};

/// Between two looks.
const EVERY: Duration = Duration::from_millis(200);
/// The ledger, a comparison or a published seed comes within this. The default interval of comparisons is 30 s.
const LIMIT: Duration = Duration::from_mins(1);

/// Looks until it is enough or late. Returns the last that it saw.
pub async fn until<T, E>(mut look: impl AsyncFnMut() -> Result<T, E>, is_enough: impl Fn(&T) -> bool) -> Result<T, E> {
    let started = Instant::now();
    loop {
        let seen = look().await?;
        if is_enough(&seen) || started.elapsed() > LIMIT {
            return Ok(seen);
        }
        tokio::time::sleep(EVERY).await;
    }
}

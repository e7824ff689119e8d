//! A shared value: one caller reads it for all callers that came before the read began.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep_until};

/// A value, and the time of its reading.
#[derive(Debug)]
pub struct Read<T> {
    /// When the reading began. The value includes everything that was done before.
    pub begun: Instant,
    pub value: T,
}

/// The value as last read.
#[derive(Debug)]
pub struct SingleFlight<T> {
    latest: ArcSwapOption<Read<T>>,
    reading: Mutex<()>,
}

impl<T> Default for SingleFlight<T> {
    fn default() -> Self {
        Self {
            latest: ArcSwapOption::empty(),
            reading: Mutex::default(),
        }
    }
}

impl<T> SingleFlight<T> {
    /// The latest value if it `is_good`, else one whose reading began after this call. Readings begin at least `pause`
    /// apart. If a reader is cancelled, the next caller reads.
    pub async fn get<F: Future<Output = T>>(
        &self,
        pause: Duration,
        is_good: impl Fn(&Read<T>) -> bool,
        read: impl FnOnce() -> F,
    ) -> Arc<Read<T>> {
        let came = Instant::now();
        if let Some(latest) = self.latest.load_full().filter(|latest| is_good(latest)) {
            return latest;
        }
        let _reading = self.reading.lock().await;
        let latest = self.latest.load_full();
        if let Some(latest) = latest {
            if latest.begun >= came || is_good(&latest) {
                return latest;
            }
            sleep_until(latest.begun + pause).await;
        }
        let begun = Instant::now();
        let value = read().await;
        let read = Arc::new(Read { begun, value });
        self.latest.store(Some(Arc::clone(&read)));
        read
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::sync::atomic::{AtomicU32, Ordering};

    use futures_util::future::join_all;
    use tokio::time::{sleep, timeout};

    use super::*;

    const PAUSE: Duration = Duration::from_millis(40);
    const READING: Duration = Duration::from_millis(10);

    #[derive(Default)]
    struct Source {
        flight: SingleFlight<u32>,
        readings: AtomicU32,
    }

    impl Source {
        async fn get(&self, is_good: impl Fn(&Read<u32>) -> bool) -> u32 {
            let read = || async {
                let nth = self.readings.fetch_add(1, Ordering::Relaxed) + 1;
                sleep(READING).await;
                nth
            };
            self.flight.get(PAUSE, is_good, read).await.value
        }
    }

    #[tokio::test]
    async fn a_good_value_is_not_read_again() {
        let source = Source::default();
        for _ in 0..5 {
            assert_eq!(source.get(|_| true).await, 1);
        }
        assert_eq!(source.get(|_| false).await, 2);
    }

    #[tokio::test]
    async fn those_who_come_together_share_a_reading_that_began_after_they_came() {
        let source = Source::default();
        let first = source.get(|_| false);
        // They come while the first one reads.
        let others = join_all((0..1_000).map(|_| source.get(|_| false)));
        let (first, others) = tokio::join!(first, others);
        assert_eq!(first, 1, "what began before one came is not its reading");
        assert!(others.iter().all(|value| *value == 2), "one reading for a thousand");
    }

    #[tokio::test]
    async fn readings_begin_a_pause_apart() {
        let (source, begun) = (Source::default(), Instant::now());
        for nth in 1..=5 {
            assert_eq!(source.get(|_| false).await, nth);
        }
        assert!(begun.elapsed() >= PAUSE * 4);
    }

    #[tokio::test]
    async fn a_reader_that_goes_away_leaves_the_reading_to_the_next() {
        let source = Source::default();
        let gone = source.flight.get(PAUSE, |_| false, pending);
        assert!(timeout(READING, gone).await.is_err());
        assert_eq!(source.get(|_| false).await, 1);
    }
}

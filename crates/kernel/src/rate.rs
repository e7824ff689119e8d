//! A rate with a burst: a bucket of tokens that refills evenly (GCRA, ITU-T I.371). One word of memory, no lock.

use std::num::NonZeroU32;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const NS_PER_S: u64 = 1_000_000_000;

/// A time of this process, in nanoseconds since its first look at the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(u64);

/// The first look at the clock.
static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);

impl Moment {
    /// Now, by the clock that never goes back.
    pub fn now() -> Self {
        Self::at(Instant::now())
    }

    /// The moment of a clock reading.
    pub fn at(instant: Instant) -> Self {
        // From one hour on: a new bucket is full since moment 0, and 0 stands for never.
        let since = u64::try_from(instant.saturating_duration_since(*BEGIN).as_nanos());
        Self(3600 * NS_PER_S + since.unwrap_or(u64::MAX / 2))
    }

    /// This long after the moment.
    #[must_use]
    pub fn plus(self, time: Duration) -> Self {
        let time = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX / 2);
        Self(self.0.saturating_add(time))
    }

    /// Since `earlier`; zero when that is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// As a number for an atomic; never 0.
    pub fn as_ns(self) -> u64 {
        self.0
    }

    /// The inverse of [`as_ns`](Self::as_ns).
    pub fn from_ns(ns: u64) -> Self {
        Self(ns)
    }
}

/// The rate and burst of a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    per_second: NonZeroU32,
    /// Time in which one token comes back.
    token_ns: u64,
    /// Time in which an empty bucket fills.
    full_ns: u64,
}

impl Rate {
    /// At most `per_second`, and `burst` at once (0: as many as `per_second`). `None` for the rate 0: no limit.
    pub fn new(per_second: u32, burst: u32) -> Option<Self> {
        let per_second = NonZeroU32::new(per_second)?;
        let burst = NonZeroU32::new(burst).unwrap_or(per_second);
        let token_ns = (NS_PER_S / u64::from(per_second.get())).max(1);
        Some(Self {
            per_second,
            token_ns,
            full_ns: token_ns * u64::from(burst.get()),
        })
    }

    /// Tokens that come back in a second.
    pub fn per_second(self) -> u32 {
        self.per_second.get()
    }
}

/// The rest of a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Left {
    /// Whole tokens.
    pub tokens: u64,
    /// Until it is full.
    pub full_in: Duration,
}

/// A bucket; full at first.
#[derive(Debug, Default)]
pub struct Bucket {
    /// When it will be full, or was.
    full_at: AtomicU64,
}

impl Bucket {
    /// Takes a token.
    ///
    /// # Errors
    /// The time until there is one.
    pub fn take(&self, rate: Rate, now: Moment) -> Result<Left, Duration> {
        let mut full_at = self.full_at.load(Ordering::Relaxed);
        loop {
            let then = full_at.max(now.0) + rate.token_ns;
            let missing = then - now.0;
            if missing > rate.full_ns {
                return Err(Duration::from_nanos(missing - rate.full_ns));
            }
            let swap = self
                .full_at
                .compare_exchange_weak(full_at, then, Ordering::Relaxed, Ordering::Relaxed);
            match swap {
                Ok(_) => return Ok(left(rate, missing)),
                Err(newer) => full_at = newer,
            }
        }
    }

    /// The rest, without taking a token.
    pub fn left(&self, rate: Rate, now: Moment) -> Left {
        let full_at = self.full_at.load(Ordering::Relaxed);
        left(rate, full_at.saturating_sub(now.0).min(rate.full_ns))
    }

    /// Whether the bucket is full, so that nothing is lost if it is dropped.
    pub fn is_full(&self, now: Moment) -> bool {
        self.full_at.load(Ordering::Relaxed) <= now.0
    }
}

fn left(rate: Rate, missing_ns: u64) -> Left {
    Left {
        tokens: (rate.full_ns - missing_ns) / rate.token_ns,
        full_in: Duration::from_nanos(missing_ns),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(per_second: u32, burst: u32) -> Rate {
        Rate::new(per_second, burst).expect("a rate")
    }

    #[test]
    fn a_burst_is_let_in_and_then_the_rate() {
        let (bucket, rate, begin) = (Bucket::default(), rate(10, 3), Moment::now());
        for left in [2, 1, 0] {
            assert_eq!(bucket.take(rate, begin).map(|left| left.tokens), Ok(left));
        }
        assert_eq!(bucket.take(rate, begin), Err(Duration::from_millis(100)));
        let later = begin.plus(Duration::from_millis(99));
        assert_eq!(bucket.take(rate, later), Err(Duration::from_millis(1)));
        let enough = begin.plus(Duration::from_millis(100));
        assert_eq!(bucket.take(rate, enough).map(|left| left.tokens), Ok(0));
        assert!(bucket.take(rate, enough).is_err(), "one token came back, not two");
    }

    #[test]
    fn a_refusal_costs_no_token_and_waiting_fills_it_to_the_burst_and_no_further() {
        let (bucket, rate, begin) = (Bucket::default(), rate(100, 2), Moment::now());
        while bucket.take(rate, begin).is_ok() {}
        for _ in 0..50 {
            assert!(bucket.take(rate, begin).is_err());
        }
        assert!(!bucket.is_full(begin));
        let day = begin.plus(Duration::from_hours(24));
        assert!(bucket.is_full(day));
        assert_eq!(bucket.left(rate, day).tokens, 2);
        let taken = (0..10).filter(|_| bucket.take(rate, day).is_ok()).count();
        assert_eq!(taken, 2);
    }

    #[test]
    fn rates_at_their_ends() {
        assert_eq!(Rate::new(0, 5), None);
        for (per_second, burst) in [(1, 0), (1_000_000, 0), (u32::MAX, u32::MAX), (1, u32::MAX)] {
            let (bucket, rate) = (Bucket::default(), rate(per_second, burst));
            let now = Moment::now();
            let before = bucket.left(rate, now).tokens;
            assert_eq!(before, u64::from(if burst == 0 { per_second } else { burst }));
            assert_eq!(bucket.take(rate, now).map(|left| left.tokens), Ok(before - 1));
        }
    }

    #[test]
    fn threads_that_take_together_get_no_more_than_there_are() {
        let (bucket, rate, now) = (Bucket::default(), rate(1, 1000), Moment::now());
        let take = || (0..1000).filter(|_| bucket.take(rate, now).is_ok()).count();
        let taken: usize = std::thread::scope(|scope| {
            let threads = [scope.spawn(take), scope.spawn(take), scope.spawn(take)];
            threads.map(|thread| thread.join().expect("no panic")).iter().sum()
        });
        assert_eq!(taken, 1000);
    }
}

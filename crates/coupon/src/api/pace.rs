//! The slowest pace of a bulk issue's client. Pure: the caller gives the length of each wait for the client, and its
//! result. Time that the service takes does not count, even while Redis is away.

use std::time::Duration;

use jackpot_kernel::http::Problem;

/// How long a client may neither send nor read.
pub(super) const IDLE: Duration = Duration::from_secs(15);
/// The pace is measured over this time.
const WINDOW: Duration = Duration::from_secs(30);
/// A client must send this in each [`WINDOW`] of waiting, or else [`LEAST_LINES`]. A person who types a list is faster.
const LEAST_BYTES: usize = 1_024;
/// The lines that suffice in place of [`LEAST_BYTES`].
const LEAST_LINES: usize = 10;
/// Longest time for an upload.
pub(super) const LONGEST: Duration = Duration::from_hours(1);

/// What came since the window began.
#[derive(Debug, Default)]
pub(super) struct Pace {
    waited: Duration,
    bytes: usize,
    lines: usize,
}

impl Pace {
    /// Counts a wait for the client, and the bytes that came.
    pub(super) fn waited(&mut self, waited: Duration, bytes: usize) {
        self.waited += waited;
        self.bytes += bytes;
    }

    /// Counts a whole line.
    pub(super) fn line(&mut self) {
        self.lines += 1;
    }

    /// The rest of the window. A new one begins once enough has come.
    pub(super) fn left(&mut self) -> Duration {
        if self.bytes >= LEAST_BYTES || self.lines >= LEAST_LINES {
            *self = Self::default();
        }
        WINDOW.saturating_sub(self.waited)
    }
}

/// The list came too slowly.
pub(super) fn too_slow() -> Problem {
    let detail = format!(
        "the list came slower than {LEAST_BYTES} bytes or {LEAST_LINES} lines in {} s. Send the same list again, in one piece: \
         decided lines get the same results.",
        WINDOW.as_secs()
    );
    Problem {
        detail,
        ..Problem::request_timeout(WINDOW)
    }
}

/// The upload took too long.
pub(super) fn too_long() -> Problem {
    let detail = format!(
        "an upload may take {} s. Send the rest of the list in another upload; decided lines get the same results.",
        LONGEST.as_secs()
    );
    Problem {
        detail,
        ..Problem::request_timeout(LONGEST)
    }
}

/// The client neither sent nor ended the list.
pub(super) fn idle() -> Problem {
    let detail = format!(
        "no data came for {} s. Send the same list again: decided lines get the same results.",
        IDLE.as_secs()
    );
    Problem {
        detail,
        ..Problem::request_timeout(IDLE)
    }
}

/// The client did not read its answer.
pub(super) fn unread() -> Problem {
    let detail = format!(
        "the answer was not read for {} s. Send the same list again, and read the answer while sending.",
        IDLE.as_secs()
    );
    Problem {
        detail,
        ..Problem::request_timeout(IDLE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a client is ended that sends so many bytes, and perhaps a line, every so many seconds.
    fn is_ended(every_s: u64, bytes: usize, line: bool) -> bool {
        let mut pace = Pace::default();
        (0..1_000).any(|_| {
            let every = Duration::from_secs(every_s);
            if every > pace.left() {
                return true;
            }
            pace.waited(every, bytes);
            if line {
                pace.line();
            }
            false
        })
    }

    #[test]
    fn a_drip_is_ended_and_a_slow_list_is_not() {
        for (every_s, bytes, line, ended) in [
            (14, 1, false, true),
            (1, 1, false, true),
            (1, 30, false, true),
            (1, 40, false, false),
            (14, 512, false, false),
            (14, 60, true, true),
            (3, 60, true, false),
            (2, 60, true, false),
        ] {
            assert_eq!(is_ended(every_s, bytes, line), ended, "{bytes} bytes every {every_s} s");
        }
    }
}

//! Keeps the projector of each kind to a share of the machine while requests come: events can wait, players can't.

use std::num::NonZeroUsize;
use std::sync::LazyLock;
use std::thread::available_parallelism;
use std::time::Duration;

/// Read once, because each reading opens files of the system.
static CORES: LazyLock<usize> = LazyLock::new(|| available_parallelism().map_or(1, NonZeroUsize::get));

/// The projector of a kind takes at most one part in so many of the machine.
const PART: u32 = 5;
/// Longest rest: a round of a large index takes seconds.
const LONGEST: Duration = Duration::from_secs(2);
/// One part in so many of the backlog at which requests are refused: with more, the projector works without rests.
const HURRY: u64 = 4;

/// The rest after a round of this length, by which rounds take their part of all cores. A round takes one core: the
/// projector and its database work in turns. A rest ends before the leases must be renewed, `renewal` after the last time.
pub(super) fn rest(round: Duration, renewal: Duration) -> Duration {
    rest_on(*CORES, round).min(renewal)
}

fn rest_on(cores: usize, round: Duration) -> Duration {
    let cores = u32::try_from(cores).unwrap_or(u32::MAX);
    if cores >= PART {
        return Duration::ZERO;
    }
    (round * (PART - cores) / cores).min(LONGEST)
}

/// Whether so many waiting events allow no rest.
pub(super) fn must_hurry(waiting: u64, max_backlog: u64) -> bool {
    waiting > max_backlog / HURRY
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_and_rests_share_the_machine() {
        let ms = Duration::from_millis;
        for (cores, round, rest) in [
            (1, ms(100), ms(400)),
            (2, ms(100), ms(150)),
            (4, ms(100), ms(25)),
            (5, ms(100), ms(0)),
            (64, ms(100), ms(0)),
            (2, ms(5_000), LONGEST),
        ] {
            assert_eq!(rest_on(cores, round), rest, "{cores} cores, {round:?}");
        }
    }

    #[test]
    fn no_rest_is_longer_than_leases_allow() {
        let (round, renewal) = (Duration::from_mins(1), Duration::from_millis(333));
        assert!(rest(round, renewal) <= renewal);
    }

    #[test]
    fn a_backlog_is_worked_off_long_before_requests_are_refused() {
        assert!(!must_hurry(50_000, 200_000));
        assert!(must_hurry(50_001, 200_000));
        assert!(must_hurry(1, 0));
    }
}

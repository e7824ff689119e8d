//! A run of a room, as people read it.

use super::numbers::Numbers;
use super::plan::{LISTENERS, Plan};
use crate::numbers::{Latency, Numbers as AllNumbers};
use crate::overview::{Shown, latency_rows};
use crate::table::{duration, grouped, grouped_rate};

impl Shown for Plan {
    type Numbers = Numbers;

    fn cards(numbers: &Numbers) -> Vec<(String, &'static str)> {
        let mut cards = vec![
            (grouped_rate(numbers.joins_per_s), "joins per second"),
            (
                grouped(numbers.admitted),
                "admitted, never more at once than the capacity",
            ),
            (grouped_rate(numbers.admissions_per_s), "admissions per second"),
            (grouped(numbers.abandoned), "abandoned, after they never came back"),
            (grouped(numbers.expired), "sessions that ended by themselves"),
        ];
        if let Some(lag) = &numbers.promotion_lag.expired {
            cards.insert(
                3,
                (
                    millis(lag.p99_us),
                    "from the end of a session to the next, 99th percentile",
                ),
            );
        }
        cards
    }

    fn rows(&self, all: &AllNumbers<Numbers>) -> Vec<(String, String)> {
        let numbers = &all.own;
        let mut rows = vec![
            (
                "users who joined before the opening".to_owned(),
                format!("{} in {:.2} s", grouped(numbers.joins), numbers.joining_s),
            ),
            ("joins/s".to_owned(), grouped_rate(numbers.joins_per_s)),
            ("joins of the same users again".to_owned(), grouped(numbers.joins_again)),
            ("waiting at the opening".to_owned(), grouped(numbers.waiting)),
        ];
        rows.extend(latency_rows("join", &numbers.join_latency));
        rows.extend([
            (
                "admitted".to_owned(),
                format!(
                    "{} ({} after waiting)",
                    grouped(numbers.admitted),
                    grouped(numbers.promoted)
                ),
            ),
            (
                "opening to last admission".to_owned(),
                format!("{:.2} s", numbers.draining_s),
            ),
            ("admissions/s".to_owned(), grouped_rate(numbers.admissions_per_s)),
        ]);
        for (freed, lag) in [
            ("ended sessions", numbers.promotion_lag.expired),
            ("leaves", numbers.promotion_lag.left),
        ] {
            rows.extend(lag.map(|lag| lag_row(freed, &lag)));
        }
        rows.extend([
            ("left".to_owned(), grouped(numbers.left)),
            ("sessions expired".to_owned(), grouped(numbers.expired)),
            ("abandoned".to_owned(), grouped(numbers.abandoned)),
            ("sessions renewed".to_owned(), grouped(numbers.renewed)),
            ("sessions missed".to_owned(), grouped(numbers.missed)),
            (
                "looks, events".to_owned(),
                format!("{}, {}", grouped(numbers.looks), grouped(numbers.events)),
            ),
            ("latest look".to_owned(), format!("{} late", duration(numbers.late_us))),
            (
                "samples of Redis".to_owned(),
                match (numbers.samples, &numbers.blind) {
                    (_, Some(why)) => format!("none: {why}"),
                    (0, None) => "none: only a private service has one to read".to_owned(),
                    (samples, None) => format!(
                        "{}, at most {} apart",
                        grouped(samples),
                        duration(numbers.longest_blind_us)
                    ),
                },
            ),
            ("elapsed".to_owned(), format!("{:.2} s", all.elapsed_s)),
            ("calls repeated".to_owned(), grouped(all.repeats)),
        ]);
        rows
    }

    fn parameters(&self) -> Vec<(String, String)> {
        let (crowd, asked) = (&self.crowd, &self.options);
        let users = format!("{}, {} % of them late", grouped(crowd.users.into()), asked.late);
        let parts = format!(
            "{} % renew, {} % leave, {} % abandon, {} % die",
            asked.renew, asked.leave, asked.abandon, asked.die
        );
        vec![
            ("seed".to_owned(), self.seed.to_string()),
            ("users".to_owned(), users),
            ("parts".to_owned(), parts),
            ("join twice".to_owned(), format!("{} %", asked.twice)),
            (
                "listen".to_owned(),
                format!("{} %, some {LISTENERS} users at most", asked.listen),
            ),
            ("stay".to_owned(), format!("{} ms on average", asked.stay_ms)),
            ("capacity".to_owned(), grouped(asked.capacity)),
            ("session".to_owned(), format!("{} s", asked.session_s)),
            ("waiting timeout".to_owned(), format!("{} s", asked.waiting_timeout_s)),
            (
                "admissions in a minute".to_owned(),
                asked
                    .rate
                    .map_or_else(|| "no limit".to_owned(), |rate| grouped(rate.into())),
            ),
            ("connections".to_owned(), grouped(crowd.connections.into())),
        ]
    }
}

/// In whole milliseconds, as exact as the service's times.
fn lag_row(freed: &str, lag: &Latency) -> (String, String) {
    let [p50, p99, max] = [lag.p50_us, lag.p99_us, lag.max_us].map(millis);
    (
        format!("promotion lag after {freed}"),
        format!("p50 {p50}, p99 {p99}, max {max}"),
    )
}

fn millis(us: u64) -> String {
    match us / 1_000 {
        0 => "below 1 ms".to_owned(),
        ms => format!("{} ms", grouped(ms)),
    }
}

#[cfg(test)]
mod tests {
    use super::millis;

    #[test]
    fn a_lag_reads_in_whole_milliseconds() {
        assert_eq!(
            [1, 999, 1_000, 1_234_567].map(millis),
            ["below 1 ms", "below 1 ms", "1 ms", "1,234 ms"]
        );
    }
}

//! A run of a room as people read it.

use super::Summary;
use crate::simulate::numbers::Latency;
use crate::simulate::table::{duration, grouped, grouped_rate};
use crate::simulate::told::{Told, client_bound, client_rows, latency_rows, unoptimised};

/// What there is to say of it.
pub fn room(summary: &Summary) -> Told<'_> {
    let mut remarks = Vec::new();
    remarks.extend(client_bound(&summary.numbers.client, "joins/s"));
    remarks.extend(unoptimised(&summary.machine));
    Told {
        machine: &summary.machine,
        findings: &summary.findings,
        shown: "what the monitor saw",
        cards: cards(summary),
        rows: rows(summary),
        parameters: parameters(summary),
        remarks,
        definition: ("room", &summary.parameters.definition),
    }
}

fn cards(summary: &Summary) -> Vec<(String, &'static str)> {
    let numbers = &summary.numbers;
    let mut cards = vec![
        (grouped_rate(numbers.joins_per_s), "joins per second"),
        (
            grouped(numbers.admitted),
            "admitted, never more at once than there is room for",
        ),
        (grouped_rate(numbers.admissions_per_s), "admissions per second"),
        (grouped(numbers.abandoned), "who never came back, given up"),
        (grouped(numbers.expired), "sessions that ended by themselves"),
    ];
    if let Some(lag) = &numbers.promotion_lag {
        cards.insert(
            3,
            (millis(lag.p99_us), "from a free place to the next, 99th percentile"),
        );
    }
    if numbers.kills > 0 {
        cards.push((numbers.kills.to_string(), "kill -9 of the service"));
    }
    cards
}

fn rows(summary: &Summary) -> Vec<(String, String)> {
    let numbers = &summary.numbers;
    let mut rows = vec![
        (
            "joins before the opening".to_owned(),
            format!("{} in {:.2} s", grouped(numbers.joins), numbers.joining_s),
        ),
        ("joins/s".to_owned(), grouped_rate(numbers.joins_per_s)),
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
    if let Some(lag) = &numbers.promotion_lag {
        rows.extend(lag_rows(lag));
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
            match numbers.samples {
                0 => "none: it is not ours to ask".to_owned(),
                samples => format!(
                    "{}, at most {} apart",
                    grouped(samples),
                    duration(numbers.longest_blind_us)
                ),
            },
        ),
        ("elapsed".to_owned(), format!("{:.2} s", numbers.elapsed_s)),
        ("calls repeated".to_owned(), grouped(numbers.repeats)),
    ]);
    if numbers.kills > 0 {
        rows.push(("kill -9".to_owned(), numbers.kills.to_string()));
    }
    rows.extend(client_rows(&numbers.client, &summary.machine));
    rows
}

fn parameters(summary: &Summary) -> Vec<(String, String)> {
    let asked = &summary.parameters;
    let users = format!("{}, {} % of them late", grouped(asked.users.into()), asked.late_percent);
    let parts = format!(
        "{} % renew, {} % leave, {} % abandon, {} % die",
        asked.renew_percent, asked.leave_percent, asked.abandon_percent, asked.die_percent
    );
    vec![
        ("service".to_owned(), asked.service.clone()),
        ("room".to_owned(), asked.room_id.clone()),
        ("seed".to_owned(), asked.seed.to_string()),
        ("users".to_owned(), users),
        ("parts".to_owned(), parts),
        ("join twice".to_owned(), format!("{} %", asked.twice_percent)),
        (
            "listen".to_owned(),
            format!("{} % of 10,000 at most", asked.listen_percent),
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
        ("connections".to_owned(), grouped(asked.connections.into())),
        ("kills".to_owned(), asked.kills.clone()),
    ]
}

/// In what the service's times tell apart.
fn lag_rows(lag: &Latency) -> [(String, String); 3] {
    [("p50", lag.p50_us), ("p99", lag.p99_us), ("max", lag.max_us)]
        .map(|(point, us)| (format!("promotion lag {point}"), millis(us)))
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
    fn a_lag_is_told_in_whole_milliseconds() {
        assert_eq!(
            [1, 999, 1_000, 1_234_567].map(millis),
            ["below 1 ms", "below 1 ms", "1 ms", "1,234 ms"]
        );
    }
}

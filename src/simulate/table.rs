//! What a run prints.

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{CellAlignment, ContentArrangement, Table};

use super::Verdict;
use super::check::Judged;
use super::summary::Summary;

/// Above this share of the client's ceiling, in percent, the rate says more about the client.
const CLIENT_BOUND_PERCENT: f64 = 70.0;

/// Columns that a table may take; its cells wrap beyond.
pub const WIDTH: u16 = 118;

/// Counts, rates and latencies.
pub fn numbers(summary: &Summary) -> String {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED);
    for (name, value) in rows(summary) {
        table.add_row([name, value]);
    }
    if let Some(column) = table.column_mut(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let mut text = table.to_string();
    for remark in remarks(summary) {
        text.push_str("\n  ");
        text.push_str(&remark);
    }
    text
}

/// Names and values, for the terminal and the report alike.
pub fn rows(summary: &Summary) -> Vec<(String, String)> {
    let numbers = &summary.numbers;
    let latency = &numbers.latency;
    let mut rows = vec![
        ("entries".to_owned(), grouped(numbers.entries)),
        ("elapsed".to_owned(), format!("{:.2} s", numbers.elapsed_s)),
        ("entries/s".to_owned(), grouped_rate(numbers.entries_per_s)),
        ("latency p50".to_owned(), duration(latency.p50_us)),
        ("latency p90".to_owned(), duration(latency.p90_us)),
        ("latency p99".to_owned(), duration(latency.p99_us)),
        ("latency p99.9".to_owned(), duration(latency.p999_us)),
        ("latency max".to_owned(), duration(latency.max_us)),
        (
            "claims paid".to_owned(),
            format!(
                "{} ({} pools, {} fixed)",
                grouped(numbers.paid),
                numbers.paid_pools,
                numbers.paid_fixed
            ),
        ),
        ("amount paid".to_owned(), grouped(numbers.paid_amount.unsigned_abs())),
        ("claims answered retry".to_owned(), grouped(numbers.retries)),
        (
            "entries redrawn".to_owned(),
            format!(
                "{} ({} paid after it)",
                grouped(numbers.redrawn_entries),
                numbers.paid_after_redraw
            ),
        ),
        (
            "in collisions".to_owned(),
            format!(
                "{} at {} instants, {} paid at once",
                numbers.collision_entries, summary.parameters.collisions, numbers.collision_paid
            ),
        ),
        (
            "sent again".to_owned(),
            format!(
                "{} ({} at the same instant)",
                grouped(numbers.replays),
                numbers.replays_at_once
            ),
        ),
        ("calls repeated".to_owned(), grouped(numbers.repeats)),
    ];
    if numbers.kills > 0 {
        rows.push(("kill -9".to_owned(), numbers.kills.to_string()));
    }
    let client = &numbers.client;
    rows.push((
        "client alone".to_owned(),
        format!(
            "{}/s, the run reached {:.0} %",
            grouped_rate(client.ceiling_per_s),
            client.of_ceiling_percent
        ),
    ));
    if let Some(cores) = client.cores_used {
        let service = client
            .service_cores_used
            .map_or_else(String::new, |cores| format!(", service and Redis {cores:.2}"));
        rows.push((
            "cores used".to_owned(),
            format!("client {cores:.2}{service}, of {}", summary.machine.cores),
        ));
    }
    rows
}

/// What a reader of the numbers must know.
pub fn remarks(summary: &Summary) -> Vec<String> {
    let mut remarks = Vec::new();
    if summary.numbers.client.of_ceiling_percent > CLIENT_BOUND_PERCENT {
        remarks.push(
            "The client is near its own limit: entries/s is a lower bound of what the service can do.".to_owned(),
        );
    }
    if !summary.parameters.winners_chosen {
        remarks.push(
            "Without --master-secret winners can't be chosen beforehand (collisions are of ordinary entries at high odds), and draws of the \
             open epoch are not recomputed."
                .to_owned(),
        );
    }
    if !summary.machine.optimised {
        remarks.push("This is a debug build: its rates and latencies say nothing about a release.".to_owned());
    }
    remarks
}

/// The checks, one line each.
pub fn findings(summary: &Summary) -> String {
    let mut table = Table::new();
    table
        .load_style(UTF8_FULL_CONDENSED)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH);
    table.set_header(["", "check", "seen"]);
    for finding in &summary.findings {
        let (mark, detail) = match &finding.judged {
            Judged::Held(detail) => ("✓", detail),
            Judged::Violated(detail) => ("✗", detail),
            Judged::NotChecked(detail) => ("–", detail),
        };
        table.add_row([mark, finding.rule, detail.as_str()]);
    }
    table.to_string()
}

/// The last line.
pub fn verdict(verdict: &Verdict, summary: Option<&Summary>) -> String {
    if let Verdict::Violated { rule, detail } = verdict {
        return format!("VIOLATED: {rule}: {detail}");
    }
    let findings = summary.map_or(&[] as &[_], |summary| &summary.findings);
    let unchecked = findings
        .iter()
        .filter(|finding| matches!(finding.judged, Judged::NotChecked(_)));
    let unchecked: Vec<&str> = unchecked.map(|finding| finding.rule).collect();
    if unchecked.is_empty() {
        "no violation".to_owned()
    } else {
        format!("no violation; not checked: {}", unchecked.join(", "))
    }
}

/// Microseconds in the unit that reads best.
pub fn duration(micros: u64) -> String {
    match micros {
        0..1_000 => format!("{micros} µs"),
        1_000..100_000 => format!("{}.{:02} ms", micros / 1_000, micros % 1_000 / 10),
        100_000..10_000_000 => format!("{} ms", micros / 1_000),
        _ => format!("{}.{} s", micros / 1_000_000, micros % 1_000_000 / 100_000),
    }
}

/// 1234567 as 1,234,567.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A rate without decimals, grouped.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rates are positive and far below 2^53"
)]
pub fn grouped_rate(rate: f64) -> String {
    grouped(rate.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::{duration, grouped, grouped_rate};

    #[test]
    fn numbers_read_well() {
        assert_eq!(
            ["0", "999", "1,000", "1,234,567"],
            [0, 999, 1_000, 1_234_567].map(grouped).each_ref().map(String::as_str)
        );
        assert_eq!(grouped_rate(12_345.6), "12,346");
        assert_eq!(
            [7, 1_234, 250_400, 12_340_000].map(duration),
            ["7 µs", "1.23 ms", "250 ms", "12.3 s"]
        );
    }
}

//! What a run prints.

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{CellAlignment, ContentArrangement, Table};

use super::Verdict;
use super::compare::Comparison;
use super::finding::{Finding, Judged};
use super::overview::Overview;

/// Columns that a table may take; its cells wrap beyond.
pub const WIDTH: u16 = 118;

/// Counts, rates and latencies.
pub fn numbers(overview: &Overview) -> String {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED);
    for (name, value) in &overview.rows {
        table.add_row([name, value]);
    }
    if let Some(column) = table.column_mut(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let mut text = table.to_string();
    for remark in &overview.remarks {
        text.push_str("\n  ");
        text.push_str(remark);
    }
    text
}

/// The checks, one line each.
pub fn findings(findings: &[Finding]) -> String {
    let mut table = Table::new();
    table
        .load_style(UTF8_FULL_CONDENSED)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH);
    table.set_header(["", "check", "seen"]);
    for finding in findings {
        let (mark, detail) = match &finding.judged {
            Judged::Held(detail) => ("✓", detail),
            Judged::Violated(detail) => ("✗", detail),
            Judged::NotChecked(detail) => ("–", detail),
        };
        table.add_row([mark, finding.rule, detail.as_str()]);
    }
    table.to_string()
}

/// The usual ways beside the service, one line each.
pub fn comparison(comparison: &Comparison) -> String {
    let mut table = Table::new();
    table
        .load_style(UTF8_FULL_CONDENSED)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH);
    table.set_header(["", "approach", "given out wrongly, and how fast"]);
    for score in &comparison.approaches {
        table.add_row([score.mark(), score.approach.name, &score.words()]);
    }
    format!("{}\n{table}", comparison.words())
}

/// The last line.
pub fn verdict(verdict: &Verdict, findings: &[Finding]) -> String {
    if let Verdict::Violated { rule, detail } = verdict {
        return format!("VIOLATED: {rule}: {detail}");
    }
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

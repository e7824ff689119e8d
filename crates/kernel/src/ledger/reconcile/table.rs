//! A reconciliation as text, for `jackpot reconcile`.

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{CellAlignment, ContentArrangement, Table};

use super::report::{Report, TierReport};

/// Columns of a terminal that the table fits. Longer values go on in the next line of their cell.
const WIDTH: u16 = 100;

/// The columns of numbers.
const NUMBERS: std::ops::RangeInclusive<usize> = 2..=3;

/// Each term and each part of the state of `name` (`jackpot spring`), for Redis and for the ledger, and a verdict.
pub fn render(name: &str, event: u64, report: &Report) -> String {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED);
    table
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH);
    table.set_header(["tier", "term", "Redis", "ledger", ""]);
    for tier in &report.tiers {
        add_tier(&mut table, tier);
    }
    for row in &report.state {
        table.add_row(["", &row.name, &row.redis, &row.ledger, verdict(row.agrees)]);
    }
    for column in NUMBERS {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let summary = if report.clean { "clean" } else { "MISMATCH" };
    let mut text = format!("{name} at event {event}: {summary}\n{table}\n");
    for fault in report.faults() {
        text.extend(["  ", &fault, "\n"]);
    }
    text
}

fn add_tier(table: &mut Table, tier: &TierReport) {
    for term in &tier.terms {
        let (redis, ledger) = (term.redis.to_string(), term.ledger.to_string());
        let same = verdict(term.redis == term.ledger);
        table.add_row([&tier.tier, &term.term, &redis, &ledger, same]);
    }
    let holds = if tier.identity_holds { "holds" } else { "DOES NOT HOLD" };
    table.add_row([&tier.tier, "identity", "", "", holds]);
}

fn verdict(agrees: bool) -> &'static str {
    if agrees { "" } else { "DIFFERS" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::reconcile::report::{Difference, StateRow, Term};

    /// A report on one tier, with its pool on both sides.
    fn report(redis: i64, ledger: i64) -> Report {
        let is_same = redis == ledger;
        let term = |term: &str, redis, ledger| Term {
            term: term.to_owned(),
            redis,
            ledger,
        };
        let difference = Difference {
            meter: "pool".to_owned(),
            redis,
            ledger,
        };
        Report {
            clean: is_same,
            tiers: vec![TierReport {
                tier: "grand".to_owned(),
                terms: vec![term("contributions", 41, 41), term("pool", redis, ledger)],
                identity_holds: is_same,
                agrees: is_same,
                differences: (!is_same).then_some(difference).into_iter().collect(),
            }],
            state: Vec::new(),
        }
    }

    #[test]
    fn the_table_shows_both_values_where_they_differ() {
        let text = render("jackpot spring", 7, &report(41, 42));
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "jackpot spring at event 7: MISMATCH");
        let pool = lines.iter().find(|line| line.contains(" pool ")).expect("the pool");
        for part in ["grand", "41", "42", "DIFFERS"] {
            assert!(pool.contains(part), "{part} in {pool}");
        }
        assert!(text.contains("DOES NOT HOLD"));
        assert!(lines.contains(&"  tier 'grand': pool is 41 in Redis and 42 in the ledger"));
        let clean = render("jackpot spring", 7, &report(41, 41));
        assert!(clean.starts_with("jackpot spring at event 7: clean") && !clean.contains("DIFFERS"));
    }

    #[test]
    fn a_long_value_makes_the_table_no_wider_than_a_terminal() {
        let side = |cycles: usize| format!("{cycles} ") + &"9f86d081884c7d65".repeat(40);
        let report = Report {
            tiers: report(i64::MAX, i64::MAX).tiers,
            ..Report::of_state(vec![StateRow::of("cycles", &side(1), &side(2))])
        };
        let text = render("jackpot spring", 7, &report);
        let table: Vec<_> = text
            .lines()
            .skip(1)
            .take_while(|line| !line.starts_with("  "))
            .collect();
        for line in &table {
            assert!(line.chars().count() <= 100, "{line}");
        }
        let digits = |text: &str| text.chars().filter(char::is_ascii_hexdigit).count();
        assert!(digits(&table.concat()) > 2 * 16 * 40, "values are whole");
    }
}

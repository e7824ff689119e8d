//! The comparison, as printed.

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{CellAlignment, Table};

use super::Way;
use crate::table::{grouped, grouped_rate};

/// Column titles, for the terminal and the report alike.
pub const HEADER: [&str; 9] = [
    "way",
    "put in",
    "paid",
    "left in pools",
    "from nothing",
    "payouts uncovered",
    "below minimum",
    "rounds below 0",
    "entries/s",
];

/// One way's cells.
pub fn cells(way: &Way) -> [String; 9] {
    [
        format!("{} {}", if way.is_wrong() { "✗" } else { "✓" }, way.name),
        signed(way.put_in),
        signed(way.paid),
        signed(way.left),
        signed(way.from_nothing),
        format!("{} of {}", way.uncovered_payouts, way.payouts),
        grouped(way.below_minimum),
        format!("{} of {}", way.negative_rounds, way.rounds),
        grouped_rate(way.entries_per_s),
    ]
}

/// What the rounds were, in a sentence.
pub fn caption(ways: &[Way]) -> String {
    let Some(first) = ways.first() else {
        return String::new();
    };
    format!(
        "{} rounds: {} in the pool, {} winners at one instant, {} contributions by {} others meanwhile. Each way on Redis \
         with AOF and fsync always, one connection per player",
        first.rounds,
        grouped(first.start.unsigned_abs()),
        first.winners,
        grouped(first.contributions.into()),
        first.contributors
    )
}

/// The table with what each rate includes.
pub fn text(ways: &[Way]) -> String {
    let mut table = Table::new();
    // Titles in two lines: their figures need less room than they, and figures are not to be wrapped.
    table
        .load_style(UTF8_FULL_CONDENSED)
        .set_header(HEADER.map(|title| title.replacen(' ', "\n", 1)));
    for way in ways {
        table.add_row(cells(way));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let mut text = format!("{}\n{table}", caption(ways));
    for way in ways {
        text.push_str("\n  ");
        text.push_str(way.name);
        text.push_str(": ");
        text.push_str(&note(way));
    }
    text
}

/// How a way works, what its rate includes, and what else happened.
pub fn note(way: &Way) -> String {
    let lost = match way.lost_locks {
        0 => String::new(),
        lost => format!(" {lost} times a lock expired while its holder worked on."),
    };
    let gave_up = match way.gave_up {
        0 => String::new(),
        gave_up => format!(" {gave_up} entries were given up, waiting for the lock."),
    };
    format!("{}. Rate: {}.{lost}{gave_up}", way.how, way.includes)
}

fn signed(amount: i64) -> String {
    format!(
        "{}{}",
        if amount < 0 { "−" } else { "" },
        grouped(amount.unsigned_abs())
    )
}

//! The comparison, as printed.

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{CellAlignment, ContentArrangement, Table};

use super::Way;
use crate::simulate::table::{WIDTH, grouped, grouped_rate};

/// Column titles, for the terminal and the report alike.
pub const HEADER: [&str; 10] = [
    "way",
    "put in",
    "paid",
    "left in pools",
    "out of nothing",
    "payouts without cover",
    "below minimum",
    "rounds below zero",
    "locks lost",
    "entries/s",
];

/// One way's cells.
pub fn cells(way: &Way) -> [String; 10] {
    [
        format!("{} {}", if way.is_wrong() { "✗" } else { "✓" }, way.name),
        signed(way.put_in),
        signed(way.paid),
        signed(way.left),
        signed(way.from_nothing),
        format!("{} of {}", way.uncovered_payouts, way.payouts),
        grouped(way.below_minimum),
        format!("{} of {}", way.negative_rounds, way.rounds),
        grouped(way.lost_locks),
        grouped_rate(way.entries_per_s),
    ]
}

/// What the rounds were, in a sentence.
pub fn caption(ways: &[Way]) -> String {
    let Some(first) = ways.first() else {
        return String::new();
    };
    format!(
        "{} rounds: a pool of money, {} winners at the same instant, 1,000 contributions by 50 others meanwhile; every way on a Redis of its \
         own kind of durability (AOF, fsync always), one connection per player",
        first.rounds, first.winners
    )
}

/// The table with what each rate includes.
pub fn text(ways: &[Way]) -> String {
    let mut table = Table::new();
    table
        .load_style(UTF8_FULL_CONDENSED)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH);
    table.set_header(HEADER);
    for way in ways {
        table.add_row(cells(way));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let mut text = format!("{}\n{table}", caption(ways));
    for way in ways {
        text.push_str(&format!(
            "\n  {}: {}. Rate: {}.",
            way.name, way.how, way.includes
        ));
        if way.gave_up > 0 {
            text.push_str(&format!(
                " {} entries were given up, waiting for the lock.",
                way.gave_up
            ));
        }
    }
    text
}

fn signed(amount: i64) -> String {
    format!(
        "{}{}",
        if amount < 0 { "−" } else { "" },
        grouped(amount.unsigned_abs())
    )
}

//! A run of a jackpot, as people read it.

use super::numbers::Numbers;
use super::plan::Plan;
use crate::numbers::Numbers as AllNumbers;
use crate::overview::{Shown, latency_rows};
use crate::table::{duration, grouped, grouped_rate};

/// A measured part of the stakes beside the one of the rules.
fn beside(measured: u64, expected: Option<u64>) -> String {
    let expected = expected.map_or(String::new(), |ppm| format!(" ({} by the rules)", grouped(ppm)));
    format!("{} ppm{expected}", grouped(measured))
}

impl Shown for Plan {
    type Numbers = Numbers;

    fn cards(numbers: &Numbers) -> Vec<(String, &'static str)> {
        vec![
            (grouped_rate(numbers.entries_per_s), "entries per second"),
            (duration(numbers.latency.p50_us), "median latency"),
            (duration(numbers.latency.p99_us), "99th percentile"),
            (grouped(numbers.paid), "claims paid, each once"),
            (grouped(numbers.retries), "claims answered retry"),
            (grouped(numbers.replays), "entries sent again"),
        ]
    }

    fn rows(&self, all: &AllNumbers<Numbers>) -> Vec<(String, String)> {
        let numbers = &all.own;
        let mut rows = vec![
            ("entries".to_owned(), grouped(numbers.entries)),
            ("elapsed".to_owned(), format!("{:.2} s", all.elapsed_s)),
            ("entries/s".to_owned(), grouped_rate(numbers.entries_per_s)),
        ];
        rows.extend(latency_rows("latency", &numbers.latency));
        rows.extend([(
            "claims paid".to_owned(),
            format!(
                "{} ({} pools, {} fixed)",
                grouped(numbers.paid),
                numbers.paid_pools,
                numbers.paid_fixed
            ),
        )]);
        if self.options.must_hit().is_some() {
            let hits = format!("{} in {} cycles", grouped(numbers.hits), grouped(numbers.cycles));
            rows.push(("pools hit by their rule".to_owned(), hits));
        }
        rows.extend([
            ("amount paid".to_owned(), grouped(numbers.paid_amount.unsigned_abs())),
            (
                "fixed prizes, of each stake".to_owned(),
                beside(numbers.returned.fixed_ppm, numbers.returned.fixed_expected_ppm),
            ),
            (
                "paid or in pools, of each stake".to_owned(),
                beside(numbers.returned.pool_ppm, numbers.returned.pool_expected_ppm),
            ),
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
                    numbers.collision_entries, self.options.collisions, numbers.collision_paid
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
            ("calls repeated".to_owned(), grouped(all.repeats)),
        ]);
        rows
    }

    fn parameters(&self) -> Vec<(String, String)> {
        let asked = &self.options;
        let chosen = if self.searched {
            "chosen beforehand"
        } else {
            "not chosen: the draw secret is not known"
        };
        vec![
            ("seed".to_owned(), self.seed.to_string()),
            ("players".to_owned(), grouped(asked.players.into())),
            (
                "entries".to_owned(),
                format!("{} and those of collisions", grouped(asked.entries)),
            ),
            (
                "collisions".to_owned(),
                format!("{} of {} winners ({chosen})", asked.collisions, asked.winners),
            ),
            (
                "sent again".to_owned(),
                format!("{} % of the entries, all of collisions", asked.replays),
            ),
        ]
    }

    fn remarks(&self) -> Vec<String> {
        let unknown = "Without --master-secret winners can't be chosen beforehand (collisions are of ordinary entries at high odds), and draws of \
                   the open epoch are not recomputed.";
        let remark = (!self.searched).then(|| unknown.to_owned());
        remark.into_iter().collect()
    }
}

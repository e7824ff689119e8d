//! A market day, as people read it.

use super::numbers::{Events, Numbers};
use super::plan::Plan;
use crate::numbers::Numbers as AllNumbers;
use crate::overview::{Shown, latency_rows};
use crate::table::{grouped, grouped_rate};

/// Hits that the table names one by one.
const MOST_HITS: usize = 20;

impl Shown for Plan {
    type Numbers = Numbers;

    fn cards(numbers: &Numbers) -> Vec<(String, &'static str)> {
        let mut cards = vec![
            (grouped_rate(numbers.plays_per_s), "plays per second"),
            (grouped(numbers.entries), "entries of all jackpots"),
            (
                grouped(numbers.hits.len() as u64),
                "must-hits, each at its published trigger",
            ),
            (grouped(numbers.cancelled), "cancelled rounds"),
            (grouped(numbers.transfers.len() as u64), "transfers of whole jackpots"),
        ];
        if let Some(events) = &numbers.events {
            cards.push((grouped(events.delivered), "events that a subscriber got"));
        }
        cards
    }

    fn rows(&self, all: &AllNumbers<Numbers>) -> Vec<(String, String)> {
        let numbers = &all.own;
        let mut rows = vec![
            (
                "plays".to_owned(),
                format!("{} in {:.2} s", grouped(numbers.plays), all.elapsed_s),
            ),
            ("entries".to_owned(), grouped(numbers.entries)),
            ("refused by a paused jackpot".to_owned(), grouped(numbers.refused)),
            ("plays sent again".to_owned(), grouped(numbers.replayed)),
            ("calls sent again".to_owned(), grouped(all.repeats)),
            ("cancelled rounds".to_owned(), grouped(numbers.cancelled)),
            (
                "payouts".to_owned(),
                format!("{}, {} in minor units", grouped(numbers.payouts), numbers.paid_amount),
            ),
            ("stopped".to_owned(), format!("{} ms", grouped(numbers.stopped_ms))),
        ];
        rows.extend(latency_rows("play", &numbers.latency));
        rows.extend(events(numbers.events.as_ref()));
        rows.extend(numbers.transfers.iter().map(|one| {
            let what = format!("transfer of {}", one.from);
            (what, format!("{} to {}", one.amount, one.to))
        }));
        rows.extend(numbers.cycles.iter().map(|one| {
            let what = format!("cycles of {} {}", one.jackpot, one.tier);
            (what, format!("{} ended, {} by a hit", one.ended, one.hit))
        }));
        rows.extend(numbers.hits.iter().take(MOST_HITS).map(|one| {
            let what = format!("hit of {} {}, cycle {}", one.jackpot, one.tier, one.cycle);
            (
                what,
                format!("{} by {}, {} paid to {}", one.trigger, one.by, one.paid, one.entry_id),
            )
        }));
        if numbers.hits.len() > MOST_HITS {
            rows.push((
                "further hits".to_owned(),
                grouped((numbers.hits.len() - MOST_HITS) as u64),
            ));
        }
        rows
    }

    fn parameters(&self) -> Vec<(String, String)> {
        let file = &self.file;
        vec![
            ("scenario".to_owned(), file.name.clone()),
            ("seed".to_owned(), self.seed.to_string()),
            ("players".to_owned(), grouped(u64::from(file.players))),
            ("plays".to_owned(), grouped(file.plays)),
            (
                "plays of several jackpots".to_owned(),
                format!("{} %", file.together_percent),
            ),
            ("plays sent again".to_owned(), format!("{} %", file.replays_percent)),
            ("rounds cancelled".to_owned(), format!("{} %", file.cancelled_percent)),
        ]
    }
}

fn events(events: Option<&Events>) -> Vec<(String, String)> {
    let Some(events) = events else {
        return vec![("events".to_owned(), "no subscriber; the check says why".to_owned())];
    };
    vec![
        (
            "events delivered".to_owned(),
            format!("{}, {}/s", grouped(events.delivered), grouped_rate(events.per_s)),
        ),
        ("events repeated".to_owned(), grouped(events.repeats)),
        (
            "subscriber killed".to_owned(),
            grouped(u64::from(events.subscriber_kills)),
        ),
        (
            "lag after the last play".to_owned(),
            format!(
                "{} events, caught up after {} ms",
                grouped(events.lag),
                grouped(events.caught_up_ms)
            ),
        ),
    ]
}

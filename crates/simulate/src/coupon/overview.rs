//! A run of a coupon, as people read it.

use super::numbers::Numbers;
use super::plan::Plan;
use crate::numbers::Numbers as AllNumbers;
use crate::overview::{Shown, latency_rows};
use crate::table::{duration, grouped, grouped_rate};

impl Shown for Plan {
    type Numbers = Numbers;

    fn cards(numbers: &Numbers) -> Vec<(String, &'static str)> {
        vec![
            (grouped_rate(numbers.calls_per_s), "calls per second"),
            (duration(numbers.latency.p50_us), "median latency"),
            (duration(numbers.latency.p99_us), "99th percentile"),
            (grouped(numbers.issued), "units issued, to no user twice"),
            (
                grouped(numbers.already_issued + numbers.out_of_stock),
                "requests refused",
            ),
            (grouped(numbers.repeated), "requests sent again"),
        ]
    }

    fn rows(&self, all: &AllNumbers<Numbers>) -> Vec<(String, String)> {
        let numbers = &all.own;
        let mut rows = vec![
            ("calls".to_owned(), grouped(numbers.calls)),
            ("elapsed".to_owned(), format!("{:.2} s", all.elapsed_s)),
            ("calls/s".to_owned(), grouped_rate(numbers.calls_per_s)),
        ];
        rows.extend(latency_rows("latency", &numbers.latency));
        if let Some(latency) = &numbers.queue_latency {
            rows.push(("answered 202".to_owned(), grouped(numbers.queued)));
            rows.extend(latency_rows("in the queue", latency));
        }
        rows.extend([
            ("requests".to_owned(), grouped(numbers.requests)),
            (
                "issued".to_owned(),
                format!(
                    "{} of a stock of {}",
                    grouped(numbers.issued),
                    grouped(self.options.stock)
                ),
            ),
            ("already issued".to_owned(), grouped(numbers.already_issued)),
            ("out of stock".to_owned(), grouped(numbers.out_of_stock)),
        ]);
        if let Some(at) = numbers.sold_out_s {
            rows.push(("sold out after".to_owned(), format!("{at:.2} s")));
        }
        if numbers.voided > 0 {
            rows.push(("voided".to_owned(), grouped(numbers.voided)));
        }
        rows.extend([
            ("sent again".to_owned(), grouped(numbers.repeated)),
            ("calls repeated".to_owned(), grouped(all.repeats)),
        ]);
        rows
    }

    fn parameters(&self) -> Vec<(String, String)> {
        let (crowd, asked) = (&self.crowd, &self.options);
        let how = if asked.queued {
            "queued (Prefer: respond-async)"
        } else {
            "answered at once"
        };
        vec![
            ("seed".to_owned(), self.seed.to_string()),
            (
                "users".to_owned(),
                format!("{}, {} calls each", grouped(crowd.users.into()), asked.duplicates),
            ),
            ("stock".to_owned(), grouped(asked.stock)),
            ("requests".to_owned(), how.to_owned()),
            ("connections".to_owned(), grouped(crowd.connections.into())),
            ("voids".to_owned(), grouped(asked.voids.into())),
        ]
    }
}

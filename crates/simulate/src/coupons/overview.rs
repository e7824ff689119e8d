//! A run of coupons as people read it.

use super::Summary;
use crate::overview::{Overview, last_rows, latency_rows, usual_remarks};
use crate::table::{duration, grouped, grouped_rate};

/// What there is to say of it.
pub fn coupons(summary: &Summary) -> Overview<'_> {
    Overview {
        machine: &summary.machine,
        findings: &summary.findings,
        shown: "lists",
        cards: cards(summary),
        rows: rows(summary),
        parameters: parameters(summary),
        remarks: usual_remarks(&summary.numbers.client, "calls/s", &summary.machine),
        definition: ("coupon", &summary.parameters.definition),
    }
}

fn cards(summary: &Summary) -> Vec<(String, &'static str)> {
    let numbers = &summary.numbers;
    let mut cards = vec![
        (grouped_rate(numbers.calls_per_s), "calls per second"),
        (duration(numbers.latency.p50_us), "median latency"),
        (duration(numbers.latency.p99_us), "99th percentile"),
        (grouped(numbers.issued), "units issued, to nobody twice"),
        (
            grouped(numbers.already_issued + numbers.out_of_stock),
            "requests refused",
        ),
        (grouped(numbers.repeated), "requests sent again"),
    ];
    if numbers.kills > 0 {
        cards.push((numbers.kills.to_string(), "kill -9 of the service"));
    }
    cards
}

fn rows(summary: &Summary) -> Vec<(String, String)> {
    let numbers = &summary.numbers;
    let mut rows = vec![
        ("calls".to_owned(), grouped(numbers.calls)),
        ("elapsed".to_owned(), format!("{:.2} s", numbers.elapsed_s)),
        ("calls/s".to_owned(), grouped_rate(numbers.calls_per_s)),
    ];
    rows.extend(latency_rows("latency", &numbers.latency));
    if let Some(latency) = &numbers.line_latency {
        rows.push(("answered 202".to_owned(), grouped(numbers.in_line)));
        rows.extend(latency_rows("in the line", latency));
    }
    rows.extend([
        ("requests".to_owned(), grouped(numbers.requests)),
        (
            "issued".to_owned(),
            format!(
                "{} of a stock of {}",
                grouped(numbers.issued),
                grouped(summary.parameters.stock)
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
        ("calls repeated".to_owned(), grouped(numbers.repeats)),
    ]);
    rows.extend(last_rows(numbers.kills, &numbers.client, &summary.machine));
    rows
}

fn parameters(summary: &Summary) -> Vec<(String, String)> {
    let asked = &summary.parameters;
    let how = if asked.queued {
        "queued (Prefer: respond-async)"
    } else {
        "answered at once"
    };
    vec![
        ("service".to_owned(), asked.service.clone()),
        ("coupon".to_owned(), asked.coupon_id.clone()),
        ("seed".to_owned(), asked.seed.to_string()),
        (
            "users".to_owned(),
            format!("{}, {} calls each", grouped(asked.users.into()), asked.duplicates),
        ),
        ("stock".to_owned(), grouped(asked.stock)),
        ("requests".to_owned(), how.to_owned()),
        ("connections".to_owned(), grouped(asked.connections.into())),
        ("voids".to_owned(), grouped(asked.voids.into())),
        ("kills".to_owned(), asked.kills.clone()),
    ]
}

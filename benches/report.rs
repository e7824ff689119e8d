//! The results: tables in Markdown to read, JSON to keep, a page with plots.

use std::fmt::Write as _;
use std::process::ExitCode;

use jackpot_simulate::report::plots::Plot;
use serde::Serialize;
use serde_json::{Value, json};

use crate::machine::Machine;
use crate::peers::Results;
use crate::plan::Peers;
use crate::sample::{Sample, Spread};
use crate::verdict::Line;
use crate::{Outcome, page, plot, verdict};

/// Every point and what it is, in the order of the table.
pub(crate) const POINTS: [(&str, &str); 49] = [
    ("one-64", "**service**, single entries, 64 connections"),
    ("http-64", "(a) HTTP alone, 64 connections"),
    ("direct-64", "(c) a script call per entry, 64 connections"),
    ("one-512", "**service**, single entries, 512 connections"),
    ("http-512", "(a) HTTP alone, 512 connections"),
    ("direct-512", "(c) a script call per entry, 512 connections"),
    ("one-64x100", "**service**, 100 jackpots, 64 connections"),
    (
        "direct-64x100",
        "(c) a script call per entry, 100 jackpots, 64 connections",
    ),
    ("one-512x100", "**service**, 100 jackpots, 512 connections"),
    ("lone", "**service**, 1 connection"),
    ("lone-http", "(a) HTTP alone, 1 connection"),
    ("lone-direct", "(c) a script call per entry, 1 connection"),
    ("paced", "**service**, fixed rate (open loop)"),
    ("paced-http", "(a) HTTP alone, fixed rate (open loop)"),
    ("paced-direct", "(c) a script call per entry, fixed rate (open loop)"),
    ("batch-100", "**service**, batches of 100"),
    ("batch-1000", "**service**, batches of 1,000"),
    ("batch-10000", "**service**, batches of 10,000"),
    ("beside-none", "**service**, 1,000 single entries/s"),
    ("beside-batches", "**service**, the same beside batches of 10,000"),
    ("play-1-lone", "**service**, single entries beside plays, 1 connection"),
    ("play-4-lone", "**service**, plays of four jackpots, 1 connection"),
    ("play-1-64", "**service**, single entries beside plays, 64 connections"),
    ("play-4-64", "**service**, plays of four jackpots, 64 connections"),
    ("incr", "(b) raw INCR, -P 32"),
    ("incr-memory", "(b) raw INCR, -P 32, no append-only file"),
    ("evalsha", "(b) EVALSHA of a script that increments, -P 32"),
    ("postgres", "(d) PostgreSQL row, 32 connections"),
    ("lock", "(e) Redis lock, 64 clients"),
    ("issue-64", "**service**, issues of a coupon, 64 connections"),
    ("issue-counter-64", "(f) key and counter script, 64 connections"),
    ("issue-set-64", "(g) set script, 64 connections"),
    ("issue-512", "**service**, issues of a coupon, 512 connections"),
    ("issue-counter-512", "(f) key and counter script, 512 connections"),
    ("issue-set-512", "(g) set script, 512 connections"),
    ("issue-for-update", "(h) PostgreSQL SELECT … FOR UPDATE, 32 connections"),
    ("intake-nats", "**service**, messages of NATS"),
    ("intake-kafka", "**service**, messages of Kafka, 3 partitions"),
    ("told-none", "**service**, 64 connections, no subscriber"),
    (
        "told-payouts",
        "**service**, 64 connections, a webhook gets all payouts",
    ),
    ("told-webhook", "**service**, 64 connections, a webhook gets all events"),
    ("told-hangs", "**service**, 64 connections, a webhook that hangs"),
    ("told-events", "events of the ledger during these loads"),
    ("deliver-webhook", "deliveries to a webhook, 1 subject"),
    ("deliver-nats", "deliveries to NATS, 1 subject"),
    ("deliver-kafka", "deliveries to Kafka, 1 subject"),
    ("deliver-webhook-16", "deliveries to a webhook, 16 subjects"),
    ("deliver-nats-16", "deliveries to NATS, 16 subjects"),
    ("deliver-kafka-16", "deliveries to Kafka, 16 subjects"),
];

/// One point over all rounds.
#[derive(Debug, Serialize)]
pub(crate) struct Point {
    pub(crate) key: &'static str,
    pub(crate) name: &'static str,
    pub(crate) per_s: Spread,
    pub(crate) p50_us: Spread,
    pub(crate) p99_us: Spread,
    /// Seconds until the ledger had everything.
    pub(crate) catch_up_s: Option<Spread>,
}

fn points(samples: &[Sample]) -> Vec<Point> {
    let summary = |(key, name): &(&'static str, &'static str)| {
        let of = |value: fn(&Sample) -> f64| {
            let rounds = samples.iter().filter(|sample| sample.point == *key);
            Spread::of(rounds.map(value))
        };
        let catch_up = samples.iter().filter(|sample| sample.point == *key);
        let catch_up = catch_up.filter_map(|sample| sample.more.get("catch_up_s")?.as_f64());
        Some(Point {
            key,
            name,
            per_s: of(|sample| sample.per_s)?,
            p50_us: of(|sample| sample.p50_us)?,
            p99_us: of(|sample| sample.p99_us)?,
            catch_up_s: Spread::of(catch_up),
        })
    };
    POINTS.iter().filter_map(summary).collect()
}

/// Prints the comparison. Fails when something could not be measured or a limit is not met. A quick run has one round of a
/// second each, so none of its ratios is judged.
pub(crate) fn peers(plan: &Peers, results: &Results) -> Outcome<ExitCode> {
    let (points, lines) = (points(&results.samples), verdict::lines(&results.samples));
    let machine = Machine::here();
    let mut text = format!(
        "{} rounds of {} s each, on {}\n\n",
        plan.rounds(),
        plan.time().as_secs(),
        machine.line()
    );
    text.push_str(
        "| point | entries/s, median | least to most | p50 µs | p99 µs | p99 least to most | ledger caught up, s |\n",
    );
    text.push_str("| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    text.extend(points.iter().map(row));
    text.push_str("\n| ratio of medians | is | by round | wanted | |\n| --- | ---: | ---: | ---: | --- |\n");
    text.extend(
        lines
            .iter()
            .filter(|line| line.ratio.is_some() || line.wanted.is_some())
            .map(ratio_row),
    );
    for failure in &results.failures {
        let _infallible = writeln!(
            text,
            "\nnot measured: {} (round {}): {}",
            failure.point, failure.round, failure.why
        );
    }
    println!("{text}");
    let kept = json!({
        "at": jiff::Timestamp::now().to_string(), "machine": machine,
        "options": {"rounds": plan.rounds(), "seconds": plan.time().as_secs(), "rate": plan.rate,
            "batch_connections": plan.batch_connections, "ledger": "sqlite", "appendfsync": "always"},
        "points": points, "ratios": lines, "rounds": results.samples, "failures": results.failures,
    });
    let plots = plot::peers(&points)?;
    keep(
        &plan.place.directory,
        "report",
        &kept,
        "The service beside its peers",
        &text,
        &plots,
    )?;
    // The rates alone, for the documentation.
    std::fs::write(plan.place.directory.join("rates.svg"), plot::alone(&plots[0].svg))?;
    let all_met = plan.quick || lines.iter().all(|line| line.met != Some(false));
    let is_right = all_met && results.failures.is_empty();
    Ok(if is_right { ExitCode::SUCCESS } else { ExitCode::from(2) })
}

/// Writes `<name>.json` and `<name>.html` into the directory.
pub(crate) fn keep(
    directory: &std::path::Path,
    name: &str,
    results: &Value,
    title: &str,
    tables: &str,
    plots: &[Plot],
) -> Outcome {
    let json = directory.join(format!("{name}.json"));
    std::fs::write(&json, serde_json::to_vec_pretty(results)?)?;
    let html = directory.join(format!("{name}.html"));
    std::fs::write(&html, page::html(title, tables, plots))?;
    eprintln!("kept in {} and {}", json.display(), html.display());
    Ok(())
}

fn row(point: &Point) -> String {
    format!(
        "| {} | {:.0} | {:.0} – {:.0} | {:.0} | {:.0} | {:.0} – {:.0} | {} |\n",
        point.name,
        point.per_s.median,
        point.per_s.least,
        point.per_s.most,
        point.p50_us.median,
        point.p99_us.median,
        point.p99_us.least,
        point.p99_us.most,
        point
            .catch_up_s
            .map_or_else(String::new, |s| format!("{:.1}", s.median)),
    )
}

fn ratio_row(line: &Line) -> String {
    format!(
        "| {} | {} | {} | {} | {} |\n",
        line.what,
        line.ratio
            .map_or_else(|| "not measured".to_owned(), |ratio| format!("{ratio:.2}")),
        line.rounds
            .map_or_else(String::new, |s| format!("{:.2} – {:.2}", s.least, s.most)),
        line.wanted.as_deref().unwrap_or_default(),
        match line.met {
            Some(true) => "met",
            Some(false) => "**not met**",
            None => "",
        }
    )
}

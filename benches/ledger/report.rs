//! The results: a table in Markdown to read, JSON to keep.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::cpu::Cpu;
use crate::Outcome;

/// One size of event on one database.
pub(crate) struct Measured {
    pub(crate) database: String,
    pub(crate) index: bool,
    /// Entries of an event.
    pub(crate) size: usize,
    /// Entries of one measurement.
    pub(crate) entries: usize,
    pub(crate) events: usize,
    pub(crate) rows: usize,
    pub(crate) median: Duration,
    pub(crate) slowest: Duration,
    /// The least of all rounds, for all events of one: other load on the machine only adds to it.
    pub(crate) cpu: Cpu,
}

impl Measured {
    fn rate(&self, amount: usize) -> u128 {
        amount as u128 * 1_000_000 / self.median.as_micros().max(1)
    }

    /// Microseconds for each event.
    fn of_event(&self, time: Duration) -> f64 {
        let events = u32::try_from(self.events).unwrap_or(u32::MAX).max(1);
        (time / events).as_secs_f64() * 1e6
    }

    /// A row of the table.
    pub(crate) fn line(&self) -> String {
        format!(
            "| {} | {} | {} | {} | {} | {} | {} | {:.1} | {:.1} |",
            self.database,
            if self.index { "with" } else { "without" },
            self.size,
            self.rate(self.entries),
            self.rate(self.events),
            self.rate(self.rows),
            self.entries as u128 * 1_000_000 / self.slowest.as_micros().max(1),
            self.of_event(self.cpu.service),
            self.of_event(self.cpu.database),
        )
    }

    fn json(&self) -> Value {
        json!({
            "database": self.database, "entry_index": self.index, "entries_per_event": self.size,
            "entries": self.entries, "events": self.events, "rows": self.rows,
            "median_us": self.median.as_micros(), "slowest_us": self.slowest.as_micros(),
            "entries_per_s": self.rate(self.entries), "events_per_s": self.rate(self.events),
            "rows_per_s": self.rate(self.rows), "service_us_per_event": self.of_event(self.cpu.service),
            "database_us_per_event": self.of_event(self.cpu.database),
        })
    }
}

/// Entries per second.
pub(crate) fn projector(results: &[Measured], before: u64, file: Option<&Path>) -> Outcome {
    println!("The projector with {before} entries there before:\n");
    println!(
        "| database | entry index | entries per event | entries/s | events/s | rows/s | entries/s, slowest round | CPU of \
         the service per event, µs | CPU of the database per event, µs |"
    );
    println!("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for measured in results {
        println!("{}", measured.line());
    }
    let results: Vec<Value> = results.iter().map(Measured::json).collect();
    keep(file, &json!({"entries_before": before, "projector": results}))
}

/// One database's exports and pages.
pub(crate) struct Read {
    pub(crate) database: String,
    /// Name, rows, seconds, and KiB of memory: before, and its growth at the highest.
    pub(crate) exports: Vec<(String, u64, f64, u64, u64)>,
    /// Name; time of a page at the list's beginning and at its end.
    pub(crate) pages: Vec<(String, Duration, Duration)>,
    /// Name and text.
    pub(crate) plans: Vec<(String, String)>,
}

/// Prints memory and times.
pub(crate) fn exports(results: &[Read], payouts: u64, file: Option<&Path>) -> Outcome {
    println!("Reading {payouts} payouts from the running service:\n");
    println!("| database | export | rows | seconds | RSS before, MiB | growth at its highest, MiB |");
    println!("| --- | --- | ---: | ---: | ---: | ---: |");
    for read in results {
        for (name, rows, seconds, before, grown) in &read.exports {
            let (before, grown) = (mib(*before), mib(*grown));
            println!(
                "| {} | {name} | {rows} | {seconds:.1} | {before} | {grown} |",
                read.database
            );
        }
    }
    println!("\n| database | page of 100 | at the newest rows, ms | at the oldest rows, ms |");
    println!("| --- | --- | ---: | ---: |");
    for read in results {
        for (name, first, last) in &read.pages {
            let (first, last) = (ms(*first), ms(*last));
            println!("| {} | {name} | {first} | {last} |", read.database);
        }
    }
    for read in results {
        for (name, plan) in &read.plans {
            println!("\n{}, {name}:\n```\n{plan}\n```", read.database);
        }
    }
    let results: Vec<Value> = results.iter().map(Read::json).collect();
    keep(file, &json!({"payouts": payouts, "reads": results}))
}

impl Read {
    fn json(&self) -> Value {
        let exports = self.exports.iter().map(|(name, rows, seconds, before, grown)| {
            json!({"export": name, "rows": rows, "seconds": seconds, "rss_before_kib": before, "growth_kib": grown})
        });
        let pages = self.pages.iter().map(
            |(name, first, last)| json!({"page": name, "newest_us": first.as_micros(), "oldest_us": last.as_micros()}),
        );
        json!({"database": self.database, "exports": exports.collect::<Value>(), "pages": pages.collect::<Value>()})
    }
}

fn mib(kib: u64) -> String {
    format!("{}.{}", kib / 1024, kib % 1024 * 10 / 1024)
}

fn ms(time: Duration) -> String {
    format!("{:.2}", time.as_secs_f64() * 1000.0)
}

fn keep(file: Option<&Path>, results: &Value) -> Outcome {
    if let Some(file) = file {
        std::fs::write(file, serde_json::to_vec_pretty(results)?)?;
    }
    Ok(())
}

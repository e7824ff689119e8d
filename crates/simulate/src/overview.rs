//! A run as people read it, in the terminal and in the report.

use serde::Serialize;
use serde_json::Value;

use super::compare::Comparison;
use super::finding::Finding;
use super::machine::Machine;
use super::numbers::{Client, Latency, Numbers};
use super::table::{duration, grouped_rate};

/// Above this share of the client's ceiling, in percent, the rate says more about the client.
const CLIENT_BOUND_PERCENT: f64 = 70.0;

/// What a reader sees of a run.
#[derive(Debug)]
pub struct Overview {
    pub machine: Machine,
    pub findings: Vec<Finding>,
    /// With `--compare`.
    pub comparison: Option<Comparison>,
    /// What the service showed beside its answers.
    pub shown: &'static str,
    /// The numbers that matter most, and their names.
    pub cards: Vec<(String, &'static str)>,
    /// All numbers, by name.
    pub rows: Vec<(String, String)>,
    /// What the options asked for, by name.
    pub parameters: Vec<(String, String)>,
    /// What a reader of the numbers must know.
    pub remarks: Vec<String>,
    /// The kind, and its definition.
    pub definition: (&'static str, Value),
}

/// How people read a run of one kind.
pub trait Shown {
    /// What this kind alone counts.
    type Numbers: Serialize;

    /// The numbers that matter most, and their names.
    fn cards(numbers: &Self::Numbers) -> Vec<(String, &'static str)>;

    /// All numbers of this kind, by name.
    fn rows(&self, all: &Numbers<Self::Numbers>) -> Vec<(String, String)>;

    /// What the options asked for, by name.
    fn parameters(&self) -> Vec<(String, String)>;

    /// What a reader of the numbers must know.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }
}

impl Overview {
    /// Adds what every run has: kills, the load of the client and the service, and what limits the numbers.
    pub fn add_common(&mut self, kills: u32, client: &Client, rate: &str) {
        if kills > 0 {
            self.cards.push((kills.to_string(), "kill -9 of the service"));
            self.rows.push(("kill -9".to_owned(), kills.to_string()));
        }
        let percent = client.of_ceiling_percent;
        let alone = grouped_rate(client.ceiling_per_s);
        self.rows.push((
            "client alone".to_owned(),
            format!("{alone}/s, the run reached {percent:.0} %"),
        ));
        if let Some(cores) = client.cores_used {
            let service = client
                .service_cores_used
                .map_or_else(String::new, |cores| format!(", service and Redis {cores:.2}"));
            self.rows.push((
                "cores used".to_owned(),
                format!("client {cores:.2}{service}, of {}", self.machine.cores),
            ));
        }
        if percent > CLIENT_BOUND_PERCENT {
            self.remarks.push(format!(
                "The client is near its own limit: {rate} is a lower bound of what the service can do."
            ));
        }
        if !self.machine.optimised {
            let debug = "This is a debug build: its rates and latencies say nothing about a release.";
            self.remarks.push(debug.to_owned());
        }
    }
}

/// The percentiles of a latency.
pub fn latency_rows(name: &str, latency: &Latency) -> [(String, String); 5] {
    [
        ("p50", latency.p50_us),
        ("p90", latency.p90_us),
        ("p99", latency.p99_us),
        ("p99.9", latency.p999_us),
        ("max", latency.max_us),
    ]
    .map(|(point, us)| (format!("{name} {point}"), duration(us)))
}

//! A run as people read it, in the terminal and in the report.

use serde_json::Value;

use super::finding::Finding;
use super::machine::Machine;
use super::numbers::{Client, Latency};
use super::summary::Summary;
use super::table::{duration, grouped, grouped_rate};

/// Above this share of the client's ceiling, in percent, the rate says more about the client.
const CLIENT_BOUND_PERCENT: f64 = 70.0;

/// What there is to say of a run.
#[derive(Debug)]
pub struct Overview<'s> {
    pub machine: &'s Machine,
    pub findings: &'s [Finding],
    /// What the service showed beside its answers.
    pub shown: &'static str,
    /// The numbers that matter most, and what they are.
    pub cards: Vec<(String, &'static str)>,
    /// All numbers, by name.
    pub rows: Vec<(String, String)>,
    /// What was asked for, by name.
    pub parameters: Vec<(String, String)>,
    /// What a reader of the numbers must know.
    pub remarks: Vec<String>,
    /// Of what, and the definition.
    pub definition: (&'static str, &'s Value),
}

/// A run of a jackpot.
pub fn jackpot(summary: &Summary) -> Overview<'_> {
    Overview {
        machine: &summary.machine,
        findings: &summary.findings,
        shown: "meters",
        cards: cards(summary),
        rows: rows(summary),
        parameters: parameters(summary),
        remarks: remarks(summary),
        definition: ("jackpot", &summary.parameters.definition),
    }
}

fn cards(summary: &Summary) -> Vec<(String, &'static str)> {
    let numbers = &summary.numbers;
    let mut cards = vec![
        (grouped_rate(numbers.entries_per_s), "entries per second"),
        (duration(numbers.latency.p50_us), "median latency"),
        (duration(numbers.latency.p99_us), "99th percentile"),
        (grouped(numbers.paid), "claims paid, each once"),
        (grouped(numbers.retries), "claims answered retry"),
        (grouped(numbers.replays), "entries sent again"),
    ];
    if numbers.kills > 0 {
        cards.push((numbers.kills.to_string(), "kill -9 of the service"));
    }
    cards
}

fn rows(summary: &Summary) -> Vec<(String, String)> {
    let numbers = &summary.numbers;
    let mut rows = vec![
        ("entries".to_owned(), grouped(numbers.entries)),
        ("elapsed".to_owned(), format!("{:.2} s", numbers.elapsed_s)),
        ("entries/s".to_owned(), grouped_rate(numbers.entries_per_s)),
    ];
    rows.extend(latency_rows("latency", &numbers.latency));
    rows.extend([
        (
            "claims paid".to_owned(),
            format!(
                "{} ({} pools, {} fixed)",
                grouped(numbers.paid),
                numbers.paid_pools,
                numbers.paid_fixed
            ),
        ),
        ("amount paid".to_owned(), grouped(numbers.paid_amount.unsigned_abs())),
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
                numbers.collision_entries, summary.parameters.collisions, numbers.collision_paid
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
        ("calls repeated".to_owned(), grouped(numbers.repeats)),
    ]);
    rows.extend(last_rows(numbers.kills, &numbers.client, &summary.machine));
    rows
}

fn parameters(summary: &Summary) -> Vec<(String, String)> {
    let asked = &summary.parameters;
    let chosen = if asked.winners_chosen {
        "chosen beforehand"
    } else {
        "not chosen: the draw secret is not known"
    };
    vec![
        ("service".to_owned(), asked.service.clone()),
        ("jackpot".to_owned(), asked.jackpot_id.clone()),
        ("seed".to_owned(), asked.seed.to_string()),
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
            format!("{} % of the entries, all of collisions", asked.replays_percent),
        ),
        ("kills".to_owned(), asked.kills.clone()),
    ]
}

fn remarks(summary: &Summary) -> Vec<String> {
    let mut remarks = usual_remarks(&summary.numbers.client, "entries/s", &summary.machine);
    if !summary.parameters.winners_chosen {
        remarks.push(
            "Without --master-secret winners can't be chosen beforehand (collisions are of ordinary entries at high odds), and draws of the \
             open epoch are not recomputed."
                .to_owned(),
        );
    }
    remarks
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

/// How often the service was killed, and how busy it and the client were.
pub fn last_rows(kills: u32, client: &Client, machine: &Machine) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    if kills > 0 {
        rows.push(("kill -9".to_owned(), kills.to_string()));
    }
    rows.push((
        "client alone".to_owned(),
        format!(
            "{}/s, the run reached {:.0} %",
            grouped_rate(client.ceiling_per_s),
            client.of_ceiling_percent
        ),
    ));
    if let Some(cores) = client.cores_used {
        let service = client
            .service_cores_used
            .map_or_else(String::new, |cores| format!(", service and Redis {cores:.2}"));
        rows.push((
            "cores used".to_owned(),
            format!("client {cores:.2}{service}, of {}", machine.cores),
        ));
    }
    rows
}

/// When the rate says more about the client, and when this build measures itself.
pub fn usual_remarks(client: &Client, rate: &str, machine: &Machine) -> Vec<String> {
    let is_bound = client.of_ceiling_percent > CLIENT_BOUND_PERCENT;
    let bound = is_bound
        .then(|| format!("The client is near its own limit: {rate} is a lower bound of what the service can do."));
    let debug = (!machine.optimised)
        .then(|| "This is a debug build: its rates and latencies say nothing about a release.".to_owned());
    bound.into_iter().chain(debug).collect()
}

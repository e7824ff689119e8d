//! What a run is told by: its parameters, machine, numbers and findings. This is the shape of `--json`.

use serde::Serialize;

use super::Args;
use super::evidence::Evidence;
use super::finding::Finding;
use super::machine::Machine;
use super::numbers::Numbers;
use super::plan::Plan;

/// What was asked for.
#[derive(Debug, Clone, Serialize)]
pub struct Parameters {
    pub service: String,
    pub jackpot_id: String,
    pub seed: u64,
    pub players: u32,
    pub entries: u64,
    pub winners: u32,
    pub collisions: u32,
    /// Whether the winners of collisions were chosen beforehand.
    pub winners_chosen: bool,
    pub replays_percent: u32,
    pub kills: String,
    pub definition: serde_json::Value,
}

impl Parameters {
    /// As the options gave them.
    pub fn of(args: &Args, plan: &Plan) -> Self {
        Self {
            service: service(args),
            jackpot_id: plan.jackpot_id.clone(),
            seed: args.seed,
            players: args.players,
            entries: args.entries,
            winners: args.winners,
            collisions: args.collisions,
            winners_chosen: plan.searched,
            replays_percent: args.replays,
            kills: kills(args),
            definition: plan.definition(),
        }
    }
}

/// Which service was played.
pub fn service(args: &Args) -> String {
    let private = || "private, embedded Redis (appendfsync always)".to_owned();
    args.url.clone().unwrap_or_else(private)
}

/// What was killed, and when.
pub fn kills(args: &Args) -> String {
    let what = if args.kill_redis {
        "service and Redis"
    } else {
        "service"
    };
    match (args.kill_every, args.kills) {
        (None, None) => "none".to_owned(),
        (None, Some(kills)) => format!("{what} {kills} times at random points"),
        (Some(seconds), None) => format!("{what} every {seconds} s"),
        (Some(seconds), Some(kills)) => format!("{what} every {seconds} s, at most {kills} times"),
    }
}

/// A run that came to its end.
#[derive(Debug)]
pub struct Played<P = Parameters, N = Numbers, E = Evidence> {
    pub summary: Summary<P, N>,
    pub evidence: E,
    /// When the service was killed, in microseconds of the run.
    pub kills_us: Vec<u64>,
}

/// One run, told.
#[derive(Debug, Clone, Serialize)]
pub struct Summary<P = Parameters, N = Numbers> {
    pub parameters: P,
    pub machine: Machine,
    pub numbers: N,
    pub findings: Vec<Finding>,
}

//! Load of single requests by wrk: closed loop, each connection sends its next request when it has the answer.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::Deserialize;
use tokio::process::Command;

use crate::Outcome;
use crate::http::Target;
use crate::sample::Load;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/load.lua");

/// What load.lua prints.
#[derive(Debug, Deserialize)]
struct Printed {
    requests: u64,
    seconds: f64,
    refused: u64,
    broken: u64,
    p50_us: f64,
    p99_us: f64,
}

/// Different for every load of this process; ids contain it.
pub(crate) fn tag() -> u64 {
    static LOADS: AtomicU64 = AtomicU64::new(1);
    LOADS.fetch_add(1, Ordering::Relaxed)
}

/// `route`: last part of the path, `issues` for coupons. `jackpots`: number of jackpots, or of coupons, that are used
/// in turn.
pub(crate) async fn requests(
    target: &Target,
    route: &str,
    connections: usize,
    jackpots: usize,
    time: Duration,
) -> Outcome<Load> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let output = Command::new("wrk")
        .arg(format!("--threads={}", cores.min(connections)))
        .arg(format!("--connections={connections}"))
        .arg(format!("--duration={}s", time.as_secs().max(1)))
        .args(["--timeout=10s", "--script", SCRIPT])
        .arg(format!("http://{}/", target.address))
        .env("BENCH_TAG", format!("{:04x}", tag()))
        .env("BENCH_KEY", &target.key)
        .env("BENCH_JACKPOTS", jackpots.to_string())
        .env("BENCH_ROUTE", route)
        .kill_on_drop(true)
        .output()
        .await
        .map_err(|error| format!("wrk: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find_map(|line| line.strip_prefix("BENCH "));
    let failed = || format!("wrk: {text}{}", String::from_utf8_lossy(&output.stderr));
    let printed: Printed = serde_json::from_str(line.ok_or_else(failed)?)?;
    if printed.requests == 0 || printed.refused + printed.broken > 0 {
        return Err(format!("wrk against {route}, {connections} connections: {printed:?}").into());
    }
    Ok(Load {
        entries: printed.requests,
        seconds: printed.seconds,
        p50_us: printed.p50_us,
        p99_us: printed.p99_us,
    })
}

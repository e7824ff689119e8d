//! What every run begins with: the client's own limit, and something new to play with: a jackpot, a coupon or a room.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use reqwest::Method;
use serde_json::Value;

use super::client::{Api, Target};
use super::progress::Bar;
use super::{Args, SimulateError, ceiling};

/// A run that is about to play.
#[derive(Debug)]
pub struct Begun {
    pub bar: Bar,
    /// Requests per second of the client alone.
    pub ceiling_per_s: f64,
    pub api: Api,
    /// Calls of all clients that were sent again.
    pub repeats: Arc<AtomicU64>,
}

impl Begun {
    pub fn repeats(&self) -> u64 {
        self.repeats.load(Ordering::Relaxed)
    }
}

/// Makes what is at `path`; when that is there already, it has a history that no check could tell from this run's.
/// `instead` says what to do then.
pub async fn begin(
    args: &Args,
    target: &Target,
    connections: u32,
    (path, definition, instead): (&str, &Value, &str),
) -> Result<Begun, SimulateError> {
    let bar = Bar::new(args.quiet);
    bar.say("measuring the client alone");
    let ceiling_per_s = ceiling::measure(connections).await?;
    let repeats = Arc::new(AtomicU64::new(0));
    let api = Api::new(target, Arc::clone(&repeats))?;
    let known = api.send_once(Method::GET, &api.url(path), None).await;
    if known.is_ok_and(|answer| answer.status.is_success()) {
        return Err(SimulateError::Usage(format!("{path} exists already: {instead}")));
    }
    api.send(Method::PUT, path, definition).await?;
    Ok(Begun {
        bar,
        ceiling_per_s,
        api,
        repeats,
    })
}

//! The course of a run, whatever is played: its bar, its kills, how long it took and how busy the machine was.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use tokio::sync::watch;

use super::begin::Begun;
use super::machine::cpu_ticks;
use super::numbers::Client;
use super::service::{self, PrivateService};
use super::{Args, SimulateError, kill};

/// `/proc` counts CPU time in hundredths of a second.
const TICKS_PER_S: f64 = 100.0;

/// How far a run has come.
#[derive(Debug, Clone, Copy)]
pub struct Course<'r> {
    /// What is done; it reaches `all`.
    pub done: &'r AtomicU64,
    pub all: u64,
    /// Kills at points of the run come before so much is done: what follows is only looked at.
    pub eventful: u64,
    pub started: Instant,
}

impl Course<'_> {
    pub fn has_reached(&self, point: u64) -> bool {
        self.done.load(Ordering::Relaxed) >= point
    }

    /// Since its start.
    pub fn micros(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

/// A run that came to its end.
#[derive(Debug)]
pub struct Run<H> {
    pub haul: H,
    /// When the service was killed, in microseconds of the run.
    pub kills_us: Vec<u64>,
    pub elapsed_s: f64,
    pub client: Client,
}

/// Plays, and kills meanwhile as the options ask.
pub async fn conduct<H>(
    args: &Args,
    mut service: Option<&mut PrivateService>,
    course: Course<'_>,
    begun: &Begun,
    playing: impl Future<Output = Result<H, SimulateError>>,
) -> Result<Run<H>, SimulateError> {
    let before = cpu(service.as_deref());
    let (say_over, over) = watch::channel(false);
    let playing = async {
        let haul = playing.await;
        say_over.send_replace(true);
        haul
    };
    let (haul, kills_us) = tokio::try_join!(
        playing,
        kill::kill_and_restart(args, service.as_deref_mut(), course, over)
    )?;
    let elapsed_s = course.started.elapsed().as_secs_f64();
    let used = cpu(service.as_deref());
    begun.bar.finish();
    let cores = |now: Option<u64>, then: Option<u64>| Some(seconds(now?.saturating_sub(then?)) / elapsed_s);
    let client = Client {
        ceiling_per_s: begun.ceiling_per_s,
        of_ceiling_percent: 0.0,
        cores_used: cores(used.0, before.0),
        service_cores_used: if kills_us.is_empty() {
            cores(used.1, before.1)
        } else {
            None
        },
    };
    Ok(Run {
        haul,
        kills_us,
        elapsed_s,
        client,
    })
}

/// CPU ticks of this process and of the private service's.
fn cpu(service: Option<&PrivateService>) -> (Option<u64>, Option<u64>) {
    let of_service = service.map(|service| {
        service::pids(service)
            .iter()
            .filter_map(|pid| cpu_ticks(&pid.to_string()))
            .sum()
    });
    (cpu_ticks("self"), of_service)
}

#[expect(clippy::cast_precision_loss, reason = "hundredths of seconds to be shown")]
fn seconds(ticks: u64) -> f64 {
    ticks as f64 / TICKS_PER_S
}

//! `kill -9` of the private service at random moments of the run, and the end of its subscriber at others.

use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tokio::sync::watch;

use super::Args;
use super::SimulateError;
use super::scenario::Course;
use super::service::PrivateService;
use super::subscriber::Receiver;

const PROGRESS_POLL: Duration = Duration::from_millis(1);
/// A kill at a point of the run comes late by this at most, in microseconds, so that it hits any step of a call.
const JITTER_US: u64 = 20_000;
/// The subscriber's moments are others than the service's.
const OF_SUBSCRIBER: u64 = 0x5ab5_c41b_e400_0001;

/// When the service is killed.
#[derive(Debug)]
pub enum Moments {
    /// Never.
    Never,
    /// When this many steps of the run are done, ascending.
    AtPoints(Vec<u64>),
    /// After half to one and a half of these seconds, at most this many times.
    Every { seconds: u32, at_most: u32 },
}

impl Moments {
    /// As the options ask, in a run of this length.
    pub fn new(args: &Args, all: u64, rng: &mut StdRng) -> Self {
        match (args.kill_every, args.kills) {
            (None, None) => Self::Never,
            (Some(seconds), at_most) => Self::Every {
                seconds,
                at_most: at_most.unwrap_or(u32::MAX),
            },
            (None, Some(kills)) => {
                let mut points: Vec<u64> = (0..kills).map(|_| rng.random_range(0..all)).collect();
                points.sort_unstable();
                Self::AtPoints(points)
            }
        }
    }
}

/// Kills and restarts until the moments or the run are over. Returns when it killed, in microseconds of the run.
pub async fn kill_and_restart(
    args: &Args,
    service: Option<&mut PrivateService>,
    course: Course<'_>,
    over: watch::Receiver<bool>,
) -> Result<Vec<u64>, SimulateError> {
    let Some(service) = service else {
        return Ok(Vec::new());
    };
    let kill = async || service.kill_and_restart(args.kill_redis).await;
    at_moments(args, args.seed, course, over, kill).await
}

/// Ends the subscriber's receiver as often as the service, at moments of its own, and starts it again.
pub async fn kill_subscriber(
    args: &Args,
    receiver: Option<&Receiver>,
    course: Course<'_>,
    over: watch::Receiver<bool>,
) -> Result<(), SimulateError> {
    let Some(receiver) = receiver else {
        return Ok(());
    };
    let kill = async || receiver.kill_and_restart().await;
    at_moments(args, args.seed ^ OF_SUBSCRIBER, course, over, kill).await?;
    Ok(())
}

/// Does it at each moment, until they or the run are over. Returns when it did, in microseconds of the run.
async fn at_moments(
    args: &Args,
    seed: u64,
    course: Course<'_>,
    mut over: watch::Receiver<bool>,
    mut kill: impl AsyncFnMut() -> Result<(), SimulateError>,
) -> Result<Vec<u64>, SimulateError> {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut kills = Vec::new();
    match Moments::new(args, course.eventful, &mut rng) {
        Moments::Never => {}
        Moments::AtPoints(points) => {
            for point in points {
                tokio::select! {
                    // Before the end, so that a run that is quicker than its kills has all of them.
                    biased;
                    () = wait_for(course, point) => {}
                    _ = over.wait_for(|over| *over) => break,
                }
                tokio::time::sleep(Duration::from_micros(rng.random_range(0..JITTER_US))).await;
                kills.push(course.micros());
                kill().await?;
            }
        }
        Moments::Every { seconds, at_most } => {
            let mean_us = u64::from(seconds) * 1_000_000;
            while kills.len() < at_most as usize {
                let pause = Duration::from_micros(rng.random_range(mean_us / 2..mean_us * 3 / 2));
                tokio::select! {
                    () = tokio::time::sleep(pause) => {}
                    // Closed or true: the players are done either way.
                    _ = over.wait_for(|over| *over) => break,
                }
                kills.push(course.micros());
                kill().await?;
            }
        }
    }
    Ok(kills)
}

async fn wait_for(course: Course<'_>, point: u64) {
    while !course.has_reached(point) {
        tokio::time::sleep(PROGRESS_POLL).await;
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use rand::SeedableRng;
    use rand::rngs::StdRng;

    use super::{Args, Moments};

    #[test]
    fn points_are_ascending_inside_the_run_and_follow_from_the_seed() {
        let args = Args::parse_from(["simulate", "--kills", "20"]);
        let points = |seed| match Moments::new(&args, 1_000, &mut StdRng::seed_from_u64(seed)) {
            Moments::AtPoints(points) => points,
            other => panic!("{other:?}"),
        };
        assert_eq!(points(3), points(3));
        assert_eq!(points(3).len(), 20);
        assert!(points(3).is_sorted());
        assert!(points(3).iter().all(|point| *point < 1_000));
    }
}

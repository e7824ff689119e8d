//! The plots of a run of a room.

use super::evidence::{Evidence, Sample, Shown};
use super::lag;
use super::plan::Plan;
use crate::SimulateError;
use crate::report::plots::over_time::{self, OverTime, Series};
use crate::report::plots::{AMBER, BLUE, HALF, Plot, TEAL, WIDE, latency};
use crate::run::Played;

/// All of them, in the order of the page.
pub fn all(played: &Played<Plan>) -> Result<Vec<Plot>, SimulateError> {
    let (evidence, end_s) = (&played.evidence, played.numbers.elapsed_s);
    let joins = || evidence.visits.iter().flat_map(|visit| &visit.joins);
    let at_us: Vec<u64> = joins().map(|join| join.answered_us).collect();
    let latencies_us: Vec<u64> = joins().map(|join| join.answered_us - join.sent_us).collect();
    let caption = "Joins answered per second: most before the opening, the others while the room is drained.";
    let samples = samples(evidence);
    let mut plots = vec![
        active(played, &samples)?,
        queue(played, &samples)?,
        over_time::throughput(&at_us, "joins", caption, &[], &played.kills_us, end_s)?,
        latency::percentiles(&latencies_us, "a join's")?,
    ];
    let lags = lag::promotions(evidence).expired_ms;
    let lags_us: Vec<u64> = lags.into_iter().map(|ms| ms * 1_000).collect();
    if !lags_us.is_empty() {
        let units = "promotions into places of ended sessions";
        plots.push(latency::histogram("Promotion lag", &lags_us, units)?);
    }
    Ok(plots)
}

/// The samples of Redis; without them, what the service showed.
fn samples(evidence: &Evidence) -> Vec<Sample> {
    if !evidence.samples.is_empty() {
        return evidence.samples.clone();
    }
    let sample = |shown: &Shown| Sample {
        sent_us: shown.sent_us,
        answered_us: shown.answered_us,
        open: shown.counts.active,
        waiting: shown.counts.waiting,
        admitted: shown.counts.admitted,
    };
    evidence.shown.iter().map(sample).collect()
}

#[expect(clippy::cast_precision_loss, reason = "a position on a plot")]
fn active(played: &Played<Plan>, samples: &[Sample]) -> Result<Plot, SimulateError> {
    let (options, end_s) = (&played.evidence.plan.options, played.numbers.elapsed_s);
    let active = changes(samples, |sample| sample.open);
    over_time::plot(&OverTime {
        title: "Active sessions over time",
        caption: "Sessions whose end had not come, as the monitor saw them at single instants.",
        size: WIDE,
        series: vec![Series::count("active", TEAL, active, end_s)],
        level: Some((options.capacity as f64, "capacity")),
        collisions: &[],
        kills_us: &played.kills_us,
        end_s,
    })
}

fn queue(played: &Played<Plan>, samples: &[Sample]) -> Result<Plot, SimulateError> {
    let end_s = played.numbers.elapsed_s;
    let waiting = changes(samples, |sample| sample.waiting);
    let admitted = changes(samples, |sample| sample.admitted);
    over_time::plot(&OverTime {
        title: "Waiting and admitted over time",
        caption: "Users who wait, and all who have been admitted, at the same instants.",
        size: HALF,
        series: vec![
            Series::count("waiting", AMBER, waiting, end_s),
            Series::count("admitted", BLUE, admitted, end_s),
        ],
        level: None,
        collisions: &[],
        kills_us: &played.kills_us,
        end_s,
    })
}

/// The steps from each sample to the next.
#[expect(clippy::cast_precision_loss, reason = "positions on a plot")]
fn changes(samples: &[Sample], of: impl Fn(&Sample) -> u64) -> Vec<(u64, f64)> {
    let mut before = 0.0;
    let step = |sample: &Sample| {
        let now = of(sample) as f64;
        let by = now - std::mem::replace(&mut before, now);
        (by != 0.0).then_some((sample.answered_us, by))
    };
    samples.iter().filter_map(step).collect()
}

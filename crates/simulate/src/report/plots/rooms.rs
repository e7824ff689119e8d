//! The plots of a run of a room.

use super::lines::{self, Line, Lines};
use super::{AMBER, BLUE, HALF, Plot, TEAL, WIDE, latency, throughput};
use crate::SimulateError;
use crate::rooms::evidence::{Evidence, Sample};
use crate::rooms::{Played, lag};

/// All of them, in the page's order.
pub fn all(played: &Played) -> Result<Vec<Plot>, SimulateError> {
    let evidence = &played.evidence;
    let joins = || evidence.visits.iter().flat_map(|visit| &visit.joins);
    let at_us: Vec<u64> = joins().map(|join| join.told_us).collect();
    let latencies_us: Vec<u64> = joins().map(|join| join.told_us - join.sent_us).collect();
    let answered = throughput::Answered {
        at_us: &at_us,
        units: "joins",
        caption: "Joins answered per second: most before the opening, the others while the room is drained.",
        collisions: &[],
        kills_us: &played.kills_us,
        end_s: played.summary.numbers.elapsed_s,
    };
    let samples = samples(evidence);
    let mut plots = vec![
        active(played, &samples)?,
        line(played, &samples)?,
        throughput::plot(&answered)?,
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

/// As Redis had it; where it was not asked, as the service showed it.
fn samples(evidence: &Evidence) -> Vec<Sample> {
    if !evidence.samples.is_empty() {
        return evidence.samples.clone();
    }
    let sample = |shown: &crate::rooms::evidence::Shown| Sample {
        sent_us: shown.sent_us,
        told_us: shown.told_us,
        open: shown.counts.active,
        waiting: shown.counts.waiting,
        admitted: shown.counts.admitted,
    };
    evidence.shown.iter().map(sample).collect()
}

#[expect(clippy::cast_precision_loss, reason = "a position on a plot")]
fn active(played: &Played, samples: &[Sample]) -> Result<Plot, SimulateError> {
    lines::plot(Lines {
        title: "Active sessions over time",
        caption: "Sessions whose end had not come, as the monitor saw them at single instants.".to_owned(),
        size: WIDE,
        lines: vec![Line {
            name: "active",
            colour: TEAL,
            changes: changes(samples, |sample| sample.open),
        }],
        level: Some((played.evidence.plan.capacity as f64, "capacity")),
        kills_us: &played.kills_us,
        end_s: played.summary.numbers.elapsed_s,
    })
}

fn line(played: &Played, samples: &[Sample]) -> Result<Plot, SimulateError> {
    lines::plot(Lines {
        title: "Waiting and admitted over time",
        caption: "Who waits, and who has been admitted ever, at the same instants.".to_owned(),
        size: HALF,
        lines: vec![
            Line {
                name: "waiting",
                colour: AMBER,
                changes: changes(samples, |sample| sample.waiting),
            },
            Line {
                name: "admitted",
                colour: BLUE,
                changes: changes(samples, |sample| sample.admitted),
            },
        ],
        level: None,
        kills_us: &played.kills_us,
        end_s: played.summary.numbers.elapsed_s,
    })
}

/// The steps from each sample to the next.
#[expect(clippy::cast_precision_loss, reason = "positions on a plot")]
fn changes(samples: &[Sample], of: impl Fn(&Sample) -> u64) -> Vec<(u64, f64)> {
    let mut before = 0.0;
    let step = |sample: &Sample| {
        let now = of(sample) as f64;
        let by = now - std::mem::replace(&mut before, now);
        (by != 0.0).then_some((sample.told_us, by))
    };
    samples.iter().filter_map(step).collect()
}

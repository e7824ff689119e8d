//! The plots of a market day.

use plotters::prelude::RGBColor;

use super::evidence::Evidence;
use super::plan::Plan;
use crate::SimulateError;
use crate::report::plots::over_time::{self, OverTime, Series};
use crate::report::plots::{AMBER, BLUE, Plot, TEAL, VIOLET, WIDE, float, latency, seconds};
use crate::run::Played;

/// One for each pool that is plotted.
const COLOURS: [RGBColor; 4] = [TEAL, BLUE, AMBER, VIOLET];

/// All of them, in the order of the page.
pub fn all(played: &Played<Plan>) -> Result<Vec<Plot>, SimulateError> {
    let (evidence, end_s) = (&played.evidence, played.numbers.elapsed_s);
    let at_us: Vec<u64> = evidence.seen.entries.iter().map(|entry| entry.answered_us).collect();
    let caption = "Entries of all jackpots answered per second.";
    let latencies_us = &evidence.seen.latencies_us;
    Ok(vec![
        pools(played)?,
        over_time::throughput(&at_us, "entries", caption, &[], &played.kills_us, end_s)?,
        latency::percentiles(latencies_us, "a player's")?,
    ])
}

/// The pools of the tiers that must be hit, then of the others, as the answers to entries showed them.
fn pools(played: &Played<Plan>) -> Result<Plot, SimulateError> {
    let (evidence, end_s) = (&played.evidence, played.numbers.elapsed_s);
    let mut tiers: Vec<_> = evidence.tiers().collect();
    let is_ruled = |jackpot: usize, index: usize| {
        !evidence.plan.jackpots()[jackpot].definition["tiers"][index]["must_hit_by"].is_null()
    };
    tiers.sort_by_key(|(jackpot, _, index)| !is_ruled(*jackpot, *index));
    let series = tiers
        .into_iter()
        .zip(COLOURS)
        .map(|((jackpot, tier, index), colour)| Series {
            name: format!("{} {tier}", evidence.id(jackpot)),
            colour,
            points: points(evidence, jackpot, index, end_s),
            width: 1,
            is_area: false,
        });
    over_time::plot(&OverTime {
        title: "Pools over time",
        caption: "Each entry adds its contribution; each hit or winner takes the whole pool. In minor units, as the answers showed it.",
        size: WIDE,
        series: series.collect(),
        level: None,
        collisions: &[],
        kills_us: &played.kills_us,
        end_s,
    })
}

/// The last and the highest value of each column.
fn points(evidence: &Evidence, jackpot: usize, tier: usize, end_s: f64) -> Vec<(f64, f64)> {
    let (mut points, mut column, mut high, mut last) = (Vec::new(), 0.0, f64::MIN, 0.0);
    for entry in evidence.entries(jackpot) {
        let at = (seconds(entry.answered_us) / end_s * over_time::COLUMNS).floor();
        if at > column && high > f64::MIN {
            let x = (column + 0.5) / over_time::COLUMNS * end_s;
            points.extend([(x, high), (x, last)]);
            (column, high) = (at, f64::MIN);
        }
        last = float(entry.contributions[tier].1);
        high = high.max(last);
    }
    points
}

//! The plots of a run of a jackpot.

use plotters::prelude::RGBColor;
use plotters::style::Color;

use super::answer::Outcome;
use super::plan::Plan;
use crate::SimulateError;
use crate::report::plots::chart::{Axis, Chart, Labels, Mark};
use crate::report::plots::over_time::{self, OverTime, Series};
use crate::report::plots::{AMBER, BLUE, HALF, Plot, RED, TEAL, VIOLET, WIDE, float, latency, seconds, short};
use crate::run::Played;

/// One for each tier.
const TIERS: [RGBColor; 4] = [TEAL, BLUE, AMBER, VIOLET];
/// Columns of the refusals.
const COLUMNS: usize = 80;
const COLUMNS_F: f64 = 80.0;
/// Height of the upper part of the claims, in pixels.
const AMOUNTS_PX: u32 = 215;

/// All of them, in the order of the page.
pub fn all(played: &Played<Plan>) -> Result<Vec<Plot>, SimulateError> {
    let (evidence, end_s) = (&played.evidence, played.numbers.elapsed_s);
    let at_us: Vec<u64> = evidence.records.iter().map(|record| record.answered_us).collect();
    let latencies_us: Vec<u64> = evidence.latencies_us().collect();
    let collisions = collisions(played);
    let caption = "Entries answered per second, replays not counted.";
    Ok(vec![
        pools(played, &collisions)?,
        over_time::throughput(&at_us, "entries", caption, &collisions, &played.kills_us, end_s)?,
        claims(played)?,
        latency::percentiles(&latencies_us, "a player's")?,
        latency::histogram("Latency histogram", &latencies_us, "entries")?,
    ])
}

/// Every tier's pool, as the answers to entries showed it.
fn pools(played: &Played<Plan>, collisions: &[f64]) -> Result<Plot, SimulateError> {
    let end_s = played.numbers.elapsed_s;
    let tiers = played.evidence.plan.tiers.iter().zip(TIERS).enumerate();
    let series = tiers.map(|(index, (tier, colour))| Series {
        name: tier.name.to_owned(),
        colour,
        points: pool_of(played, index, end_s),
        width: 1,
        is_area: false,
    });
    over_time::plot(&OverTime {
        title: "Pool over time",
        caption: "Each entry adds its contribution; each winner takes the whole pool. In minor units, as the answers showed it.",
        size: WIDE,
        series: series.collect(),
        level: None,
        collisions,
        kills_us: &[],
        end_s,
    })
}

/// The pool after each entry's contribution and after each take: the extremes of each column.
fn pool_of(played: &Played<Plan>, tier: usize, end: f64) -> Vec<(f64, f64)> {
    let mut points = Vec::new();
    let mut column = 0.0;
    let (mut low, mut high) = (f64::MAX, f64::MIN);
    for (record, answer) in played.evidence.answers() {
        let at = (seconds(record.answered_us) / end * over_time::COLUMNS).floor();
        // Sequence order and time of the answer differ by what an answer takes: the column only moves on.
        if at > column && low <= high {
            let x = (column + 0.5) / over_time::COLUMNS * end;
            points.extend([(x, high), (x, low)]);
            (low, high, column) = (f64::MAX, f64::MIN, at);
        }
        let pool = float(answer.contributions[tier].pool);
        let taken = answer
            .payout
            .as_deref()
            .filter(|payout| payout.tier == tier && answer.attempts.len() == 1);
        let after = taken.map_or(pool, |payout| pool - float(payout.amount));
        (low, high) = (low.min(after), high.max(pool));
    }
    points
}

/// Pool takes as points over time and amount; retries as bars beneath.
fn claims(played: &Played<Plan>) -> Result<Plot, SimulateError> {
    let end = played.numbers.elapsed_s;
    let points = points(played);
    let low = points.iter().map(|point| point.1).fold(f64::MAX, f64::min).min(100.0) * 0.7;
    let high = points.iter().map(|point| point.1).fold(100.0, f64::max) * 1.6;
    let dot = |(at, amount, colour): (f64, f64, RGBColor)| Mark::Dot((at, amount), colour.mix(0.75), 3);
    let amounts = Chart {
        below: 2,
        ..Chart::new(
            Axis::linear(end, Some(0), Labels::By(short)),
            Axis::logarithmic(low, high, short),
            points.into_iter().map(dot).collect(),
        )
    };
    let retries = retries(played, end);
    let most = retries.iter().copied().fold(1.0, f64::max) * 1.1;
    let width = end / COLUMNS_F;
    let refused = (0_i32..).zip(retries).filter(|(_, count)| *count > 0.0);
    let bar = |(column, count)| {
        let column = f64::from(column);
        Mark::Bar(
            ((column + 0.1) * width, 0.0),
            ((column + 0.9) * width, count),
            RED.mix(0.7),
        )
    };
    let refusals = Chart {
        above: 2,
        ..Chart::new(
            Axis::linear(end, None, Labels::Scale(" s")),
            Axis::linear(most, Some(3), Labels::Scale("")),
            refused.map(bar).collect(),
        )
    };
    let plot = Plot::drawn("Claims over time", HALF, |area| {
        let (upper, lower) = area.split_vertically(AMOUNTS_PX);
        amounts.draw(&upper, area)?;
        refusals.draw(&lower, area)
    })?;
    let legend = [
        (TEAL, "pool taken"),
        (AMBER, "in a collision"),
        (BLUE, "after a redraw"),
        (RED, "retries (beneath)"),
    ];
    let fixed = played.numbers.own.paid_fixed;
    let caption = format!("Amount of each pool taken; {fixed} fixed prizes are not drawn.");
    let legend = legend.map(|(colour, text)| (colour, text.to_owned()));
    Ok(plot.captioned(caption).with_legend(legend))
}

fn points(played: &Played<Plan>) -> Vec<(f64, f64, RGBColor)> {
    let mut points = Vec::new();
    for (record, answer) in played.evidence.answers() {
        let Some(payout) = answer.payout.as_deref().filter(|payout| payout.takes_pool) else {
            continue;
        };
        let colour = match (answer.attempts.len() > 1, record.collision) {
            (true, _) => BLUE,
            (false, Some(_)) => AMBER,
            (false, None) => TEAL,
        };
        points.push((seconds(record.answered_us), float(payout.amount), colour));
    }
    points
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "columns of a plot"
)]
fn retries(played: &Played<Plan>, end: f64) -> [f64; COLUMNS] {
    let mut counts = [0.0; COLUMNS];
    for (record, answer) in played.evidence.answers() {
        let column = (seconds(record.answered_us) / end * COLUMNS_F) as usize;
        counts[column.min(COLUMNS - 1)] += answer
            .attempts
            .iter()
            .filter(|attempt| attempt.result == Outcome::Retry)
            .count() as f64;
    }
    counts
}

/// When each collision was released: the first of its entries.
fn collisions(played: &Played<Plan>) -> Vec<f64> {
    let count = played.evidence.plan.options.collisions as usize;
    let mut first = vec![u64::MAX; count];
    for record in &played.evidence.records {
        if let Some(number) = record.collision {
            let first = &mut first[number as usize];
            *first = (*first).min(record.sent_us);
        }
    }
    first.into_iter().filter(|at| *at != u64::MAX).map(seconds).collect()
}

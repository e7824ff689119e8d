//! The plots of a run of a coupon.

use super::evidence::Kind;
use super::plan::Plan;
use crate::SimulateError;
use crate::report::plots::over_time::{self, OverTime, Series};
use crate::report::plots::{AMBER, BLUE, HALF, Plot, TEAL, WIDE, latency};
use crate::run::Played;

/// All of them, in the order of the page.
pub fn all(played: &Played<Plan>) -> Result<Vec<Plot>, SimulateError> {
    let (calls, end_s) = (&played.evidence.calls, played.numbers.elapsed_s);
    let at_us: Vec<u64> = calls.iter().map(|call| call.answered_us).collect();
    let latencies_us: Vec<u64> = calls.iter().map(|call| call.answered_us - call.sent_us).collect();
    let caption = "Calls answered per second; looks at requests in the queue are not counted.";
    Ok(vec![
        out(played)?,
        over_time::throughput(&at_us, "calls", caption, &[], &played.kills_us, end_s)?,
        decided(played)?,
        latency::percentiles(&latencies_us, "a call's")?,
        latency::histogram("Latency histogram", &latencies_us, "calls")?,
    ])
}

/// Units that are known to be out. A unit is out for certain from the answer that gave it to the moment at which a void
/// of it was sent: between that and its answer another user may have got the unit. So the line is never above the truth,
/// and a line above the stock is a violation.
#[expect(clippy::cast_precision_loss, reason = "a position on a plot")]
fn out(played: &Played<Plan>) -> Result<Plot, SimulateError> {
    let (evidence, end_s) = (&played.evidence, played.numbers.elapsed_s);
    let mut changes = Vec::new();
    for issue in evidence.issues() {
        let known_us = issue.request.decided_us;
        changes.push((known_us, 1.0));
        // A void that was sent before the answer came takes back what the line never showed.
        changes.extend(issue.void.map(|void| (void.sent_us.max(known_us), -1.0)));
    }
    over_time::plot(&OverTime {
        title: "Units known to be out",
        caption: "At least so many units are out: from the answer of an issue, or the look at a queued request, until a void is sent.",
        size: WIDE,
        series: vec![Series::count("known to be out", TEAL, changes, end_s)],
        level: Some((evidence.plan.options.stock as f64, "stock")),
        collisions: &[],
        kills_us: &played.kills_us,
        end_s,
    })
}

/// The outcomes of the requests.
fn decided(played: &Played<Plan>) -> Result<Plot, SimulateError> {
    let (requests, end_s) = (played.evidence.requests(), played.numbers.elapsed_s);
    let series = |name, colour, kind| {
        let requests = requests.iter().filter(|request| request.kind() == Some(kind));
        let changes = requests.map(|request| (request.decided_us, 1.0));
        Series::count(name, colour, changes.collect(), end_s)
    };
    over_time::plot(&OverTime {
        title: "Requests decided over time",
        caption: "By the time of the answer, of queued requests by the time of the look; repeats are not counted.",
        size: HALF,
        series: vec![
            series("issued", TEAL, Kind::Issued),
            series("already issued", BLUE, Kind::AlreadyIssued),
            series("out of stock", AMBER, Kind::OutOfStock),
        ],
        level: None,
        collisions: &[],
        kills_us: &played.kills_us,
        end_s,
    })
}

//! The plots of a run of coupons.

use super::lines::{self, Line, Lines};
use super::{AMBER, BLUE, HALF, Plot, TEAL, WIDE, latency, throughput};
use crate::SimulateError;
use crate::coupons::Played;
use crate::coupons::evidence::Kind;

/// All of them, in the page's order.
pub fn all(played: &Played) -> Result<Vec<Plot>, SimulateError> {
    let evidence = &played.evidence;
    let at_us: Vec<u64> = evidence.calls.iter().map(|call| call.told_us).collect();
    let latencies_us: Vec<u64> = evidence.calls.iter().map(|call| call.told_us - call.sent_us).collect();
    let answered = throughput::Answered {
        at_us: &at_us,
        units: "calls",
        caption: "Calls answered per second; looks at requests in the line are not counted.",
        collisions: &[],
        kills_us: &played.kills_us,
        end_s: played.summary.numbers.elapsed_s,
    };
    Ok(vec![
        out(played)?,
        throughput::plot(&answered)?,
        decided(played)?,
        latency::percentiles(&latencies_us, "a call's")?,
        latency::histogram("Latency histogram", &latencies_us, "calls")?,
    ])
}

/// Units that are out, as users were told and the operator took back.
#[expect(clippy::cast_precision_loss, reason = "a position on a plot")]
fn out(played: &Played) -> Result<Plot, SimulateError> {
    let evidence = &played.evidence;
    let issued = evidence
        .issues()
        .into_iter()
        .map(|issue| (issue.request.decided_us, 1.0));
    let voided = evidence.voids.iter().map(|void| (void.answered_us, -1.0));
    lines::plot(Lines {
        title: "Units out over time",
        caption: "Issued and not taken back, by the time at which it was told, or looked up of those in the line."
            .to_owned(),
        size: WIDE,
        lines: vec![Line {
            name: "units out",
            colour: TEAL,
            changes: issued.chain(voided).collect(),
        }],
        level: Some((evidence.plan.stock as f64, "stock")),
        kills_us: &played.kills_us,
        end_s: played.summary.numbers.elapsed_s,
    })
}

/// What became of the requests.
fn decided(played: &Played) -> Result<Plot, SimulateError> {
    let requests = played.evidence.requests();
    let line = |name, colour, kind| Line {
        name,
        colour,
        changes: requests
            .iter()
            .filter(|request| request.kind() == Some(kind))
            .map(|request| (request.decided_us, 1.0))
            .collect(),
    };
    lines::plot(Lines {
        title: "Requests decided over time",
        caption: "By the time at which it was told, or looked up of those in the line; repeats are not counted."
            .to_owned(),
        size: HALF,
        lines: vec![
            line("issued", TEAL, Kind::Issued),
            line("already issued", BLUE, Kind::AlreadyIssued),
            line("out of stock", AMBER, Kind::OutOfStock),
        ],
        level: None,
        kills_us: &played.kills_us,
        end_s: played.summary.numbers.elapsed_s,
    })
}

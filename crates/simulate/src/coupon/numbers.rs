//! The numbers of a run of a coupon, from its evidence.

use serde::Serialize;

use super::evidence::{Call, Evidence, Kind};
use crate::numbers::{Latency, latency, per};

/// Status of the answer to a queued request.
const ACCEPTED: u16 = 202;

/// What a run of a coupon counts.
#[derive(Debug, Clone, Serialize)]
pub struct Numbers {
    pub calls: u64,
    pub calls_per_s: f64,
    /// From the first try of a call to its answer.
    pub latency: Latency,
    /// Calls answered 202.
    pub queued: u64,
    /// Of those: from joining the queue to the decision, by the service's clock, in whole milliseconds.
    pub queue_latency: Option<Latency>,
    /// Requests made by them.
    pub requests: u64,
    pub issued: u64,
    pub already_issued: u64,
    pub out_of_stock: u64,
    pub voided: u64,
    /// When the last unit of the stock reached its user. Unknown of queued requests, which users look at later.
    pub sold_out_s: Option<f64>,
    /// Calls that repeated a request.
    pub repeated: u64,
    /// Calls that looked at a request in the queue.
    #[serde(skip)]
    pub looks: u64,
}

impl Numbers {
    pub fn of(evidence: &Evidence, elapsed_s: f64) -> Self {
        let calls = evidence.calls.len() as u64;
        let queued: Vec<&Call> = evidence.calls.iter().filter(|call| call.status == ACCEPTED).collect();
        let requests = evidence.requests();
        let count = |kind| requests.iter().filter(|request| request.kind() == Some(kind)).count() as u64;
        let issues = evidence.issues();
        let mut answered_us: Vec<u64> = issues.iter().map(|issue| issue.request.decided_us).collect();
        answered_us.sort_unstable();
        let last = usize::try_from(evidence.plan.options.stock)
            .ok()
            .and_then(|stock| stock.checked_sub(1));
        let sold_out = last
            .filter(|_| !evidence.plan.options.queued)
            .and_then(|last| answered_us.get(last));
        let latency_in_queue = || latency(queued.iter().filter_map(|call| call.queued_ms).map(|ms| ms * 1_000));
        Self {
            calls,
            calls_per_s: per(calls, elapsed_s),
            latency: latency(evidence.calls.iter().map(|call| call.answered_us - call.sent_us)),
            queued: queued.len() as u64,
            queue_latency: (!queued.is_empty()).then(latency_in_queue),
            requests: requests.len() as u64,
            issued: issues.len() as u64,
            already_issued: count(Kind::AlreadyIssued),
            out_of_stock: count(Kind::OutOfStock),
            voided: evidence.voids.len() as u64,
            sold_out_s: sold_out.map(|us| per(*us, 1e6)),
            repeated: calls - requests.len() as u64,
            looks: evidence.looks,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coupon::check::fixture;
    use crate::coupon::plan::Plan;
    use crate::scenario::Scenario;

    #[test]
    fn a_run_is_counted() {
        let mut evidence = fixture::honest("--users 100 --stock 40 --voids 3 --queued");
        evidence.looks = 700;
        let numbers = Numbers::of(&evidence, 0.5);
        assert_eq!((numbers.calls, numbers.requests, numbers.repeated), (300, 200, 100));
        assert_eq!((numbers.issued, numbers.voided), (43, 3));
        assert!(
            (200..300).contains(&numbers.queued),
            "repeats of what is decided are answered at once"
        );
        assert_eq!(
            numbers.issued + numbers.already_issued + numbers.out_of_stock,
            numbers.requests
        );
        assert!((Plan::client_per_s(&numbers, 0.5) - 2_000.0).abs() < 0.1);
        assert_eq!(
            (numbers.sold_out_s, numbers.queue_latency.map(|latency| latency.max_us)),
            (None, Some(1_000))
        );
        let at_once = Numbers::of(&fixture::honest(""), 0.5);
        assert!(at_once.sold_out_s.is_some_and(|at| at > 0.0) && at_once.queue_latency.is_none());
    }
}

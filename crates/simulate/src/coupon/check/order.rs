//! First come, first served, as far as a client can see it.

use crate::coupon::answer::Outcome;
use crate::coupon::evidence::{Evidence, Request};

/// A request that had its answer, or its place in the queue, before another was sent is decided before the other. It has the
/// lower sequence, or was refused when fewer units had been issued.
pub fn of_arrival(evidence: &Evidence) -> Result<String, String> {
    let requests = evidence.requests();
    // Requests with an answer, by the time of the answer. Requests with a unit, by the time of sending.
    let mut answered: Vec<(&Request<'_>, u64)> = requests
        .iter()
        .filter_map(|request| Some((request, issued_before(request, evidence.plan.options.stock)?)))
        .collect();
    answered.sort_unstable_by_key(|(request, _)| request.answered_us);
    let mut sent: Vec<(&Request<'_>, u64)> = requests
        .iter()
        .filter_map(|request| Some((request, request.outcome()?.unit()?.sequence)))
        .collect();
    sent.sort_unstable_by_key(|(request, _)| request.sent_us);
    let mut answered = answered.into_iter().peekable();
    let mut highest: Option<(&Request<'_>, u64)> = None;
    for (request, sequence) in &sent {
        while let Some(earlier) = answered.next_if(|(earlier, _)| earlier.answered_us < request.sent_us) {
            highest = highest.filter(|highest| highest.1 >= earlier.1).or(Some(earlier));
        }
        if let Some((earlier, issued)) = highest
            && issued >= *sequence
        {
            let id = |request: &Request<'_>| evidence.plan.request_id(request.ask);
            return Err(format!(
                "{} was answered {} µs before {} was sent, but was decided when {issued} had been issued, and that got {sequence}",
                id(earlier),
                request.sent_us - earlier.answered_us,
                id(request)
            ));
        }
    }
    Ok(format!("{} requests, {} issues", requests.len(), sent.len()))
}

/// How many units had been issued at least when it was decided, its own among them.
fn issued_before(request: &Request<'_>, stock: u64) -> Option<u64> {
    match request.outcome()? {
        Outcome::Issued(unit) | Outcome::Voided(unit) | Outcome::AlreadyIssued { unit, .. } => Some(unit.sequence),
        Outcome::OutOfStock => Some(stock),
        Outcome::NotOpen | Outcome::Queued | Outcome::Dead => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coupon::check::fixture::{self, found};

    #[test]
    fn one_that_overtook_is_found() {
        for line in ["", "--queued"] {
            found("order", line, "when 50 had been issued", |evidence| {
                let [(early, one), (late, two)] = [5, 50].map(|sequence| fixture::issue(evidence, sequence));
                fixture::answer_with(evidence, early, &two);
                fixture::answer_with(evidence, late, &one);
            });
        }
    }

    #[test]
    fn one_that_was_served_after_a_refusal_of_an_earlier_one_is_found() {
        for line in ["", "--queued"] {
            found("order", line, "when 60 had been issued", |evidence| {
                let (early, _) = fixture::issue(evidence, 5);
                fixture::answer_with(evidence, early, &Outcome::OutOfStock);
            });
        }
    }

    #[test]
    fn in_the_queue_the_place_counts_and_not_the_time_of_the_decision() {
        let mut evidence = fixture::honest("--queued");
        for call in &mut evidence.calls {
            call.decided_us = u64::MAX;
        }
        of_arrival(&evidence).expect("as they joined");
    }
}

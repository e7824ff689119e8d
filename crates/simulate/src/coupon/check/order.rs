//! First come, first served, as far as it can be told from outside.

use crate::coupon::answer::Outcome;
use crate::coupon::evidence::{Evidence, Request};

/// A request that had its answer, or its place in the line, before another was sent is decided before that one: it has
/// the lower sequence, or was refused when fewer had been issued.
pub fn of_arrival(evidence: &Evidence) -> Result<String, String> {
    let requests = evidence.requests();
    // Those that are told something of, by the time when it was told; and those with a unit, by the time they were sent.
    let mut told: Vec<(&Request<'_>, u64)> = requests
        .iter()
        .filter_map(|request| Some((request, issued_before(request, evidence.plan.options.stock)?)))
        .collect();
    told.sort_unstable_by_key(|(request, _)| request.told_us);
    let mut sent: Vec<(&Request<'_>, u64)> = requests
        .iter()
        .filter_map(|request| Some((request, request.outcome()?.unit()?.sequence)))
        .collect();
    sent.sort_unstable_by_key(|(request, _)| request.sent_us);
    let mut told = told.into_iter().peekable();
    let mut highest: Option<(&Request<'_>, u64)> = None;
    for (request, sequence) in &sent {
        while let Some(earlier) = told.next_if(|(earlier, _)| earlier.told_us < request.sent_us) {
            highest = highest.filter(|highest| highest.1 >= earlier.1).or(Some(earlier));
        }
        if let Some((earlier, issued)) = highest
            && issued >= *sequence
        {
            let id = |request: &Request<'_>| evidence.plan.request_id(request.ask);
            return Err(format!(
                "{} was answered {} µs before {} was sent, but was decided when {issued} had been issued, and that got {sequence}",
                id(earlier),
                request.sent_us - earlier.told_us,
                id(request)
            ));
        }
    }
    Ok(format!("{} requests, {} issues", requests.len(), sent.len()))
}

/// How many had been issued at least when it was decided, itself among them.
fn issued_before(request: &Request<'_>, stock: u64) -> Option<u64> {
    match request.outcome()? {
        Outcome::Issued(unit) | Outcome::Voided(unit) | Outcome::AlreadyIssued { unit, .. } => Some(unit.sequence),
        Outcome::OutOfStock => Some(stock),
        Outcome::NotOpen | Outcome::InLine | Outcome::Dead => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coupon::check::fixture;

    #[test]
    fn one_that_overtook_is_found() {
        for line in ["", "--queued"] {
            let mut evidence = fixture::honest(line);
            let at = |evidence: &Evidence, sequence| {
                let issues = evidence.issues();
                let issue = issues
                    .iter()
                    .find(|issue| issue.unit.sequence == sequence)
                    .expect("one");
                (issue.request.ask, Outcome::Issued(issue.unit.clone()))
            };
            let [(early, one), (late, two)] = [5, 50].map(|sequence| at(&evidence, sequence));
            fixture::tell(&mut evidence, early, &two);
            fixture::tell(&mut evidence, late, &one);
            let told = of_arrival(&evidence).unwrap_err();
            assert!(told.contains("when 50 had been issued"), "{line}: {told}");
        }
    }

    #[test]
    fn one_that_was_served_behind_a_refusal_of_an_earlier_one_is_found() {
        for line in ["", "--queued"] {
            let mut evidence = fixture::honest(line);
            let early = fixture::first(&evidence, |outcome| {
                outcome.unit().is_some_and(|unit| unit.sequence == 5)
            });
            let ask = evidence.calls[early].ask;
            fixture::tell(&mut evidence, ask, &Outcome::OutOfStock);
            let told = of_arrival(&evidence).unwrap_err();
            assert!(told.contains("when 60 had been issued"), "{line}: {told}");
        }
    }

    #[test]
    fn in_the_line_the_place_counts_and_not_the_time_of_the_decision() {
        let mut evidence = fixture::honest("--queued");
        for call in &mut evidence.calls {
            call.decided_us = u64::MAX;
        }
        of_arrival(&evidence).expect("as they joined");
    }
}

//! How long a place was free while somebody waited for it.

use super::answer::How;
use super::check::place;
use super::evidence::{Evidence, Visit};

/// The k-th admission beyond the capacity takes the k-th place that became free: for each of them the milliseconds of
/// the service's clock between, as far as its user was told to wait and later when it was let in.
///
/// Who had to wait found no place free, so that the place became free while it waited. Who left with the call behind the
/// one that said to wait may have been in between, which nobody was told: then the lags of that time are told too long,
/// by a place, never too short. Of a room with a rate nothing can be told: there places are free on purpose.
pub fn promotions_ms(evidence: &Evidence) -> Vec<u64> {
    if evidence.plan.rate.is_some() {
        return Vec::new();
    }
    let mut admitted = admissions(evidence);
    admitted.sort_by_key(|(at_ms, _)| *at_ms);
    let mut freed_ms: Vec<i64> = evidence
        .visits
        .iter()
        .filter_map(|visit| freed_ms(evidence, visit))
        .collect();
    freed_ms.sort_unstable();
    let beyond = admitted
        .iter()
        .skip(usize::try_from(evidence.plan.capacity).unwrap_or(usize::MAX));
    let lags = beyond.zip(&freed_ms).filter(|((_, is_known), _)| *is_known);
    lags.map(|((admitted_ms, _), freed_ms)| u64::try_from(admitted_ms - freed_ms).unwrap_or(0))
        .collect()
}

/// When each was let in, and whether that is known of one who had waited. Who was not back in time to be told was let in
/// between the one before it in the line and the one behind it.
fn admissions(evidence: &Evidence) -> Vec<(i64, bool)> {
    let mut all: Vec<&Visit> = evidence.visits.iter().collect();
    let told_us = |visit: &Visit| visit.joins.first().map(|join| join.told_us);
    let early = evidence.early().len();
    all[..early].sort_by_key(|visit| place(visit));
    all[early..].sort_by_key(|visit| told_us(visit));
    let (mut admitted, mut last_ms) = (Vec::new(), 0);
    for visit in all {
        match (&visit.admission, visit.has_waited()) {
            (Some(admission), true) => {
                last_ms = admission.session.admitted_ms;
                admitted.push((last_ms, true));
            }
            (Some(admission), false) => admitted.push((admission.session.admitted_ms, false)),
            (None, _) if visit.was_missed() => admitted.push((last_ms, false)),
            (None, _) => {}
        }
    }
    admitted
}

fn freed_ms(evidence: &Evidence, visit: &Visit) -> Option<i64> {
    let (_, to_ms) = visit.stay_ms(&evidence.plan)?;
    let by_itself = visit.end().is_some_and(|ended| ended.how == How::Expired);
    let expires_ms = visit.session().map(|session| session.expires_ms);
    Some(expires_ms.filter(|_| by_itself).unwrap_or(to_ms))
}

#[cfg(test)]
mod tests {
    use super::promotions_ms;
    use crate::simulate::rooms::check::fixture;

    #[test]
    fn each_promotion_is_held_against_the_place_that_it_took() {
        let evidence = fixture::honest("");
        let lags = promotions_ms(&evidence);
        assert!(lags.len() > 50, "{lags:?}");
        assert!(lags.iter().all(|lag| *lag == fixture::PROMOTED_AFTER_MS), "{lags:?}");
        assert!(promotions_ms(&fixture::honest("--rate 6000")).is_empty());
    }
}

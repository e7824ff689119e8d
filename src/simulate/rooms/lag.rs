//! How long a place was free while somebody waited for it.

use super::answer::How;
use super::evidence::Evidence;

/// The k-th admission beyond the capacity takes the k-th place that became free: for each of them the milliseconds of
/// the service's clock between, as far as its user was told to wait and later when it was let in.
///
/// Who had to wait found no place free, so that the place became free while it waited. Of a room with a rate nothing
/// can be told: there places are free on purpose.
pub fn promotions_ms(evidence: &Evidence) -> Vec<u64> {
    if evidence.plan.rate.is_some() {
        return Vec::new();
    }
    let (mut admitted, mut freed) = (Vec::new(), Vec::new());
    for visit in &evidence.visits {
        let Some((from_ms, to_ms)) = visit.stay_ms(&evidence.plan) else {
            continue;
        };
        let is_known = visit.has_waited() && visit.admission.is_some();
        admitted.push((from_ms, is_known));
        let by_itself = visit.end().is_some_and(|ended| ended.how == How::Expired);
        let expires_ms = visit.session().map(|session| session.expires_ms);
        freed.push(expires_ms.filter(|_| by_itself).unwrap_or(to_ms));
    }
    admitted.sort_unstable();
    freed.sort_unstable();
    let beyond = admitted
        .iter()
        .skip(usize::try_from(evidence.plan.capacity).unwrap_or(usize::MAX));
    let lags = beyond.zip(&freed).filter(|((_, is_known), _)| *is_known);
    lags.map(|((admitted_ms, _), freed_ms)| u64::try_from(admitted_ms - freed_ms).unwrap_or(0))
        .collect()
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

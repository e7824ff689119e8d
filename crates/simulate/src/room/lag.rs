//! How long places stayed free while users waited.

use super::answer::How;
use super::check::place;
use super::evidence::{Evidence, Visit};

/// How long places were free, in milliseconds of the service's clock, by what freed them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lags {
    /// Freed by the end of a session, which the service has to notice.
    pub expired_ms: Vec<u64>,
    /// Freed by a leave, whose call admits the next user.
    pub left_ms: Vec<u64>,
}

/// The k-th admission beyond the capacity takes the k-th place that became free. The lag is the time between them. Only
/// users count whose answers said to wait, and later when they were admitted.
///
/// A user who had to wait found no free place, so its place became free while it waited. A room with a rate has no lags,
/// because its places are free on purpose.
pub fn promotions(evidence: &Evidence) -> Lags {
    let mut lags = Lags::default();
    if evidence.plan.options.rate.is_some() {
        return lags;
    }
    let stays = stays(evidence);
    let mut admitted: Vec<(i64, bool)> = stays.iter().map(|stay| (stay.admitted_ms, stay.is_answered)).collect();
    let mut freed: Vec<(i64, How)> = stays.iter().map(|stay| stay.freed).collect();
    admitted.sort_by_key(|(at_ms, _)| *at_ms);
    freed.sort_unstable();
    let beyond = admitted
        .iter()
        .skip(usize::try_from(evidence.plan.options.capacity).unwrap_or(usize::MAX));
    for ((admitted_ms, is_answered), (freed_ms, how)) in beyond.zip(freed) {
        let lag_ms = u64::try_from(admitted_ms - freed_ms).unwrap_or(0);
        match how {
            _ if !is_answered => {}
            How::Left => lags.left_ms.push(lag_ms),
            How::Expired | How::Abandoned => lags.expired_ms.push(lag_ms),
        }
    }
    lags
}

/// From a place taken to the place free again.
struct Stay {
    admitted_ms: i64,
    /// The answers to its user said to wait, and then that it is in.
    is_answered: bool,
    freed: (i64, How),
}

/// All users who were in. Some had no answer that said so: their session ended before they came back, or they left with the
/// call after the one that said to wait. Such a user was admitted between its neighbours in the queue, if the next one had
/// been admitted when it left.
fn stays(evidence: &Evidence) -> Vec<Stay> {
    let queue = queue(evidence);
    let admitted_ms_of = |visit: &Visit| Some(visit.admission.as_ref()?.session.admitted_ms);
    let (mut next, mut next_ms) = (vec![None; queue.len()], None);
    for (at, visit) in queue.iter().enumerate().rev() {
        next[at] = next_ms;
        next_ms = admitted_ms_of(visit).filter(|_| visit.has_waited()).or(next_ms);
    }
    let (mut stays, mut last_ms) = (Vec::new(), 0);
    for (visit, next) in queue.iter().zip(next) {
        let Some(ended) = visit.end() else {
            continue;
        };
        let is_answered = admitted_ms_of(visit).is_some() && visit.has_waited();
        if is_answered {
            last_ms = admitted_ms_of(visit).unwrap_or(last_ms);
        }
        let left_after = ended.how == How::Left && next.is_some_and(|next_ms: i64| next_ms < ended.at_ms);
        if admitted_ms_of(visit).is_none() && !visit.was_missed() && !left_after {
            continue;
        }
        let expires_ms = visit.session().map(|session| session.expires_ms);
        stays.push(Stay {
            admitted_ms: admitted_ms_of(visit).unwrap_or(last_ms),
            is_answered,
            freed: (
                expires_ms.filter(|_| ended.how == How::Expired).unwrap_or(ended.at_ms),
                ended.how,
            ),
        });
    }
    stays
}

/// All users in the order of joining: by place, and the late ones by the time of the answer.
fn queue(evidence: &Evidence) -> Vec<&Visit> {
    let mut queue: Vec<&Visit> = evidence.visits.iter().collect();
    let (early, late) = queue.split_at_mut(evidence.early().len());
    early.sort_by_key(|visit| place(visit));
    late.sort_by_key(|visit| visit.joins.first().map(|join| join.answered_us));
    queue
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::answer::Place;
    use crate::room::check::fixture;

    fn is_exact(evidence: &Evidence) {
        let Lags { expired_ms, left_ms } = promotions(evidence);
        for (lags, least) in [(expired_ms, 10), (left_ms, 50)] {
            assert!(lags.len() > least, "{lags:?}");
            assert!(lags.iter().all(|lag| *lag == fixture::PROMOTED_AFTER_MS), "{lags:?}");
        }
    }

    #[test]
    fn each_promotion_is_held_against_the_place_that_it_took() {
        is_exact(&fixture::honest(""));
        assert_eq!(promotions(&fixture::honest("--rate 6000")), Lags::default());
    }

    #[test]
    fn an_end_that_is_noticed_late_does_not_hide_among_leaves() {
        let mut evidence = fixture::honest("--abandon 0 --renew 0 --late 0");
        for visit in &mut evidence.visits {
            if let Some(Place::Ended(ended)) = &mut visit.finally
                && ended.how == How::Expired
            {
                // It was over earlier than a place was given to the next.
                let session = &mut visit.admission.as_mut().expect("it was admitted").session;
                session.expires_ms -= 7;
            }
        }
        let lags = promotions(&evidence);
        assert!(
            lags.expired_ms.iter().all(|lag| *lag == fixture::PROMOTED_AFTER_MS + 7),
            "{lags:?}"
        );
        assert!(
            lags.left_ms.iter().all(|lag| *lag == fixture::PROMOTED_AFTER_MS),
            "{lags:?}"
        );
    }

    #[test]
    fn a_user_who_left_without_an_answer_that_it_was_in_had_a_place() {
        let mut evidence = fixture::honest("--late 0");
        let promoted = evidence.visits.iter_mut().filter(|visit| visit.has_waited());
        let left = promoted.filter(|visit| visit.end().is_some_and(|ended| ended.how == How::Left));
        for visit in left.skip(30).step_by(9).take(8) {
            visit.admission = None;
        }
        is_exact(&evidence);
    }
}

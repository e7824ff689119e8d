//! How long a place was free while somebody waited for it.

use super::answer::How;
use super::check::place;
use super::evidence::{Evidence, Visit};

/// How long places were free, in milliseconds of the service's clock, by what freed them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lags {
    /// The end of a session: somebody has to notice that it has come.
    pub expired_ms: Vec<u64>,
    /// A leave, which lets in who is next by the same call.
    pub left_ms: Vec<u64>,
}

/// The k-th admission beyond the capacity takes the k-th place that became free: for each of them the time between, as
/// far as its user was told to wait and later when it was let in.
///
/// Who had to wait found no place free, so that the place became free while it waited. Of a room with a rate nothing
/// can be told: there places are free on purpose.
pub fn promotions(evidence: &Evidence) -> Lags {
    let mut lags = Lags::default();
    if evidence.plan.options.rate.is_some() {
        return lags;
    }
    let stays = stays(evidence);
    let mut admitted: Vec<(i64, bool)> = stays.iter().map(|stay| (stay.admitted_ms, stay.is_told)).collect();
    let mut freed: Vec<(i64, How)> = stays.iter().map(|stay| stay.freed).collect();
    admitted.sort_by_key(|(at_ms, _)| *at_ms);
    freed.sort_unstable();
    let beyond = admitted
        .iter()
        .skip(usize::try_from(evidence.plan.options.capacity).unwrap_or(usize::MAX));
    for ((admitted_ms, is_told), (freed_ms, how)) in beyond.zip(freed) {
        let lag_ms = u64::try_from(admitted_ms - freed_ms).unwrap_or(0);
        match how {
            _ if !is_told => {}
            How::Left => lags.left_ms.push(lag_ms),
            How::Expired | How::Abandoned => lags.expired_ms.push(lag_ms),
        }
    }
    lags
}

/// From a place taken to the place free again.
struct Stay {
    admitted_ms: i64,
    /// Its user had been told to wait, and then that it is in.
    is_told: bool,
    freed: (i64, How),
}

/// Everybody who was in. Who was not told so was let in between the one before it in the line and the one behind it: its
/// session was over before it was back, or it left with the call behind the one that said to wait, and the one behind it
/// had been let in by then.
fn stays(evidence: &Evidence) -> Vec<Stay> {
    let line = line(evidence);
    let told_ms = |visit: &Visit| Some(visit.admission.as_ref()?.session.admitted_ms);
    let (mut behind, mut next_ms) = (vec![None; line.len()], None);
    for (at, visit) in line.iter().enumerate().rev() {
        behind[at] = next_ms;
        next_ms = told_ms(visit).filter(|_| visit.has_waited()).or(next_ms);
    }
    let (mut stays, mut last_ms) = (Vec::new(), 0);
    for (visit, behind) in line.iter().zip(behind) {
        let Some(ended) = visit.end() else {
            continue;
        };
        let is_told = told_ms(visit).is_some() && visit.has_waited();
        if is_told {
            last_ms = told_ms(visit).unwrap_or(last_ms);
        }
        let left_behind = ended.how == How::Left && behind.is_some_and(|behind_ms: i64| behind_ms < ended.at_ms);
        if told_ms(visit).is_none() && !visit.was_missed() && !left_behind {
            continue;
        }
        let expires_ms = visit.session().map(|session| session.expires_ms);
        stays.push(Stay {
            admitted_ms: told_ms(visit).unwrap_or(last_ms),
            is_told,
            freed: (
                expires_ms.filter(|_| ended.how == How::Expired).unwrap_or(ended.at_ms),
                ended.how,
            ),
        });
    }
    stays
}

/// All users in the order in which they joined: by place, and the late ones by when they were told.
fn line(evidence: &Evidence) -> Vec<&Visit> {
    let mut line: Vec<&Visit> = evidence.visits.iter().collect();
    let (early, late) = line.split_at_mut(evidence.early().len());
    early.sort_by_key(|visit| place(visit));
    late.sort_by_key(|visit| visit.joins.first().map(|join| join.told_us));
    line
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
                let session = &mut visit.admission.as_mut().expect("who dies was let in").session;
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
    fn who_left_without_knowing_that_it_was_in_had_a_place_all_the_same() {
        let mut evidence = fixture::honest("--late 0");
        let promoted = evidence.visits.iter_mut().filter(|visit| visit.has_waited());
        let left = promoted.filter(|visit| visit.end().is_some_and(|ended| ended.how == How::Left));
        for visit in left.skip(30).step_by(9).take(8) {
            visit.admission = None;
        }
        is_exact(&evidence);
    }
}

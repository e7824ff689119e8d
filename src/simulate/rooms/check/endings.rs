//! How every user's way ended.

use crate::simulate::finding::Judged;
use crate::simulate::rooms::answer::{Ended, How, Place};
use crate::simulate::rooms::evidence::{Evidence, Visit};
use crate::simulate::rooms::plan::{Part, user_id};

/// Somebody who is back later than told by this much has itself to thank, in microseconds.
const LATE_US: u64 = 1_000_000;

/// All who wait until they are let in have been, and knew it.
pub fn nobody_is_lost(evidence: &Evidence) -> Judged {
    let timeout_us = u64::from(evidence.plan.waiting_timeout_s) * 1_000_000;
    let mut own_fault: Option<String> = None;
    let patient = evidence.visits.iter().filter(|visit| visit.user.part.is_patient());
    let (mut all, mut late) = (0, 0);
    for visit in patient {
        all += 1;
        if visit.admission.is_some() {
            continue;
        }
        let id = user_id(visit.user.number);
        let how = visit.end().map(|ended| ended.how);
        let (told, is_own_fault) = match how {
            Some(How::Expired) => (
                format!(
                    "{id} was let in and its session over before it was back, {} ms late",
                    visit.late_us / 1_000
                ),
                visit.late_us >= LATE_US,
            ),
            Some(How::Abandoned) => (
                format!("{id} was given up, unseen for at most {} ms", visit.unseen_us / 1_000),
                visit.unseen_us >= timeout_us,
            ),
            _ => (format!("{id} waited and is {:?}", visit.finally), false),
        };
        if !is_own_fault {
            return Judged::Violated(told);
        }
        late += 1;
        own_fault.get_or_insert(told);
    }
    match own_fault {
        None => Judged::Held(format!("{all} users who waited for their turn")),
        Some(told) => Judged::NotChecked(format!(
            "{late} of {all} were back too late for this client's sake: {told}"
        )),
    }
}

/// Every ticket is over, in the way in which its user ended it, and says what its user was told.
pub fn are_what_users_did(evidence: &Evidence) -> Result<String, String> {
    let mut counts = [0_u64; 3];
    for visit in &evidence.visits {
        let id = user_id(visit.user.number);
        let ended = match &visit.finally {
            Some(Place::Ended(ended)) => *ended,
            other => return Err(format!("{id} is not over: {other:?}")),
        };
        if let Some(told) = visit.told.filter(|told| *told != ended) {
            return Err(format!("{id} was told {told:?}, and later {ended:?}"));
        }
        if !is_due(visit, ended) {
            return Err(format!("{id} ({:?}) ended as {:?}", visit.user.part, ended.how));
        }
        counts[ended.how as usize] += 1;
    }
    let [expired, abandoned, left] = counts;
    Ok(format!("{left} left, {expired} expired, {abandoned} abandoned"))
}

/// A session may end while its user is still about to leave; who was given up though it came back is judged by
/// [`nobody_is_lost`].
fn is_due(visit: &Visit, ended: Ended) -> bool {
    match (visit.user.part, ended.how) {
        (Part::Visit | Part::Renew | Part::Leave, How::Left) | (_, How::Expired) => true,
        (Part::Abandon, How::Abandoned) => visit.admission.is_none(),
        (_, How::Abandoned) => visit.admission.is_none() && visit.has_waited(),
        (Part::Abandon | Part::Die, How::Left) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::rooms::check::fixture;

    fn with(evidence: &Evidence, part: Part) -> usize {
        fixture::first(evidence, |visit| visit.user.part == part)
    }

    #[test]
    fn who_was_given_up_missed_or_forgotten_is_found_and_a_late_client_is_told() {
        let forget = |how: Option<How>, late_us: u64| {
            let mut evidence = fixture::honest("");
            let user = with(&evidence, Part::Visit);
            match how {
                Some(how) => fixture::end(&mut evidence, user, how, 1),
                None => evidence.visits[user].finally = None,
            }
            let visit = &mut evidence.visits[user];
            (visit.admission, visit.late_us, visit.unseen_us) = (None, late_us, late_us);
            nobody_is_lost(&evidence)
        };
        for how in [Some(How::Expired), Some(How::Abandoned), None] {
            assert!(matches!(forget(how, 10), Judged::Violated(_)), "{how:?}");
        }
        for how in [Some(How::Expired), Some(How::Abandoned)] {
            assert!(matches!(forget(how, 3_000_000), Judged::NotChecked(_)), "{how:?}");
        }
        assert!(matches!(forget(None, 3_000_000), Judged::Violated(_)));
    }

    #[test]
    fn an_end_that_its_user_did_not_bring_about_is_found() {
        for (part, how) in [
            (Part::Die, How::Left),
            (Part::Abandon, How::Left),
            (Part::Visit, How::Abandoned),
            (Part::Renew, How::Abandoned),
        ] {
            let mut evidence = fixture::honest("");
            let user = with(&evidence, part);
            fixture::end(&mut evidence, user, how, 1);
            assert!(are_what_users_did(&evidence).is_err(), "{part:?} {how:?}");
        }
    }

    #[test]
    fn a_ticket_that_is_not_over_or_says_something_else_later_is_found() {
        let mut evidence = fixture::honest("");
        let user = with(&evidence, Part::Visit);
        evidence.visits[user].told = Some(Ended {
            how: How::Left,
            at_ms: 1,
        });
        assert!(are_what_users_did(&evidence).is_err());
        evidence.visits[user].told = None;
        evidence.visits[user].finally = None;
        assert!(are_what_users_did(&evidence).is_err());
    }
}

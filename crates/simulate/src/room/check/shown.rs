//! What the service shows of the room agrees with the answers to users.

use crate::finding::Judged;
use crate::room::answer::How;
use crate::room::evidence::{Counts, Evidence, Visit};

/// The counts after the run follow from how the tickets ended. Counts that only grow never fell during the run.
pub fn counts_add_up(evidence: &Evidence) -> Judged {
    for pair in evidence.shown.windows(2) {
        let [before, after] = [pair[0].counts, pair[1].counts].map(growing);
        if before.iter().zip(after).any(|(before, after)| *before > after) {
            return Judged::Violated(format!("{:?} was followed by {:?}", pair[0].counts, pair[1].counts));
        }
    }
    if evidence.visits.iter().any(Visit::has_unknown_end) {
        return Judged::NotChecked("tickets were forgotten before the end of the run".to_owned());
    }
    let count = |is: &dyn Fn(&Visit) -> bool| evidence.visits.iter().filter(|visit| is(visit)).count() as u64;
    let ended = |how: How| count(&|visit| visit.end().is_some_and(|end| end.how == how));
    let admitted = count(&|visit| visit.admission.is_some() || visit.was_missed());
    let perhaps = count(&may_have_been_in);
    let answered = Counts {
        capacity: evidence.plan.options.capacity,
        active: 0,
        waiting: 0,
        admitted: evidence.counts.admitted.clamp(admitted, admitted + perhaps),
        expired: ended(How::Expired),
        abandoned: ended(How::Abandoned),
        left: ended(How::Left),
    };
    if evidence.counts == answered {
        Judged::Held(format!(
            "{} admitted, looked at {} times",
            answered.admitted,
            evidence.shown.len()
        ))
    } else {
        Judged::Violated(format!(
            "shown are {:?}, the answers say {answered:?}, admitted {admitted} or up to {perhaps} more",
            evidence.counts
        ))
    }
}

/// It waited, and left with its next call: it may have been admitted between the two.
fn may_have_been_in(visit: &Visit) -> bool {
    let has_left = visit.end().is_some_and(|end| end.how == How::Left);
    has_left && visit.admission.is_none()
}

fn growing(counts: Counts) -> [u64; 4] {
    [counts.admitted, counts.expired, counts.abandoned, counts.left]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::check::fixture::{self, found};

    #[test]
    fn each_count_that_does_not_fit_is_found() {
        let changes: [fn(&mut Counts); 7] = [
            |counts| counts.capacity += 1,
            |counts| counts.active += 1,
            |counts| counts.waiting += 1,
            |counts| counts.admitted += 1,
            |counts| counts.expired += 1,
            |counts| counts.abandoned += 1,
            |counts| counts.left += 1,
        ];
        for change in changes {
            found("counts", "--leave 0", "", |evidence| change(&mut evidence.counts));
        }
    }

    #[test]
    fn a_user_who_left_while_it_waited_may_have_been_admitted_the_moment_before() {
        let leavers =
            |evidence: &Evidence| evidence.visits.iter().filter(|visit| may_have_been_in(visit)).count() as u64;
        let mut evidence = fixture::honest("");
        assert!(leavers(&evidence) > 0);
        evidence.counts.admitted += leavers(&evidence);
        assert!(matches!(counts_add_up(&evidence), Judged::Held(_)), "all of them");
        found("counts", "", "", |evidence| {
            // One more than can be.
            evidence.counts.admitted += leavers(evidence) + 1;
        });
    }

    #[test]
    fn a_count_that_fell_is_found() {
        let changes: [fn(&mut Counts); 4] = [
            |counts| counts.admitted = u64::MAX,
            |counts| counts.expired = u64::MAX,
            |counts| counts.abandoned = u64::MAX,
            |counts| counts.left = u64::MAX,
        ];
        for change in changes {
            found("counts", "", "", |evidence| change(&mut evidence.shown[1].counts));
        }
    }
}

//! What the service shows of the room is what users were told.

use crate::finding::Judged;
use crate::room::answer::How;
use crate::room::evidence::{Counts, Evidence, Visit};

/// The counts behind the run follow from how the tickets ended, and what only grows never fell during it.
pub fn counts_add_up(evidence: &Evidence) -> Judged {
    for pair in evidence.shown.windows(2) {
        let [before, after] = [pair[0].counts, pair[1].counts].map(growing);
        if before.iter().zip(after).any(|(before, after)| *before > after) {
            return Judged::Violated(format!("{:?} was followed by {:?}", pair[0].counts, pair[1].counts));
        }
    }
    if evidence.visits.iter().any(Visit::is_untold) {
        return Judged::NotChecked("tickets were forgotten before the end of the run".to_owned());
    }
    let count = |is: &dyn Fn(&Visit) -> bool| evidence.visits.iter().filter(|visit| is(visit)).count() as u64;
    let ended = |how: How| count(&|visit| visit.end().is_some_and(|end| end.how == how));
    let admitted = count(&|visit| visit.admission.is_some() || visit.was_missed());
    let perhaps = count(&may_have_been_in);
    let told = Counts {
        capacity: evidence.plan.options.capacity,
        active: 0,
        waiting: 0,
        admitted: evidence.counts.admitted.clamp(admitted, admitted + perhaps),
        expired: ended(How::Expired),
        abandoned: ended(How::Abandoned),
        left: ended(How::Left),
    };
    if evidence.counts == told {
        Judged::Held(format!(
            "{} admitted, looked at {} times",
            told.admitted,
            evidence.shown.len()
        ))
    } else {
        Judged::Violated(format!(
            "shown are {:?}, told were {told:?}, admitted {admitted} or up to {perhaps} more",
            evidence.counts
        ))
    }
}

/// Overview to wait, and gone with the next call: it may have been let in between.
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
    use crate::room::check::fixture;

    fn is_violated(evidence: &Evidence) -> bool {
        matches!(counts_add_up(evidence), Judged::Violated(_))
    }

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
            let mut evidence = fixture::honest("--leave 0");
            change(&mut evidence.counts);
            assert!(is_violated(&evidence), "{:?}", evidence.counts);
        }
    }

    #[test]
    fn who_left_while_it_waited_may_have_been_let_in_the_moment_before() {
        let mut evidence = fixture::honest("");
        let leavers = evidence.visits.iter().filter(|visit| may_have_been_in(visit)).count() as u64;
        assert!(leavers > 0);
        evidence.counts.admitted += leavers;
        assert!(!is_violated(&evidence), "all of them");
        evidence.counts.admitted += 1;
        assert!(is_violated(&evidence), "one more than can be");
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
            let mut evidence = fixture::honest("");
            change(&mut evidence.shown[1].counts);
            assert!(is_violated(&evidence));
        }
    }
}

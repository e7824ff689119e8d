//! What the service shows of the room is what users were told.

use crate::simulate::rooms::answer::How;
use crate::simulate::rooms::evidence::{Counts, Evidence};

/// The counts behind the run follow from how the tickets ended, and what only grows never fell during it.
pub fn counts_add_up(evidence: &Evidence) -> Result<String, String> {
    for pair in evidence.shown.windows(2) {
        let [before, after] = [pair[0].counts, pair[1].counts].map(growing);
        if before.iter().zip(after).any(|(before, after)| *before > after) {
            return Err(format!("{:?} was followed by {:?}", pair[0].counts, pair[1].counts));
        }
    }
    let ended = |how: How| {
        evidence
            .visits
            .iter()
            .filter(move |visit| visit.end().is_some_and(|end| end.how == how))
    };
    let admitted = evidence
        .visits
        .iter()
        .filter(|visit| visit.admission.is_some() || visit.was_missed());
    let told = Counts {
        capacity: evidence.plan.capacity,
        active: 0,
        waiting: 0,
        admitted: admitted.count() as u64,
        expired: ended(How::Expired).count() as u64,
        abandoned: ended(How::Abandoned).count() as u64,
        left: ended(How::Left).count() as u64,
    };
    if evidence.counts == told {
        Ok(format!(
            "{} admitted, looked at {} times",
            told.admitted,
            evidence.shown.len()
        ))
    } else {
        Err(format!("shown are {:?}, told were {told:?}", evidence.counts))
    }
}

fn growing(counts: Counts) -> [u64; 4] {
    [counts.admitted, counts.expired, counts.abandoned, counts.left]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::rooms::check::fixture;

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
            let mut evidence = fixture::honest("");
            change(&mut evidence.counts);
            assert!(counts_add_up(&evidence).is_err(), "{:?}", evidence.counts);
        }
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
            assert!(counts_add_up(&evidence).is_err());
        }
    }
}

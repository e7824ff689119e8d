//! How the way of every user ended.

use crate::finding::Judged;
use crate::room::answer::{Ended, How, Place};
use crate::room::evidence::{Evidence, Visit};
use crate::room::plan::{Part, user_id};

/// The queue moved. Every patient user was admitted, and its answers said so.
pub fn nobody_is_lost(evidence: &Evidence) -> Judged {
    if let Some(seconds) = evidence.stood_still_s {
        let waiting = evidence.visits.iter().filter(|visit| is_waiting(visit));
        let ids: Vec<String> = waiting.map(|visit| user_id(visit.user.number)).collect();
        return Judged::Violated(format!(
            "for {seconds} s nobody was admitted, and nobody was done: {} still waited, the first is {}",
            ids.len(),
            ids.first().map_or("none", String::as_str)
        ));
    }
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
        let (detail, is_own_fault) = match how {
            Some(How::Expired) => (
                format!(
                    "{id} was admitted, and its session was over before it came back, {} ms late",
                    visit.late_us / 1_000
                ),
                visit.was_late_for(evidence.plan.options.session_s),
            ),
            Some(How::Abandoned) => (
                format!("{id} was given up, {} ms late at most", visit.late_us / 1_000),
                visit.was_late_for(evidence.plan.options.waiting_timeout_s),
            ),
            _ => (format!("{id} waited and is {:?}", visit.finally), false),
        };
        if !is_own_fault {
            return Judged::Violated(detail);
        }
        late += 1;
        own_fault.get_or_insert(detail);
    }
    match own_fault {
        None => Judged::Held(format!("{all} users who waited for their turn")),
        Some(detail) => Judged::NotChecked(format!(
            "{late} of {all} were back too late for this client's sake: {detail}"
        )),
    }
}

fn is_waiting(visit: &Visit) -> bool {
    matches!(visit.finally, Some(Place::Waiting(_)))
}

/// Every ticket is over, as its user ended it, and later answers agree with earlier ones.
pub fn are_what_users_did(evidence: &Evidence) -> Judged {
    let mut counts = [0_u64; 3];
    for visit in evidence.visits.iter().filter(|visit| !visit.has_unknown_end()) {
        match as_its_user_did(visit) {
            Ok(how) => counts[how as usize] += 1,
            Err(detail) => return Judged::Violated(format!("{} {detail}", user_id(visit.user.number))),
        }
    }
    let forgotten = |visit: &Visit| visit.forgotten_us.filter(|age_us| *age_us < evidence.kept_us);
    if let Some((visit, age_us)) = evidence
        .visits
        .iter()
        .find_map(|visit| Some((visit, forgotten(visit)?)))
    {
        return Judged::Violated(format!(
            "{} is forgotten {} s after its join, and a ticket is kept for {} s after its end",
            user_id(visit.user.number),
            age_us / 1_000_000,
            evidence.kept_us / 1_000_000
        ));
    }
    match evidence.visits.iter().filter(|visit| visit.has_unknown_end()).count() {
        0 => {
            let [expired, abandoned, left] = counts;
            Judged::Held(format!("{left} left, {expired} expired, {abandoned} abandoned"))
        }
        untold => Judged::NotChecked(format!("{untold} tickets were forgotten before the end of the run")),
    }
}

fn as_its_user_did(visit: &Visit) -> Result<How, String> {
    let Some(ended) = visit.end() else {
        return Err(format!("is not over: {:?}", visit.finally));
    };
    if let Some(earlier) = visit.ended.filter(|earlier| *earlier != ended) {
        return Err(format!("ended as {earlier:?}, and later as {ended:?}"));
    }
    if !is_due(visit, ended) {
        return Err(format!("({:?}) ended as {:?}", visit.user.part, ended.how));
    }
    Ok(ended.how)
}

/// A session may end before the leave of its user arrives. [`nobody_is_lost`] judges users who were abandoned although they
/// came back.
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
    use crate::room::answer::Wait;
    use crate::room::check::fixture::{self, found};

    fn with(evidence: &Evidence, part: Part) -> usize {
        fixture::first(evidence, |visit| visit.user.part == part)
    }

    #[test]
    fn a_user_who_was_abandoned_missed_or_forgotten_is_found_unless_its_client_was_late() {
        let forget = |how: Option<How>, late_us: u64| {
            let mut evidence = fixture::honest("");
            let user = with(&evidence, Part::Visit);
            match how {
                Some(how) => fixture::end(&mut evidence, user, how, 1),
                None => evidence.visits[user].finally = None,
            }
            let visit = &mut evidence.visits[user];
            (visit.admission, visit.late_us) = (None, late_us);
            nobody_is_lost(&evidence)
        };
        for how in [Some(How::Expired), Some(How::Abandoned), None] {
            assert!(matches!(forget(how, 10), Judged::Violated(_)), "{how:?}");
        }
        for how in [Some(How::Expired), Some(How::Abandoned)] {
            assert!(matches!(forget(how, 3_000_000), Judged::NotChecked(_)), "{how:?}");
        }
        // The client was late by less than a quarter of the timeout of 3 s, or of the session of 2 s. That does not cost
        // its place, and the service is to blame.
        assert!(matches!(forget(Some(How::Abandoned), 700_000), Judged::Violated(_)));
        assert!(matches!(forget(Some(How::Expired), 400_000), Judged::Violated(_)));
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
            found("endings", "", "", |evidence| {
                let user = with(evidence, part);
                fixture::end(evidence, user, how, 1);
            });
        }
    }

    #[test]
    fn a_ticket_that_is_not_over_or_says_something_else_later_is_found() {
        let changes: [fn(&mut Visit); 2] = [
            |visit| {
                visit.ended = Some(Ended {
                    how: How::Left,
                    at_ms: 1,
                });
            },
            |visit| (visit.ended, visit.finally) = (None, None),
        ];
        for change in changes {
            found("endings", "", "", |evidence| {
                let user = with(evidence, Part::Visit);
                change(&mut evidence.visits[user]);
            });
        }
    }

    #[test]
    fn a_ticket_that_is_forgotten_too_early_is_found_and_a_later_one_without_an_answer_is_not_judged() {
        let forget = |part: Part, age_s: u64| {
            let mut evidence = fixture::honest("");
            let user = with(&evidence, part);
            let visit = &mut evidence.visits[user];
            (visit.finally, visit.forgotten_us) = (None, Some(age_s * 1_000_000));
            let judged = are_what_users_did(&evidence);
            let counts = super::super::shown::counts_add_up(&evidence);
            (judged, counts)
        };
        for part in [Part::Visit, Part::Abandon] {
            assert!(matches!(forget(part, 59).0, Judged::Violated(_)), "{part:?}");
        }
        assert!(matches!(forget(Part::Visit, 60), (Judged::Held(_), Judged::Held(_))));
        assert!(matches!(
            forget(Part::Abandon, 60),
            (Judged::NotChecked(_), Judged::NotChecked(_))
        ));
    }

    #[test]
    fn a_queue_that_stands_still_is_found() {
        let mut evidence = fixture::honest("");
        let user = with(&evidence, Part::Visit);
        let visit = &mut evidence.visits[user];
        (visit.admission, visit.ended) = (None, None);
        visit.finally = Some(Place::Waiting(Wait {
            position: 1,
            poll_after_s: 1.0,
        }));
        evidence.visits.truncate(190);
        evidence.stood_still_s = Some(77);
        let judged = nobody_is_lost(&evidence);
        let named = format!("77 s nobody was admitted, and nobody was done: 1 still waited, the first is u{user}");
        assert!(
            matches!(&judged, Judged::Violated(detail) if detail.contains(&named)),
            "{judged:?}"
        );
        super::super::answers::each_is_its_own(&evidence).expect("that not all came is no wrong answer");
    }
}

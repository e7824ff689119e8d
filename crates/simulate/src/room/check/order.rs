//! First come, first served, as far as a client can see it.

use super::places::place;
use crate::room::evidence::{Evidence, Visit};
use crate::room::plan::user_id;

/// A user with the time of its admission, in milliseconds of the service's clock. Equal times have no order.
type Admitted<'e> = (&'e Visit, i64);

/// Users who joined before the opening go by their places. All users go by the answers that they had before others joined.
pub fn of_joining(evidence: &Evidence) -> Result<String, String> {
    let admitted = |visit: &Visit| visit.admission.as_ref().map(|admission| admission.session.admitted_ms);
    let mut placed: Vec<(u64, Admitted<'_>)> = evidence
        .early()
        .iter()
        .filter_map(|visit| Some((place(visit)?, (visit, admitted(visit)?))))
        .collect();
    placed.sort_unstable_by_key(|(place, _)| *place);
    for pair in placed.windows(2) {
        let [(better, (one, one_ms)), (worse, (other, other_ms))] = [pair[0], pair[1]];
        if one_ms > other_ms {
            return Err(format!(
                "{} with place {better} was admitted {} ms after {} with place {worse}",
                user_id(one.user.number),
                one_ms - other_ms,
                user_id(other.user.number)
            ));
        }
    }
    let all = evidence.visits.iter();
    let all: Vec<Admitted<'_>> = all.filter_map(|visit| Some((visit, admitted(visit)?))).collect();
    of_arrival(&all)?;
    Ok(format!("{} by place, {} by arrival", placed.len(), all.len()))
}

fn of_arrival(all: &[Admitted<'_>]) -> Result<(), String> {
    let first = |visit: &Visit, at: fn(&super::super::evidence::Join) -> u64| visit.joins.iter().map(at).min();
    let answered_us = |visit: &Visit| first(visit, |join| join.answered_us).unwrap_or(u64::MAX);
    let sent_us = |visit: &Visit| first(visit, |join| join.sent_us).unwrap_or(0);
    let (mut answered, mut sent) = (all.to_vec(), all.to_vec());
    answered.sort_unstable_by_key(|(visit, _)| answered_us(visit));
    sent.sort_unstable_by_key(|(visit, _)| sent_us(visit));
    let mut answered = answered.into_iter().peekable();
    let mut last: Option<Admitted<'_>> = None;
    for (visit, admitted_ms) in sent {
        while let Some(earlier) = answered.next_if(|(earlier, _)| answered_us(earlier) < sent_us(visit)) {
            last = last.filter(|last| last.1 >= earlier.1).or(Some(earlier));
        }
        if let Some((earlier, earlier_ms)) = last
            && earlier_ms > admitted_ms
        {
            return Err(format!(
                "{} had its place {} µs before {} joined, and was admitted {} ms after it",
                user_id(earlier.user.number),
                sent_us(visit) - answered_us(earlier),
                user_id(visit.user.number),
                earlier_ms - admitted_ms
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::room::check::fixture::{self, found};

    #[test]
    fn one_that_was_admitted_before_a_better_place_is_found() {
        found("order", "", "with place", |evidence| {
            let [better, worse] = [60, 150].map(|place| {
                fixture::first(evidence, |visit| {
                    visit.admission.is_some() && visit.position.is_some_and(|at| at > place)
                })
            });
            let [one, other] = [better, worse].map(|user| fixture::session(evidence, user).admitted_ms);
            assert!(one < other, "{one} {other}");
            fixture::session(evidence, better).admitted_ms = other;
            fixture::session(evidence, worse).admitted_ms = one;
        });
    }

    #[test]
    fn one_that_came_late_and_overtook_is_found() {
        found("order", "", "before", |evidence| {
            let early = evidence.plan.early();
            let late = fixture::first(evidence, |visit| {
                visit.admission.is_some() && visit.has_waited() && visit.user.number >= early
            });
            let first_ms = fixture::session(evidence, 0).admitted_ms;
            fixture::session(evidence, late).admitted_ms = first_ms;
        });
    }
}

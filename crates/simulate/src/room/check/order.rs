//! First come, first served, as far as it can be told from outside.

use super::places::place;
use crate::room::evidence::{Evidence, Visit};
use crate::room::plan::user_id;

/// A user with when it was let in, in milliseconds of the service's clock: those of the same one are in no order.
type LetIn<'e> = (&'e Visit, i64);

/// Those who joined before the opening by their places; all by what they were told before others joined.
pub fn of_joining(evidence: &Evidence) -> Result<String, String> {
    let admitted = |visit: &Visit| visit.admission.as_ref().map(|admission| admission.session.admitted_ms);
    let mut placed: Vec<(u64, LetIn<'_>)> = evidence
        .early()
        .iter()
        .filter_map(|visit| Some((place(visit)?, (visit, admitted(visit)?))))
        .collect();
    placed.sort_unstable_by_key(|(place, _)| *place);
    for pair in placed.windows(2) {
        let [(better, (one, one_ms)), (worse, (other, other_ms))] = [pair[0], pair[1]];
        if one_ms > other_ms {
            return Err(format!(
                "{} with place {better} was let in {} ms behind {} with place {worse}",
                user_id(one.user.number),
                one_ms - other_ms,
                user_id(other.user.number)
            ));
        }
    }
    let all = evidence.visits.iter();
    let all: Vec<LetIn<'_>> = all.filter_map(|visit| Some((visit, admitted(visit)?))).collect();
    of_arrival(&all)?;
    Ok(format!("{} by place, {} by arrival", placed.len(), all.len()))
}

fn of_arrival(all: &[LetIn<'_>]) -> Result<(), String> {
    let first = |visit: &Visit, at: fn(&super::super::evidence::Join) -> u64| visit.joins.iter().map(at).min();
    let told_us = |visit: &Visit| first(visit, |join| join.told_us).unwrap_or(u64::MAX);
    let sent_us = |visit: &Visit| first(visit, |join| join.sent_us).unwrap_or(0);
    let (mut told, mut sent) = (all.to_vec(), all.to_vec());
    told.sort_unstable_by_key(|(visit, _)| told_us(visit));
    sent.sort_unstable_by_key(|(visit, _)| sent_us(visit));
    let mut told = told.into_iter().peekable();
    let mut last: Option<LetIn<'_>> = None;
    for (visit, admitted_ms) in sent {
        while let Some(earlier) = told.next_if(|(earlier, _)| told_us(earlier) < sent_us(visit)) {
            last = last.filter(|last| last.1 >= earlier.1).or(Some(earlier));
        }
        if let Some((earlier, earlier_ms)) = last
            && earlier_ms > admitted_ms
        {
            return Err(format!(
                "{} was told its place {} µs before {} joined, and was let in {} ms behind it",
                user_id(earlier.user.number),
                sent_us(visit) - told_us(earlier),
                user_id(visit.user.number),
                earlier_ms - admitted_ms
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::check::fixture;

    #[test]
    fn one_that_was_let_in_before_a_better_place_is_found() {
        let mut evidence = fixture::honest("");
        let [better, worse] = [60, 150].map(|place| {
            fixture::first(&evidence, |visit| {
                visit.admission.is_some() && visit.position.is_some_and(|at| at > place)
            })
        });
        let (one, other) = (
            fixture::session(&mut evidence, better).admitted_ms,
            fixture::session(&mut evidence, worse).admitted_ms,
        );
        assert!(one < other, "{one} {other}");
        fixture::session(&mut evidence, better).admitted_ms = other;
        fixture::session(&mut evidence, worse).admitted_ms = one;
        let told = of_joining(&evidence).expect_err("out of order");
        assert!(told.contains("with place"), "{told}");
    }

    #[test]
    fn one_that_came_late_and_overtook_is_found() {
        let mut evidence = fixture::honest("");
        let early = evidence.plan.early() as usize;
        let late = fixture::first(&evidence, |visit| {
            visit.admission.is_some() && visit.has_waited() && visit.user.number as usize >= early
        });
        let first_ms = fixture::session(&mut evidence, 0).admitted_ms;
        fixture::session(&mut evidence, late).admitted_ms = first_ms;
        let told = of_joining(&evidence).expect_err("out of order");
        assert!(told.contains("before"), "{told}");
    }
}

//! Places in the queue.

use crate::finding::Judged;
use crate::room::evidence::{Evidence, Visit};
use crate::room::plan::user_id;

/// Nobody leaves before the opening, so that the places in the answers to joins are dense.
pub fn are_dense_and_only_improve(evidence: &Evidence) -> Judged {
    if let Some((visit, (from, to))) = fell_back(evidence) {
        let id = user_id(visit.user.number);
        return Judged::Violated(format!("{id} had place {from}, and then {to}"));
    }
    let early = evidence.early();
    let mut places: Vec<u64> = early.iter().filter_map(place).collect();
    places.sort_unstable();
    let gap = (1..).zip(&places).find(|(expected, place)| expected != *place);
    if gap.is_none() && places.len() == early.len() {
        return Judged::Held(format!("{} places before the opening", places.len()));
    }
    let timeout_s = evidence.plan.options.waiting_timeout_s;
    if early.iter().any(|visit| visit.was_late_for(timeout_s)) {
        return Judged::NotChecked(
            "this client did not come back in time, so that some may have been given up".to_owned(),
        );
    }
    Judged::Violated(match gap {
        Some((expected, place)) if *place < expected => format!("two users have place {place}"),
        Some((expected, place)) => format!("nobody has place {expected}, another user has {place}"),
        None => format!("{} of {} have a place", places.len(), early.len()),
    })
}

fn fell_back(evidence: &Evidence) -> Option<(&Visit, (u64, u64))> {
    evidence.visits.iter().find_map(|visit| Some((visit, visit.fell_back?)))
}

/// By the answers to its joins.
pub fn place(visit: &Visit) -> Option<u64> {
    visit.joins.first().and_then(|join| join.position)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::check::fixture::{self, found};

    #[test]
    fn a_place_given_twice_left_out_or_lost_is_found() {
        for (place, named) in [
            (Some(4), "two users"),
            (Some(999), "nobody has place 6"),
            (None, "nobody"),
        ] {
            found("places", "", named, |evidence| {
                evidence.visits[5].joins[0].position = place;
            });
        }
        found("places", "", "", |evidence| evidence.visits[5].fell_back = Some((3, 4)));
    }

    #[test]
    fn the_places_of_a_client_that_came_back_too_late_are_not_judged() {
        let mut evidence = fixture::honest("");
        evidence.visits[5].joins[0].position = Some(4);
        evidence.visits[5].late_us = 3_000_000;
        assert!(matches!(fixture::judged("places", &evidence), Judged::NotChecked(_)));
    }
}

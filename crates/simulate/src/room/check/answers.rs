//! The answers themselves, and the users whom they name.

use std::collections::BTreeMap;

use crate::room::evidence::Evidence;
use crate::room::plan::user_id;

/// Nothing is wrong with any answer.
pub fn each_is_its_own(evidence: &Evidence) -> Result<String, String> {
    // Late users come when others go. In a queue that stands still they do not come, and another rule finds that.
    if evidence.visits.len() != evidence.plan.crowd.users as usize && evidence.stood_still_s.is_none() {
        return Err(format!(
            "{} of {} users came",
            evidence.visits.len(),
            evidence.plan.crowd.users
        ));
    }
    for visit in &evidence.visits {
        let id = user_id(visit.user.number);
        if let Some(wrong) = &visit.wrong {
            return Err(format!("{id}: {wrong}"));
        }
        if visit.joins.is_empty() {
            return Err(format!("{id} got no ticket"));
        }
    }
    let joins: usize = evidence.visits.iter().map(|visit| visit.joins.len()).sum();
    let looks: u64 = evidence.visits.iter().map(|visit| visit.looks).sum();
    let events: u64 = evidence.visits.iter().map(|visit| visit.events).sum();
    Ok(format!("{joins} joins, {looks} looks, {events} events"))
}

/// All joins of a user have one ticket, of which only the first is new, and no two users have the same.
pub fn one_ticket_each(evidence: &Evidence) -> Result<String, String> {
    let mut users = BTreeMap::new();
    let mut twice = 0;
    for visit in &evidence.visits {
        let id = user_id(visit.user.number);
        let Some(first) = visit.joins.first() else {
            continue;
        };
        for again in &visit.joins[1..] {
            twice += 1;
            if again.ticket != first.ticket {
                return Err(format!("{id} has the tickets {} and {}", first.ticket, again.ticket));
            }
            if (first.status, again.status) == (201, 201) {
                return Err(format!("{id} got two answers that its ticket is new"));
            }
        }
        if let Some(other) = users.insert(&first.ticket, id.clone()) {
            return Err(format!("{id} and {other} have the ticket {}", first.ticket));
        }
    }
    Ok(format!("{} tickets, {twice} users joined twice", users.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::check::fixture::{self, found};

    #[test]
    fn a_wrong_answer_and_a_user_without_one_are_found() {
        let changes: [fn(&mut Evidence); 3] = [
            |evidence| evidence.visits[3].wrong = Some("a look: nothing".to_owned()),
            |evidence| evidence.visits[3].joins.clear(),
            |evidence| _ = evidence.visits.pop(),
        ];
        for change in changes {
            found("answers", "", "", change);
        }
    }

    #[test]
    fn a_second_ticket_and_a_shared_one_are_found() {
        let twice = |evidence: &Evidence| fixture::first(evidence, |visit| visit.joins.len() == 2);
        let changes: [&dyn Fn(&mut Evidence); 3] = [
            &|evidence| {
                let user = twice(evidence);
                evidence.visits[user].joins[1].ticket = "other".into();
            },
            &|evidence| {
                let user = twice(evidence);
                for join in &mut evidence.visits[user].joins {
                    join.status = 201;
                }
            },
            &|evidence| {
                let ticket = evidence.visits[4].joins[0].ticket.clone();
                for join in &mut evidence.visits[5].joins {
                    join.ticket = ticket.clone();
                }
            },
        ];
        for change in changes {
            found("one place", "--twice 30", "", change);
        }
    }
}

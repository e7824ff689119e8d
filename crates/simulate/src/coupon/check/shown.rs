//! What the service shows after the run agrees with the answers to users.

use crate::coupon::answer::Outcome;
use crate::coupon::evidence::{Compared, Counts, Evidence, Row};
use crate::coupon::plan::user_id;
use crate::finding::Judged;

/// The counts are those of the answers, and what remains follows from them.
pub fn counts_add_up(evidence: &Evidence) -> Result<String, String> {
    let shown = evidence.counts;
    let (issued, voided) = (evidence.issues().len() as u64, evidence.voids.len() as u64);
    let answered = Counts {
        stock: evidence.plan.options.stock,
        issued,
        voided,
        remaining: (evidence.plan.options.stock + voided).saturating_sub(issued),
        ..shown
    };
    if shown == answered {
        let Counts { stock, remaining, .. } = shown;
        Ok(format!("{remaining} = {stock} - {issued} + {voided}"))
    } else {
        Err(format!("shown are {shown:?}, the answers say {answered:?}"))
    }
}

/// The queue and the dead letters are empty, and no answer left a request in them.
pub fn nothing_is_left(evidence: &Evidence) -> Result<String, String> {
    let Counts { queued, dead, .. } = evidence.counts;
    if (queued, dead) != (0, 0) {
        return Err(format!("{queued} are in the queue and {dead} dead letters"));
    }
    if let Some(id) = evidence.dead_letters.first() {
        return Err(format!("{id} is among {} dead letters", evidence.dead_letters.len()));
    }
    let left = |outcome: &Outcome| matches!(outcome, Outcome::Queued | Outcome::Dead);
    let mut requests = evidence.requests().into_iter();
    match requests.find(|request| request.outcome().is_some_and(left)) {
        Some(request) => Err(format!(
            "{} is {:?}",
            evidence.plan.request_id(request.ask),
            request.outcome()
        )),
        None => Ok("both are empty".to_owned()),
    }
}

/// The ledger lists the issues of the answers, in the order of their sequences.
pub fn ledger_is_the_answers(evidence: &Evidence) -> Judged {
    let rows = match &evidence.ledger {
        Ok(rows) => rows,
        Err(why) => return Judged::NotChecked(why.clone()),
    };
    let answered = evidence.issues().into_iter().map(|issue| Row {
        request_id: evidence.plan.request_id(issue.request.ask),
        user_id: user_id(issue.request.ask.user),
        unit: issue.unit.clone(),
        voided: issue.void.is_some(),
    });
    let answered: Vec<Row> = answered.collect();
    for (row, answered) in rows.iter().zip(&answered) {
        if row != answered {
            return Judged::Violated(format!("the ledger has {row:?} where the answer says {answered:?}"));
        }
    }
    if rows.len() == answered.len() {
        Judged::Held(format!("{} issues", rows.len()))
    } else {
        let (has, answered) = (rows.len(), answered.len());
        Judged::Violated(format!("the ledger has {has} issues, the answers have {answered}"))
    }
}

/// The comparison of the service found no difference.
pub fn redis_and_ledger_agree(evidence: &Evidence) -> Judged {
    match &evidence.compared {
        Compared::Clean { event } => Judged::Held(format!("compared at event {event}")),
        Compared::Mismatch(shown) => Judged::Violated(shown.clone()),
        Compared::Unknown(why) => Judged::NotChecked(why.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coupon::check::fixture::{self, found};

    #[test]
    fn each_count_that_does_not_fit_is_found() {
        let changes: [fn(&mut Counts); 4] = [
            |counts| counts.stock += 1,
            |counts| counts.issued += 1,
            |counts| counts.voided += 1,
            |counts| counts.remaining += 1,
        ];
        for change in changes {
            found("counts", "--voids 2", "", |evidence| change(&mut evidence.counts));
        }
    }

    #[test]
    fn what_is_left_in_the_queue_or_dead_is_found() {
        let changes: [fn(&mut Evidence); 4] = [
            |evidence| evidence.counts.queued = 1,
            |evidence| evidence.counts.dead = 1,
            |evidence| evidence.dead_letters.push("s1-u1-0".to_owned()),
            |evidence| fixture::answer_with(evidence, evidence.calls[0].ask, &Outcome::Dead),
        ];
        for change in changes {
            found("line", "--queued", "", change);
        }
    }

    #[test]
    fn a_row_too_few_too_many_altered_or_out_of_order_is_found_and_an_unreadable_ledger_is_named() {
        let changes: [fn(&mut Vec<Row>); 6] = [
            |rows| _ = rows.pop(),
            |rows| rows.push(rows[0].clone()),
            |rows| rows.swap(3, 4),
            |rows| rows[3].unit.code.push('0'),
            |rows| rows[3].user_id.push('0'),
            |rows| rows[3].voided = !rows[3].voided,
        ];
        for change in changes {
            found("ledger", "--voids 2", "", |evidence| {
                change(evidence.ledger.as_mut().expect("rows"));
            });
        }
        let mut evidence = fixture::honest("");
        evidence.ledger = Err("no such list".to_owned());
        assert_eq!(
            fixture::judged("ledger", &evidence),
            Judged::NotChecked("no such list".to_owned())
        );
    }

    #[test]
    fn a_mismatch_is_a_violation() {
        found("reconciliation", "", "", |evidence| {
            evidence.compared = Compared::Mismatch("issued 3, 4".to_owned());
        });
        let mut evidence = fixture::honest("");
        evidence.compared = Compared::Unknown("not there".to_owned());
        let judged = fixture::judged("reconciliation", &evidence);
        assert!(matches!(judged, Judged::NotChecked(_)));
    }
}

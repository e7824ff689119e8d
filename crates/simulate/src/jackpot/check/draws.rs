//! Draws recomputed, and what followed from them.

use super::Judged;
use crate::jackpot::answer::{Answer, Attempt, Outcome};
use crate::jackpot::evidence::{Evidence, Record, Seeds};
use crate::jackpot::plan::Plan;

/// Every attempt's rank, and the commitment it was drawn under, from the draw secret.
pub fn recomputed(evidence: &Evidence) -> Judged {
    let Some(seeds) = &evidence.seeds else {
        return Judged::NotChecked(
            "the draw secret is not known (--master-secret), and the epoch is still open: its seed is not published yet".to_owned(),
        );
    };
    let mut attempts = 0;
    for (record, answer) in evidence.answers() {
        if let Err(wrong) = recompute(&evidence.plan, seeds, record, answer) {
            return Judged::Violated(wrong);
        }
        attempts += answer.attempts.len();
    }
    Judged::Held(format!("{attempts} attempts of {} entries", evidence.records.len()))
}

fn recompute(plan: &Plan, seeds: &Seeds, record: &Record, answer: &Answer) -> Result<(), String> {
    let id = &record.entry.id;
    let drawn_in = |why: &str| format!("{id} was drawn in epoch {}, {why}", answer.epoch);
    let known = seeds.by_epoch.get(&answer.epoch);
    let known = known.ok_or_else(|| drawn_in("which the service does not publish"))?;
    let (seed, commitment) = known
        .as_ref()
        .map_err(|why| drawn_in(&format!("whose seed is not known: {why}")))?;
    if *commitment != *answer.commitment {
        return Err(format!(
            "{id} was drawn under commitment {}, epoch {} has {commitment}",
            answer.commitment, answer.epoch
        ));
    }
    for attempt in &answer.attempts {
        let client_seed = record.entry.client_seed.as_deref();
        let ticket = seed.ticket(&plan.jackpot_id, id, attempt.number, client_seed, plan.odds.total);
        let rank = plan.odds.rank(ticket, record.entry.stake);
        if rank != attempt.rank {
            return Err(format!(
                "{id} attempt {} drew rank {}; recomputed it is {rank} (ticket {ticket})",
                attempt.number, attempt.rank
            ));
        }
    }
    Ok(())
}

/// What the attempts say about each other and about the outcome.
pub fn attempts_fit(evidence: &Evidence) -> Result<String, String> {
    let (mut redrawn, mut exhausted) = (0, 0);
    for (record, answer) in evidence.answers() {
        fits(&evidence.plan, answer).map_err(|wrong| format!("{} {wrong}", record.entry.id))?;
        redrawn += usize::from(answer.attempts.len() > 1);
        exhausted += usize::from(
            answer
                .attempts
                .last()
                .is_some_and(|attempt| attempt.result == Outcome::Retry),
        );
    }
    Ok(format!(
        "{redrawn} entries redrawn, {exhausted} of them to the last attempt in vain"
    ))
}

fn fits(plan: &Plan, answer: &Answer) -> Result<(), String> {
    if answer.must_hit.is_some() {
        return if answer.attempts.is_empty() {
            Ok(())
        } else {
            Err("hit a pool by its rule, and was drawn".to_owned())
        };
    }
    let Some((last, before)) = answer.attempts.split_last() else {
        return Err("was never drawn".to_owned());
    };
    let mut refused = Vec::new();
    for (number, attempt) in (0..).zip(&answer.attempts) {
        let Attempt { rank, result, .. } = *attempt;
        if attempt.number != number {
            return Err(format!("has attempt {} where {number} belongs", attempt.number));
        }
        if (rank == 0) != (result == Outcome::None) {
            return Err(format!(
                "drew rank {rank} at attempt {number} with the result {result:?}"
            ));
        }
        if refused.contains(&rank) && result != Outcome::Retry {
            return Err(format!("was refused rank {rank}, then granted it at attempt {number}"));
        }
        if result == Outcome::Retry {
            refused.push(rank);
        }
    }
    if let Some(early) = before.iter().find(|attempt| attempt.result != Outcome::Retry) {
        return Err(format!(
            "was redrawn after attempt {} had the result {:?}",
            early.number, early.result
        ));
    }
    if last.result == Outcome::Retry && last.number < plan.options.max_redraws {
        return Err(format!(
            "was given up after attempt {} of {}",
            last.number, plan.options.max_redraws
        ));
    }
    if last.number > plan.options.max_redraws {
        return Err(format!(
            "was redrawn {} times of at most {}",
            last.number, plan.options.max_redraws
        ));
    }
    let paid_rank = answer.payout.as_ref().map(|payout| payout.rank);
    let drawn = (last.result == Outcome::Paid).then_some(last.rank);
    if paid_rank != drawn {
        return Err(format!("was paid rank {paid_rank:?}, its last attempt says {drawn:?}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Attempt, Judged, Outcome};
    use crate::jackpot::check::fixture::{self, found};

    #[test]
    fn a_rank_that_was_not_drawn_is_found() {
        found("draws", "", "recomputed", |evidence| {
            fixture::answer(evidence, 5).attempts[0].rank += 1;
        });
    }

    #[test]
    fn another_client_seed_or_commitment_is_found() {
        found("draws", "", "", |evidence| {
            let drawn = fixture::paid_where(evidence, |_| true);
            evidence.records[drawn].entry.client_seed = Some("another".to_owned());
        });
        found("draws", "", "commitment", |evidence| {
            fixture::answer(evidence, 5).commitment = "ab".into();
        });
    }

    #[test]
    fn without_the_secret_it_says_so() {
        let mut evidence = fixture::honest("");
        evidence.seeds = None;
        let judged = fixture::judged("draws", &evidence);
        assert!(matches!(judged, Judged::NotChecked(text) if text.contains("--master-secret")));
    }

    #[test]
    fn attempts_that_do_not_follow_are_found() {
        let attempt = |number, rank, result| Attempt { number, rank, result };
        let retry = |number| attempt(number, 1, Outcome::Retry);
        for (attempts, named) in [
            (vec![], "never drawn"),
            (vec![attempt(1, 0, Outcome::None)], "belongs"),
            (vec![attempt(0, 1, Outcome::None)], "rank 1"),
            (vec![retry(0)], "given up"),
            (vec![retry(0), attempt(1, 1, Outcome::Paid)], "granted"),
            (
                vec![attempt(0, 0, Outcome::None), attempt(1, 0, Outcome::None)],
                "redrawn after",
            ),
            ((0..18).map(retry).collect(), "at most"),
            (vec![attempt(0, 1, Outcome::Paid)], "was paid"),
        ] {
            found("attempts", "", named, |evidence| {
                let answer = fixture::answer(evidence, 5);
                (answer.attempts, answer.payout) = (attempts.into(), None);
            });
        }
    }
}

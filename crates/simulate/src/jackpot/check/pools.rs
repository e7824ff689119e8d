//! The pools played back: what one pool, touched by one entry at a time in sequence, would have shown and paid.
//!
//! First claims happen inside their entry, so their instant is known. A claim after a redraw happens at some later
//! instant; its place between two entries is found from the pool that the next entry saw, and must agree with the
//! claim numbers. A retry at attempt 0 must have had its cause; later retries have no known instant and are not judged. An
//! entry hits a pool by its rule exactly if it brings the pool to the hidden amount of the open cycle.

use std::collections::{BTreeMap, VecDeque};

use super::Judged;
use crate::jackpot::answer::{Answer, Outcome, Payout};
use crate::jackpot::evidence::Evidence;
use crate::jackpot::fairness::Cycle;
use crate::jackpot::plan::{Prize, Tier};

const MICRO: i64 = 1_000_000;

/// Plays back every tier.
pub fn play_back(evidence: &Evidence) -> Judged {
    if let Err(why) = super::order::sequences_are_dense(evidence) {
        return Judged::NotChecked(format!("sequences are not dense: {why}"));
    }
    let mut held = Vec::new();
    let mut hidden = Vec::new();
    for index in 0..evidence.plan.tiers.len() {
        let tier = &evidence.plan.tiers[index];
        let replay = TierReplay::new(evidence, index);
        if tier.seed > 0 && replay.redrawn.iter().any(|(_, payout)| payout.takes_pool) {
            hidden.push(tier.name);
            continue;
        }
        match replay.play(evidence) {
            Ok(counts) => held.push(format!("{}: {counts}", tier.name)),
            Err(wrong) => return Judged::Violated(format!("{}: {wrong}", tier.name)),
        }
    }
    if hidden.is_empty() {
        Judged::Held(held.join("; "))
    } else {
        let tiers = hidden.join(", ");
        Judged::NotChecked(format!(
            "{tiers}: a redraw took the pool and the restart value hides when; {}",
            held.join("; ")
        ))
    }
}

/// One tier while it is played back.
struct TierReplay<'e> {
    index: usize,
    tier: &'e Tier,
    pool: i64,
    pool_micro: i64,
    reserve: i64,
    reserve_micro: i64,
    /// Claims after a redraw that have not been placed yet, with the sequence of their entry, by claim number.
    redrawn: VecDeque<(u64, &'e Payout)>,
    last_claim: u64,
    first_claims: usize,
    placed: usize,
    caused_retries: usize,
    /// Its cycles, by number.
    cycles: Vec<&'e Cycle>,
    /// The open one.
    cycle: usize,
    /// The last entry before it; `None` after a redraw's take, which no answer places exactly.
    since: Option<u64>,
    /// The same of cycles of all tiers that followed a hit, by tier and number.
    begins: BTreeMap<(usize, u64), u64>,
    hits: usize,
}

impl<'e> TierReplay<'e> {
    fn new(evidence: &'e Evidence, index: usize) -> Self {
        let mut redrawn: Vec<_> = evidence
            .answers()
            .filter(|(_, answer)| answer.attempts.len() > 1)
            .filter_map(|(_, answer)| {
                Some((
                    answer.sequence,
                    answer.payout.as_deref().filter(|payout| payout.tier == index)?,
                ))
            })
            .collect();
        redrawn.sort_unstable_by_key(|(_, payout)| payout.claim_order);
        let hits = evidence.answers();
        let hits = hits.filter_map(|(_, answer)| Some((answer.must_hit?, answer.sequence)));
        Self {
            index,
            tier: &evidence.plan.tiers[index],
            pool: 0,
            pool_micro: 0,
            reserve: 0,
            reserve_micro: 0,
            redrawn: redrawn.into(),
            last_claim: 0,
            first_claims: 0,
            placed: 0,
            caused_retries: 0,
            cycles: super::cycles::of_tier(evidence, index),
            cycle: 0,
            since: Some(0),
            begins: hits
                .map(|(hit, sequence)| ((hit.tier, hit.cycle + 1), sequence))
                .collect(),
            hits: 0,
        }
    }

    fn play(mut self, evidence: &'e Evidence) -> Result<String, String> {
        for (record, answer) in evidence.answers() {
            self.enter(evidence, answer)
                .map_err(|wrong| format!("at sequence {} ({}): {wrong}", answer.sequence, record.entry.id))?;
        }
        while !self.redrawn.is_empty() {
            self.place_next(u64::MAX)?;
        }
        let meter = &evidence.meters[self.index];
        if (self.pool, self.reserve) != (meter.pool, meter.reserve) {
            return Err(format!(
                "at the end pool and reserve are {} and {}, played back {} and {}",
                meter.pool, meter.reserve, self.pool, self.reserve
            ));
        }
        Ok(format!(
            "{} first claims, {} of them hits, {} after redraws, {} retries with cause",
            self.first_claims, self.hits, self.placed, self.caused_retries
        ))
    }

    fn enter(&mut self, evidence: &'e Evidence, answer: &'e Answer) -> Result<(), String> {
        let shown = answer.contributions[self.index].pool;
        let added = carry(&mut self.pool_micro, self.tier.pool_micro);
        while self.pool + added != shown {
            let difference = format!(
                "the answer has a pool of {shown}, played back it is {}",
                self.pool + added
            );
            if self.redrawn.is_empty() {
                return Err(format!("{difference}, and no redraw's claim is left to explain it"));
            }
            self.place_next(answer.sequence)
                .map_err(|wrong| format!("{difference}; {wrong}"))?;
        }
        self.pool += added;
        self.reserve += carry(&mut self.reserve_micro, self.tier.reserve_micro);
        self.hit(answer)?;
        let Some(first) = answer.attempts.first() else {
            return Ok(());
        };
        let Some(prize) = evidence
            .plan
            .prize(first.rank)
            .filter(|prize| prize.tier() == self.index)
        else {
            return Ok(());
        };
        match (first.result, answer.payout.as_deref()) {
            (Outcome::Paid, Some(payout)) => self.first_claim(answer.sequence, payout),
            (Outcome::Retry, _) => self.retry(prize),
            _ => Ok(()),
        }
    }

    /// Whether the entry had to hit, and did.
    fn hit(&mut self, answer: &'e Answer) -> Result<(), String> {
        let (pool, cycle) = (self.pool, self.cycle);
        let trigger = self.cycles.get(cycle).and_then(|cycle| cycle.trigger());
        let due = trigger.map(|trigger| pool >= trigger);
        match answer.must_hit {
            // One entry hits one pool: of those that are due the one whose cycle began first.
            Some(hit) if hit.tier != self.index => {
                let began = match hit.cycle {
                    0 => Some(0),
                    number => self.begins.get(&(hit.tier, number)).copied(),
                };
                let is_later = |(own, other): (u64, u64)| (own, self.index) < (other, hit.tier);
                if due == Some(true) && self.since.zip(began).is_some_and(is_later) {
                    return Err(format!(
                        "the pool reached {pool}, its cycle {cycle} began before the one that the entry hit, and it did not hit"
                    ));
                }
                Ok(())
            }
            Some(hit) => {
                if hit.cycle != cycle as u64 {
                    return Err(format!("it hit cycle {}, the open one is {cycle}", hit.cycle));
                }
                if due == Some(false) || trigger.is_some_and(|trigger| trigger != hit.trigger) {
                    let stated = hit.trigger;
                    return Err(format!(
                        "it hit cycle {cycle} with {pool} in the pool by a trigger of {stated}; the seed gives {trigger:?}"
                    ));
                }
                let payout = answer.payout.as_deref().ok_or("it hit and was paid nothing")?;
                self.hits += 1;
                self.first_claim(answer.sequence, payout)
            }
            _ if due == Some(true) => Err(format!(
                "the pool reached {pool}, the trigger of cycle {cycle} is {trigger:?}, and the entry did not hit"
            )),
            _ => Ok(()),
        }
    }

    fn first_claim(&mut self, sequence: u64, payout: &Payout) -> Result<(), String> {
        if let Some((_, waiting)) = self.redrawn.front()
            && waiting.claim_order < payout.claim_order
        {
            return Err(format!(
                "claim {} has a later number than claim {}, which the pools place after it",
                payout.claim_order, waiting.claim_order
            ));
        }
        self.first_claims += 1;
        self.take(payout)?;
        if payout.takes_pool {
            self.since = Some(sequence);
        }
        Ok(())
    }

    /// A refusal at attempt 0: the pool at this very instant must have been too small.
    fn retry(&mut self, prize: Prize) -> Result<(), String> {
        let needed = match prize {
            Prize::Pool { .. } => self.tier.min_payout,
            Prize::Fixed { amount, .. } => amount,
        };
        if self.pool >= needed {
            return Err(format!(
                "the claim was answered retry with {} in the pool, {needed} are enough",
                self.pool
            ));
        }
        self.caused_retries += 1;
        Ok(())
    }

    /// The next redraw's claim happened before the entry with this sequence.
    fn place_next(&mut self, before_sequence: u64) -> Result<(), String> {
        let Some((sequence, payout)) = self.redrawn.pop_front() else {
            return Ok(());
        };
        if sequence >= before_sequence {
            return Err(format!(
                "claim {} would have been paid before its own entry, sequence {sequence}",
                payout.claim_order
            ));
        }
        self.placed += 1;
        self.take(payout)
    }

    fn take(&mut self, payout: &Payout) -> Result<(), String> {
        if payout.claim_order <= self.last_claim {
            return Err(format!(
                "claim {} was paid after claim {}",
                payout.claim_order, self.last_claim
            ));
        }
        self.last_claim = payout.claim_order;
        if payout.takes_pool {
            if payout.amount != self.pool {
                return Err(format!(
                    "claim {} took {} out of a pool of {}",
                    payout.claim_order, payout.amount, self.pool
                ));
            }
            self.cycle += 1;
            self.since = None;
            self.pool = self.tier.seed.min(self.reserve);
            self.reserve -= self.pool;
        } else if payout.amount > self.pool {
            return Err(format!(
                "claim {} took {} out of a pool of {}",
                payout.claim_order, payout.amount, self.pool
            ));
        } else {
            self.pool -= payout.amount;
        }
        Ok(())
    }
}

/// Adds millionths to a remainder and gives the whole units that come of it.
fn carry(remainder: &mut i64, micro: i64) -> i64 {
    *remainder += micro;
    let whole = *remainder / MICRO;
    *remainder %= MICRO;
    whole
}

#[cfg(test)]
mod tests {
    use crate::jackpot::answer::{Attempt, Outcome};
    use crate::jackpot::check::fixture::{self, found};
    use crate::jackpot::evidence::{Evidence, Record};

    #[test]
    fn a_wrong_pool_in_an_answer_is_found() {
        found("pools", "", "sequence 5", |evidence| {
            fixture::answer(evidence, 4).contributions[0].pool += 1;
        });
    }

    #[test]
    fn two_winners_of_the_same_pool_are_found() {
        found("pools", "", "took", |evidence| {
            let pool = fixture::paid_where(evidence, |payout| payout.takes_pool);
            let paid = fixture::payout(evidence, pool).clone();
            // The next entry gets the same prize, as separate GET and DECRBY calls would give it.
            let twin = fixture::answer(evidence, pool + 1);
            twin.attempts = [Attempt {
                number: 0,
                rank: paid.rank,
                result: Outcome::Paid,
            }]
            .into();
            twin.payout = Some(Box::new(super::Payout {
                claim_order: paid.claim_order + 1,
                ..paid
            }));
        });
    }

    #[test]
    fn a_retry_without_a_cause_is_found() {
        found("pools", "", "are enough", |evidence| {
            let pool = fixture::paid_where(evidence, |payout| payout.takes_pool);
            let answer = fixture::answer(evidence, pool);
            answer.payout = None;
            answer.attempts[0].result = Outcome::Retry;
        });
    }

    #[test]
    fn a_redraw_paid_out_of_order_is_found() {
        found("pools", "", "", |evidence| {
            let is_redrawn = |index: &usize| {
                let answer = evidence.records[*index].answer.as_ref().unwrap();
                answer.attempts.len() > 1 && answer.payout.is_some()
            };
            let last = (0..evidence.records.len()).rev().find(is_redrawn);
            let last = last.expect("the model has redraws that pay");
            fixture::payout(evidence, last).claim_order = 1;
        });
    }

    #[test]
    fn a_meter_that_ends_elsewhere_is_found() {
        found("pools", "", "at the end", |evidence| evidence.meters[0].pool -= 1);
    }

    /// The first entry that hit.
    fn first_hit(evidence: &Evidence) -> usize {
        let is_hit = |record: &Record| record.answer.as_ref().is_ok_and(|answer| answer.must_hit.is_some());
        evidence.records.iter().position(is_hit).expect("the model has hits")
    }

    const MUST_HIT: &str = "--must-hit-low 100 --must-hit-high 120";

    #[test]
    fn an_entry_that_had_to_hit_and_did_not_is_found() {
        found("pools", MUST_HIT, "did not hit", |evidence| {
            let hit = first_hit(evidence);
            let answer = fixture::answer(evidence, hit);
            (answer.must_hit, answer.payout) = (None, None);
        });
    }

    #[test]
    fn a_hit_before_its_time_is_found() {
        found("pools", MUST_HIT, "the seed gives", |evidence| {
            let hit = first_hit(evidence);
            let taken = fixture::answer(evidence, hit).clone();
            let early = fixture::answer(evidence, hit - 1);
            (early.must_hit, early.payout) = (taken.must_hit, taken.payout);
        });
    }

    #[test]
    fn a_hit_of_another_cycle_is_found() {
        found("pools", MUST_HIT, "the open one", |evidence| {
            let hit = first_hit(evidence);
            let answer = fixture::answer(evidence, hit);
            answer.must_hit.as_mut().expect("a hit").cycle += 1;
        });
    }
}

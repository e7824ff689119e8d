//! A small exact model of a jackpot, and what its forgers use. Redraws are paid some entries late.

use std::collections::BTreeMap;

use crate::finding::Judged;
use crate::forge::{self, Honest};
use crate::jackpot::answer::{Answer, Attempt, Contribution, Hit, Outcome, Payout};
use crate::jackpot::draw::{CycleSeed, EpochSeed, secret_id};
use crate::jackpot::evidence::{Evidence, Expected, Meter, Pending, Receipt, Record, Repeated, Seeds, Seen};
use crate::jackpot::fairness::{Cycle, Epoch};
use crate::jackpot::plan::{Entry, Plan, Prize};

const SECRET: [u8; 32] = [9; 32];
const NONCE: &str = "00112233445566778899aabbccddeeff";
/// How many entries later a redraw is played in the model.
const REDRAWN_LATE: u64 = 3;
const MICRO: i64 = 1_000_000;

struct Model {
    plan: Plan,
    seed: EpochSeed,
    pools: Vec<(i64, i64)>,
    meters: Vec<Meter>,
    claims: u64,
    answers: Vec<(Entry, Answer)>,
    /// Of tiers with a rule; the last one of a tier is open.
    cycles: Vec<Cycle>,
    /// How many entries there were when the newest cycle of each tier began.
    since: Vec<usize>,
}

/// 4,000 entries with high odds, so that a few dozen claims of each kind are among them.
impl Honest for Plan {
    const OPTIONS: &'static [&'static [&'static str]] =
        &[&["--entries", "4000"], &["--winners", "0"], &["--odds-ppm", "20000"]];

    fn model(self) -> Evidence {
        let plan = self;
        let tiers = plan.tiers.len();
        let mut model = Model {
            seed: EpochSeed::derive(&SECRET, &plan.jackpot_id, 1, NONCE),
            pools: vec![(0, 0); tiers],
            meters: vec![Meter::default(); tiers],
            claims: 0,
            answers: Vec::new(),
            cycles: Vec::new(),
            since: vec![0; tiers],
            plan,
        };
        for tier in 0..tiers {
            model.begin_cycle(tier);
        }
        let mut waiting: Vec<(u64, usize)> = Vec::new();
        for number in 0..model.plan.options.entries {
            while let Some((_, index)) = waiting.first().copied().filter(|(due, _)| *due <= number) {
                waiting.remove(0);
                model.redraw(index);
            }
            if model.enter(number) {
                waiting.push((number + REDRAWN_LATE, model.answers.len() - 1));
            }
        }
        for (_, index) in waiting {
            model.redraw(index);
        }
        model.evidence()
    }
}

/// Honest evidence with these options.
pub fn honest(line: &str) -> Evidence {
    forge::honest::<Plan>(line)
}

/// A rule finds a forgery, and names it so.
pub fn found(rule: &str, line: &str, named: &str, forge: impl FnOnce(&mut Evidence)) -> String {
    forge::found::<Plan>(rule, line, named, forge)
}

/// What a rule says.
pub fn judged(rule: &str, evidence: &Evidence) -> Judged {
    forge::judged::<Plan>(rule, evidence)
}

impl Model {
    fn epochs(&self) -> BTreeMap<u64, Epoch> {
        let epoch = Epoch {
            epoch: 1,
            nonce: NONCE.to_owned(),
            secret_id: secret_id(&SECRET),
            commitment: self.seed.commitment(),
            closed_at: None,
        };
        BTreeMap::from([(1, epoch)])
    }

    /// One entry with its first claim. True when it is to be redrawn.
    fn enter(&mut self, number: u64) -> bool {
        let entry = self.plan.regular(number, u32::try_from(number % 7).unwrap());
        let mut contributions = Vec::new();
        for (index, tier) in self.plan.tiers.iter().enumerate() {
            let (meter, remainders) = (&mut self.meters[index], &mut self.pools[index]);
            let (pool, reserve) = (remainders.0 + tier.pool_micro, remainders.1 + tier.reserve_micro);
            meter.pool += pool / MICRO;
            meter.reserve += reserve / MICRO;
            *remainders = (pool % MICRO, reserve % MICRO);
            meter.remainder_micro = remainders.0 + remainders.1;
            let amount = pool / MICRO + reserve / MICRO;
            contributions.push(Contribution {
                amount,
                pool: meter.pool,
            });
        }
        let answer = Answer {
            sequence: number + 1,
            contributions: contributions.into(),
            payout: None,
            attempts: Box::default(),
            must_hit: None,
            epoch: 1,
            commitment: self.seed.commitment().into(),
        };
        self.answers.push((entry, answer));
        let last = self.answers.len() - 1;
        !self.hit(last) && self.attempt(last) == Outcome::Retry
    }

    /// The next cycle of a tier with a rule.
    fn begin_cycle(&mut self, tier: usize) {
        let Some((low, high)) = self.plan.tiers[tier].must_hit else {
            return;
        };
        self.since[tier] = self.answers.len();
        let name = self.plan.tiers[tier].name;
        let cycle = self.cycles.iter().filter(|cycle| cycle.tier == name).count() as u64;
        let seed = CycleSeed::derive(&SECRET, &self.plan.jackpot_id, name, cycle, NONCE);
        self.cycles.push(Cycle {
            tier: name.to_owned(),
            cycle,
            nonce: NONCE.to_owned(),
            commitment: seed.commitment(),
            low: Some(low),
            high: Some(high),
            ended_by: None,
            seed: None,
            trigger_amount: None,
            derived: Some(seed),
            ..Cycle::default()
        });
    }

    /// Ends the open cycle of a tier, if it has one, and begins the next.
    fn end_cycle(&mut self, tier: usize, by: &str) {
        let name = self.plan.tiers[tier].name;
        let Some(open) = self.cycles.iter_mut().rfind(|cycle| cycle.tier == name) else {
            return;
        };
        open.trigger_amount = open.trigger();
        open.seed = open.derived.as_ref().map(CycleSeed::reveal);
        open.ended_by = Some(by.to_owned());
        self.begin_cycle(tier);
    }

    /// Gives the pool that is due, and whose cycle began first, to the entry taken last. Returns whether one was.
    fn hit(&mut self, index: usize) -> bool {
        let mut tiers: Vec<_> = (0..self.plan.tiers.len()).collect();
        tiers.sort_by_key(|tier| self.since[*tier]);
        for tier in tiers {
            let name = self.plan.tiers[tier].name;
            let open = self.cycles.iter().rfind(|cycle| cycle.tier == name);
            let Some((cycle, trigger)) = open.and_then(|open| Some((open.cycle, open.trigger()?))) else {
                continue;
            };
            if self.meters[tier].pool < trigger {
                continue;
            }
            let payout = self.take(tier, 0, self.meters[tier].pool, true);
            let answer = &mut self.answers[index].1;
            answer.payout = Some(Box::new(payout));
            answer.must_hit = Some(Hit { tier, cycle, trigger });
            self.end_cycle(tier, "must-hit");
            return true;
        }
        false
    }

    /// Pays out of a pool.
    fn take(&mut self, index: usize, rank: u32, amount: i64, takes_pool: bool) -> Payout {
        let (meter, tier) = (&mut self.meters[index], &self.plan.tiers[index]);
        meter.pool -= amount;
        meter.paid += amount;
        if takes_pool {
            meter.wins += 1;
            meter.pool = tier.seed.min(meter.reserve);
            meter.reserve -= meter.pool;
        }
        self.claims += 1;
        Payout {
            rank,
            takes_pool,
            tier: index,
            amount,
            id: format!("pay-{}", self.claims),
            claim_order: self.claims,
        }
    }

    fn redraw(&mut self, index: usize) {
        while self.answers[index].1.attempts.len() <= self.plan.options.max_redraws as usize {
            if self.attempt(index) != Outcome::Retry {
                break;
            }
        }
    }

    fn attempt(&mut self, index: usize) -> Outcome {
        let (entry, answer) = &self.answers[index];
        let number = u32::try_from(answer.attempts.len()).unwrap();
        let ticket = self.seed.ticket(
            &self.plan.jackpot_id,
            &entry.id,
            number,
            entry.client_seed.as_deref(),
            self.plan.odds.total,
        );
        let rank = self.plan.odds.rank(ticket, entry.stake);
        let refused = answer.attempts.iter().any(|attempt| attempt.rank == rank);
        let result = match self.plan.prize(rank) {
            None => Outcome::None,
            Some(prize) => {
                let pool = self.meters[prize.tier()].pool;
                let (amount, enough) = match prize {
                    Prize::Pool { tier } => (pool, pool >= self.plan.tiers[tier].min_payout),
                    Prize::Fixed { amount, .. } => (amount, pool >= amount),
                };
                if refused || !enough {
                    Outcome::Retry
                } else {
                    let takes_pool = matches!(prize, Prize::Pool { .. });
                    let payout = self.take(prize.tier(), rank, amount, takes_pool);
                    self.answers[index].1.payout = Some(Box::new(payout));
                    if takes_pool {
                        self.end_cycle(prize.tier(), "take");
                    }
                    Outcome::Paid
                }
            }
        };
        let answer = &mut self.answers[index].1;
        let mut attempts = answer.attempts.to_vec();
        attempts.push(Attempt { number, rank, result });
        answer.attempts = attempts.into();
        result
    }

    fn evidence(mut self) -> Evidence {
        let seeds = Some(Seeds::of(&SECRET, &self.plan, &self.epochs()));
        let entries = i64::try_from(self.answers.len()).unwrap();
        for (meter, tier) in self.meters.iter_mut().zip(&self.plan.tiers) {
            meter.contributed = entries * (tier.pool_micro + tier.reserve_micro) / MICRO;
        }
        let records: Vec<Record> = (0..)
            .zip(self.answers)
            .map(|(number, (entry, answer))| Record {
                entry,
                collision: None,
                sent_us: number * 10,
                answered_us: number * 10 + 25,
                answer: Ok(answer),
            })
            .collect();
        let seen = |created| Seen {
            created,
            replayed: !created,
            repeats: 0,
            body: "{\"sequence\":1}".into(),
        };
        let repeated = [true, false].map(|at_once| Repeated {
            entry_id: records[0].entry.id.clone(),
            first: seen(true),
            again: seen(false),
            at_once,
        });
        let receipt = |record: &Record| {
            let payout = record.answer.as_ref().ok()?.payout.as_deref()?;
            let receipt = Receipt {
                entry_id: record.entry.id.clone(),
                tier: self.plan.tiers[payout.tier].name.to_owned(),
                amount: payout.amount,
                claim_order: payout.claim_order,
            };
            Some((payout.id.clone(), receipt))
        };
        Evidence {
            receipts: Ok(records.iter().filter_map(receipt).collect()),
            seeds,
            plan: self.plan,
            records,
            repeated: repeated.into(),
            meters: self.meters,
            pending: Pending::None { after_ms: 0 },
            expected: Expected::default(),
            cycles: self.cycles,
        }
    }
}

/// The answer at an index, to be forged.
pub fn answer(evidence: &mut Evidence, index: usize) -> &mut Answer {
    evidence.records[index].answer.as_mut().expect("an answer")
}

/// The payout at an index, to be forged.
pub fn payout(evidence: &mut Evidence, index: usize) -> &mut Payout {
    answer(evidence, index).payout.as_mut().expect("a payout")
}

/// The first entry paid so at its first attempt.
pub fn paid_where(evidence: &Evidence, matches: impl Fn(&Payout) -> bool) -> usize {
    let paid = |record: &Record| {
        let answer = record.answer.as_ref().expect("an answer");
        answer.attempts.len() == 1 && answer.payout.as_deref().is_some_and(&matches)
    };
    evidence.records.iter().position(paid).expect("the fixture has one")
}

/// The first two entries paid at their first attempt.
pub fn first_paid(evidence: &Evidence) -> [usize; 2] {
    let first = paid_where(evidence, |_| true);
    let later = evidence.records[first + 1..].iter().position(|record| {
        let answer = record.answer.as_ref().expect("an answer");
        answer.attempts.len() == 1 && answer.payout.is_some()
    });
    [first, first + 1 + later.expect("the fixture has two")]
}

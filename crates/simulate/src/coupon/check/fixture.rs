//! A small exact model of a coupon, and what its forgers use. A user calls every 10 µs.

use std::collections::BTreeMap;

use crate::coupon::answer::{Outcome, Unit};
use crate::coupon::evidence::{Call, Compared, Counts, Evidence, Row, Void};
use crate::coupon::plan::{Ask, Plan, user_id};
use crate::finding::Judged;
use crate::forge::{self, Honest};

/// Between two calls.
const EVERY_US: u64 = 10;
/// From the first try to its effect, and to its answer.
const DONE_US: u64 = 5;
const ANSWERED_US: u64 = 25;
/// For a queued request, both are later by this.
const QUEUE_US: u64 = 100;

#[derive(Default)]
struct Model {
    /// The time and the outcome of each decision.
    decided: BTreeMap<Ask, (u64, Outcome)>,
    /// Users who hold a unit, with its request.
    out: BTreeMap<u32, Ask>,
    issued: Vec<(Ask, Unit)>,
    voids: Vec<Void>,
}

impl Honest for Plan {
    const OPTIONS: &'static [&'static [&'static str]] = &[&["--coupons"], &["--users", "200"], &["--stock", "60"]];

    fn model(self) -> Evidence {
        let plan = self;
        let asks = plan.asks();
        let mut points = plan.void_points(asks.len() as u64);
        let (mut model, mut calls) = (Model::default(), Vec::new());
        for (n, ask) in (0..).zip(asks) {
            while points.first().is_some_and(|point| *point <= n) && model.void(&plan, n * EVERY_US) {
                points.remove(0);
            }
            calls.push(model.call(&plan, ask, n * EVERY_US));
        }
        model.evidence(plan, calls)
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

/// The request with this sequence, and its outcome.
pub fn issue(evidence: &Evidence, sequence: u64) -> (Ask, Outcome) {
    let issues = evidence.issues();
    let issue = issues.iter().find(|issue| issue.unit.sequence == sequence);
    let issue = issue.expect("the model has issued as many");
    (issue.request.ask, Outcome::Issued(issue.unit.clone()))
}

impl Model {
    fn call(&mut self, plan: &Plan, ask: Ask, at: u64) -> Call {
        let fresh = !self.decided.contains_key(&ask);
        if fresh {
            let later = if plan.options.queued { QUEUE_US } else { 0 };
            let outcome = self.decide(plan, ask);
            self.decided.insert(ask, (at + DONE_US + later, outcome));
        }
        let (decided, outcome) = self.decided[&ask].clone();
        let queued = decided > at + DONE_US;
        let status = match outcome {
            _ if queued => 202,
            Outcome::Issued(_) if fresh => 201,
            Outcome::Issued(_) | Outcome::Voided(_) => 200,
            _ => 409,
        };
        Call {
            ask,
            sent_us: at,
            answered_us: at + ANSWERED_US,
            decided_us: at + ANSWERED_US + if queued { 2 * QUEUE_US } else { 0 },
            queued_ms: queued.then_some(1),
            status,
            replayed: !fresh,
            repeats: 0,
            outcome: Ok(outcome),
        }
    }

    fn decide(&mut self, plan: &Plan, ask: Ask) -> Outcome {
        if let Some(first) = self.out.get(&ask.user) {
            let unit = self.issued.iter().find(|issued| issued.0 == *first).expect("its issue");
            return Outcome::AlreadyIssued {
                request_id: plan.request_id(*first),
                user_id: user_id(ask.user),
                unit: unit.1.clone(),
            };
        }
        if self.out.len() as u64 == plan.options.stock {
            return Outcome::OutOfStock;
        }
        let sequence = self.issued.len() as u64 + 1;
        let unit = Unit {
            sequence,
            code: code(sequence),
            issued_at: format!("2026-11-21T06:00:00.{sequence:03}Z"),
        };
        self.out.insert(ask.user, ask);
        self.issued.push((ask, unit.clone()));
        Outcome::Issued(unit)
    }

    /// Takes back the oldest unit that is out. False when there is none.
    fn void(&mut self, plan: &Plan, at: u64) -> bool {
        let later = at + if plan.options.queued { QUEUE_US } else { 0 };
        let is_out = |issued: &&(Ask, Unit)| self.out.get(&issued.0.user) == Some(&issued.0);
        let Some((ask, unit)) = self.issued.iter().find(is_out).cloned() else {
            return false;
        };
        self.out.remove(&ask.user);
        let outcome = Outcome::Voided(unit);
        let (decided, _) = self.decided[&ask];
        self.decided.insert(ask, (decided, outcome.clone()));
        self.voids.push(Void {
            ask,
            sent_us: later + 1,
            answered_us: later + 3,
            outcome: Ok(outcome),
        });
        true
    }

    fn evidence(self, plan: Plan, calls: Vec<Call>) -> Evidence {
        let (issued, voided) = (self.issued.len() as u64, self.voids.len() as u64);
        let row = |(ask, unit): &(Ask, Unit)| Row {
            request_id: plan.request_id(*ask),
            user_id: user_id(ask.user),
            unit: unit.clone(),
            voided: self.voids.iter().any(|void| void.ask == *ask),
        };
        Evidence {
            calls,
            counts: Counts {
                stock: plan.options.stock,
                issued,
                voided,
                remaining: plan.options.stock + voided - issued,
                queued: 0,
                dead: 0,
            },
            dead_letters: Vec::new(),
            ledger: Ok(self.issued.iter().map(row).collect()),
            voids: self.voids,
            looks: 0,
            compared: Compared::Clean { event: 99 },
            kills: 0,
            plan,
        }
    }
}

/// Some code whose check characters are right: that of 2^k is what 2^k leaves when divided by 1021.
fn code(number: u64) -> String {
    let alphabet: Vec<char> = "0123456789ABCDEFGHJKMNPQRSTVWXYZ".chars().collect();
    let mut digits = [0; 18];
    for (place, digit) in digits[..16].iter_mut().rev().enumerate() {
        *digit = usize::try_from(number >> (5 * place).min(63) & 31).expect("below 32");
    }
    let check = usize::try_from(number % 1021).expect("below 1021");
    (digits[16], digits[17]) = (check / 32, check % 32);
    let text: String = digits.iter().map(|digit| alphabet[*digit]).collect();
    format!("{}-{}-{}", &text[..6], &text[6..12], &text[12..])
}

/// The calls of the first request that was made twice and has such an outcome.
pub fn twice(evidence: &Evidence, matches: impl Fn(&Outcome) -> bool) -> [usize; 2] {
    let calls = &evidence.calls;
    let ask = calls.iter().enumerate().find_map(|(n, call)| {
        let again = n + 1 + calls[n + 1..].iter().position(|other| other.ask == call.ask)?;
        call.outcome.as_ref().is_ok_and(&matches).then_some([n, again])
    });
    ask.expect("the model has one")
}

/// The first call with such an outcome.
pub fn first(evidence: &Evidence, matches: impl Fn(&Outcome) -> bool) -> usize {
    let found = evidence
        .calls
        .iter()
        .position(|call| call.outcome.as_ref().is_ok_and(&matches));
    found.expect("the model has one")
}

/// The unit of a call, to be forged.
pub fn unit(evidence: &mut Evidence, call: usize) -> &mut Unit {
    match &mut evidence.calls[call].outcome {
        Ok(Outcome::Issued(unit) | Outcome::Voided(unit) | Outcome::AlreadyIssued { unit, .. }) => unit,
        other => panic!("{other:?}"),
    }
}

/// Changes the answer to every call of a request.
pub fn answer_with(evidence: &mut Evidence, ask: Ask, outcome: &Outcome) {
    for call in evidence.calls.iter_mut().filter(|call| call.ask == ask) {
        call.outcome = Ok(outcome.clone());
    }
}

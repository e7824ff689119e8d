//! Replays money that operators take out: whether it needed a second owner, and whether another owner approved it.

use std::collections::HashMap;

use jackpot_core::jackpot::leaving::{HeldRecord, Leaving};

use super::Replay;
use crate::jackpot::ledger::event::{Adjust, Ask, Event, Give, Withdraw};
use crate::proof::verify::report::{Place, Report};

/// For how long what an owner took alone counts, ms.
const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// What waits for a second owner, and what was taken without one.
#[derive(Default)]
pub(super) struct Waiting {
    /// By kind and id; `None` when it was approved or withdrawn.
    asked: HashMap<(&'static str, String), Option<HeldRecord>>,
    /// Owner, time and amount.
    took: Vec<(String, i64, u64)>,
    /// Whether events state owners. Those of an earlier version do not.
    has_owners: bool,
}

/// Money that leaves by an event.
struct Leaves<'a> {
    of: Leaving,
    owner: Option<&'a str>,
    asked: Option<&'a str>,
    /// As [`HeldRecord`] has it.
    to: &'a str,
    /// Of an adjustment.
    what: Option<String>,
    digest: &'a str,
    amount: u64,
}

impl Replay {
    pub(super) fn adjusted(&mut self, event: &Event, adjust: &Adjust, report: &mut Report) {
        self.waiting_money.has_owners |= adjust.owner.is_some();
        if !adjust.from.is_empty() && adjust.to.is_empty() {
            let leaves = Leaves {
                of: Leaving::Adjustment(adjust.adjustment_id.clone()),
                owner: adjust.owner.as_deref(),
                asked: adjust.asked.as_deref(),
                to: "-",
                what: Some(format!("{},{}", adjust.tier, adjust.from)),
                digest: &adjust.digest,
                amount: adjust.amount,
            };
            self.leaves(event, &leaves, report);
        }
    }

    pub(super) fn gave(&mut self, event: &Event, give: &Give, report: &mut Report) {
        self.waiting_money.has_owners |= give.owner.is_some();
        let units = give.parts.iter().map(|part| {
            let micro = part.pool_micro + part.reserve_micro;
            part.pool + part.reserve + part.overflow + micro / 1_000_000
        });
        let leaves = Leaves {
            of: Leaving::Transfer(give.transfer_id.clone()),
            owner: give.owner.as_deref(),
            asked: give.asked.as_deref(),
            to: give.to.as_str(),
            what: None,
            digest: &give.digest,
            amount: units.sum(),
        };
        self.leaves(event, &leaves, report);
    }

    fn leaves(&mut self, event: &Event, leaves: &Leaves<'_>, report: &mut Report) {
        let (money, at_ms) = (&mut self.waiting_money, event.at_ms);
        let name = (leaves.of.kind(), leaves.of.id().to_string());
        let mut wrong = |what: &str| report.wrong(Place::Event(event.n), format!("{} '{}': {what}", name.0, name.1));
        let (Some(owner), asked) = (leaves.owner, leaves.asked) else {
            if money.has_owners {
                wrong("it does not say whose key took the money out");
            }
            return;
        };
        if let Some(asked) = asked {
            let was = money.asked.insert(name.clone(), None).flatten();
            let right = was.is_some_and(|was| {
                let what = leaves.what.as_ref().is_none_or(|what| *what == was.what);
                let amount = leaves.amount == was.amount || (leaves.what.is_none() && leaves.amount <= was.amount);
                what && amount && (&*was.owner, &*was.to, &*was.digest) == (asked, leaves.to, leaves.digest)
            });
            if !right && !self.settling.is_open {
                wrong("it is approved, and nothing like it waits");
            }
            if asked == owner {
                wrong("the owner who asked approves it");
            }
            return;
        }
        if money.asked.contains_key(&name) {
            wrong("it waits or waited for an approval, and is made without one");
        }
        money.took.retain(|(_, at, _)| *at > at_ms - DAY_MS);
        let own = money.took.iter().filter(|(of, ..)| of == owner);
        let sum = own.map(|(.., amount)| u128::from(*amount)).sum::<u128>() + u128::from(leaves.amount);
        let limit = self.settling.hold.as_ref().and_then(|hold| hold.terms().approval_above);
        if let Some(limit) = limit.filter(|limit| sum >= u128::from(limit.get()))
            && !self.settling.is_open
        {
            let limit = limit.get();
            wrong(&format!(
                "'{owner}' took {sum} in 24 hours alone; from {limit} on it needs a second owner"
            ));
        }
        money.took.push((owner.to_owned(), at_ms, leaves.amount));
    }

    pub(super) fn ask(&mut self, n: u64, ask: &Ask, report: &mut Report) {
        self.waiting_money.has_owners = true;
        let of = ask.leaving();
        let (name, id) = ((of.kind(), of.id().to_string()), of.id());
        if self.waiting_money.asked.insert(name, Some(ask.record())).is_some() {
            report.wrong(Place::Event(n), format!("{} '{id}' was asked for before", of.kind()));
        }
    }

    pub(super) fn withdraw(&mut self, n: u64, ends: &Withdraw, report: &mut Report) {
        let of = ends.leaving();
        let name = (of.kind(), of.id().to_string());
        let waited = self.waiting_money.asked.insert(name, None).flatten().is_some();
        if !waited && !self.settling.is_open {
            let what = format!("{} '{}' is withdrawn, and does not wait", of.kind(), of.id());
            report.wrong(Place::Event(n), what);
        }
    }

    /// What a skipped event left in Redis.
    pub(super) fn carry_waiting(&mut self, records: &[(String, String, i64)]) {
        for (name, content, _) in records {
            let held = Leaving::of_held(name).zip(HeldRecord::parse(content).ok());
            if let Some((of, record)) = held {
                let name = (of.kind(), of.id().to_string());
                self.waiting_money.asked.insert(name, Some(record));
            } else if let Some(of) = Leaving::of_withdrawn(name) {
                self.waiting_money.asked.insert((of.kind(), of.id().to_string()), None);
            }
        }
    }
}

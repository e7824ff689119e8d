//! Replays settlement: where each tracked payout begins, and whether each step may follow, by whom.

use std::collections::{HashMap, HashSet};

use jackpot_core::ids::Id;
use jackpot_core::jackpot::derived::payout_id;
use jackpot_core::jackpot::document::Document;
use jackpot_core::jackpot::settlement::{Attempt, Decision, Ended, Hold, Standing, State, Step, Wish};
use jackpot_core::wire::Field;

use super::Replay;
use crate::jackpot::ledger::event::{Approval, Claim, ClaimResult, Define, Event, PayoutStep};
use crate::proof::verify::report::{Place, Report};

/// The payouts that are tracked, and under what.
#[derive(Default)]
pub(super) struct Settling {
    pub(super) hold: Option<Hold>,
    payouts: HashMap<String, Tracked>,
    ids: HashSet<String>,
    /// Whether a skipped event may have taken steps or changed the limit.
    pub(super) is_open: bool,
}

/// A tracked payout.
struct Tracked {
    standing: Standing,
    first: State,
    tier: Id,
    amount: u64,
}

impl Settling {
    /// A claim that paid begins a payout.
    fn begin(&mut self, payout_id: String, tier: &Id, amount: u64) {
        let terms = self.hold.as_ref().map(Hold::terms).unwrap_or_default();
        if let Some(state) = State::at_claim(&terms, amount) {
            let tracked = Tracked {
                standing: Standing::new(state),
                first: state,
                tier: tier.clone(),
                amount,
            };
            self.payouts.insert(payout_id, tracked);
        }
    }

    /// Checks a limit that an event states.
    fn set(&mut self, n: u64, stated: Option<&Hold>, right: Option<&Hold>, report: &mut Report) {
        if !self.is_open && stated != right {
            let text = |hold: Option<&Hold>| hold.map_or("none".to_owned(), Field::text);
            let (stated, right) = (text(stated), text(right));
            report.wrong(
                Place::Event(n),
                format!("it leaves the limit at '{stated}'; what happened leaves it at '{right}'"),
            );
        }
        self.hold = stated.cloned();
    }
}

impl Replay {
    pub(super) fn tracked(&mut self, event: &Event, entry_id: &str, claim: &Claim) {
        if let ClaimResult::Paid { tier, amount, .. } = &claim.result {
            let id = payout_id(&self.jackpot, &event.history, entry_id, claim.sequence);
            self.settling.begin(id, tier, *amount);
        }
    }

    pub(super) fn put_limit(&mut self, n: u64, define: &Define, document: &Document, report: &mut Report) {
        let (stated, was) = (define.hold.as_ref(), self.settling.hold.as_ref());
        let owner = stated.map_or("", |hold| hold.owner.as_str());
        let right = Hold::put(was, document.settlement_terms(), owner, define.version);
        self.settling.set(n, stated, right.as_ref(), report);
    }

    pub(super) fn approval(&mut self, n: u64, approval: &Approval, report: &mut Report) {
        let was = self.settling.hold.as_ref();
        if was.is_some_and(|hold| hold.owner == approval.owner) {
            report.wrong(Place::Event(n), "the owner who set the limit approves it");
        }
        let right = was.and_then(Hold::approved);
        self.settling.set(n, Some(&approval.hold), right.as_ref(), report);
    }

    /// Checks a step, and continues from what it states. A void's money is that of the payout.
    pub(super) fn step(&mut self, event: &Event, step: &PayoutStep, report: &mut Report) {
        let (n, id) = (event.n, &step.payout_id);
        let after = step.standing(event.at_ms);
        if step.step == Step::Void {
            self.tiers.void(&step.tier, i128::from(step.amount));
        }
        let mut wrong = |what: &str| report.wrong(Place::Event(n), format!("payout '{id}': {what}"));
        if matches!(step.step, Step::Settle | Step::Fail) && !self.settling.ids.insert(step.settlement_id.clone()) {
            wrong("its settlement id was used before");
        }
        let limited = self.settling.hold.as_ref();
        if step.step == Step::Approve && limited.is_some_and(|hold| hold.owner == step.owner) {
            wrong("the owner who set the limit approves it");
        }
        let Some(tracked) = self.settling.payouts.get_mut(id) else {
            if !self.settling.is_open {
                wrong("it is not tracked");
            }
            return;
        };
        if (&tracked.tier, tracked.amount) != (&step.tier, step.amount) {
            wrong("its tier or amount is another one");
        }
        let ended = match step.step {
            Step::Settle => Some(Ended::Settled),
            Step::Fail => Some(Ended::Failed),
            Step::Approve | Step::VoidRequest | Step::Void | Step::Withdraw => None,
        };
        let wish = match (step.step, ended) {
            (Step::Approve, _) => Wish::Approve,
            (_, Some(ended)) => Wish::Report(Attempt {
                ended,
                settlement_id: step.settlement_id.clone(),
                text: step.text.clone(),
                at_ms: event.at_ms,
            }),
            (Step::Withdraw, _) => Wish::Withdraw { first: tracked.first },
            _ => Wish::Void,
        };
        // The key's name is in a field that the event has for the audit log alone.
        let key = if step.step == Step::Approve {
            step.approved_by.as_str()
        } else {
            ""
        };
        let right = tracked.standing.decide(&wish, key, &step.owner);
        let follows = right == Ok(Decision::Step(step.step, after.clone())) && tracked.standing.state == step.before;
        if !follows && !self.settling.is_open {
            wrong(&format!(
                "it can't {} by '{}' from {}",
                step.step.as_str(),
                step.owner,
                tracked.standing.state.as_str()
            ));
        }
        tracked.standing = after;
    }
}

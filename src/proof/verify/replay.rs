//! Replays the events: recomputes every contribution, claim and meter from the definitions and the requests, and
//! compares them with what the event states.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use jackpot_core::currency::Currency;
use jackpot_core::fields::EventFields;
use jackpot_core::ids::{Id, PersonId};
use jackpot_core::jackpot::cycle::EndedBy;
use jackpot_core::jackpot::definition::{Definition, MoneyKind, MoneyPrize};
use jackpot_core::jackpot::document::Document;
use jackpot_core::jackpot::epoch::Opening;
use jackpot_core::jackpot::split::TierAmount;
use jackpot_core::money::Minor;

use crate::jackpot::ledger::event::{Adjust, Claim, ClaimResult, Define, Event, Kind};

use super::cycles::Cycles;
use super::draws::Draws;
use super::once::{Once, may_open_after_restore};
use super::receipts::Paid;
use super::report::{Place, Report};
use super::tiers::Tiers;
use early::EarlyCancels;
use leaving::Waiting;
use seen::SeenIds;
use settlement::Settling;
use skipped::CarriedPending;

mod call;
mod early;
mod enter;
mod leaving;
mod reverse;
mod seen;
mod settlement;
mod skipped;
mod transfer;

/// The replayed state of a jackpot.
pub(super) struct Replay {
    jackpot: Id,
    definitions: BTreeMap<u64, Arc<Definition>>,
    version: u64,
    waiting: Option<u64>,
    currency: Option<Currency>,
    sequence: u64,
    claim_order: u64,
    tiers: Tiers,
    /// Epochs: the opening, its time, and the time of closing.
    pub(super) epochs: BTreeMap<u64, (Opening, i64, Option<i64>)>,
    pub(super) draws: Draws,
    pub(super) cycles: Cycles,
    once: Once,
    seen: SeenIds,
    early: EarlyCancels,
    /// The last entry at the last take of all of a tier.
    took: BTreeMap<Id, u64>,
    settling: Settling,
    waiting_money: Waiting,
    /// Records of transfers (`jackpot_core::jackpot::transfer`).
    transfers: HashSet<String>,
    splits: HashMap<(Minor, Option<Id>), Vec<TierAmount>>,
    /// Entries that a skipped event left pending.
    carried_pending: BTreeMap<u64, CarriedPending>,
}

/// Why neither this event nor any later one can be replayed.
pub(super) struct Broken(pub String);

impl Replay {
    pub(super) fn new(jackpot: Id, draws: Draws) -> Self {
        Self {
            jackpot,
            definitions: BTreeMap::new(),
            version: 0,
            waiting: None,
            currency: None,
            sequence: 0,
            claim_order: 0,
            tiers: Tiers::default(),
            epochs: BTreeMap::new(),
            draws,
            cycles: Cycles::default(),
            once: Once::default(),
            seen: SeenIds::default(),
            early: EarlyCancels::default(),
            took: BTreeMap::new(),
            settling: Settling::default(),
            waiting_money: Waiting::default(),
            transfers: HashSet::new(),
            splits: HashMap::new(),
            carried_pending: BTreeMap::new(),
        }
    }

    pub(super) fn tiers(&self) -> &Tiers {
        &self.tiers
    }

    /// The open epoch; the last one of a closed jackpot.
    pub(super) fn epoch(&self) -> Option<u64> {
        self.epochs.keys().next_back().copied()
    }

    pub(super) fn open_epoch(&self) -> Option<u64> {
        let last = self.epochs.last_key_value()?;
        last.1.2.is_none().then_some(*last.0)
    }

    /// Applies the next event. Returns the money that it paid.
    pub(super) fn apply(
        &mut self,
        event: &Event,
        fields: &EventFields,
        report: &mut Report,
    ) -> Result<Vec<Paid>, Broken> {
        let (before, version) = (self.tiers.clone(), self.version);
        let mut paid = Vec::new();
        self.once.history(event, report);
        self.cycles.begin(event, self.sequence);
        match &event.kind {
            Kind::Skipped(skipped) => return self.skipped(event, skipped, report),
            Kind::Define(define) => self.define(event, define, report)?,
            Kind::Enter(enter) => paid = self.enter(event, enter, fields, report)?,
            Kind::Claim { entry_id, claim } => paid.extend(self.claim(event, entry_id, claim, report)?),
            Kind::Finish { entry_id, sequence } => {
                let attempt = field(fields, "attempt").and_then(|text| text.parse().ok());
                let attempt = attempt.ok_or_else(|| broken("it does not say which attempt ended its entry"))?;
                self.draws.finished(event.n, entry_id, *sequence, attempt, report);
            }
            Kind::Adjust(adjust) => self.adjust(event, adjust, report)?,
            Kind::Ask(ask) => self.ask(event.n, ask, report),
            Kind::Withdraw(ends) => self.withdraw(event.n, ends, report),
            Kind::Reverse(reverse) => {
                self.reverse(event.n, reverse, report)?;
                self.reversed_by(event.n, reverse, field(fields, "who").unwrap_or_default(), report);
                for tier in before.meters().keys() {
                    self.cycles.reversed(tier, before.pool(tier) - self.tiers.pool(tier));
                }
            }
            Kind::Cancel(cancel) => self.cancel(event, cancel, report),
            Kind::Expect(expect) => self.expect(event.n, expect, report),
            Kind::Give(give) => {
                self.gave(event, give, report);
                self.give(event.n, give, report);
            }
            Kind::Receive(receive) => self.receive(event.n, receive, report),
            Kind::Release(ends) => self.release(event.n, ends, report),
            Kind::Payout(step) => self.step(event, step, report),
            Kind::Approval(approval) => self.approval(event.n, approval, report),
            Kind::Rotate {
                epoch,
                opening,
                dropped,
                pruned,
                ..
            } => {
                let next = self.epoch().is_some_and(|open| open.checked_add(1) == Some(*epoch));
                if !next {
                    return Err(broken("its epoch is not the next one"));
                }
                self.open(event, *epoch, opening, report);
                if *dropped {
                    self.seen.rotate();
                    self.early.rotate();
                }
                self.definitions.retain(|version, _| !pruned.contains(version));
            }
            // These move no money and settle nothing. The books check what a checkpoint states.
            Kind::Status { .. } | Kind::Emergency(_) | Kind::Checkpoint(_) | Kind::Retention { .. } => {}
            Kind::Restore {
                closed, epoch, opening, ..
            } => {
                if self.epoch() != Some(*closed) || epoch <= closed {
                    return Err(broken("it does not end the open epoch with one of a higher number"));
                }
                if !may_open_after_restore(*epoch, *closed, event.at_ms) {
                    let what = format!(
                        "it opens epoch {epoch}, which is neither 1,000 above epoch {closed} nor a second that has passed"
                    );
                    report.wrong(Place::Event(event.n), what);
                }
                self.open(event, *epoch, opening, report);
            }
        }
        if let Some(ended) = event.ended_epoch() {
            match self
                .epochs
                .last_entry()
                .filter(|last| *last.key() == ended && last.get().2.is_none())
            {
                Some(mut last) => last.get_mut().2 = Some(event.at_ms),
                None => report.wrong(
                    Place::Event(event.n),
                    format!("it ends epoch {ended}, which is not open"),
                ),
            }
        }
        self.put_in_force(version, event.applied)?;
        self.cycles.end(event, |tier| self.tiers.pool(tier), report);
        self.tiers.pin(self.cycles.pinned());
        if let Some(difference) = self.tiers.compare(&before, &event.changes) {
            report.wrong(Place::Event(event.n), difference);
        }
        if let Some(what) = self.tiers.out_of_range() {
            return Err(Broken(what));
        }
        report.counts.replayed += 1;
        Ok(paid)
    }

    fn define(&mut self, event: &Event, define: &Define, report: &mut Report) -> Result<(), Broken> {
        let unreadable = || broken("its definition breaks the rules of a definition");
        let document: Document = serde_json::from_str(&define.json).map_err(|_| unreadable())?;
        let definition = Definition::stored(document).map_err(|_| unreadable())?;
        if definition.document().id != self.jackpot {
            return Err(broken("it defines another jackpot"));
        }
        self.put_limit(event.n, define, definition.document(), report);
        if let Some(created) = &*define.created {
            if event.n != 1 {
                return Err(broken("it creates a jackpot that exists"));
            }
            self.open(event, 1, &created.opening, report);
        } else if event.n == 1 {
            return Err(broken("the first event does not create the jackpot"));
        }
        if let Some(superseded) = define.superseded {
            self.definitions.remove(&superseded);
        }
        self.currency = Some(define.currency);
        self.definitions.insert(define.version, Arc::new(definition));
        self.waiting = Some(define.version);
        Ok(())
    }

    /// Checks the definition that an event put in force. Either a take of the whole pool in the event has applied it
    /// already, or it is the waiting one, which this applies.
    fn put_in_force(&mut self, before: u64, applied: Option<u64>) -> Result<(), Broken> {
        let by_take = (self.version != before).then_some(self.version);
        if applied == by_take {
            return Ok(());
        }
        if by_take.is_none() && applied == self.waiting {
            let version = self.waiting.take().unwrap_or_default();
            let definition = self.definition(version)?;
            self.tiers.apply(&definition);
            self.cycles.rule(version, &definition);
            self.version = version;
            self.splits.clear();
            return Ok(());
        }
        let text = |version: Option<u64>| version.map_or("none".to_owned(), |version| version.to_string());
        let (says, should) = (text(applied), text(by_take.or(self.waiting)));
        Err(Broken(format!(
            "it puts definition {says} in force; what it did calls for {should}"
        )))
    }

    fn definition(&self, version: u64) -> Result<Arc<Definition>, Broken> {
        let found = self.definitions.get(&version).map(Arc::clone);
        found.ok_or_else(|| Broken(format!("definition {version} does not exist at this event")))
    }

    fn claim(
        &mut self,
        event: &Event,
        entry_id: &str,
        claim: &Claim,
        report: &mut Report,
    ) -> Result<Option<Paid>, Broken> {
        let drawing = self.draws.drawing(claim.sequence);
        let known = drawing.map(|drawing| (drawing.sent.player.clone(), Arc::clone(&drawing.definition)));
        let known = match (known, self.carried_pending.get(&claim.sequence)) {
            (None, Some(carried)) => Some((carried.player.clone(), self.definition(carried.version)?)),
            (known, _) => known,
        };
        self.draws.claimed(event.n, entry_id, claim, report);
        if claim.result.is_won() {
            self.seen.won(entry_id);
        }
        match known {
            Some((player, definition)) => self.money(event, entry_id, &player, claim, &definition, report),
            None => Err(Broken(format!("there is no pending entry {}", claim.sequence))),
        }
    }

    /// Recomputes the amount of a money claim.
    fn money(
        &mut self,
        event: &Event,
        entry_id: &str,
        player: &PersonId,
        claim: &Claim,
        definition: &Definition,
        report: &mut Report,
    ) -> Result<Option<Paid>, Broken> {
        let hit = self.hit_prize(claim)?;
        let by = if hit.is_some() { EndedBy::MustHit } else { EndedBy::Take };
        let Some(prize) = hit.as_ref().or_else(|| definition.money_prize(claim.rank)) else {
            let named = match &claim.result {
                ClaimResult::Issued { coupon_id, .. } | ClaimResult::Refused { coupon_id, .. } => Some(coupon_id),
                _ => None,
            };
            return match claim.result {
                ClaimResult::Later => Ok(None),
                _ if named.is_some() && named == definition.coupon_prize(claim.rank) => Ok(None),
                _ => Err(Broken(format!(
                    "rank {} of entry '{entry_id}' is not for money",
                    claim.rank
                ))),
            };
        };
        let taken = self.tiers.takes(prize);
        let order = self.claim_order + 1;
        let right = match &claim.result {
            ClaimResult::Paid {
                tier,
                amount,
                claim_order,
                pool_before,
            } => {
                *tier == prize.tier
                    && taken.amount == Some(i128::from(*amount))
                    && (taken.before, order) == (i128::from(*pool_before), *claim_order)
            }
            ClaimResult::Retry { tier, pool_before } => {
                *tier == prize.tier && taken.amount.is_none() && taken.before == i128::from(*pool_before)
            }
            _ => false,
        };
        if !right {
            let should = taken
                .amount
                .map_or("a retry".to_owned(), |amount| format!("{amount}, claim {order},"));
            let what = format!(
                "the claim of entry '{entry_id}' (rank {}) is {should} out of {} in '{}'; the event says otherwise",
                claim.rank, taken.before, prize.tier
            );
            report.wrong(Place::Event(event.n), what);
        }
        report.counts.claims += 1;
        if let Some(amount) = taken.amount {
            self.take(prize, amount, by, report)?;
        }
        if let ClaimResult::Paid { claim_order, .. } = claim.result {
            self.claim_order = claim_order;
        }
        self.tracked(event, entry_id, claim);
        Ok(Paid::of(&self.jackpot, event, entry_id, player, claim, self.currency))
    }

    /// The prize of a paid claim of rank 0: all of the pool, by the rule of its tier.
    fn hit_prize(&self, claim: &Claim) -> Result<Option<MoneyPrize>, Broken> {
        let (0, ClaimResult::Paid { tier, .. }) = (claim.rank, &claim.result) else {
            return Ok(None);
        };
        let min_payout = Minor::try_from(self.cycles.min(tier)).map_err(|_| broken("its min is beyond 2^53 - 1"))?;
        Ok(Some(MoneyPrize {
            tier: tier.clone(),
            kind: MoneyKind::All,
            min_payout,
        }))
    }

    fn take(&mut self, prize: &MoneyPrize, amount: i128, by: EndedBy, report: &mut Report) -> Result<(), Broken> {
        let next = self.waiting.map(|version| self.definition(version)).transpose()?;
        self.tiers.take(prize, amount, next.as_deref());
        if prize.kind == MoneyKind::All {
            if let (Some(version), Some(next)) = (self.waiting, &next) {
                self.cycles.rule(version, next);
            }
            self.cycles.took(&prize.tier, by, |tier| self.tiers.pool(tier), report);
            self.tiers.pin(self.cycles.pinned());
        }
        if prize.kind == MoneyKind::All {
            self.took.insert(prize.tier.clone(), self.sequence);
        }
        if prize.kind == MoneyKind::All
            && let Some(version) = self.waiting.take()
        {
            self.version = version;
            self.splits.clear();
        }
        Ok(())
    }

    fn adjust(&mut self, event: &Event, adjust: &Adjust, report: &mut Report) -> Result<(), Broken> {
        self.adjusted(event, adjust, report);
        let (tier, to) = (&adjust.tier, &*adjust.to);
        if !self.tiers.adjust(tier, &adjust.from, to, i128::from(adjust.amount)) {
            return Err(broken("its tier or meters can't be read"));
        }
        let guarded = self.cycles.guarded_to(tier).filter(|_| to == "pool");
        if guarded.is_some_and(|most| self.tiers.pool(tier) > i128::from(most)) {
            let what = format!("it raises the pool of '{tier}' above what its open must-hit cycle allows");
            report.wrong(Place::Event(event.n), what);
        }
        Ok(())
    }

    /// Opens an epoch after the open one, which ends.
    fn open(&mut self, event: &Event, epoch: u64, opening: &Opening, report: &mut Report) {
        let at_ms = event.at_ms;
        self.once.nonce(event.n, epoch, opening, report);
        if let Some(mut open) = self.epochs.last_entry() {
            open.get_mut().2.get_or_insert(at_ms);
        }
        self.epochs.insert(epoch, (opening.clone(), at_ms, None));
    }
}

fn field<'a>(fields: &'a EventFields, name: &str) -> Option<&'a str> {
    fields.get(name)
}

fn broken(what: &str) -> Broken {
    Broken(what.to_owned())
}

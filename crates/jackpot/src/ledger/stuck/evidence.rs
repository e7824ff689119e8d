//! What the events after a stuck one say of the state right after it. Pure.

use std::collections::{BTreeMap, BTreeSet};

use jackpot_core::ids::Id;
use jackpot_core::jackpot::leaving::Took;
use jackpot_core::wire::Field as _;

use super::cycles::{self, Later};
use crate::ledger::books::Terms;
use crate::ledger::event::{Checkpoint, Claim, ClaimResult, Enter, Event, Kind};
use jackpot_api::jackpot::Status;
use jackpot_kernel::ledger::projector::rows::Raw;

/// Sums of changes by tier and meter.
pub(super) type Sums = BTreeMap<(Id, String), i64>;

/// What they say. `None`: no event says it.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    pub(super) status: Option<Status>,
    pub(super) version: Option<u64>,
    #[expect(clippy::option_option, reason = "not told is not the same as none")]
    pub(super) waiting: Option<Option<u64>>,
    pub(super) last_version: Option<u64>,
    pub(super) epoch: Option<u64>,
    pub(super) sequence: Option<u64>,
    pub(super) claim_order: Option<u64>,
    /// Entries by sequence with a claim or an end of their own in a later event.
    pub(super) settled: BTreeMap<u64, String>,
    /// The sequences among them that won or ended there.
    pub(super) ended: BTreeSet<u64>,
    /// Definitions that later events put, and those that they drop.
    pub(super) defined: BTreeSet<u64>,
    pub(super) dropped: BTreeSet<u64>,
    /// Epochs that later events open.
    pub(super) opened: BTreeSet<u64>,
    /// The last epoch of the jackpot, if a later event closes it.
    pub(super) closed: Option<u64>,
    pub(super) adjusted: BTreeSet<String>,
    /// Whether a later event drops a generation of records.
    pub(super) rotated: bool,
    /// What the first checkpoint shows, and what the events before it changed.
    pub(super) checkpoint: Option<(Checkpoint, Sums, Counts)>,
    pub(super) history: Option<String>,
    pub(super) retention_s: Option<u64>,
    /// Tiers and digests of definitions that later events put.
    pub(super) terms: BTreeMap<u64, Terms>,
    /// What they say of cycles.
    pub(super) cycles: Later,
    /// Whether a later event brings a limit into force that waited.
    pub(super) limited: bool,
    /// What owners took out alone in later events.
    pub(super) took: Vec<Took>,
    /// Later events that can't be read either.
    pub(super) unreadable: u64,
    /// The first definition that a later event put in force.
    applied: Option<u64>,
    changed: Sums,
    counted: Counts,
}

/// Changes in the numbers of what Redis keeps.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) definitions: i64,
    pub(super) adjustments: i64,
    /// Records of the newer generation; `None` after a generation was dropped.
    pub(super) records: Option<i64>,
}

impl Counts {
    fn add(&mut self, records: u64) {
        let records = i64::try_from(records).unwrap_or_default();
        self.records = self.records.map(|before| before + records);
    }
}

impl Evidence {
    /// Collects the evidence of these events, in order.
    pub(super) fn of(later: &[Raw]) -> Self {
        let mut all = Self::default();
        all.counted.records = Some(0);
        for raw in later {
            match Event::parse(&raw.fields) {
                Ok(event) => all.add(event),
                Err(_) => all.unreadable += 1,
            }
        }
        all
    }

    fn add(&mut self, event: Event) {
        let applied = event.applied;
        self.history.get_or_insert(event.history);
        self.count(&event.kind);
        let records = event.kind.records().into_iter();
        self.adjusted.extend(records.map(|(name, _)| name));
        if self.checkpoint.is_none() {
            self.cycles.changed(&event.cycles);
            if matches!(event.kind, Kind::Reverse(_)) {
                self.cycles.reversed(&event.changes);
            }
        }
        for change in event.changes {
            let sum = self.changed.entry((change.tier, change.meter.to_string())).or_default();
            *sum = sum.saturating_add(change.delta);
        }
        match event.kind {
            Kind::Status { change, ended_epoch } => {
                self.status.get_or_insert(change.before);
                self.closed = self.closed.or(ended_epoch.0);
            }
            Kind::Define(define) => {
                self.last_version.get_or_insert(define.version.saturating_sub(1));
                if self.applied.is_none() {
                    self.waiting.get_or_insert(define.superseded);
                }
                self.defined.insert(define.version);
                let terms = Terms::of(&define);
                self.terms.insert(define.put.version, terms);
                self.dropped.extend(define.superseded);
            }
            Kind::Enter(Enter { call, claims, .. }) => {
                if self.opened.is_empty() {
                    self.epoch.get_or_insert(call.epoch);
                }
                if self.applied.is_none() {
                    self.version.get_or_insert(call.version);
                }
                self.sequence.get_or_insert(call.first.saturating_sub(1));
                for claim in &claims {
                    self.claimed(claim);
                }
            }
            Kind::Claim { entry_id, claim } => {
                self.settled.entry(claim.sequence).or_insert(entry_id);
                if claim.result.is_won() {
                    self.ended.insert(claim.sequence);
                }
                self.claimed(&claim);
            }
            Kind::Finish { entry_id, sequence } => {
                self.settled.entry(sequence).or_insert(entry_id);
                self.ended.insert(sequence);
            }
            Kind::Adjust(adjust) => {
                self.took.extend(adjust.took(event.at_ms));
            }
            Kind::Rotate {
                epoch, dropped, pruned, ..
            } => {
                self.opened.insert(epoch);
                self.rotated |= dropped;
                self.dropped.extend(pruned);
            }
            Kind::Checkpoint(checkpoint) => self.checked(checkpoint),
            Kind::Retention { before, .. } => _ = self.retention_s.get_or_insert(before),
            Kind::Give(give) => {
                self.took.extend(give.took(event.at_ms));
            }
            Kind::Approval(_) => self.limited = true,
            Kind::Ask(_)
            | Kind::Withdraw(_)
            | Kind::Expect(_)
            | Kind::Receive(_)
            | Kind::Release(_)
            | Kind::Emergency(_)
            | Kind::Reverse(_)
            | Kind::Cancel(_)
            | Kind::Payout(_)
            | Kind::Restore { .. }
            | Kind::Skipped(_) => {}
        }
        if let Some(version) = applied.filter(|_| self.applied.is_none()) {
            if !self.defined.contains(&version) {
                self.waiting.get_or_insert(Some(version));
            }
            self.applied = Some(version);
        }
    }

    fn claimed(&mut self, claim: &Claim) {
        if let ClaimResult::Paid { claim_order, .. } = claim.result {
            self.claim_order.get_or_insert(claim_order.saturating_sub(1));
        }
    }

    fn count(&mut self, kind: &Kind) {
        let counted = &mut self.counted;
        counted.adjustments += i64::try_from(kind.records().len()).unwrap_or_default();
        match kind {
            Kind::Define(define) => counted.definitions += i64::from(define.superseded.is_none()),
            Kind::Reverse(reverse) => counted.add(reverse.records()),
            Kind::Cancel(cancel) => counted.add(cancel.added()),
            Kind::Rotate { dropped, pruned, .. } => {
                counted.definitions -= i64::try_from(pruned.len()).unwrap_or_default();
                counted.records = counted.records.filter(|_| !dropped);
            }
            Kind::Enter(enter) => {
                counted.add(enter.records() + u64::from(enter.of_call));
            }
            _ => {}
        }
    }

    /// A checkpoint shows everything that no event before it has stated or changed.
    fn checked(&mut self, checkpoint: Checkpoint) {
        let text = |name: &str| checkpoint.held.get(name).map(String::as_str);
        let number = |name: &str| text(name).and_then(|text| text.parse::<u64>().ok());
        let first = |told: &mut Option<u64>, name: &str| *told = told.or_else(|| number(name));
        self.status = self.status.or_else(|| Status::parse(text("status")?));
        if self.applied.is_none() {
            first(&mut self.version, "version");
        }
        if self.applied.is_none() && self.defined.is_empty() {
            self.waiting.get_or_insert_with(|| number("next"));
        }
        if self.opened.is_empty() {
            first(&mut self.epoch, "epoch");
        }
        if self.defined.is_empty() {
            first(&mut self.last_version, "last_version");
        }
        first(&mut self.sequence, "seq");
        first(&mut self.claim_order, "order");
        first(&mut self.retention_s, "retention");
        let cycles = cycles::held(text("cycles"));
        for (version, tiers, money, rules) in [
            ("version", "tiers", "money", &cycles.rules),
            ("next", "next_tiers", "next_money", &cycles.next),
        ] {
            if let (Some(version), Some(tiers), Some(money)) = (number(version), text(tiers), text(money)) {
                let terms = Terms {
                    tiers: tiers.to_owned(),
                    money: money.to_owned(),
                    rules: rules.text(),
                };
                self.terms.entry(version).or_insert(terms);
            }
        }
        if self.checkpoint.is_none() {
            self.cycles.held = cycles.rows;
        }
        let (changed, counted) = (&self.changed, self.counted);
        self.checkpoint
            .get_or_insert_with(|| (checkpoint, changed.clone(), counted));
    }
}

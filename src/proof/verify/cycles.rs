//! Recomputes must-hit triggers from the published seeds of cycles: which entry reaches a trigger, which cycles end and
//! begin, and under which rule.

use std::collections::{BTreeMap, BTreeSet};

use jackpot_core::ids::Id;
use jackpot_core::jackpot::cycle::{
    CycleChange, CycleRow, CycleSeed, Cycles as Rules, EndedBy, HitRow, Pins, RuleRow, rules_text,
};
use jackpot_core::jackpot::definition::Definition;
use jackpot_core::jackpot::record::HitBy;
use jackpot_core::money::Minor;
use jackpot_core::wire::OrDash;

use super::once::may_open_after_restore;
use super::report::{Place, Report};
use super::tiers::Pinned;
use crate::jackpot::ledger::event::{Event, Kind};
use crate::proof::format::CycleLine;
use jackpot_api::jackpot::Status;

/// A deadline of the day is at least so many seconds after the begin.
const LEAST_OF_DAY_S: i64 = 60;
/// And at most so many: a zone may skip a day, and clocks change. Its time is not recomputed, because the law of a zone
/// may have changed since.
const MOST_OF_DAY_S: i64 = 3 * 86_400;

/// Number and tier of a cycle.
type Key = (Id, u64);
/// What is due: tier, cycle, by what, trigger.
type Due = (Id, u64, HitBy, u64);

/// What may end cycles in an event, and each what the one before may.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd)]
enum Allows {
    #[default]
    Take,
    /// Others end without a take.
    Restart,
    /// Under a new nonce.
    Renewal,
    /// And numbers far above the last ones.
    Restore,
}

/// The cycles until now.
#[derive(Default)]
pub(super) struct Cycles {
    stated: BTreeMap<Key, (CycleLine, Option<CycleSeed>)>,
    /// The newest cycle of each tier, with what was reversed in it, and whether it is open.
    newest: BTreeMap<Id, (CycleRow, bool)>,
    began: BTreeSet<Key>,
    /// The event in which each nonce came first: all tiers of an event share a fresh one.
    nonces: BTreeMap<String, u64>,
    /// Of the definition in force: its rules, its version, its caps.
    rules: Vec<RuleRow>,
    version: u64,
    caps: BTreeMap<Id, Option<u64>>,
    /// Whether a cycle pinned its cap: those that begin later do too.
    has_pins: bool,
    /// Changes of the event that is replayed which no take has explained yet.
    left: std::collections::VecDeque<CycleChange>,
    at: (u64, i64),
    /// The last entry so far.
    sequence: u64,
    /// Cycles that began in the event, and tiers whose cycle ended in it without a take while none has begun since.
    begun: BTreeSet<Key>,
    restarted: BTreeSet<Id>,
    allows: Allows,
    status: Option<Status>,
    /// Entries that were taken while a cycle without a published seed was open.
    unchecked: u64,
}

impl Cycles {
    /// Takes a line of the export. A seed must match its commitment.
    pub(super) fn state(&mut self, line: CycleLine, report: &mut Report) {
        let key = (line.tier.clone(), line.cycle);
        let seed = line.seed.as_deref().map(CycleSeed::published);
        let seed = seed.map(|seed| seed.filter(|seed| seed.commitment() == line.commitment));
        if let Some(None) = seed {
            let what = "its seed is not the one of its commitment: its trigger cannot be trusted";
            report.wrong(Place::Cycle(key.0.to_string(), key.1), what);
        }
        report.counts.cycles += u64::from(matches!(seed, Some(Some(_))));
        let place = Place::Cycle(key.0.to_string(), key.1);
        if self.stated.insert(key, (line, seed.flatten())).is_some() {
            report.wrong(place, "it is there twice");
        }
    }

    /// Begins an event. Its changes are consumed by what it did.
    pub(super) fn begin(&mut self, event: &Event, sequence: u64) {
        self.left = event.cycles.iter().cloned().collect();
        self.at = (event.n, event.at_ms);
        self.sequence = sequence;
        self.begun.clear();
        self.restarted.clear();
        self.allows = match &event.kind {
            Kind::Restore { .. } => Allows::Restore,
            Kind::Rotate { .. } => Allows::Renewal,
            Kind::Give(_) => Allows::Restart,
            _ if self.resumes(event) => Allows::Restart,
            _ => Allows::Take,
        };
    }

    fn is_restore(&self) -> bool {
        self.allows == Allows::Restore
    }

    fn may_renew(&self) -> bool {
        self.allows >= Allows::Renewal
    }

    /// Whether entries are taken again from this event on.
    fn resumes(&self, event: &Event) -> bool {
        match &event.kind {
            Kind::Status { change, .. } => change.after == Status::Open && change.before != change.after,
            Kind::Emergency(obeyed) => !obeyed.stopped && self.status == Some(Status::Open),
            Kind::Restore { .. } => true,
            _ => false,
        }
    }

    /// The rules of the definition in force.
    pub(super) fn rule(&mut self, version: u64, definition: &Definition) {
        self.rules = Rules::of(&rules_text(definition), "").rules;
        self.version = version;
        let tiers = definition.tiers().iter();
        self.caps = tiers
            .map(|tier| (tier.tier.clone(), tier.cap.map(Minor::get)))
            .collect();
    }

    /// What open cycles pin.
    pub(super) fn pinned(&self) -> BTreeMap<Id, Pinned> {
        let open = self.newest.iter().filter(|(_, (_, open))| *open);
        let pinned = open.filter_map(|(tier, (row, _))| {
            let pins = row.pins.0?;
            let (min, cap) = (i128::from(row.min), pins.cap.0.map(i128::from));
            Some((tier.clone(), Pinned { min, cap }))
        });
        pinned.collect()
    }

    /// The least pool for a hit in the open cycle of a tier.
    pub(super) fn min(&self, tier: &Id) -> u64 {
        self.newest.get(tier).map_or(1, |(row, _)| row.min.max(1))
    }

    /// The entry taken last must hit exactly if this says so. `stated`: the hit that the event states for it.
    pub(super) fn entered<'h>(
        &mut self,
        entry_id: &str,
        sequence: u64,
        definition: &Definition,
        pool: impl Fn(&Id) -> i128,
        stated: Option<&'h HitRow>,
        report: &mut Report,
    ) -> Option<&'h HitRow> {
        self.sequence = sequence;
        let mut first: Option<(u64, Due)> = None;
        for tier in definition.tiers() {
            let Some((row, true)) = self.newest.get(&tier.tier) else {
                continue;
            };
            let Some((_, Some(seed))) = self.stated.get(&(row.tier.clone(), row.cycle)) else {
                self.unchecked += 1;
                if stated.is_some_and(|hit| hit.tier == row.tier) {
                    return stated; // a hit that no seed explains yet
                }
                continue;
            };
            let pool = pool(&row.tier);
            let reached = |trigger: u64| pool + i128::from(row.reversed) >= i128::from(trigger);
            let by_amount = row.trigger_amount(seed).filter(|trigger| reached(*trigger));
            let passed = |at: &i64| self.at.1 >= at.saturating_mul(1_000);
            let by_time = row.trigger_at(seed).filter(passed);
            let by_time = by_time.map(|at| (HitBy::Time, at.unsigned_abs()));
            let found = by_amount.map(|amount| (HitBy::Amount, amount)).or(by_time);
            let since = row.pins.0.map_or(0, |pins| pins.sequence);
            let is_first = first.as_ref().is_none_or(|(other, _)| since < *other);
            if let Some((by, trigger)) = found.filter(|_| is_first && pool >= i128::from(row.min.max(1))) {
                first = Some((since, (row.tier.clone(), row.cycle, by, trigger)));
            }
        }
        let due = first.map(|(_, due)| due);
        let says = stated.map(|hit| (hit.tier.clone(), hit.cycle, hit.by, hit.trigger));
        if due != says {
            let text = |hit: &Option<Due>| {
                hit.as_ref().map_or_else(
                    || "nothing".to_owned(),
                    |(tier, cycle, _, trigger)| format!("cycle {cycle} of tier '{tier}', trigger {trigger}"),
                )
            };
            let what = format!("entry '{entry_id}' hits {}; the event says {}", text(&due), text(&says));
            report.wrong(Place::Event(self.at.0), what);
        }
        report.counts.hits += u64::from(due.is_some());
        stated
    }

    /// A take of all of a tier: its cycle ends and the next begins. If the take put a definition in force, cycles of
    /// other tiers begin in between; earlier versions stated them before, and ended some.
    pub(super) fn took(&mut self, tier: &Id, by: EndedBy, pool: impl Fn(&Id) -> i128, report: &mut Report) {
        let own_end = |change: Option<&CycleChange>| matches!(change, Some(CycleChange::Ended { tier: ended, by: said, .. }) if ended == tier && *said == by);
        let mut is_left = self.is_open(tier);
        if is_left && own_end(self.left.front()) {
            self.next(&pool, report);
            is_left = false;
        }
        let has_rule = self.rules.iter().any(|rule| rule.tier == *tier);
        loop {
            let is_other = match self.left.front() {
                Some(CycleChange::Began(row)) => row.tier != *tier,
                Some(CycleChange::Ended { tier: other, by, .. }) => other != tier && *by == EndedBy::Restart,
                None => false,
            };
            if !is_other {
                break;
            }
            self.next(&pool, report);
        }
        let n = self.at.0;
        if is_left && own_end(self.left.front()) {
            self.next(&pool, report);
        } else if is_left {
            report.wrong(
                Place::Event(n),
                format!("its take of all of '{tier}' ends no cycle of it"),
            );
        }
        if has_rule {
            match self.left.front() {
                Some(CycleChange::Began(row)) if row.tier == *tier => self.next(&pool, report),
                _ if self.status == Some(Status::Closed) => {} // what was pending when the jackpot closed
                _ => report.wrong(
                    Place::Event(n),
                    format!("no cycle begins after its take of all of '{tier}'"),
                ),
            }
        }
    }

    /// The most that a pool may hold of money that is no contribution while its cycle by amount is open: with what was
    /// reversed out of it, `low`.
    pub(super) fn guarded_to(&self, tier: &Id) -> Option<u64> {
        let (row, _) = self.newest.get(tier).filter(|(_, open)| *open)?;
        // Earlier versions did not count what was reversed.
        let reversed = row.pins.0.map_or(0, |_| row.reversed);
        Some(row.low.0?.saturating_sub(reversed))
    }

    /// A transfer gave all money of a tier: its open cycle ends, and the next begins unless the jackpot is closed.
    pub(super) fn gave(&self, tier: &Id, report: &mut Report) {
        if !self.is_open(tier) {
            return;
        }
        let ends = |change: &CycleChange| matches!(change, CycleChange::Ended { tier: ended, .. } if ended == tier);
        let begins = |change: &CycleChange| matches!(change, CycleChange::Began(row) if row.tier == *tier);
        let has_pins = self.newest.get(tier).is_some_and(|(row, _)| row.pins.0.is_some());
        let goes_on = has_pins || self.rules.iter().any(|rule| rule.tier == *tier);
        let what = if !self.left.iter().any(ends) {
            "goes on"
        } else if self.left.iter().any(begins) != (goes_on && self.status != Some(Status::Closed)) {
            "is followed wrongly"
        } else {
            return;
        };
        let what = format!("it gives all of '{tier}', and the open cycle {what}");
        report.wrong(Place::Event(self.at.0), what);
    }

    /// Ends an event. What no take explains must be a restart.
    pub(super) fn end(&mut self, event: &Event, pool: impl Fn(&Id) -> i128, report: &mut Report) {
        let place = || Place::Event(event.n);
        if matches!(event.kind, Kind::Enter(_) | Kind::Claim { .. }) && !self.left.is_empty() {
            report.wrong(place(), "a cycle ends or begins that no take explains");
        }
        let closes = matches!(&event.kind, Kind::Status { change, .. } if change.after == Status::Closed);
        let by_event = if closes { EndedBy::Close } else { EndedBy::Restart };
        while let Some(change) = self.left.front() {
            if let CycleChange::Ended { by, .. } = change
                && *by != by_event
            {
                report.wrong(place(), "a cycle ends by a take that there is not");
            }
            self.next(&pool, report);
        }
        let resumes = self.resumes(event);
        match &event.kind {
            Kind::Define(define) => self.status = define.created.as_ref().map(|created| created.status).or(self.status),
            Kind::Status { change, .. } => self.status = Some(change.after),
            Kind::Restore { rebuilt, .. } => self.status = Some(rebuilt.status),
            _ => {}
        }
        if self.status != Some(Status::Closed) {
            let has_pins = |tier: &&Id| self.newest.get(*tier).is_some_and(|(row, _)| row.pins.0.is_some());
            for tier in self.restarted.iter().filter(has_pins) {
                report.wrong(place(), format!("it ends the cycle of tier '{tier}', and none follows"));
            }
        }
        if event.ended_epoch().is_some() && self.newest.values().any(|(_, open)| *open) {
            report.wrong(place(), "it closes the jackpot, and a cycle goes on");
        }
        let is_emergency = matches!(event.kind, Kind::Emergency(_));
        for (row, open) in self.newest.values() {
            // Earlier versions beside this one ended none after an emergency stop.
            let must_restart = resumes && row.deadline.0.is_some() && (row.pins.0.is_some() || !is_emergency);
            if *open && must_restart && !self.begun.contains(&(row.tier.clone(), row.cycle)) {
                report.wrong(
                    place(),
                    format!(
                        "the cycle of tier '{}' goes on, so its time can be waited out",
                        row.tier
                    ),
                );
            }
        }
    }

    /// What a reversal took out of a pool counts for the trigger by amount.
    pub(super) fn reversed(&mut self, tier: &Id, amount: i128) {
        if let Some((row, true)) = self.newest.get_mut(tier) {
            row.reversed = row.reversed.saturating_add(u64::try_from(amount).unwrap_or_default());
        }
    }

    /// After a skipped event: goes on from the rows that it carries. `changes`: what it says of cycles; a cycle whose begin
    /// could not be read is not among them.
    pub(super) fn carry(&mut self, rows: Vec<CycleRow>, changes: &[CycleChange], status: Option<Status>) {
        self.status = status;
        self.left.clear();
        for change in changes {
            if let CycleChange::Began(row) = change {
                self.began(row);
            }
        }
        self.newest = rows
            .into_iter()
            .map(|row| (row.tier.clone(), (row.clone(), row.is_open())))
            .collect();
    }

    /// Compares the stated cycles with those that the events began, and reports what could not be checked.
    pub(super) fn finish(&self, report: &mut Report) {
        for (tier, cycle) in &self.began {
            if !self.stated.contains_key(&(tier.clone(), *cycle)) {
                let place = Place::Cycle(tier.to_string(), *cycle);
                report.wrong(place, "an event begins it, and the export does not state it");
            }
        }
        for ((tier, cycle), (line, _)) in &self.stated {
            let is_open = |(row, open): &(CycleRow, bool)| *open && row.cycle == *cycle;
            let has_ended = !self.newest.get(tier).is_some_and(is_open);
            if line.seed.is_none() && has_ended && self.began.contains(&(tier.clone(), *cycle)) {
                report.lacking.push(Place::Cycle(tier.to_string(), *cycle));
            }
        }
        for (tier, cycle) in self.stated.keys().filter(|key| !self.began.contains(*key)) {
            report.wrong(Place::Cycle(tier.to_string(), *cycle), "no event begins it");
        }
        if self.unchecked > 0 {
            report.unchecked(format!(
                "whether {} entries had to hit: they came in cycles whose seeds are not published",
                self.unchecked
            ));
        }
    }

    fn began(&mut self, row: &CycleRow) {
        self.nonces.entry(row.nonce.clone()).or_insert(self.at.0);
        self.began.insert((row.tier.clone(), row.cycle));
    }

    fn is_open(&self, tier: &Id) -> bool {
        self.newest.get(tier).is_some_and(|(_, open)| *open)
    }

    fn next(&mut self, pool: &impl Fn(&Id) -> i128, report: &mut Report) {
        let place = Place::Event(self.at.0);
        match self.left.pop_front() {
            Some(CycleChange::Ended { tier, cycle, by }) => {
                let open = self
                    .newest
                    .get_mut(&tier)
                    .filter(|(row, open)| *open && row.cycle == cycle);
                match open {
                    Some((row, open)) => {
                        *open = false;
                        if by == EndedBy::Restart && !self.begun.contains(&(tier.clone(), cycle)) {
                            self.restarted.insert(tier.clone());
                        }
                        if by == EndedBy::Restart && row.pins.0.is_some() && self.allows == Allows::Take {
                            let what = "ends without a take, and nothing in it ends one";
                            report.wrong(place, format!("cycle {cycle} of tier '{tier}' {what}"));
                        }
                    }
                    None => report.wrong(
                        place,
                        format!("it ends cycle {cycle} of tier '{tier}', which is not open"),
                    ),
                }
            }
            Some(CycleChange::Began(row)) => {
                let is_restart = self.restarted.remove(&row.tier);
                if let Some(what) = self.wrong_begin(&row, pool(&row.tier), is_restart) {
                    report.wrong(
                        place,
                        format!("cycle {} of tier '{}' begins wrongly: {what}", row.cycle, row.tier),
                    );
                }
                self.began(&row);
                self.begun.insert((row.tier.clone(), row.cycle));
                self.has_pins |= row.pins.0.is_some();
                self.newest.insert(row.tier.clone(), (row, true));
            }
            None => {}
        }
    }

    /// What is wrong with a cycle that begins with this pool. `is_restart`: the one before ended without a take.
    fn wrong_begin(&self, row: &CycleRow, pool: i128, is_restart: bool) -> Option<&'static str> {
        let last = self.newest.get(&row.tier).map(|(last, _)| last);
        let follows = match last {
            Some(last) if self.is_restore() || (self.may_renew() && last.secret != row.secret) => {
                may_open_after_restore(row.cycle, last.cycle, self.at.1)
            }
            Some(last) => last.cycle.checked_add(1) == Some(row.cycle),
            None => row.cycle == 0,
        };
        let same_nonce = last.is_some_and(|last| last.nonce == row.nonce);
        let may_change = last.is_none_or(|last| self.may_renew() || last.secret != row.secret);
        let stated = self.stated.get(&(row.tier.clone(), row.cycle));
        let is_stated = stated.is_none_or(|(line, _)| {
            (&line.nonce, &line.secret_id, Some(&line.commitment))
                == (&row.nonce, &row.secret, row.commitment.0.as_ref())
        });
        let checks = [
            (!self.is_open(&row.tier), "another one is open"),
            (follows, "its number does not follow"),
            (same_nonce || may_change, "its nonce is another one"),
            (
                !same_nonce || !self.is_restore(),
                "a restore begins it under a nonce that may be public",
            ),
            (
                same_nonce || !self.may_renew() || self.nonces.get(&row.nonce).is_none_or(|n| *n == self.at.0),
                "its nonce was there before",
            ),
            (
                row.began == self.at.1 && row.reversed == 0,
                "its time is not that of the event",
            ),
            (is_stated, "the export states another commitment, nonce or secret id"),
        ];
        let wrong = checks.into_iter().find_map(|(right, what)| (!right).then_some(what));
        wrong.or_else(|| self.wrong_rule(row, pool, last.filter(|_| is_restart)))
    }

    /// What is wrong with the rule of a cycle that begins with this pool. `was`: the one that ended without a take.
    fn wrong_rule(&self, row: &CycleRow, pool: i128, was: Option<&CycleRow>) -> Option<&'static str> {
        let rule = self.rules.iter().find(|rule| rule.tier == row.tier);
        // A rule that was taken away counts until a take.
        let kept = was.filter(|_| rule.is_none() && row.pins.0.is_some());
        let of_definition = Pins {
            cap: OrDash(self.caps.get(&row.tier).copied().flatten()),
            version: self.version,
            sequence: self.sequence,
        };
        let pins = kept.and_then(|was| was.pins.0).map_or(of_definition, |pins| Pins {
            sequence: self.sequence,
            ..pins
        });
        let (low, high) = (
            rule.map_or_else(|| kept.and_then(|was| was.low.0), |rule| rule.low.0),
            rule.map_or_else(|| kept.and_then(|was| was.high.0), |rule| rule.high.0),
        );
        let min = rule.map_or_else(|| kept.map_or(1, |was| was.min), |rule| rule.min.max(1));
        let pinned = low.zip(high);
        let pinned = pinned.map(|(low, high)| i128::from(low).max(pool.min(i128::from(high) - 1)));
        let checks = [
            (
                row.low.0.map(i128::from) == pinned,
                "its low is not that of its rule and the pool",
            ),
            (row.high.0 == high, "its high is not that of its rule"),
            (
                is_right_window(row, rule, was),
                "its window of time is not that of its rule",
            ),
            (
                rule.is_some() || kept.is_some() || self.is_restore(),
                "its tier has no rule",
            ),
            (row.min == min, "its min is not that of its rule"),
            (
                row.pins.0.map_or(!self.has_pins, |own| own == pins),
                "its cap, version or sequence is not that of its begin",
            ),
        ];
        checks.into_iter().find_map(|(right, what)| (!right).then_some(what))
    }
}

/// Whether the window of time of a cycle is that of its rule, or follows from the one that ended without a take.
fn is_right_window(row: &CycleRow, rule: Option<&RuleRow>, was: Option<&CycleRow>) -> bool {
    let begin = row.began.div_euclid(1_000);
    let has_time = rule.is_none_or(|rule| rule.within.0.is_some() || rule.day.0.is_some());
    let was = was.filter(|_| has_time && row.pins.0.is_some());
    if let Some((from, deadline)) = was.and_then(|was| Some((was.floor()?, was.deadline.0?))) {
        let deadline = deadline.max(begin + LEAST_OF_DAY_S);
        let from = from.max(begin).min(deadline - LEAST_OF_DAY_S);
        return (row.floor(), row.deadline.0) == (Some(from), Some(deadline));
    }
    let length = row.deadline.0.map(|deadline| deadline.saturating_sub(begin));
    let is_right = match (length, rule.is_some_and(|rule| rule.day.0.is_some())) {
        (Some(length), true) => (LEAST_OF_DAY_S..=MOST_OF_DAY_S).contains(&length),
        (length, _) => length.and_then(|length| u64::try_from(length).ok()) == rule.and_then(|rule| rule.within.0),
    };
    is_right && row.after.0 == rule.and_then(|rule| rule.after.0)
}

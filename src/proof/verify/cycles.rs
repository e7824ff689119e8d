//! Recomputes must-hit triggers from the published seeds of cycles: which entry reaches a trigger, which cycles end and
//! begin, and under which rule.

use std::collections::{BTreeMap, BTreeSet};

use jackpot_core::ids::Id;
use jackpot_core::jackpot::cycle::{
    CycleChange, CycleRow, CycleSeed, Cycles as Rules, EndedBy, HitRow, RuleRow, rules_text,
};
use jackpot_core::jackpot::definition::Definition;
use jackpot_core::jackpot::record::HitBy;

use super::once::may_open_after_restore;
use super::report::{Place, Report};
use crate::jackpot::ledger::event::{Event, Kind};
use crate::jackpot::view::Status;
use crate::proof::format::CycleLine;

/// A deadline of the day is at least so many seconds after the begin.
const LEAST_OF_DAY_S: i64 = 60;
/// And at most so many: a zone may skip a day, and clocks change. Its time is not recomputed, because the law of a zone
/// may have changed since.
const MOST_OF_DAY_S: i64 = 3 * 86_400;

/// Number and tier of a cycle.
type Key = (Id, u64);

/// The cycles until now.
#[derive(Default)]
pub(super) struct Cycles {
    stated: BTreeMap<Key, (CycleLine, Option<CycleSeed>)>,
    /// The newest cycle of each tier, with what was reversed in it, and whether it is open.
    newest: BTreeMap<Id, (CycleRow, bool)>,
    began: BTreeSet<Key>,
    /// The event in which each nonce came first: all tiers of an event share a fresh one.
    nonces: BTreeMap<String, u64>,
    rules: Vec<RuleRow>,
    /// Changes of the event that is replayed which no take has explained yet.
    left: std::collections::VecDeque<CycleChange>,
    at: (u64, i64),
    is_restore: bool,
    may_renew: bool,
    is_closed: bool,
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
    pub(super) fn begin(&mut self, event: &Event) {
        self.left = event.cycles.iter().cloned().collect();
        self.at = (event.n, event.at_ms);
        self.is_restore = matches!(event.kind, Kind::Restore { .. });
        self.may_renew = self.is_restore || matches!(event.kind, Kind::Rotate { .. });
    }

    /// The rules of the definition in force.
    pub(super) fn rule(&mut self, definition: &Definition) {
        self.rules = Rules::of(&rules_text(definition), "").rules;
    }

    /// The least pool for a hit in the open cycle of a tier.
    pub(super) fn min(&self, tier: &Id) -> u64 {
        self.newest.get(tier).map_or(1, |(row, _)| row.min.max(1))
    }

    /// The entry taken last must hit exactly if this says so. `stated`: the hit that the event states for it.
    pub(super) fn entered<'h>(
        &mut self,
        entry_id: &str,
        definition: &Definition,
        pool: impl Fn(&Id) -> i128,
        stated: Option<&'h HitRow>,
        report: &mut Report,
    ) -> Option<&'h HitRow> {
        let mut due = None;
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
            if let Some((by, trigger)) = found.filter(|_| pool >= i128::from(row.min.max(1))) {
                due = Some((row.tier.clone(), row.cycle, by, trigger));
                break;
            }
        }
        let says = stated.map(|hit| (hit.tier.clone(), hit.cycle, hit.by, hit.trigger));
        if due != says {
            let text = |hit: &Option<(Id, u64, HitBy, u64)>| {
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
    /// other tiers end or begin before that.
    pub(super) fn took(&mut self, tier: &Id, by: EndedBy, pool: impl Fn(&Id) -> i128, report: &mut Report) {
        let was_open = self.is_open(tier);
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
        if was_open {
            match self.left.front() {
                Some(CycleChange::Ended {
                    tier: ended, by: said, ..
                }) if ended == tier && *said == by => {
                    self.next(&pool, report);
                }
                _ => report.wrong(
                    Place::Event(n),
                    format!("its take of all of '{tier}' ends no cycle of it"),
                ),
            }
        }
        if has_rule {
            match self.left.front() {
                Some(CycleChange::Began(row)) if row.tier == *tier => self.next(&pool, report),
                _ if self.is_closed => {} // what was pending when the jackpot closed
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
        Some(row.low.0?.saturating_sub(row.reversed))
    }

    /// A transfer gave all money of a tier: its open cycle ends, and the next begins unless the jackpot is closed.
    pub(super) fn gave(&self, tier: &Id, report: &mut Report) {
        if !self.is_open(tier) {
            return;
        }
        let ends = |change: &CycleChange| matches!(change, CycleChange::Ended { tier: ended, .. } if ended == tier);
        let begins = |change: &CycleChange| matches!(change, CycleChange::Began(row) if row.tier == *tier);
        let has_rule = self.rules.iter().any(|rule| rule.tier == *tier);
        let what = if !self.left.iter().any(ends) {
            "goes on"
        } else if self.left.iter().any(begins) != (has_rule && !self.is_closed) {
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
        if let Kind::Status { change, .. } = &event.kind {
            self.is_closed = change.after == Status::Closed;
        }
        if event.ended_epoch().is_some() && self.newest.values().any(|(_, open)| *open) {
            report.wrong(place(), "it closes the jackpot, and a cycle goes on");
        }
        let resumes = match &event.kind {
            Kind::Status { change, .. } => change.after == Status::Open && change.before != change.after,
            Kind::Restore { .. } => true,
            _ => false,
        };
        for (row, _) in self
            .newest
            .values()
            .filter(|(row, open)| *open && row.deadline.0.is_some())
        {
            if resumes && row.began != event.at_ms {
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
    pub(super) fn carry(&mut self, rows: Vec<CycleRow>, changes: &[CycleChange], is_closed: bool) {
        self.is_closed = is_closed;
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
            Some(CycleChange::Ended { tier, cycle, .. }) => {
                let open = self
                    .newest
                    .get_mut(&tier)
                    .filter(|(row, open)| *open && row.cycle == cycle);
                match open {
                    Some((_, open)) => *open = false,
                    None => report.wrong(
                        place,
                        format!("it ends cycle {cycle} of tier '{tier}', which is not open"),
                    ),
                }
            }
            Some(CycleChange::Began(row)) => {
                if let Some(what) = self.wrong_begin(&row, pool(&row.tier)) {
                    report.wrong(
                        place,
                        format!("cycle {} of tier '{}' begins wrongly: {what}", row.cycle, row.tier),
                    );
                }
                self.began(&row);
                self.newest.insert(row.tier.clone(), (row, true));
            }
            None => {}
        }
    }

    /// What is wrong with a cycle that begins with this pool.
    fn wrong_begin(&self, row: &CycleRow, pool: i128) -> Option<&'static str> {
        let last = self.newest.get(&row.tier);
        let follows = match last {
            Some((last, _)) if self.is_restore || (self.may_renew && last.secret != row.secret) => {
                may_open_after_restore(row.cycle, last.cycle, self.at.1)
            }
            Some((last, _)) => last.cycle.checked_add(1) == Some(row.cycle),
            None => row.cycle == 0,
        };
        let same_nonce = last.is_some_and(|(last, _)| last.nonce == row.nonce);
        let may_change = last.is_none_or(|(last, _)| self.may_renew || last.secret != row.secret);
        let rule = self.rules.iter().find(|rule| rule.tier == row.tier);
        let pinned = rule.and_then(|rule| Some((rule.low.0?, rule.high.0?)));
        let low = pinned.map(|(low, high)| i128::from(low).max(pool.min(i128::from(high) - 1)));
        let begin = row.began.div_euclid(1_000);
        let length = row.deadline.0.map(|deadline| deadline.saturating_sub(begin));
        let has_day = rule.is_some_and(|rule| rule.day.0.is_some());
        let right_length = match (length, has_day) {
            (Some(length), true) => (LEAST_OF_DAY_S..=MOST_OF_DAY_S).contains(&length),
            (length, _) => length.and_then(|length| u64::try_from(length).ok()) == rule.and_then(|rule| rule.within.0),
        };
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
                !same_nonce || !self.is_restore,
                "a restore begins it under a nonce that may be public",
            ),
            (
                same_nonce || !self.may_renew || self.nonces.get(&row.nonce).is_none_or(|n| *n == self.at.0),
                "its nonce was there before",
            ),
            (
                row.began == self.at.1 && row.reversed == 0,
                "its time is not that of the event",
            ),
            (
                row.low.0.map(i128::from) == low,
                "its low is not that of its rule and the pool",
            ),
            (
                row.high == rule.map_or(row.high, |rule| rule.high),
                "its high is not that of its rule",
            ),
            (
                row.after == rule.map_or(row.after, |rule| rule.after),
                "its time is not that of its rule",
            ),
            (right_length, "its deadline is not that of its rule"),
            (rule.is_some() || self.is_restore, "its tier has no rule"),
            (
                rule.is_none_or(|rule| row.min == rule.min.max(1)),
                "its min is not that of its rule",
            ),
            (is_stated, "the export states another commitment, nonce or secret id"),
        ];
        checks.into_iter().find_map(|(right, what)| (!right).then_some(what))
    }
}

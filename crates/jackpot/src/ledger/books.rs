//! The books of a jackpot: its state as derived from its events alone, without the records of single entries. Pure.
//!
//! The projector stores them with its cursor. It checks each event against them before the commit, and compares them
//! with Redis at a checkpoint. A lost Redis is rebuilt from them.

use std::collections::BTreeMap;

use jackpot_core::currency::Currency;
use jackpot_core::ids::{Id, PersonId};
use jackpot_core::jackpot::cycle::{CycleChange, CycleRow, Cycles, rules_text};
use jackpot_core::jackpot::definition::Definition;
use jackpot_core::jackpot::document::Document;
use jackpot_core::jackpot::epoch::Opening;
use jackpot_core::jackpot::leaving::{Took, took_after};
use jackpot_core::jackpot::settlement::{self, Hold};
use jackpot_core::wire::{Field, OrDash};
use serde::{Deserialize, Serialize};

use super::event::{Define, Event, Kind};
use jackpot_api::jackpot::Status;
use jackpot_kernel::ledger::events::{FoldError, expect, follows, go_on_in_history};

mod enter;

/// Meters that may be below zero.
const SIGNED: [&str; 3] = ["funded", "skipped", "skipped_micro"];

/// The state of a jackpot at an event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Books {
    /// Number of the last event.
    pub n: u64,
    /// How often Redis was rebuilt from the ledger.
    pub restores: u64,
    /// When the last event happened, ms of Redis' clock.
    pub at_ms: i64,
    /// `None` before it was created.
    pub status: Option<Status>,
    /// Version of the definition in force.
    pub version: u64,
    /// The terms of the definition in force.
    pub terms: Terms,
    /// Version of the definition that waits.
    pub waiting: Option<u64>,
    /// The terms of the waiting definition.
    pub next_terms: Terms,
    /// Number of definitions that Redis keeps.
    pub definitions: u64,
    /// Highest version assigned.
    pub last_version: u64,
    /// ISO 4217 code of all amounts.
    #[serde(with = "jackpot_core::currency::or_empty")]
    pub currency: Option<Currency>,
    /// Number of entries so far.
    pub sequence: u64,
    /// Number of paid claims so far.
    pub claim_order: u64,
    /// The open epoch, from 1.
    pub epoch: u64,
    /// What opened the epoch.
    pub opening: Opening,
    /// Made at creation or at the last restore.
    pub history: String,
    /// Meters by tier.
    pub meters: BTreeMap<Id, Meters>,
    /// The newer generation of idempotency records.
    pub generation: Generation,
    /// Records in the newer generation.
    pub records: Kept,
    /// Event that opened the older generation: no record is older.
    pub older_n: u64,
    /// Records in the older generation.
    pub older_records: Kept,
    /// Shortest time that ids are remembered, in seconds.
    pub retention_s: u64,
    /// Number of records of adjustments and transfers.
    pub adjustments: u64,
    /// Entries without an outcome, by sequence.
    pub pending: BTreeMap<u64, Pending>,
    /// The last PUTs, as Redis keeps them.
    pub puts: String,
    /// The newest cycle of each tier that has had a must-hit rule, as the field `cycles` of the state has it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub cycles: BTreeMap<Id, String>,
    /// Under what payouts are tracked, as the field `hold` of the state has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<String>,
    /// What owners took out alone, as the field `took` of the state has it; empty for none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub took: String,
}

/// The parts of a definition that decide where money goes, as `lua/jackpot/state.lua` keeps them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    /// `name seed cap;` for each tier.
    pub tiers: String,
    /// Digest of what affects money or odds.
    pub money: String,
    /// Must-hit rules of its tiers, as the field `cycles` of the state has them; empty for none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rules: String,
}

/// How many records a generation has in Redis.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// Records of entries and of batches.
    pub entries: u64,
    /// Records of calls: each holds what the entries of a run share. A restore writes none, because it writes each
    /// entry's record whole.
    pub calls: u64,
}

impl Kept {
    /// Number of fields in the hash.
    pub fn all(self) -> u64 {
        self.entries + self.calls
    }
}

/// Declares the meters of a tier. Of `packed { pool, paid } moved { /// Taken back. reversed } ledger { /// Skipped. skipped }`
/// follow:
///
/// ```text
/// pub struct Meters { pub pool: i64, pub paid: i64, /* not in JSON while they are 0: */ pub reversed: i64, pub skipped: i64 }
/// Meters::NAMES == ["pool", "paid"]       meters.all()     == [("pool", 5), ("paid", 2)]
/// Meters::MOVED == ["reversed"]           meters.outside() == [("reversed", 1)]
/// Meters::name("paid") == Some("paid")    meters.named("skipped") == Some(&mut 0)
/// ```
macro_rules! meters {
    (
        packed { $($packed:ident),+ $(,)? }
        moved { $($(#[doc = $moved_doc:literal])* $moved:ident),+ $(,)? }
        ledger { $($(#[doc = $own_doc:literal])+ $own:ident),+ $(,)? }
    ) => {
        /// The meters of a tier, as `lua/jackpot/tiers.lua` names them: minor units, or millionths of one (`*_micro`).
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub struct Meters {
            $(pub $packed: i64,)+
            $($(#[doc = $moved_doc])* #[serde(default, skip_serializing_if = "is_zero")] pub $moved: i64,)+
            $($(#[doc = $own_doc])+ #[serde(default, skip_serializing_if = "is_zero")] pub $own: i64,)+
        }

        impl Meters {
            /// The meters that Redis has packed, in the order in which scripts write them: the pool first, then as in
            /// `lua/jackpot/tiers.lua`.
            pub const NAMES: [&str; [$(stringify!($packed)),+].len()] = [$(stringify!($packed)),+];

            /// The meters outside the packed ones, as a checkpoint has them.
            pub const MOVED: [&str; [$(stringify!($moved)),+].len()] = [$(stringify!($moved)),+];

            /// Names and values, in the order of [`MOVED`](Self::MOVED).
            pub fn outside(&self) -> [(&'static str, i64); Self::MOVED.len()] {
                [$((stringify!($moved), self.$moved)),+]
            }

            /// Those that are not 0.
            pub fn moved(&self) -> impl Iterator<Item = (&'static str, i64)> {
                self.outside().into_iter().filter(|(_, value)| *value != 0)
            }

            /// Names and values, in the order of [`NAMES`](Self::NAMES).
            pub fn all(&self) -> [(&'static str, i64); Self::NAMES.len()] {
                [$((stringify!($packed), self.$packed)),+]
            }

            /// The meter's name, if Redis has such a meter.
            pub fn name(name: &str) -> Option<&'static str> {
                let mut names = Self::NAMES.into_iter().chain(Self::MOVED);
                names.find(|known| *known == name)
            }

            pub(crate) fn named(&mut self, name: &str) -> Option<&mut i64> {
                Some(match name {
                    $(stringify!($packed) => &mut self.$packed,)+
                    $(stringify!($moved) => &mut self.$moved,)+
                    $(stringify!($own) => &mut self.$own,)+
                    _ => return None,
                })
            }
        }
    };
}

meters! {
    packed {
        pool,
        reserve,
        overflow,
        pool_micro,
        reserve_micro,
        contributed,
        contributed_micro,
        funded,
        paid,
        wins,
    }
    moved {
        /// Beside `funded`.
        funded_micro,
        /// Taken back with entries.
        reversed,
        reversed_micro,
        /// Came from other jackpots. `funded` counts it too, as Redis has it.
        transferred_in,
        transferred_in_micro,
        /// Went to other jackpots.
        transferred_out,
        transferred_out_micro,
        /// Room for transfers that are to come. `funded` counts it too.
        expected,
        /// Payouts that were taken back. `funded` counts it too.
        voided,
    }
    ledger {
        /// What skipped events brought in without stating the source (negative: took away). Redis has no such meter.
        skipped,
        /// Beside `skipped`.
        skipped_micro,
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_zero(value: &i64) -> bool {
    *value == 0
}

impl Meters {
    /// What operators put in, less what they took out, minor units and millionths: `funded` without what transfers
    /// brought or will bring, and without voids.
    pub fn by_operators(&self) -> (i64, i64) {
        let units = self.funded - self.transferred_in - self.expected - self.voided;
        let micro = self.funded_micro - self.transferred_in_micro;
        (units - i64::from(micro < 0), micro.rem_euclid(1_000_000))
    }

    /// What came in, less what is there and what went out, in millionths. Unless it is 0, money was made or lost.
    pub fn difference_micro(&self) -> i128 {
        let units = |value: i64| i128::from(value) * 1_000_000;
        let came = units(self.contributed) + i128::from(self.contributed_micro) + units(self.funded);
        let came = came + i128::from(self.funded_micro) + units(self.skipped) + i128::from(self.skipped_micro);
        let there = units(self.pool) + units(self.reserve) + units(self.overflow) + units(self.paid);
        let there = there + units(self.reversed) + i128::from(self.reversed_micro);
        let there = there + units(self.transferred_out) + i128::from(self.transferred_out_micro) + units(self.expected);
        came - there - i128::from(self.pool_micro) - i128::from(self.reserve_micro)
    }
}

/// When and where a generation of records began.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Generation {
    /// Which of the two keys holds it: `a` or `b`.
    pub letter: String,
    /// Sequence of the last entry before it.
    pub start: u64,
    /// When it opened, ms of Redis' clock.
    pub opened_ms: i64,
    /// Definition in force at that time; older ones are dropped with the previous generation.
    pub version: u64,
    /// Event that opened it.
    pub n: u64,
}

/// An entry without an outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pending {
    pub entry_id: String,
    pub player_id: PersonId,
    /// Epoch of its draw: the seed stays secret until the entry has an outcome.
    pub epoch: u64,
    /// When it was taken, ms of Redis' clock.
    pub entered_ms: i64,
    /// Its source, if it named one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_id: Option<Id>,
}

impl Terms {
    /// Those of a definition that was put. One that this version cannot read has no rule that it knows.
    pub fn of(define: &Define) -> Self {
        let document: Option<Document> = serde_json::from_str(&define.json).ok();
        let definition = document.and_then(|document| Definition::stored(document).ok());
        Self {
            tiers: define.tiers.clone().unwrap_or_default(),
            money: define.money.clone().unwrap_or_default(),
            rules: definition.as_ref().map(rules_text).unwrap_or_default(),
        }
    }
}

impl Books {
    /// Applies the next event. After an error the books must not be used.
    pub fn apply(&mut self, event: &Event) -> Result<(), FoldError> {
        follows(self.n, event.n)?;
        if let Kind::Skipped(skipped) = &event.kind {
            return self.carry_on(event, &skipped.carried.books);
        }
        (self.n, self.at_ms) = (event.n, event.at_ms);
        expect(
            self.n,
            self.status.is_some() || matches!(&event.kind, Kind::Define(define) if define.is_new()),
            "the first event does not create the jackpot",
        )?;
        let begins = self.status.is_none() || matches!(event.kind, Kind::Restore { .. });
        go_on_in_history(self.n, &mut self.history, &event.history, begins)?;
        self.change_meters(event)?;
        self.change_cycles(&event.cycles)?;
        self.adjustments += event.kind.records().len() as u64;
        match &event.kind {
            Kind::Define(define) => self.define(event, define)?,
            Kind::Enter(enter) => self.enter(event, enter)?,
            Kind::Claim { entry_id, claim } => {
                self.pending_is(claim.sequence, entry_id)?;
                self.claim(claim)?;
            }
            Kind::Finish { entry_id, sequence } => {
                self.pending_is(*sequence, entry_id)?;
                self.pending.remove(sequence);
            }
            Kind::Status { change, .. } => {
                let follows = self.status == Some(change.before);
                expect(self.n, follows, "the status before is another one")?;
                self.status = Some(change.after);
            }
            Kind::Approval(approval) => {
                let approved = self.held_hold().and_then(|hold| hold.approved());
                let follows = approved.is_some_and(|hold| hold == approval.hold);
                expect(self.n, follows, "it approves a limit that does not wait")?;
                self.hold = Some(approval.hold.text());
            }
            Kind::Adjust(adjust) => self.took_out(adjust.took(event.at_ms)),
            Kind::Give(give) => self.took_out(give.took(event.at_ms)),
            Kind::Reverse(reverse) => {
                self.records.entries += reverse.records();
                self.count_reversed(event);
            }
            Kind::Cancel(cancel) => self.records.entries += cancel.added(),
            Kind::Ask(_)
            | Kind::Withdraw(_)
            | Kind::Expect(_)
            | Kind::Receive(_)
            | Kind::Release(_)
            | Kind::Checkpoint(_)
            | Kind::Skipped(_)
            | Kind::Emergency(_)
            | Kind::Payout(_) => {}
            Kind::Retention { before, retention_s } => {
                let raises = *before == self.retention_s && retention_s > before;
                expect(self.n, raises, "the retention is raised from another one")?;
                self.retention_s = *retention_s;
            }
            Kind::Restore {
                rebuilt,
                closed,
                epoch,
                opening,
                ..
            } => {
                let follows = rebuilt.restores > self.restores;
                expect(self.n, follows, "its restores are not more than before")?;
                (self.restores, self.status) = (rebuilt.restores, Some(rebuilt.status));
                let is_open = *closed == self.epoch;
                expect(self.n, is_open, "it closes another epoch than the open one")?;
                self.open(*epoch, opening)?;
                (self.records.calls, self.older_records.calls) = (0, 0);
            }
            Kind::Rotate {
                epoch,
                opening,
                dropped,
                pruned,
                ..
            } => {
                self.rotate(event.at_ms, *epoch, opening, *dropped)?;
                let left = self.definitions.checked_sub(pruned.len() as u64);
                self.definitions = left.ok_or(FoldError::Unexpected {
                    n: self.n,
                    what: "more definitions are dropped than there are",
                })?;
            } // It has said all of them.
        }
        if let Some(version) = event.applied {
            self.version = version;
            self.waiting = None;
            self.terms = std::mem::take(&mut self.next_terms);
        }
        Ok(())
    }

    /// Each cycle of a tier ends before the next begins, and no number comes again.
    fn change_cycles(&mut self, changes: &[CycleChange]) -> Result<(), FoldError> {
        for change in changes {
            let (tier, row, follows, what) = match change {
                CycleChange::Began(row) => {
                    let before = self.cycle(&row.tier);
                    let follows = row.is_open() && before.is_none_or(|old| !old.is_open() && old.cycle < row.cycle);
                    let what = "a cycle begins while another one of its tier is open, or under a number that was given";
                    (&row.tier, Some(row.clone()), follows, what)
                }
                CycleChange::Ended { tier, cycle, .. } => {
                    let open = self.cycle(tier).filter(|row| row.is_open() && row.cycle == *cycle);
                    let is_open = open.is_some();
                    let ended = open.map(|row| CycleRow {
                        commitment: OrDash(None),
                        ..row
                    });
                    (tier, ended, is_open, "a cycle ends that is not open")
                }
            };
            expect(self.n, follows, what)?;
            if let Some(row) = row {
                self.cycles.insert(tier.clone(), row.text());
            }
        }
        Ok(())
    }

    /// What a reversal took out of a pool does not put off the trigger of the tier's open cycle.
    fn count_reversed(&mut self, event: &Event) {
        for change in event.changes.iter().filter(|change| &*change.meter == "pool") {
            if let Some(mut row) = self.cycle(&change.tier).filter(CycleRow::is_open) {
                row.reversed += u64::try_from(-change.delta).unwrap_or_default();
                self.cycles.insert(change.tier.clone(), row.text());
            }
        }
    }

    fn cycle(&self, tier: &Id) -> Option<CycleRow> {
        CycleRow::read(self.cycles.get(tier)?)
    }

    /// Rules and cycles, as the field `cycles` of the state has them.
    pub fn held_cycles(&self) -> Cycles {
        Cycles {
            rows: self.cycles.values().filter_map(|text| CycleRow::read(text)).collect(),
            ..Cycles::of(&self.terms.rules, &self.next_terms.rules)
        }
    }

    /// Applies a skipped event, which states what is carried on. Only the money is derived here, as for every event.
    fn carry_on(&mut self, event: &Event, after: &Self) -> Result<(), FoldError> {
        self.change_meters(event)?;
        let meters = std::mem::take(&mut self.meters);
        expect(
            event.n,
            meters == after.meters && (after.n, after.at_ms, &after.history) == (event.n, event.at_ms, &event.history),
            "what is carried on from a skipped event does not follow",
        )?;
        self.clone_from(after);
        Ok(())
    }

    /// Changes the meters. For each tier: contributed + funded = pool + reserve + overflow + remainders + paid + reversed +
    /// `transferred_out` + expected, in millionths.
    fn change_meters(&mut self, event: &Event) -> Result<(), FoldError> {
        // The changes of a tier are adjacent.
        for changes in event.changes.chunk_by(|a, b| a.tier == b.tier) {
            let tier = &changes[0].tier;
            if !self.meters.contains_key(tier) {
                self.meters.insert(tier.clone(), Meters::default());
            }
            let meters = self.meters.get_mut(tier).expect("it was just looked for");
            let before = meters.difference_micro();
            for change in changes {
                let meter = meters.named(&change.meter).ok_or(FoldError::Unexpected {
                    n: event.n,
                    what: "a meter that there is not",
                })?;
                *meter = meter.checked_add(change.delta).ok_or(FoldError::Unexpected {
                    n: event.n,
                    what: "a meter beyond all bounds",
                })?;
                if *meter < 0 && !SIGNED.contains(&&*change.meter) {
                    return Err(FoldError::BelowZero {
                        n: event.n,
                        tier: tier.clone(),
                        meter: change.meter.to_string(),
                    });
                }
            }
            let millionths = before - meters.difference_micro();
            if millionths != 0 {
                return Err(FoldError::Unbalanced {
                    n: event.n,
                    tier: tier.clone(),
                    millionths,
                });
            }
        }
        Ok(())
    }

    fn define(&mut self, event: &Event, define: &Define) -> Result<(), FoldError> {
        expect(
            self.n,
            define.version == self.last_version + 1,
            "its version is not the next one",
        )?;
        if let Some(created) = &*define.created {
            expect(self.n, self.status.is_none(), "a jackpot is created twice")?;
            self.status = Some(created.status);
            self.generation = Generation {
                letter: "a".to_owned(),
                start: 0,
                opened_ms: event.at_ms,
                version: define.version,
                n: event.n,
            };
            self.open(1, &created.opening)?;
            self.retention_s = created.retention_s.unwrap_or_default();
        }
        self.definitions += 1;
        self.definitions -= u64::from(define.superseded.is_some());
        self.next_terms = Terms::of(define);
        self.put_hold(define)?;
        self.currency = Some(define.currency);
        self.puts = define.remember(&self.puts);
        self.last_version = define.version;
        self.waiting = Some(define.version);
        Ok(())
    }

    /// Follows the limit that a PUT sets. An event of an earlier version states none.
    fn put_hold(&mut self, define: &Define) -> Result<(), FoldError> {
        let Some(hold) = &*define.hold else {
            return Ok(());
        };
        let document: Option<Document> = serde_json::from_str(&define.json).ok();
        let wanted = document.map(|document| document.settlement_terms());
        let was = self.held_hold();
        let set = |wanted| Hold::put(was.as_ref(), wanted, &hold.owner, define.version);
        let follows = wanted.is_none_or(|wanted| set(wanted).as_ref() == Some(hold));
        expect(self.n, follows, "its limit does not follow from the one before")?;
        self.hold = Some(hold.text());
        Ok(())
    }

    fn took_out(&mut self, took: Option<Took>) {
        if let Some(took) = took {
            self.took = took_after(&self.took, took);
        }
    }

    /// The fields of the state that only some jackpots have (`lua/jackpot/used.lua`), as far as this one uses them.
    pub fn used(&self) -> impl Iterator<Item = (&'static str, String)> {
        let hold = self.hold.clone().map(|hold| ("hold", hold));
        let took = Some(("took", self.took.clone())).filter(|(_, took)| !took.is_empty());
        hold.into_iter().chain(took)
    }

    /// Under what payouts are tracked; `None` where the jackpot does not use it.
    pub fn held_hold(&self) -> Option<Hold> {
        Hold::parse(self.hold.as_ref()?).ok()
    }

    /// The terms of payouts that are claimed after the last event.
    pub fn settlement_terms(&self) -> settlement::Terms {
        self.held_hold().map(|hold| hold.terms()).unwrap_or_default()
    }

    /// Opens an epoch. Its number must be above all previous ones.
    fn open(&mut self, epoch: u64, opening: &Opening) -> Result<(), FoldError> {
        expect(self.n, epoch > self.epoch, "the number of its epoch was given before")?;
        (self.epoch, self.opening) = (epoch, opening.clone());
        Ok(())
    }

    fn rotate(&mut self, at_ms: i64, epoch: u64, opening: &Opening, dropped: bool) -> Result<(), FoldError> {
        expect(self.n, epoch == self.epoch + 1, "its epoch is not the next one")?;
        self.open(epoch, opening)?;
        if dropped {
            let older = |pending: &u64| *pending <= self.generation.start;
            let left = self.pending.keys().any(older);
            expect(self.n, !left, "records of entries without an outcome are dropped")?;
            self.older_n = self.generation.n;
            self.older_records = std::mem::take(&mut self.records);
            self.generation = Generation {
                letter: if self.generation.letter == "a" { "b" } else { "a" }.to_owned(),
                start: self.sequence,
                opened_ms: at_ms,
                version: self.version,
                n: self.n,
            };
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;

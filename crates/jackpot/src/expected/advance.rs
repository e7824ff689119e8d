//! What `enter` would do with entries that drew nothing, in the expected state. Pure.

use std::collections::HashSet;
use std::sync::Arc;

use jackpot_core::jackpot::added::{OfStake, Run, RunTier, Splits};
use jackpot_core::jackpot::document::Tier;
use jackpot_core::jackpot::record::{CallField, CallRecord, Contributed, InRun, Record, State};
use jackpot_core::jackpot::split::Micro;
use jackpot_core::mark::Mark;
use jackpot_core::money::Minor;
use jackpot_core::wire::packed::Packs;
use jackpot_core::wire::{Field, OrDash, Signed};
use rmp::decode::{read_int, read_str_from_slice};

use super::meters::{Meters, Row};
use crate::cycling::Trigger;
use crate::ledger::event::{MeterDelta, TierChanges};
use crate::scripts::packed::TERMS;
use crate::scripts::{Block, EnterEntry, EntryReply, ExpectedCall, MIN_RUN, Told, call_name};
use crate::view::View;
use jackpot_kernel::subject::EventText;

/// A state, as a call left it.
#[derive(Debug, Clone)]
pub struct Expected {
    mark: Mark,
    terms: Arc<Terms>,
    meters: Meters,
    packed_meters: Arc<[u8]>,
    /// Of the open cycles. They end with an event, so they are those of this state.
    triggers: Arc<[Trigger]>,
}

/// What an entry reads of the packed terms.
#[derive(Debug)]
struct Terms {
    /// SHA-1 of the packed text: all that Redis has to compare.
    digest: String,
    /// Version and digest of the definition in force, as a fence has them.
    stamp: String,
    epoch: String,
    commitment: String,
    history: String,
    /// Whether the second generation of records is written.
    is_second: bool,
}

/// From when on a tier hits by its time, ms; none for never.
struct Due {
    from_ms: Option<i64>,
}

/// A call, and the state that it leaves.
#[derive(Debug)]
pub(super) struct Advance {
    pub(super) call: ExpectedCall,
    pub(super) replies: Vec<EntryReply>,
    pub(super) next: Expected,
}

impl Expected {
    /// The state of a jackpot with these packed values; `None` if this version can't read them, or lacks the secret of a
    /// cycle.
    pub fn read(mark: Mark, told: Told, view: &View) -> Option<Self> {
        Some(Self {
            mark,
            triggers: view.cycles.triggers(&view.id, &told.cycles)?.into(),
            terms: Arc::new(Terms::read(&told.terms, told.digest)?),
            meters: Meters::unpack(&told.meters)?,
            packed_meters: told.meters.into(),
        })
    }

    pub(super) fn mark(&self) -> Mark {
        self.mark
    }

    /// Takes entries that were drawn under this view. `None` when one of them drew a prize, when they are no entries of
    /// this state, when a meter would pass its bound, or when one of them may hit a pool by its rule: `enter` decides about
    /// them.
    pub(super) fn advance(&self, view: &View, entries: &[EnterEntry]) -> Option<Advance> {
        let terms = &self.terms;
        let is_under = terms.stamp == view.stamp && terms.commitment == view.commitment;
        let mark = Mark::new(self.mark.restores(), self.mark.n() + 1)?;
        let are_mine = entries.iter().all(|entry| entry.rank == 0) && are_different(entries);
        if !is_under || terms.epoch != view.epoch.text() || !are_mine {
            return None;
        }
        let adding = self.add(view, entries)?;
        let due = self.due(&adding.meters)?;
        let first = self.meters.seq + 1;
        let block = Block::of(entries);
        let is_run = entries.len() >= MIN_RUN;
        let mut call = ExpectedCall::new(terms.is_second);
        call.expects(self.mark.n(), &terms.digest, &self.packed_meters);
        call.event(
            &format!("{}-{}", adding.meters.seq, mark.n()),
            self.event(mark, view, &block.text, &adding, is_run),
        );
        let packed_meters: Arc<[u8]> = adding.meters.pack().into();
        call.leaves(mark.n(), &packed_meters);
        call.due_from(due.from_ms);
        for place in &adding.places {
            let (before, after) = (self.meters.row(*place).pool(), adding.meters.row(*place).pool());
            call.pool(before, after - before);
        }
        let fingerprints = block.fingerprints();
        let record = |i: usize, contributions| Record {
            sequence: first + i as u64,
            epoch: view.epoch,
            version: view.version,
            fingerprint: fingerprints[i].clone(),
            contributions,
            state: State::Lost,
        };
        let replies = adding.contributions.into_iter().enumerate();
        let replies: Vec<_> = replies.map(|(i, added)| EntryReply::Taken(record(i, added))).collect();
        if is_run {
            let name = call_name(entries);
            let mut own = InRun {
                call: CallField::of(&name),
                place: 0,
                fingerprint: String::new(),
            };
            for (entry, fingerprint) in entries.iter().zip(&fingerprints) {
                own.place += 1;
                own.fingerprint.clone_from(fingerprint);
                call.record(&entry.entry_id, &own.text());
            }
            let of_call = CallRecord {
                first,
                epoch: view.epoch,
                version: view.version,
                skip: Vec::new(),
                stakes: adding.stakes,
                amounts: Vec::read(&adding.amounts)?,
                runs: adding.runs,
            };
            call.record(own.call.as_str(), &of_call.text());
        } else {
            for (entry, reply) in entries.iter().zip(&replies) {
                if let EntryReply::Taken(record) = reply {
                    call.record(&entry.entry_id, &record.to_string());
                }
            }
        }
        Some(Advance {
            call,
            replies,
            next: Self {
                mark,
                terms: Arc::clone(terms),
                meters: adding.meters,
                packed_meters,
                triggers: Arc::clone(&self.triggers),
            },
        })
    }

    /// When a tier is due that holds what it does in these meters. None when one is due by its amount. Pools only grow in
    /// such a call, so no entry before its last one hits either.
    fn due(&self, after: &Meters) -> Option<Due> {
        let mut from_ms = None;
        for trigger in self.triggers.iter() {
            let pool = after.row(after.place_of(trigger.tier.as_str())?).pool();
            if pool < trigger.min {
                continue;
            }
            if trigger.amount.is_some_and(|amount| pool + trigger.reversed >= amount) {
                return None;
            }
            let at_ms = trigger.at.map(|at| at.saturating_mul(1_000));
            from_ms = from_ms.into_iter().chain(at_ms).min();
        }
        Some(Due { from_ms })
    }

    /// The cap that counts: an open cycle pins its tier's.
    fn cap(&self, tier: &Tier) -> Option<Minor> {
        let open = self.triggers.iter().find(|trigger| trigger.tier == tier.tier);
        let pins = open.and_then(|trigger| trigger.pins);
        pins.map_or(tier.cap, |pins| pins.cap.0.and_then(|cap| Minor::try_from(cap).ok()))
    }

    /// Adds the contributions of the entries.
    fn add(&self, view: &View, entries: &[EnterEntry]) -> Option<Adding> {
        let mut meters = self.meters.clone();
        meters.seq += entries.len() as u64;
        let tiers = view.definition.tiers();
        let places = tiers.iter().map(|tier| meters.place_of(tier.tier.as_str()));
        let places: Vec<_> = places.collect::<Option<_>>()?;
        let caps: Vec<_> = tiers.iter().map(|tier| self.cap(tier)).collect();
        let of_tier = caps.iter().zip(&places).map(|(cap, place)| {
            let row = meters.row(*place);
            Some(RunTier {
                pool: Minor::try_from(row.pool()).ok()?,
                pool_micro: Micro(row.pool_micro()),
                contributed_micro: Micro(row.contributed_micro()),
                cap: OrDash(*cap),
            })
        });
        let runs = vec![Run {
            index: 1,
            tiers: of_tier.collect::<Option<_>>()?,
        }];
        let mut splits = Splits::new(&view.definition);
        let mut contributions = Vec::with_capacity(entries.len());
        let mut numbers = Vec::with_capacity(entries.len());
        for entry in entries {
            let row = splits.of(entry.sent.stake, entry.sent.source_text());
            numbers.push(row);
            let each = caps.iter().zip(&places).zip(&splits.rows()[row]);
            let added = each.map(|((cap, place), amount)| meters.accrue(*place, amount, cap.map(Minor::get)));
            contributions.push(added.collect::<Option<Vec<_>>>()?);
        }
        let adds_one_row = splits.rows().len() == 1;
        let keys = splits.keys();
        let stakes = numbers
            .iter()
            .filter(|_| !adds_one_row)
            .map(|number| keys[*number].clone());
        Some(Adding {
            stakes: stakes.collect(),
            amounts: splits.into_text(),
            meters,
            places,
            runs,
            contributions,
        })
    }

    /// The event, in the order of its declaration, as `append_enter` writes it.
    fn event(&self, mark: Mark, view: &View, block: &str, adding: &Adding, is_run: bool) -> EventText {
        let of_tiers = view.definition.tiers().iter().zip(&adding.places);
        let changes = of_tiers.map(|(tier, place)| TierChanges {
            tier: tier.tier.clone(),
            changes: changes(self.meters.row(*place), adding.meters.row(*place)),
        });
        let changes: Vec<_> = changes.filter(|tier| !tier.changes.is_empty()).collect();
        let mut event = EventText::new("enter", mark.n());
        event
            .field("history", &self.terms.history)
            .field("epoch", &self.terms.epoch)
            .field("version", &view.version.text())
            .field("first", &(self.meters.seq + 1).text())
            .field("count", &adding.contributions.len().to_string())
            .field("block", block)
            .field("skip", "")
            .field("amounts", &adding.amounts)
            .field("runs", &adding.runs.text())
            .field("claims", "")
            .field("call", if is_run { "1" } else { "" })
            .field("meters", &changes.text())
            .field("applied", "");
        event
    }
}

fn changes(before: &Row, after: &Row) -> Vec<MeterDelta> {
    let changes = after.changes(before).map(|(meter, delta)| MeterDelta {
        meter: meter.into(),
        delta: Signed(delta),
    });
    changes.collect()
}

/// What the entries of a call add.
struct Adding {
    /// The row of each entry, if they do not all add the same.
    stakes: Vec<OfStake>,
    /// What an entry adds, by stake.
    amounts: String,
    /// After it.
    meters: Meters,
    /// The row of each tier in the meters.
    places: Vec<usize>,
    runs: Vec<Run>,
    /// Of each entry.
    contributions: Vec<Vec<Contributed>>,
}

/// Whether no two entries have one id.
fn are_different(entries: &[EnterEntry]) -> bool {
    let mut ids = HashSet::with_capacity(entries.len());
    entries.len() == 1 || entries.iter().all(|entry| ids.insert(&entry.entry_id))
}

impl Terms {
    fn read(packed: &[u8], digest: String) -> Option<Self> {
        let left = &mut &*packed;
        let format: u32 = read_int(left).ok()?;
        if format != TERMS.format {
            return None;
        }
        let mut texts = Vec::new();
        for field in TERMS.fields {
            match field.packs {
                Packs::Whole => {
                    let _: i64 = read_int(left).ok()?;
                }
                Packs::Text => {
                    let (text, rest) = read_str_from_slice(*left).ok()?;
                    texts.push((field.name, text));
                    *left = rest;
                }
                _ => break,
            }
        }
        let text = |name: &str| {
            texts
                .iter()
                .find(|(of, _)| *of == name)
                .map(|(_, text)| (*text).to_owned())
        };
        Some(Self {
            stamp: format!("{} {}", text("version")?, text("money")?),
            epoch: text("epoch")?,
            commitment: text("commitment")?,
            history: text("history")?,
            is_second: text("gen")? == "b",
            digest,
        })
    }
}

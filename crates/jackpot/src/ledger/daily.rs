//! The figures of daily reports: what each jackpot held, took and paid, by the time of events. Pure.
//!
//! A *run* is consecutive events within one quarter of an hour (UTC). A row of a run has the totals of all events up to its
//! last one. So the rows are a function of the events alone: every instance makes the same ones, and twice changes nothing.
//! A day begins at a quarter of an hour, so each run is of one day.
//!
//! The totals up to a time are those of the last run before it, unless a clock of Redis went back. Then later runs may be of
//! earlier times: `high_s` finds them.

use std::collections::{BTreeMap, BTreeSet};

use jackpot_core::currency::Currency;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::document::Document;
use jackpot_core::jackpot::record::Sent;
use jackpot_core::jackpot::split::TierAmount;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::event::{Enter, Event, Kind, Reverse};

/// A quarter of an hour, seconds. The clock of every time zone has differed from UTC by a multiple of it since 1972.
pub const QUARTER_S: i64 = 900;

/// Millionths of a minor unit.
const MICRO: i128 = 1_000_000;

/// Declares sums that are added and subtracted name by name.
macro_rules! sums {
    ($(#[$about:meta])* pub struct $name:ident { $($(#[$doc:meta])* pub $field:ident,)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub struct $name {
            $($(#[$doc])* #[serde(default, skip_serializing_if = "is_zero")] pub $field: i128,)+
        }

        impl $name {
            fn add(&mut self, other: &Self, times: i128) {
                $(self.$field += times * other.$field;)+
            }
        }
    };
}

fn is_zero(value: &i128) -> bool {
    *value == 0
}

sums! {
    /// Sums of a tier: minor units, or millionths (`*_micro`).
    pub struct OfTier {
        /// Pool, reserve and overflow.
        pub held,
        pub contributed_micro,
        pub reversed_micro,
        /// By operators, and what reversals did not find.
        pub funded_micro,
        pub transferred_in_micro,
        pub transferred_out_micro,
        /// What skipped events brought in without stating the source.
        pub skipped_micro,
        /// Payouts taken back.
        pub voided,
        pub paid,
        /// Number of payouts.
        pub payouts,
        /// Takes of all.
        pub wins,
    }
}

sums! {
    /// Sums of entries, over all tiers: minor units, or millionths (`*_micro`).
    pub struct OfEntries {
        pub entries,
        pub stakes,
        pub contributed_micro,
        pub reversed_micro,
        pub paid,
        /// Number of payouts.
        pub payouts,
    }
}

/// Sums of all events up to one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    pub tiers: BTreeMap<Id, OfTier>,
    /// Of all entries.
    pub all: OfEntries,
    /// Of the entries that named a source.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sources: BTreeMap<Id, OfEntries>,
}

/// A payout that has a receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paid {
    pub tier: Id,
    /// Minor units.
    pub amount: i64,
    /// The source of its entry, if that named one.
    pub source: Option<Id>,
}

impl Totals {
    /// Adds what an event moved and took. Its payouts are added by [`pay`](Self::pay): their receipts
    /// have the sources, which may be in earlier events.
    pub fn follow(&mut self, event: &Event) {
        for change in &event.changes {
            self.change(&change.tier, &change.meter, i128::from(change.delta));
        }
        match &event.kind {
            Kind::Enter(enter) => self.enter(enter),
            Kind::Reverse(reverse) => self.reverse(reverse),
            Kind::Skipped(skipped) => {
                // Sequences are dense from 1.
                self.all.entries = i128::from(skipped.carried.books.sequence);
                let sent = skipped.carried.entries.iter();
                for sent in sent.filter_map(|entry| Sent::parse(&entry.sent)) {
                    let stake = i128::from(sent.stake.get());
                    self.all.stakes += stake;
                    if let Some(source) = sent.source {
                        let of = self.sources.entry(source).or_default();
                        of.entries += 1;
                        of.stakes += stake;
                    }
                }
            }
            _ => {}
        }
    }

    fn change(&mut self, tier: &Id, meter: &str, delta: i128) {
        if !self.tiers.contains_key(tier) {
            self.tiers.insert(tier.clone(), OfTier::default());
        }
        let of = self.tiers.get_mut(tier).expect("it was just looked for");
        // A meter `*_micro` counts the millionths of the one beside it.
        let (name, is_micro) = meter.strip_suffix("_micro").map_or((meter, false), |name| (name, true));
        let micro = if is_micro { delta } else { delta * MICRO };
        match name {
            "contributed" => {
                of.contributed_micro += micro;
                self.all.contributed_micro += micro;
            }
            "reversed" => {
                of.reversed_micro += micro;
                self.all.reversed_micro += micro;
            }
            "funded" => of.funded_micro += micro,
            // The meter `funded` counts these too, and no operator has funded them.
            "expected" => of.funded_micro -= micro,
            "transferred_in" => {
                of.transferred_in_micro += micro;
                of.funded_micro -= micro;
            }
            "voided" => {
                of.voided += delta;
                of.funded_micro -= micro;
            }
            "transferred_out" => of.transferred_out_micro += micro,
            "skipped" => of.skipped_micro += micro,
            "paid" => {
                of.paid += delta;
                self.all.paid += delta;
            }
            "wins" => of.wins += delta,
            // Fractions that pool and reserve carry are what the others leave.
            "pool" | "reserve" | "overflow" if !is_micro => of.held += delta,
            _ => {}
        }
    }

    fn enter(&mut self, enter: &Enter) {
        let call = &enter.call;
        self.all.entries += call.entries.len() as i128;
        for (place, entry) in call.entries.iter().enumerate() {
            let stake = i128::from(entry.sent.stake.get());
            self.all.stakes += stake;
            let Some(source) = &entry.sent.source else {
                continue;
            };
            let is_after = call.split.is_some_and(|split| place >= split.place);
            let amounts = &call.added.amounts;
            let added = if is_after { amounts.last() } else { amounts.first() };
            let added = added.and_then(|added| added.of(entry.sent.stake, Some(source)));
            let micro = added.unwrap_or_default().iter().map(TierAmount::in_micro);
            let of = self.of_source(source);
            of.entries += 1;
            of.stakes += stake;
            of.contributed_micro += i128::try_from(micro.sum::<u128>()).unwrap_or_default();
        }
    }

    fn reverse(&mut self, reverse: &Reverse) {
        let Some(source) = &reverse.source_id else { return };
        let amounts = reverse
            .reversed
            .iter()
            .map(|tier| i128::from(tier.amount) * MICRO + i128::from(tier.amount_micro));
        self.of_source(source).reversed_micro += amounts.sum::<i128>();
    }

    fn of_source(&mut self, source: &Id) -> &mut OfEntries {
        if !self.sources.contains_key(source) {
            self.sources.insert(source.clone(), OfEntries::default());
        }
        self.sources.get_mut(source).expect("it was just looked for")
    }

    /// Adds a payout. The meter `paid` has its amount already.
    pub fn pay(&mut self, paid: &Paid) {
        self.tiers.entry(paid.tier.clone()).or_default().payouts += 1;
        self.all.payouts += 1;
        if let Some(source) = &paid.source {
            let of = self.of_source(source);
            of.paid += i128::from(paid.amount);
            of.payouts += 1;
        }
    }

    /// Adds other sums, that many times.
    pub fn add(&mut self, other: &Self, times: i128) {
        for (tier, of) in &other.tiers {
            self.tiers.entry(tier.clone()).or_default().add(of, times);
        }
        self.all.add(&other.all, times);
        for (source, of) in &other.sources {
            self.sources.entry(source.clone()).or_default().add(of, times);
        }
    }
}

/// Consecutive events within one quarter of an hour.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Run {
    /// Its first event.
    pub first_n: u64,
    /// Its last event.
    pub n: u64,
    /// Begin of the quarter in UTC, seconds since 1970.
    pub at_s: i64,
    /// The latest of the begins of this run and those before it.
    pub high_s: i64,
    /// The definition in force after it.
    pub version: u64,
    /// Sums of all events up to its last.
    pub totals: Totals,
}

/// Runs that were begun or went on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Runs {
    /// Those that ended.
    pub ended: Vec<Run>,
    /// The last one; its `n` is 0 before the first event.
    pub last: Run,
    /// Whether an event was added to the last one.
    pub moved: bool,
}

impl Runs {
    /// Goes on after this run.
    pub fn after(last: Run) -> Self {
        Self {
            last,
            ..Self::default()
        }
    }

    /// Adds the next event, but not its payouts.
    pub fn follow(&mut self, event: &Event) {
        let at_s = event.at_ms.div_euclid(1_000).div_euclid(QUARTER_S) * QUARTER_S;
        if self.last.n == 0 || self.last.at_s != at_s {
            let high_s = if self.last.n == 0 {
                at_s
            } else {
                self.last.high_s.max(at_s)
            };
            let next = Run {
                first_n: event.n,
                at_s,
                high_s,
                ..self.last.clone()
            };
            let ended = std::mem::replace(&mut self.last, next);
            if self.moved {
                self.ended.push(ended);
            }
        }
        self.moved = true;
        self.last.n = event.n;
        if let Kind::Skipped(skipped) = &event.kind {
            self.last.version = skipped.carried.books.version;
        }
        self.last.version = event.applied.unwrap_or(self.last.version);
        self.last.totals.follow(event);
    }

    /// Those that a table lacks, or has with fewer events.
    pub fn rows(&self) -> impl Iterator<Item = &Run> {
        self.ended.iter().chain(Some(&self.last).filter(|_| self.moved))
    }
}

/// A run of an earlier quarter than a run before it, which a clock that went back made.
#[derive(Debug, Clone)]
pub struct Late {
    pub first_n: u64,
    pub at_s: i64,
    /// What its events add.
    pub added: Totals,
}

/// Sums up to a time. `last`: the last run before which, and in which, no event is of that time or later.
pub fn totals_at(at_s: i64, last: Option<&Run>, late: &[Late]) -> Totals {
    let mut totals = last.map(|run| run.totals.clone()).unwrap_or_default();
    let after = last.map_or(0, |run| run.first_n);
    for late in late.iter().filter(|late| late.first_n > after && late.at_s < at_s) {
        totals.add(&late.added, 1);
    }
    totals
}

/// A row of a report. The figures of a tier satisfy `closing = opening + contributed − reversed + funded + transferred_in −
/// transferred_out + voided − paid`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = DailyRow)]
pub enum Row {
    /// A tier of a jackpot.
    Tier(TierRow),
    /// What the entries of a source of a jackpot did.
    Source(SourceRow),
}

/// The day of a tier, minor units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = DailyTier)]
pub struct TierRow {
    /// Always `tier`.
    #[schema(example = "tier")]
    pub row: &'static str,
    pub jackpot_id: String,
    pub tier: String,
    #[schema(value_type = String, example = "KRW")]
    pub currency: Currency,
    /// Pool, reserve and overflow at the begin: `closing` of the day before.
    pub opening: i64,
    /// What came from entries, as whole units reached pool, reserve or overflow. It counts what a skipped event brought in.
    pub contributed: i64,
    /// What reversals gave back.
    pub reversed: i64,
    /// What operators put in, less what they took out; with what reversals did not find in the tier.
    pub funded: i64,
    /// What came from other jackpots.
    pub transferred_in: i64,
    /// What went to other jackpots.
    pub transferred_out: i64,
    /// What voided payouts brought back.
    pub voided: i64,
    /// What winners were paid; voided payouts too.
    pub paid: i64,
    /// Number of payouts.
    pub payouts: i64,
    /// Takes of all.
    pub wins: i64,
    /// Pool, reserve and overflow at the end.
    pub closing: i64,
}

/// The day of a source over all tiers, minor units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = DailySource)]
pub struct SourceRow {
    /// Always `source`.
    #[schema(example = "source")]
    pub row: &'static str,
    pub jackpot_id: String,
    /// Null for the entries that named none.
    pub source_id: Option<String>,
    pub entries: i64,
    /// Their stakes.
    #[schema(value_type = i64)]
    pub stakes: i128,
    pub contributed: i64,
    /// What reversals gave back of entries of this source.
    pub reversed: i64,
    /// What payouts paid, when they were paid.
    pub paid: i64,
    /// Number of payouts.
    pub payouts: i64,
}

/// Sums at the begin and the end of a day, and the definition in force at its end.
#[derive(Debug)]
pub struct Day<'a> {
    pub jackpot_id: &'a str,
    pub begin: Totals,
    pub end: Totals,
    pub definition: &'a Document,
}

/// A sum that no projector made.
#[derive(Debug, thiserror::Error)]
#[error("the figures of jackpot '{0}' do not add up")]
pub struct Wrong(String);

impl Day<'_> {
    /// The rows of the day: tiers and sources of the definition in its order, then those that it no longer has and that
    /// moved or hold money.
    pub fn rows(&self) -> Result<Vec<Row>, Wrong> {
        let mut rows = Vec::new();
        let listed: Vec<&Id> = self.definition.tiers.iter().map(|tier| &tier.tier).collect();
        for tier in &listed {
            rows.push(Row::Tier(self.tier(tier)?));
        }
        for tier in self.end.tiers.keys().filter(|tier| !listed.contains(tier)) {
            let row = self.tier(tier)?;
            if !row.is_still() {
                rows.push(Row::Tier(row));
            }
        }
        let named: BTreeSet<&Id> = self.definition.sources.keys().collect();
        let of = |all: &BTreeMap<Id, OfEntries>, source: &Id| all.get(source).copied().unwrap_or_default();
        let all = named
            .iter()
            .copied()
            .chain(self.end.sources.keys().filter(|source| !named.contains(source)));
        for source in all {
            let row = self.source(
                Some(source),
                &of(&self.begin.sources, source),
                &of(&self.end.sources, source),
            )?;
            if named.contains(source) || !row.is_still() {
                rows.push(Row::Source(row));
            }
        }
        let row = self.source(None, &without_source(&self.begin), &without_source(&self.end))?;
        if named.is_empty() || !row.is_still() {
            rows.push(Row::Source(row));
        }
        Ok(rows)
    }

    fn tier(&self, tier: &Id) -> Result<TierRow, Wrong> {
        let of = |totals: &Totals| totals.tiers.get(tier).copied().unwrap_or_default();
        let (begin, end) = (of(&self.begin), of(&self.end));
        if ![&begin, &end].into_iter().all(adds_up) {
            return Err(self.wrong());
        }
        let whole = |micro: fn(&OfTier) -> i128| self.number(units(micro(&end)) - units(micro(&begin)));
        let units = |of: fn(&OfTier) -> i128| self.number(of(&end) - of(&begin));
        let mut row = TierRow {
            row: "tier",
            jackpot_id: self.jackpot_id.to_owned(),
            tier: tier.to_string(),
            currency: self.definition.currency,
            opening: self.number(begin.held)?,
            contributed: 0,
            reversed: whole(|of| of.reversed_micro)?,
            funded: whole(|of| of.funded_micro)?,
            transferred_in: whole(|of| of.transferred_in_micro)?,
            transferred_out: whole(|of| of.transferred_out_micro)?,
            voided: units(|of| of.voided)?,
            paid: units(|of| of.paid)?,
            payouts: units(|of| of.payouts)?,
            wins: units(|of| of.wins)?,
            closing: self.number(end.held)?,
        };
        // Fractions that are carried are counted when they become a unit: in whole units nothing else adds up.
        row.contributed = row.closing - row.opening + row.reversed - row.funded - row.transferred_in
            + row.transferred_out
            - row.voided
            + row.paid;
        Ok(row)
    }

    fn source(&self, source: Option<&Id>, begin: &OfEntries, end: &OfEntries) -> Result<SourceRow, Wrong> {
        let whole = |micro: fn(&OfEntries) -> i128| self.number(units(micro(end)) - units(micro(begin)));
        Ok(SourceRow {
            row: "source",
            jackpot_id: self.jackpot_id.to_owned(),
            source_id: source.map(ToString::to_string),
            entries: self.number(end.entries - begin.entries)?,
            stakes: end.stakes - begin.stakes,
            contributed: whole(|of| of.contributed_micro)?,
            reversed: whole(|of| of.reversed_micro)?,
            paid: self.number(end.paid - begin.paid)?,
            payouts: self.number(end.payouts - begin.payouts)?,
        })
    }

    fn number(&self, value: i128) -> Result<i64, Wrong> {
        i64::try_from(value).map_err(|_| self.wrong())
    }

    fn wrong(&self) -> Wrong {
        Wrong(self.jackpot_id.to_owned())
    }
}

/// Whole units, rounded down.
fn units(micro: i128) -> i128 {
    micro.div_euclid(MICRO)
}

/// What entries without a source did.
fn without_source(totals: &Totals) -> OfEntries {
    let mut rest = totals.all;
    for of in totals.sources.values() {
        rest.add(of, -1);
    }
    rest
}

/// What came in less what went out and what is held is what pool and reserve carry: less than a unit each.
fn adds_up(of: &OfTier) -> bool {
    let came = of.contributed_micro + of.funded_micro + of.transferred_in_micro + of.skipped_micro + of.voided * MICRO;
    let went = of.reversed_micro + of.transferred_out_micro + of.paid * MICRO;
    (0..2 * MICRO).contains(&(came - went - of.held * MICRO))
}

impl TierRow {
    fn is_still(&self) -> bool {
        let figures = [
            self.opening,
            self.contributed,
            self.reversed,
            self.funded,
            self.transferred_in,
            self.transferred_out,
            self.voided,
            self.paid,
            self.payouts,
            self.wins,
            self.closing,
        ];
        figures == [0; 11]
    }
}

impl SourceRow {
    fn is_still(&self) -> bool {
        let figures = [self.entries, self.contributed, self.reversed, self.paid, self.payouts];
        figures == [0; 5] && self.stakes == 0
    }
}

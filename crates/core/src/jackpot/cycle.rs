//! The cycles of a tier with a must-hit rule: from one take of all to the next, each under a seed of its own. Pure.
//!
//! Redis knows of an open cycle all but its seed, and so not its triggers. The caller of a script that may end a cycle
//! brings them ([`Cycles::prepared`]), for the open cycle and for those that may follow in the call.

use std::fmt::Write;

use hmac::Mac;
use sha2::{Digest, Sha256};
use utoipa::ToSchema;

use super::definition::Definition;
use super::document::Tier;
use super::draw;
use super::must_hit::{ByAmount, ByDay, ByTime};
use super::record::HitBy;
use crate::event_part;
use crate::ids::Id;
use crate::names;
use crate::secret::{MasterSecret, Secrets};
use crate::wire::{Field, FieldShape, OrDash, WordPart, Words};
use crate::words;

/// Most cycles that a batch may end.
pub const MAX_ENDED: usize = 1_000;
/// Least distance of a cycle from the last one of its tier where its number must be one that nobody has seen.
pub const GAP: u64 = 1_000;

/// Redis' log of slow calls shows the first 128 bytes of an argument. No trigger is in them.
const PREAMBLE: &str = "################################################################################################################################";
/// Deadlines of a day that a call brings, the first of two days before.
const DEADLINES: usize = 8;

#[derive(Clone)]
pub struct CycleSeed([u8; 32]);

impl CycleSeed {
    /// `HMAC-SHA256(master_secret, "jackpot-cycle\n{jackpot_id}\n{tier}\n{c}\n{nonce}")`.
    #[must_use]
    pub fn derive(secret: &MasterSecret, jackpot: &Id, tier: &Id, cycle: u64, nonce: &str) -> Self {
        let mut mac = draw::keyed(secret.bytes());
        mac.update(format!("jackpot-cycle\n{jackpot}\n{tier}\n{cycle}\n{nonce}").as_bytes());
        Self(mac.finalize().into_bytes().into())
    }

    /// Parses a published seed from its hexadecimal form.
    #[must_use]
    pub fn published(text: &str) -> Option<Self> {
        let mut seed = [0; 32];
        hex::decode_to_slice(text, &mut seed).ok()?;
        Some(Self(seed))
    }

    /// `hex(SHA-256(seed))`: public while the cycle is open.
    #[must_use]
    pub fn commitment(&self) -> String {
        hex::encode(Sha256::digest(self.0))
    }

    /// The seed in hexadecimal: public after the cycle has ended.
    #[must_use]
    pub fn reveal(&self) -> String {
        hex::encode(self.0)
    }

    /// `u(kind, n)`: uniform below `n`.
    #[must_use]
    pub fn index(&self, kind: &str, n: u64) -> u64 {
        draw::uniform(&draw::keyed(&self.0), n, |block| format!("{kind}\n{block}"))
    }

    /// The first words of `u(kind, n)`, up to one that every `n` to 2^53 accepts: its first 11 bits are not all ones.
    fn words(&self, kind: &str) -> Vec<u64> {
        let keyed = draw::keyed(&self.0);
        let mut words = Vec::new();
        for block in 0_u32.. {
            for word in draw::words(&keyed, format!("{kind}\n{block}").as_bytes()) {
                words.push(word);
                if word >> 53 != 0x7ff {
                    return words;
                }
            }
        }
        words
    }
}

impl std::fmt::Debug for CycleSeed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CycleSeed(hidden)")
    }
}

words! {
    /// The must-hit rule of a tier of a definition.
    pub struct RuleRow as "must_hit_rule" by ' ' each ';' {
        /// The tier.
        pub tier: Id,
        /// Its `min_payout`.
        pub min: u64,
        /// Below every trigger; `-` without an amount.
        pub low: OrDash<u64>,
        /// The largest trigger.
        pub high: OrDash<u64>,
        /// Seconds after the begin in which nothing is due; `-` without a time, 0 for a time of day.
        pub after: OrDash<u64>,
        /// Seconds from the begin to the deadline; `-` without a time.
        pub within: OrDash<u64>,
        /// `20:00@Asia/Seoul`; `-` for none.
        pub day: OrDash<String>,
    }
}

words! {
    /// The newest cycle of a tier.
    pub struct CycleRow as "cycle" by ' ' each ';' {
        /// The tier.
        pub tier: Id,
        /// Its number.
        pub cycle: u64,
        /// Public input of its seed: 32 hexadecimal digits.
        pub nonce: String,
        /// Id of the master secret, the other input.
        pub secret: String,
        /// SHA-256 of its seed, hexadecimal; `-` when it has ended and none followed.
        pub commitment: OrDash<String>,
        /// When it began, ms.
        pub began: i64,
        /// The tier pays all or a share of its pool from here on only: `min_payout` when it began.
        pub min: u64,
        /// Below every trigger; `-` without an amount.
        pub low: OrDash<u64>,
        /// The largest trigger.
        pub high: OrDash<u64>,
        /// Seconds from the begin to the floor of the window, in which nothing is due; `-` without a time.
        pub after: OrDash<u64>,
        /// Its deadline, seconds since 1970; `-` without a time.
        pub deadline: OrDash<i64>,
        /// What was reversed out of the pool in it, minor units.
        pub reversed: u64,
        /// What it pins beside its rule.
        pub pins: Pinned,
    }
}

words! {
    /// What a cycle pins beside its rule, and its place among those of other tiers. A cycle that an earlier version of the
    /// service began has none of these words.
    #[derive(Copy)]
    pub struct Pins {
        /// The tier's cap when it began; `-` for none.
        pub cap: OrDash<u64>,
        /// Version of the definition that it began under.
        pub version: u64,
        /// Number of the last entry before it.
        pub sequence: u64,
    }
}

/// [`Pins`], which only a cycle of this version has. Without them, cap and `min_payout` of the definition in force count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pinned(pub Option<Pins>);

impl WordPart for Pinned {
    fn shapes(name: &'static str, doc: &'static str) -> Vec<FieldShape> {
        Pins::shapes(name, doc)
    }

    fn take(words: &mut Words<'_>) -> Option<Self> {
        if words.is_empty() {
            return Some(Self(None));
        }
        Pins::take(words).map(|pins| Self(Some(pins)))
    }

    fn put(&self, out: &mut String, by: char) {
        if let Some(pins) = &self.0 {
            pins.put(out, by);
        }
    }
}

names! {
    /// What ended a cycle.
    #[derive(ToSchema)]
    pub enum EndedBy {
        /// A hit by the rule.
        MustHit = "must-hit",
        /// A take of all by the odds.
        Take = "take",
        /// A resume, a rotation, a restore, another secret or a transfer.
        Restart = "restart",
        /// The end of its jackpot.
        Close = "close",
    }
}

/// A cycle that ended or began in an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CycleChange {
    Ended { tier: Id, cycle: u64, by: EndedBy },
    Began(CycleRow),
}

/// The changes of cycles in an event, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CycleChanges(pub Vec<CycleChange>);

event_part!(CycleChanges);

impl Field for CycleChanges {
    const TYPE: &'static str = "`e tier cycle by;` of a cycle that ended, `b` and its row of one that began";
    const PATTERN: &'static str = ".*";

    fn read(text: &str) -> Option<Self> {
        let change = |text: &str| match text.split_at_checked(2)? {
            ("b ", row) => Some(CycleChange::Began(CycleRow::read(row)?)),
            ("e ", rest) => {
                let mut parts = rest.split(' ');
                let (tier, cycle, by) = (parts.next()?, parts.next()?, parts.next()?);
                let change = CycleChange::Ended {
                    tier: Id::parse(tier).ok()?,
                    cycle: u64::read(cycle)?,
                    by: EndedBy::ALL.into_iter().find(|ended| ended.as_str() == by)?,
                };
                parts.next().is_none().then_some(change)
            }
            _ => None,
        };
        text.split_terminator(';').map(change).collect::<Option<_>>().map(Self)
    }

    fn write(&self, out: &mut String) {
        for change in &self.0 {
            match change {
                CycleChange::Began(row) => {
                    out.push_str("b ");
                    row.write(out);
                }
                CycleChange::Ended { tier, cycle, by } => {
                    // Writing to a string does not fail.
                    let _ = write!(out, "e {tier} {cycle} {}", by.as_str());
                }
            }
            out.push(';');
        }
    }
}

words! {
    /// An entry that hit a pool by its rule.
    pub struct HitRow as "hit" by ' ' each ';' {
        /// Sequence of the entry.
        pub sequence: u64,
        /// The tier.
        pub tier: Id,
        /// The cycle that it ended.
        pub cycle: u64,
        /// What was due.
        pub by: HitBy,
        /// The amount in minor units, or the second since 1970.
        pub trigger: u64,
    }
}

impl CycleRow {
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.commitment.0.is_some()
    }

    /// Its seed, if one of these secrets made its commitment.
    #[must_use]
    pub fn seed(&self, secrets: &Secrets, jackpot: &Id) -> Option<CycleSeed> {
        let seed = CycleSeed::derive(secrets.get(&self.secret)?, jackpot, &self.tier, self.cycle, &self.nonce);
        (Some(seed.commitment()) == self.commitment.0).then_some(seed)
    }

    /// Its amount, if it has one.
    #[must_use]
    pub fn trigger_amount(&self, seed: &CycleSeed) -> Option<u64> {
        let (low, high) = self.low.0.zip(self.high.0)?;
        Some(low + 1 + seed.index("amount", high - low))
    }

    /// The floor of its window of time, if it has one: nothing is due up to this second.
    #[must_use]
    pub fn floor(&self) -> Option<i64> {
        Some(self.began.div_euclid(1_000) + i64::try_from(self.after.0?).ok()?)
    }

    /// Its second, if it has one.
    #[must_use]
    pub fn trigger_at(&self, seed: &CycleSeed) -> Option<i64> {
        let from = self.floor()?;
        let n = u64::try_from(self.deadline.0? - from).ok().filter(|n| *n > 0)?;
        Some(from + 1 + i64::try_from(seed.index("time", n)).ok()?)
    }
}

impl RuleRow {
    fn of(tier: &Tier) -> Option<Self> {
        let rule = tier.must_hit_by.as_ref()?;
        let (low, high) = rule
            .amount
            .map(|ByAmount { low, high }| (low.get(), high.get()))
            .unzip();
        let (after, within) = rule
            .time
            .map(|ByTime { after_s, within_s }| (u64::from(after_s), u64::from(within_s)))
            .unzip();
        Some(Self {
            tier: tier.tier.clone(),
            min: tier.min_payout.get(),
            low: OrDash(low),
            high: OrDash(high),
            after: OrDash(after.or(rule.daily.as_ref().map(|_| 0))),
            within: OrDash(within),
            day: OrDash(rule.daily.as_ref().map(|ByDay { at, zone }| format!("{at}@{zone}"))),
        })
    }

    fn daily(&self) -> Option<ByDay> {
        let (at, zone) = self.day.0.as_ref()?.split_once('@')?;
        Some(ByDay {
            at: at.to_owned(),
            zone: zone.to_owned(),
        })
    }
}

/// The rules of a definition as text; empty for none.
#[must_use]
pub fn rules_text(definition: &Definition) -> String {
    definition
        .tiers()
        .iter()
        .filter_map(RuleRow::of)
        .collect::<Vec<_>>()
        .text()
}

/// What Redis keeps of the cycles of a jackpot, in the field `cycles` of its state: `rules|waiting rules|cycles`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cycles {
    /// Of the definition in force.
    pub rules: Vec<RuleRow>,
    /// Of the waiting definition.
    pub next: Vec<RuleRow>,
    /// Of each tier that has ever had a rule.
    pub rows: Vec<CycleRow>,
}

fn rows<T>(text: &str) -> Option<Vec<T>>
where
    Vec<T>: Field,
{
    if text.is_empty() {
        Some(Vec::new())
    } else {
        Vec::read(text)
    }
}

impl Cycles {
    /// Reads the field; it is missing where no tier has ever had a rule.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Self::default());
        }
        let mut parts = text.splitn(3, '|');
        let (rules, next, cycles) = (parts.next()?, parts.next()?, parts.next()?);
        Some(Self {
            rules: rows(rules)?,
            next: rows(next)?,
            rows: rows(cycles)?,
        })
    }

    /// Rules of the definition in force and of the waiting one, as [`rules_text`] writes them, without cycles. A text that
    /// cannot be read has none.
    #[must_use]
    pub fn of(rules: &str, next: &str) -> Self {
        Self {
            rules: rows(rules).unwrap_or_default(),
            next: rows(next).unwrap_or_default(),
            rows: Vec::new(),
        }
    }

    /// The field again.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{}|{}|{}", self.rules.text(), self.next.text(), self.rows.text())
    }

    /// Adds the rules of a definition that is about to be put.
    #[must_use]
    pub fn with_rules(mut self, rules: &str) -> Option<Self> {
        self.next.extend(rows::<RuleRow>(rules)?);
        Some(self)
    }

    /// Whether an entry may hit a pool under the definition in force.
    #[must_use]
    pub fn has_open(&self) -> bool {
        self.rows.iter().any(CycleRow::is_open)
    }

    /// Whether any tier has a rule, or has had one.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.next.is_empty() && self.rows.is_empty()
    }

    #[must_use]
    pub fn open(&self, tier: &Id) -> Option<&CycleRow> {
        self.rows.iter().find(|row| row.tier == *tier && row.is_open())
    }

    /// The secrets that open cycles need and that are not there.
    pub fn missing<'a>(&'a self, secrets: &'a Secrets) -> impl Iterator<Item = &'a str> {
        let open = self.rows.iter().filter(|row| row.is_open());
        open.map(|row| row.secret.as_str())
            .filter(|id| secrets.get(id).is_none())
    }
}

/// Which numbers cycles with a new nonce have.
#[derive(Debug, Clone, Copy)]
pub enum Renews {
    /// The next one. If the last cycle of the tier is under another secret: as after a restore, of the second in
    /// [`Preparing::now`].
    Next,
    /// Of a restore: this one, the second of its begin, or [`GAP`] above the last if that is more.
    AtLeast { second: u64 },
}

/// What a call brings about the cycles of a jackpot.
#[derive(Debug, Clone, Copy)]
pub struct Preparing<'a> {
    pub jackpot: &'a Id,
    pub secrets: &'a Secrets,
    /// Fresh randomness: the nonce of each tier that has none, or of every tier (`renews`).
    pub nonce: [u8; 16],
    /// Whether the cycles that begin have a new nonce.
    pub renews: Option<Renews>,
    /// How many cycles may follow the open one.
    pub following: usize,
    /// Seconds since 1970 on Redis' clock, or near it.
    pub now: i64,
}

/// The cycles of one tier under one nonce, from `first` on, as one rule makes their triggers.
struct Group<'a> {
    tier: &'a Id,
    nonce: &'a str,
    secret: (&'a str, &'a MasterSecret),
    first: u64,
    count: usize,
    low: Option<u64>,
    high: Option<u64>,
    after: Option<u64>,
    /// Seconds from the first due second to the deadline; `None` where each begin has its own.
    length: Option<u64>,
    day: Option<ByDay>,
    /// Whether the rule is of the waiting definition: within a batch it may begin with a pool above `low`.
    is_waiting: bool,
}

/// A word as text, in two halves that a double holds.
fn halves(words: &[u64]) -> String {
    let halves = words
        .iter()
        .map(|word| format!("{}.{}", word >> 32, word & u64::from(u32::MAX)));
    halves.collect::<Vec<_>>().join("/")
}

impl Cycles {
    /// For tiers that have had a rule and have none now, whose open cycle may restart or who get a new one all the same
    /// (`closed`): none at all, because a call needs only the commitments of what follows.
    fn unruled(&self, closed: bool) -> Vec<RuleRow> {
        let has_rule = |row: &&CycleRow| self.rules.iter().any(|rule| rule.tier == row.tier);
        let unruled = self.rows.iter().filter(|row| closed || row.is_open());
        let unruled = unruled.filter(|row| !has_rule(row));
        let none = |row: &CycleRow| RuleRow {
            tier: row.tier.clone(),
            min: 0,
            low: OrDash(None),
            high: OrDash(None),
            after: OrDash(None),
            within: OrDash(None),
            day: OrDash(None),
        };
        unruled.map(none).collect()
    }

    /// The open cycles and those that may follow, with commitments and triggers, as `lua/jackpot/cycles.lua` reads them.
    /// Empty where there are no rules and no cycles.
    #[must_use]
    pub fn prepared(&self, with: &Preparing<'_>) -> String {
        if self.is_empty() {
            return String::new();
        }
        let mut text = PREAMBLE.to_owned();
        for row in self.rows.iter().filter(|row| row.is_open()) {
            let Some(secret) = with.secrets.get(&row.secret) else {
                continue;
            };
            let begin = row.began.div_euclid(1_000);
            let after = row.after.0.and_then(|after| i64::try_from(after).ok());
            let length = row
                .deadline
                .0
                .zip(after)
                .map(|(deadline, after)| deadline - begin - after);
            let group = Group {
                tier: &row.tier,
                nonce: &row.nonce,
                secret: (&row.secret, secret),
                first: row.cycle,
                count: 1,
                low: row.low.0,
                high: row.high.0,
                after: row.after.0,
                length: length
                    .and_then(|length| u64::try_from(length).ok())
                    .filter(|length| *length > 0),
                day: None,
                is_waiting: false,
            };
            group.write(with, &mut text);
        }
        let fresh = hex::encode(with.nonce);
        let current = (with.secrets.current_id(), with.secrets.current());
        let unruled = self.unruled(matches!(with.renews, Some(Renews::AtLeast { .. })));
        let rules = self.rules.iter().chain(&unruled).map(|rule| (rule, false));
        for (rule, is_waiting) in rules.chain(self.next.iter().map(|rule| (rule, true))) {
            let row = self.rows.iter().find(|row| row.tier == rule.tier);
            let next = row.map_or(0, |row| row.cycle + 1);
            let kept = row.filter(|row| with.renews.is_none() && row.secret == current.0);
            Group {
                tier: &rule.tier,
                nonce: kept.map_or(&fresh, |row| &row.nonce),
                secret: current,
                first: match with.renews {
                    Some(Renews::AtLeast { second }) => row.map_or(0, |row| row.cycle + GAP).max(second),
                    Some(Renews::Next) => row.filter(|row| row.secret != current.0).map_or(next, |row| {
                        let second = u64::try_from(with.now).unwrap_or_default();
                        (row.cycle + GAP).max(second)
                    }),
                    None => next,
                },
                count: with.following,
                low: rule.low.0,
                high: rule.high.0,
                after: rule.after.0,
                length: rule.within.0.zip(rule.after.0).map(|(within, after)| within - after),
                day: rule.daily(),
                is_waiting,
            }
            .write(with, &mut text);
        }
        text
    }
}

impl Group<'_> {
    fn write(&self, with: &Preparing<'_>, text: &mut String) {
        let day = self.day.as_ref();
        let deadlines = day.map(|day| day.times(with.now - 2 * 86_400, DEADLINES));
        let deadlines = deadlines.map(|all| all.iter().map(i64::to_string).collect::<Vec<_>>().join(","));
        let (low, high, after) = (
            OrDash(self.low).text(),
            OrDash(self.high).text(),
            OrDash(self.after).text(),
        );
        let length = self
            .length
            .map_or_else(|| if day.is_some() { "w" } else { "-" }.to_owned(), |n| n.to_string());
        let day = day.map_or_else(|| "-".to_owned(), |ByDay { at, zone }| format!("{at}@{zone}"));
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "\n{} {} {} {} {low} {high} {after} {length} {day} {} ",
            self.tier,
            self.nonce,
            self.secret.0,
            self.first,
            deadlines.as_deref().unwrap_or("-")
        );
        for cycle in (self.first..).take(self.count) {
            let seed = CycleSeed::derive(self.secret.1, with.jackpot, self.tier, cycle, self.nonce);
            let amount = self.low.zip(self.high).map(|(low, high)| {
                if self.is_waiting {
                    halves(&seed.words("amount"))
                } else {
                    (low + 1 + seed.index("amount", high - low)).to_string()
                }
            });
            let time = match self.length {
                Some(n) => seed.index("time", n).to_string(),
                None if self.day.is_some() => halves(&seed.words("time")),
                None => "-".to_owned(),
            };
            let _ = write!(
                text,
                "{}:{}:{time},",
                seed.commitment(),
                amount.as_deref().unwrap_or("-")
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: &str = "00112233445566778899aabbccddeeff";

    fn seed() -> CycleSeed {
        let id = |text| Id::parse(text).expect("an id");
        CycleSeed::derive(&MasterSecret::new([0x5f; 32]), &id("spring"), &id("grand"), 0, NONCE)
    }

    #[test]
    fn the_seed_and_its_indexes_are_the_published_vectors() {
        let seed = seed();
        assert_eq!(
            seed.reveal(),
            "03d61afc10e7ed7d3a0dc0a816886872442510a04a21a190212f9d82c307e6c3"
        );
        assert_eq!(
            seed.commitment(),
            "a9e13bb45fafaa915d3bc9373af757636aea08307943a2385b7f32c7c8328e51"
        );
        assert_eq!(
            (seed.index("amount", 5_000), seed.index("time", 86_400)),
            (2_070, 50_698)
        );
    }

    #[test]
    fn the_words_that_scripts_get_give_the_same_index() {
        let seed = seed();
        for n in [1, 2, 59, 86_400, 90_000, 172_860, (1 << 53) - 1] {
            let rejected = (u64::MAX % n + 1) % n;
            let word = seed.words("time").into_iter().find(|word| *word <= u64::MAX - rejected);
            assert_eq!(word.map(|word| word % n), Some(seed.index("time", n)), "{n}");
        }
    }

    #[test]
    fn what_redis_keeps_comes_back_as_it_went() {
        let text = format!(
            "grand 1 20 30 - - -;|grand 1 - - 0 - 20:00@Asia/Seoul;|grand 4 {NONCE} abc44bcf0634a438 - 1700000000123 1 20 30 - - 0;"
        );
        let cycles = Cycles::parse(&text).expect("cycles");
        assert_eq!((cycles.rules.len(), cycles.next.len(), cycles.rows[0].cycle), (1, 1, 4));
        assert_eq!(cycles.next[0].day.0.as_deref(), Some("20:00@Asia/Seoul"));
        assert_eq!(
            format!("{}|{}|{}", cycles.rules.text(), cycles.next.text(), cycles.rows.text()),
            text
        );
        assert_eq!(Cycles::parse(""), Some(Cycles::default()));
        assert_eq!(Cycles::parse("x|y"), None);
    }
    fn row(text: &str) -> CycleRow {
        CycleRow::read(text).expect("a row")
    }

    #[test]
    fn changes_are_read_as_they_were_written() {
        let text =
            format!("e grand 4 must-hit;b grand 5 {NONCE} abc44bcf0634a438 c0ffee 1 1 20 30 - - 0;e mini 0 close;");
        let changes = CycleChanges::read(&text).expect("changes");
        assert_eq!((changes.0.len(), changes.text()), (3, text));
        for by in EndedBy::ALL {
            let text = format!("e grand 4 {};", by.as_str());
            assert_eq!(CycleChanges::read(&text).map(|changes| changes.text()), Some(text));
        }
        for wrong in [
            "e grand 4;",
            "e grand 4 take 5;",
            "e grand 4 luck;",
            "x grand 4 take;",
            "b grand 4;",
            "e;",
        ] {
            assert_eq!(CycleChanges::read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_triggers_of_a_cycle_lie_above_low_and_after_the_floor() {
        let open = row(&format!(
            "grand 0 {NONCE} abc44bcf0634a438 a9e13bb45fafaa915d3bc9373af757636aea08307943a2385b7f32c7c8328e51 1700000000999 \
             1 5000 10000 60 1700086460 0 - 7 9"
        ));
        let secrets = Secrets::from(MasterSecret::new([0x5f; 32]));
        let jackpot = Id::parse("spring").expect("an id");
        let found = open.seed(&secrets, &jackpot).expect("a seed");
        assert_eq!(found.reveal(), seed().reveal());
        // The published vectors: 2,070 of 5,000 and 50,698 of 86,400.
        assert_eq!(open.trigger_amount(&found), Some(5_000 + 1 + 2_070));
        assert_eq!(open.floor(), Some(1_700_000_060));
        assert_eq!(open.trigger_at(&found), Some(1_700_000_060 + 1 + 50_698));
        let other = CycleRow {
            cycle: 1,
            ..open.clone()
        };
        assert!(other.seed(&secrets, &jackpot).is_none(), "another commitment");
        let none = CycleRow {
            low: OrDash(None),
            deadline: OrDash(Some(1_700_000_060)),
            ..open
        };
        assert_eq!((none.trigger_amount(&found), none.trigger_at(&found)), (None, None));
        let read = CycleSeed::published(&found.reveal()).map(|seed| seed.reveal());
        assert_eq!(read, Some(found.reveal()));
        assert!(CycleSeed::published("03d6").is_none());
    }

    #[test]
    fn only_an_open_cycle_is_found_and_needs_its_secret() {
        let text = format!(
            "grand 1 20 30 - - -;||grand 4 {NONCE} aaaa - 1 1 20 30 - - 0;mini 2 {NONCE} bbbb c0ffee 1 1 20 30 - - 0;"
        );
        let cycles = Cycles::parse(&text).expect("cycles");
        assert_eq!(cycles.text(), text);
        let tier = |tier| Id::parse(tier).expect("an id");
        assert!(cycles.has_open() && cycles.open(&tier("grand")).is_none());
        assert_eq!(cycles.open(&tier("mini")).map(|row| row.cycle), Some(2));
        let secrets = Secrets::from(MasterSecret::new([0x5f; 32]));
        assert_eq!(cycles.missing(&secrets).collect::<Vec<_>>(), ["bbbb"]);
        let none = Cycles::of("x", "y");
        assert!(none.is_empty() && !none.has_open());
        let rules = "grand 1 20 30 - - -;";
        let next = Cycles::of("", "").with_rules(rules).expect("rules");
        assert_eq!((next.rules.len(), next.next.len(), next.is_empty()), (0, 1, false));
        assert_eq!((Cycles::of(rules, "").is_empty(), cycles.is_empty()), (false, false));
        let only_rows = Cycles {
            rules: Vec::new(),
            ..cycles
        };
        assert!(!only_rows.is_empty() && Cycles::default().with_rules("x").is_none());
    }

    /// The lines that a call brings, without commitments.
    fn prepared(cycles: &str, renews: Option<Renews>, following: usize) -> Vec<String> {
        let jackpot = Id::parse("spring").expect("an id");
        let secrets = Secrets::from(MasterSecret::new([0x5f; 32]));
        let text = Cycles::parse(cycles).expect("cycles").prepared(&Preparing {
            jackpot: &jackpot,
            secrets: &secrets,
            nonce: [0xab; 16],
            renews,
            following,
            now: 1_700_000_000,
        });
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some(PREAMBLE));
        let lines = lines.map(|line| {
            let (of, cycles) = line.rsplit_once(' ').expect("cycles at the end");
            let triggers = cycles
                .split_terminator(',')
                .map(|cycle| cycle.split_once(':').expect("a commitment").1);
            format!("{of} {}", triggers.collect::<Vec<_>>().join(","))
        });
        lines.collect()
    }

    const OWN: &str = "abc44bcf0634a438";

    #[test]
    fn a_call_brings_the_open_cycle_and_those_that_may_follow() {
        let open = format!("grand 0 {NONCE} {OWN} c0ffee 1700000000999 1 5000 10000 60 1700086460 0;");
        let lines = prepared(&format!("grand 1 5000 10000 60 86460 -;||{open}"), None, 1);
        assert_eq!(
            lines[0],
            format!("grand {NONCE} {OWN} 0 5000 10000 60 86400 - - 7071:50698")
        );
        assert!(
            lines[1].starts_with(&format!("grand {NONCE} {OWN} 1 5000 10000 60 86400 - - ")),
            "{lines:?}"
        );
        assert_eq!(lines.len(), 2);
        // Under another secret, which this instance does not have: the next one is far from those before.
        let other = open.replace(OWN, "ffffffffffffffff");
        let renewed = |renews| {
            let lines = prepared(&format!("grand 1 - - - - -;||{other}"), renews, 2);
            let line = lines.last().expect("a line").clone();
            (
                lines.len(),
                line.split(' ').take(4).skip(1).collect::<Vec<_>>().join(" "),
            )
        };
        let fresh = "ab".repeat(16);
        assert_eq!(renewed(None), (1, format!("{fresh} {OWN} 1")));
        assert_eq!(renewed(Some(Renews::Next)), (1, format!("{fresh} {OWN} 1700000000")));
        assert_eq!(
            renewed(Some(Renews::AtLeast { second: 3 })),
            (1, format!("{fresh} {OWN} 1000"))
        );
        assert_eq!(
            renewed(Some(Renews::AtLeast { second: 1_001 })),
            (1, format!("{fresh} {OWN} 1001"))
        );
    }

    #[test]
    fn a_call_brings_words_where_the_trigger_is_not_known_yet() {
        let lines = prepared("|grand 1 20 30 0 - 20:00@Asia/Seoul;|", None, 1);
        let seed = CycleSeed::derive(
            &MasterSecret::new([0x5f; 32]),
            &Id::parse("spring").expect("an id"),
            &Id::parse("grand").expect("an id"),
            0,
            &"ab".repeat(16),
        );
        let words = |kind| halves(&seed.words(kind));
        let days = (-1..7)
            .map(|day| (1_699_959_600 + day * 86_400).to_string())
            .collect::<Vec<_>>();
        assert_eq!(
            lines,
            [format!(
                "grand {} {OWN} 0 20 30 0 w 20:00@Asia/Seoul {} {}:{}",
                "ab".repeat(16),
                days.join(","),
                words("amount"),
                words("time")
            )]
        );
        assert_eq!(halves(&[1, (7 << 32) + 5]), "0.1/7.5");
    }

    #[test]
    fn a_tier_without_a_rule_gets_a_cycle_while_one_is_open_or_where_all_begin_anew() {
        let closed = format!("|| grand 4 {NONCE} {OWN} - 1 1 20 30 - - 0;").replace("|| ", "||");
        let open = closed.replace(" - 1 1 ", " c0ffee 1 1 ");
        assert_eq!(prepared(&closed, None, 1), Vec::<String>::new());
        assert_eq!(prepared(&open, None, 1).len(), 2);
        let anew = prepared(&closed, Some(Renews::AtLeast { second: 9 }), 1);
        assert_eq!(anew, [format!("grand {} {OWN} 1004 - - - - - - -:-", "ab".repeat(16))]);
    }
    #[test]
    fn the_words_that_scripts_get_end_with_one_that_every_n_accepts() {
        let id = |text| Id::parse(text).expect("an id");
        let (secret, jackpot, tier) = (MasterSecret::new([0x5f; 32]), id("spring"), id("grand"));
        let is_accepted = |word: &u64| *word < 0x7ff << 53;
        let mut longer = 0;
        // One first word of 2,048 is refused.
        for cycle in 0..10_000 {
            let words = CycleSeed::derive(&secret, &jackpot, &tier, cycle, NONCE).words("time");
            let (last, others) = words.split_last().expect("a word");
            assert!(is_accepted(last) && !others.iter().any(is_accepted), "{words:?}");
            longer += usize::from(!others.is_empty());
        }
        assert!(longer > 0);
    }

    #[test]
    fn each_rule_of_a_definition_is_a_row() {
        let tier = |tier: &str, rule: serde_json::Value| serde_json::json!({"tier": tier, "share_ppm": 1, "min_payout": 5, "must_hit_by": rule});
        let document = serde_json::json!({"id": "x", "name": "x", "currency": "EUR", "contribution": {"fixed": 1},
            "tiers": [
                tier("grand", serde_json::json!({"amount": {"low": 20, "high": 30}})),
                tier("none", serde_json::Value::Null),
                tier("mini", serde_json::json!({"time": {"after_s": 60, "within_s": 86_460}})),
                tier("day", serde_json::json!({"amount": {"low": 40, "high": 50}, "daily": {"at": "20:00", "zone": "Asia/Seoul"}})),
            ], "odds": {"total": 1, "ranks": []}});
        let document = serde_json::from_value(document).expect("well formed");
        assert_eq!(
            rules_text(&Definition::check(document).expect("valid")),
            "grand 5 20 30 - - -;mini 5 - - 60 86460 -;day 5 40 50 0 - 20:00@Asia/Seoul;"
        );
    }
}

//! Moves the money of the tiers as the scripts do (`tiers.lua`, `take.lua`), so that the changes that an event states
//! can be compared meter by meter.

use std::collections::BTreeMap;

use jackpot_core::ids::Id;
use jackpot_core::jackpot::definition::{Definition, MoneyKind, MoneyPrize};
use jackpot_core::jackpot::document::Tier;
use jackpot_core::jackpot::reversal::ReversedTier;
use jackpot_core::jackpot::split::TierAmount;
use jackpot_core::jackpot::transfer::Part;
use jackpot_core::money::MAX_MINOR;

use crate::jackpot::ledger::event::MeterChange;

const MICRO: i128 = 1_000_000;

/// The meters of one tier, in the order of [`NAMES`]. `i128`, so that no tampered amount overflows.
pub(super) type Meters = [i128; NAMES.len()];

/// The names of meters in events.
pub(super) const NAMES: [&str; 19] = [
    "pool",
    "reserve",
    "overflow",
    "pool_micro",
    "reserve_micro",
    "contributed",
    "contributed_micro",
    "funded",
    "paid",
    "wins",
    "funded_micro",
    "reversed",
    "reversed_micro",
    "transferred_in",
    "transferred_in_micro",
    "transferred_out",
    "transferred_out_micro",
    "expected",
    "voided",
];
const POOL: usize = 0;
const RESERVE: usize = 1;
const OVERFLOW: usize = 2;
const POOL_MICRO: usize = 3;
const RESERVE_MICRO: usize = 4;
const CONTRIBUTED: usize = 5;
const CONTRIBUTED_MICRO: usize = 6;
const FUNDED: usize = 7;
const PAID: usize = 8;
const WINS: usize = 9;
const FUNDED_MICRO: usize = 10;
const REVERSED: usize = 11;
const REVERSED_MICRO: usize = 12;
const TRANSFERRED_IN: usize = 13;
const TRANSFERRED_IN_MICRO: usize = 14;
const TRANSFERRED_OUT: usize = 15;
const TRANSFERRED_OUT_MICRO: usize = 16;
const EXPECTED: usize = 17;
const VOIDED: usize = 18;

/// Seed and cap of a tier, and the `low` of its must-hit rule.
#[derive(Debug, Clone, Copy, Default)]
struct Rules {
    seed: i128,
    cap: Option<i128>,
    low: Option<i128>,
}

impl Rules {
    fn of(tier: &Tier) -> Self {
        let by_amount = tier.must_hit_by.as_ref().and_then(|rule| rule.amount);
        Self {
            seed: i128::from(tier.seed.get()),
            cap: tier.cap.map(|cap| i128::from(cap.get())),
            low: by_amount.map(|amount| i128::from(amount.low.get())),
        }
    }
}

/// What the open cycle of a tier pins: it counts in place of the definition's.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pinned {
    pub min: i128,
    pub cap: Option<i128>,
}

/// The meters of every tier that was ever defined.
#[derive(Debug, Clone, Default)]
pub(super) struct Tiers {
    meters: BTreeMap<Id, Meters>,
    rules: BTreeMap<Id, Rules>,
    pinned: BTreeMap<Id, Pinned>,
}

/// What a claim took, or would have taken.
pub(super) struct Taken {
    /// `None` for a retry.
    pub amount: Option<i128>,
    /// The pool before it.
    pub before: i128,
}

impl Tiers {
    pub(super) fn meters(&self) -> &BTreeMap<Id, Meters> {
        &self.meters
    }

    /// The state before contributions to a tier: `pool,pool_micro,contributed_micro,cap`, as in the event of a batch.
    pub(super) fn place(&self, tier: &Id) -> String {
        let meters = self.meters.get(tier).copied().unwrap_or_default();
        let cap = self.cap(tier).map_or("-".to_owned(), |cap| cap.to_string());
        format!(
            "{},{},{},{cap}",
            meters[POOL], meters[POOL_MICRO], meters[CONTRIBUTED_MICRO]
        )
    }

    /// Whole units that were contributed to a tier until now, and its pool.
    pub(super) fn contributed(&self, tier: &Id) -> (i128, i128) {
        let meters = self.meters.get(tier).copied().unwrap_or_default();
        (meters[CONTRIBUTED], meters[POOL])
    }

    /// The pool of a tier.
    pub(super) fn pool(&self, tier: &Id) -> i128 {
        self.meters.get(tier).map_or(0, |meters| meters[POOL])
    }

    /// The open cycles pin these from here on.
    pub(super) fn pin(&mut self, pinned: BTreeMap<Id, Pinned>) {
        self.pinned = pinned;
    }

    fn cap(&self, tier: &Id) -> Option<i128> {
        match self.pinned.get(tier) {
            Some(pinned) => pinned.cap,
            None => self.rules.get(tier).and_then(|rules| rules.cap),
        }
    }

    /// Puts a definition in force. Money above a lowered cap overflows, unless an open cycle pins the cap.
    pub(super) fn apply(&mut self, definition: &Definition) {
        for tier in definition.tiers() {
            let rules = Rules::of(tier);
            self.rules.insert(tier.tier.clone(), rules);
            let meters = self.meters.entry(tier.tier.clone()).or_default();
            let cap = rules.cap.filter(|_| !self.pinned.contains_key(&tier.tier));
            let excess = cap.map_or(0, |cap| (meters[POOL] - cap).max(0));
            meters[POOL] -= excess;
            meters[OVERFLOW] += excess;
        }
    }

    /// Adds an entry's contribution to a tier. Returns the pool after it, and the growth of `contributed`.
    pub(super) fn accrue(&mut self, tier: &Id, amount: &TierAmount) -> (i128, i128) {
        let cap = self.cap(tier);
        let meters = self.meters.entry(tier.clone()).or_default();
        let [pool, reserve] =
            [amount.pool, amount.reserve].map(|part| (i128::from(part.units), i128::from(part.micro)));

        let micro = meters[CONTRIBUTED_MICRO] + pool.1 + reserve.1;
        let grown = pool.0 + reserve.0 + micro.div_euclid(MICRO);
        meters[CONTRIBUTED] += grown;
        meters[CONTRIBUTED_MICRO] = micro.rem_euclid(MICRO);

        let micro = meters[RESERVE_MICRO] + reserve.1;
        meters[RESERVE] += reserve.0 + micro.div_euclid(MICRO);
        meters[RESERVE_MICRO] = micro.rem_euclid(MICRO);

        let micro = meters[POOL_MICRO] + pool.1;
        let whole = pool.0 + micro.div_euclid(MICRO);
        meters[POOL_MICRO] = micro.rem_euclid(MICRO);
        let room = cap.map_or(whole, |cap| (cap - meters[POOL]).max(0));
        let taken = whole.min(room);
        meters[POOL] += taken;
        meters[OVERFLOW] += whole - taken;
        (meters[POOL], grown)
    }

    /// What a prize would take now. Moves nothing.
    pub(super) fn takes(&self, prize: &MoneyPrize) -> Taken {
        let before = self.meters.get(&prize.tier).map_or(0, |meters| meters[POOL]);
        let own = i128::from(prize.min_payout.get());
        let least = self.pinned.get(&prize.tier).map_or(own, |pinned| pinned.min).max(1);
        let (amount, least) = match prize.kind {
            MoneyKind::Fixed(amount) => (i128::from(amount.get()), 0),
            MoneyKind::All => (before, least),
            MoneyKind::Share(share) => ((before * i128::from(share.get())).div_euclid(MICRO), least),
        };
        let amount = (amount >= least && amount <= before).then_some(amount);
        Taken { amount, before }
    }

    /// Takes a prize. After a take of the whole pool, the waiting definition `next` comes into force and the pool
    /// restarts.
    pub(super) fn take(&mut self, prize: &MoneyPrize, amount: i128, next: Option<&Definition>) {
        let meters = self.meters.entry(prize.tier.clone()).or_default();
        meters[POOL] -= amount;
        meters[PAID] += amount;
        if prize.kind != MoneyKind::All {
            return;
        }
        meters[WINS] += 1;
        self.pinned.remove(&prize.tier);
        if let Some(next) = next {
            self.apply(next);
        }
        let rules = self.rules.get(&prize.tier).copied().unwrap_or_default();
        let meters = self.meters.entry(prize.tier.clone()).or_default();
        let from_reserve = rules.seed.min(meters[RESERVE]);
        let from_overflow = (rules.seed - from_reserve).min(meters[OVERFLOW]);
        meters[POOL] = from_reserve + from_overflow;
        meters[RESERVE] -= from_reserve;
        meters[OVERFLOW] -= from_overflow;
        let refill = rules.low.or(rules.cap).map_or(meters[OVERFLOW], |ceiling| {
            meters[OVERFLOW].min((ceiling - meters[POOL]).max(0))
        });
        meters[POOL] += refill;
        meters[OVERFLOW] -= refill;
    }

    /// Applies an operator's move from one meter to another; `""` is outside the jackpot. Returns whether the tier and
    /// both meters exist.
    pub(super) fn adjust(&mut self, tier: &Id, from: &str, to: &str, amount: i128) -> bool {
        let Some(meters) = self.meters.get_mut(tier) else {
            return false;
        };
        let place = |name: &str| match name {
            "" => Some(FUNDED),
            "pool" => Some(POOL),
            "reserve" => Some(RESERVE),
            "overflow" => Some(OVERFLOW),
            _ => None,
        };
        let (Some(from), Some(to)) = (place(from), place(to)) else {
            return false;
        };
        // Money from outside is funded, and money that goes outside reduces what was funded.
        meters[from] += if from == FUNDED { amount } else { -amount };
        meters[to] += if to == FUNDED { -amount } else { amount };
        true
    }

    /// Gives an entry's contribution back. `taken`: a take of all came after it, so that its pool share is gone.
    pub(super) fn reverse(&mut self, tier: &Id, amount: &TierAmount, taken: bool) -> ReversedTier {
        let whole = |units: i128, micro: i128| units * MICRO + micro;
        let meters = self.meters.entry(tier.clone()).or_default();
        let [pool, reserve] =
            [amount.pool, amount.reserve].map(|part| whole(i128::from(part.units), i128::from(part.micro)));

        let held = whole(meters[POOL] + meters[OVERFLOW], meters[POOL_MICRO]);
        let out = if taken { 0 } else { pool.min(held) };
        let spent = meters[POOL] + meters[OVERFLOW] - (held - out).div_euclid(MICRO);
        meters[POOL_MICRO] = (held - out).rem_euclid(MICRO);
        let of_pool = spent.min(meters[POOL]);
        meters[POOL] -= of_pool;
        meters[OVERFLOW] -= spent - of_pool;

        let held = whole(meters[RESERVE], meters[RESERVE_MICRO]);
        let of_reserve = reserve.min(held);
        meters[RESERVE] = (held - of_reserve).div_euclid(MICRO);
        meters[RESERVE_MICRO] = (held - of_reserve).rem_euclid(MICRO);

        let (amount, uncovered) = (pool + reserve, pool - out + reserve - of_reserve);
        let funded = whole(meters[FUNDED], meters[FUNDED_MICRO]) + uncovered;
        let reversed = whole(meters[REVERSED], meters[REVERSED_MICRO]) + amount;
        (meters[FUNDED], meters[FUNDED_MICRO]) = (funded.div_euclid(MICRO), funded.rem_euclid(MICRO));
        (meters[REVERSED], meters[REVERSED_MICRO]) = (reversed.div_euclid(MICRO), reversed.rem_euclid(MICRO));
        let part = |value: i128| u64::try_from(value).unwrap_or(u64::MAX);
        ReversedTier {
            tier: tier.clone(),
            amount: part(amount.div_euclid(MICRO)),
            amount_micro: part(amount.rem_euclid(MICRO)),
            uncovered: part(uncovered.div_euclid(MICRO)),
            uncovered_micro: part(uncovered.rem_euclid(MICRO)),
            taken: 0,
        }
    }

    /// Takes a payout back into the overflow.
    pub(super) fn void(&mut self, tier: &Id, amount: i128) {
        let meters = self.meters.entry(tier.clone()).or_default();
        for meter in [OVERFLOW, FUNDED, VOIDED] {
            meters[meter] += amount;
        }
    }

    /// Makes room for a part of a transfer in the tier that it goes to.
    pub(super) fn expect(&mut self, part: &Part) {
        let meters = self.meters.entry(part.to_tier.clone()).or_default();
        let room = room(part);
        meters[FUNDED] += room;
        meters[EXPECTED] += room;
    }

    /// Takes the room for a part back.
    pub(super) fn release(&mut self, part: &Part) {
        let meters = self.meters.entry(part.to_tier.clone()).or_default();
        let room = room(part);
        meters[FUNDED] -= room;
        meters[EXPECTED] -= room;
    }

    /// Gives everything of a tier out. Returns the part.
    pub(super) fn give(&mut self, tier: &Id, to_tier: &Id) -> Part {
        let meters = self.meters.entry(tier.clone()).or_default();
        let unsigned = |value: i128| u64::try_from(value).unwrap_or(u64::MAX);
        let part = Part {
            tier: tier.clone(),
            to_tier: to_tier.clone(),
            pool: unsigned(meters[POOL]),
            pool_micro: unsigned(meters[POOL_MICRO]),
            reserve: unsigned(meters[RESERVE]),
            reserve_micro: unsigned(meters[RESERVE_MICRO]),
            overflow: unsigned(meters[OVERFLOW]),
        };
        for at in [POOL, POOL_MICRO, RESERVE, RESERVE_MICRO, OVERFLOW] {
            meters[at] = 0;
        }
        add(meters, TRANSFERRED_OUT, TRANSFERRED_OUT_MICRO, amount(&part));
        part
    }

    /// Puts a part of a transfer into its tier. `has_room`: room was made for it. `guarded`: by an open cycle by amount,
    /// which only contributions pass.
    pub(super) fn receive(&mut self, part: &Part, has_room: bool, guarded: Option<u64>) {
        let cap = self.cap(&part.to_tier);
        let most = cap.into_iter().chain(guarded.map(i128::from)).min();
        let meters = self.meters.entry(part.to_tier.clone()).or_default();
        if has_room {
            meters[FUNDED] -= room(part);
            meters[EXPECTED] -= room(part);
        }
        add(meters, FUNDED, FUNDED_MICRO, amount(part));
        add(meters, TRANSFERRED_IN, TRANSFERRED_IN_MICRO, amount(part));
        let whole = |units: u64, micro: u64| i128::from(units) * MICRO + i128::from(micro);
        add(meters, RESERVE, RESERVE_MICRO, whole(part.reserve, part.reserve_micro));
        let before = meters[POOL];
        add(meters, POOL, POOL_MICRO, whole(part.pool, part.pool_micro));
        let came = meters[POOL] - before;
        let taken = most.map_or(came, |most| came.min((most - before).max(0)));
        meters[POOL] = before + taken;
        meters[OVERFLOW] += i128::from(part.overflow) + came - taken;
    }

    /// Compares the changes since `before` with those that an event states. Returns the first difference, and continues
    /// from what the event states.
    pub(super) fn compare(&mut self, before: &Self, changes: &[MeterChange]) -> Option<String> {
        let mut stated = before.meters.clone();
        for tier in self.meters.keys() {
            stated.entry(tier.clone()).or_default();
        }
        for change in changes {
            let Some(at) = NAMES.iter().position(|name| **name == *change.meter) else {
                return Some(format!("it changes a meter '{}', which there is not", change.meter));
            };
            stated.entry(change.tier.clone()).or_default()[at] += i128::from(change.delta);
        }
        // A tier that only one side knows holds nothing on the other.
        let tiers = self.meters.keys().chain(stated.keys());
        let different = tiers
            .flat_map(|tier| (0..NAMES.len()).map(move |at| (tier, at)))
            .find_map(|(tier, at)| {
                let value = |of: &BTreeMap<Id, Meters>| of.get(tier).map_or(0, |meters| meters[at]);
                let (is, should) = (value(&stated), value(&self.meters));
                (is != should).then(|| {
                    let meter = NAMES[at];
                    format!("it leaves {meter} of tier '{tier}' at {is}; what happened leaves it at {should}")
                })
            });
        self.meters = stated;
        different
    }

    /// Applies the changes that a skipped event states.
    pub(super) fn carry(&mut self, changes: &[MeterChange]) {
        for change in changes {
            let meters = self.meters.entry(change.tier.clone()).or_default();
            // Unexplained amounts of a skipped event are in no meter of Redis.
            if let Some(at) = NAMES.iter().position(|name| **name == *change.meter) {
                meters[at] += i128::from(change.delta);
            }
        }
    }

    /// Seeds and caps of a definition that is in force already.
    pub(super) fn set_rules(&mut self, definition: &Definition) {
        for tier in definition.tiers() {
            let rules = Rules::of(tier);
            self.rules.insert(tier.tier.clone(), rules);
            self.meters.entry(tier.tier.clone()).or_default();
        }
    }

    /// A meter outside the range that a jackpot can hold.
    pub(super) fn out_of_range(&self) -> Option<String> {
        let bad = |name: &str, value: i128| value.abs() > i128::from(MAX_MINOR) || (value < 0 && name != "funded");
        self.meters.iter().find_map(|(tier, meters)| {
            let at = NAMES.iter().zip(meters).find(|(name, value)| bad(name, **value))?;
            Some(format!("{} of tier '{tier}' is at {}", at.0, at.1))
        })
    }
}

/// All money of a part of a transfer, millionths.
fn amount(part: &Part) -> i128 {
    let units = i128::from(part.pool) + i128::from(part.reserve) + i128::from(part.overflow);
    units * MICRO + i128::from(part.pool_micro) + i128::from(part.reserve_micro)
}

/// Whole units that it needs below 2^53 - 1.
fn room(part: &Part) -> i128 {
    (amount(part) + MICRO - 1).div_euclid(MICRO)
}

/// Adds millionths to a meter of units and its fraction.
fn add(meters: &mut Meters, units: usize, micro: usize, amount: i128) {
    let sum = meters[units] * MICRO + meters[micro] + amount;
    (meters[units], meters[micro]) = (sum.div_euclid(MICRO), sum.rem_euclid(MICRO));
}

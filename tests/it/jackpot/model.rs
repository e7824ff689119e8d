//! A small pure model of a jackpot's money, written from the contract alone: wide integers, no carry, no script. It
//! keeps exact millionths and derives every meter from them. Cycles of tiers that must be hit by an amount get their
//! triggers from the test, which knows the seeds.

use std::fmt;
use std::rc::Rc;

const MICRO: u128 = 1_000_000;
const MAX: u128 = 9_007_199_254_740_991;

/// What the contract lets an operator choose of a tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    pub share_ppm: u128,
    pub reserve_ppm: u128,
    pub min_payout: u128,
    pub seed: u128,
    pub cap: Option<u128>,
    /// `low` and `high` of a pool that must be hit.
    pub must_hit: Option<(u128, u128)>,
}

/// The trigger of a cycle: tier, number, its `low` and `high`.
pub type Trigger = Rc<dyn Fn(usize, u64, u128, u128) -> u128>;

/// The open cycle of a tier, with what it pins: it counts whatever definition comes into force meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cycle {
    pub number: u64,
    pub low: u128,
    pub trigger: u128,
    high: u128,
    min: u128,
    cap: Option<u128>,
    /// Number of the last entry before it.
    since: u64,
    /// Whole units that reversals took out of the pool.
    reversed: u128,
}

/// An entry's hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    pub tier: usize,
    pub cycle: Cycle,
    pub amount: u128,
}

/// A tier's money. Pool and reserve are exact millionths, shown as whole units.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tier {
    pub pool: u128,
    pub reserve: u128,
    pub overflow: u128,
    pub pool_micro: u128,
    pub reserve_micro: u128,
    pub contributed_micro: u128,
    pub funded_micro: i128,
    pub reversed_micro: u128,
    pub transferred_in_micro: u128,
    pub transferred_out_micro: u128,
    /// Whole units that are kept free for transfers.
    pub expected: u128,
    /// Whole units of payouts that were taken back.
    pub voided: u128,
    pub paid: u128,
    pub wins: u128,
    /// Number of the last entry at the last take of all.
    took: Option<u64>,
    pub cycle: Option<Cycle>,
    /// How many cycles there were.
    cycles: u64,
}

/// What a transfer moves out of one tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moved {
    pub pool: u128,
    pub pool_micro: u128,
    pub reserve: u128,
    pub reserve_micro: u128,
    pub overflow: u128,
}

/// What decides an entry's contribution, and its number.
#[derive(Debug, Clone, Copy)]
pub struct Round {
    pub sequence: u64,
    pub stake: u128,
    pub rate_ppm: u128,
}

/// The part of the pool that a prize takes.
#[derive(Debug, Clone, Copy)]
pub enum Prize {
    All,
    Share(u128),
    Fixed(u128),
}

#[derive(Clone)]
pub struct Model {
    pub rules: Vec<Rules>,
    /// Those of the definition that waits.
    pub waiting: Option<Vec<Rules>>,
    pub tiers: Vec<Tier>,
    pub sequence: u64,
    pub claim_order: u64,
    trigger: Trigger,
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model")
            .field("tiers", &self.tiers)
            .finish_non_exhaustive()
    }
}

impl Model {
    pub fn new(rules: Vec<Rules>, trigger: Trigger) -> Self {
        let mut model = Self {
            tiers: vec![Tier::default(); rules.len()],
            rules,
            waiting: None,
            sequence: 0,
            claim_order: 0,
            trigger,
        };
        (0..model.tiers.len()).for_each(|tier| model.begin(tier));
        model
    }

    /// Begins a cycle, if the tier has a rule.
    fn begin(&mut self, place: usize) {
        let (rules, tier) = (&self.rules[place], &mut self.tiers[place]);
        let Some((low, high)) = rules.must_hit else { return };
        let low = low.max(tier.pool.min(high - 1));
        tier.cycle = Some(Cycle {
            number: tier.cycles,
            low,
            trigger: (self.trigger)(place, tier.cycles, low, high),
            high,
            min: rules.min_payout,
            cap: rules.cap,
            since: self.sequence,
            reversed: 0,
        });
        tier.cycles += 1;
    }

    /// The open cycle ends without a take, and the next begins. Where the rule was taken away, it goes on under what is
    /// pinned.
    fn restart(&mut self, place: usize) {
        let Some(was) = self.tiers[place].cycle.take() else {
            return;
        };
        self.begin(place);
        let tier = &mut self.tiers[place];
        if tier.cycle.is_none() {
            let low = was.low.max(tier.pool.min(was.high - 1));
            tier.cycle = Some(Cycle {
                number: tier.cycles,
                low,
                trigger: (self.trigger)(place, tier.cycles, low, was.high),
                since: self.sequence,
                reversed: 0,
                ..was
            });
            tier.cycles += 1;
        }
    }

    /// Whether a definition may come into force without a take: no pool that players see shrinks.
    pub fn fits(&self, rules: &[Rules]) -> bool {
        let fits = |(tier, rules): (&Tier, &Rules)| rules.cap.is_none_or(|cap| tier.pool <= cap);
        self.tiers.iter().zip(rules).all(fits)
    }

    /// Puts the waiting definition in force. `took`: the tier whose take of all did it.
    pub fn apply(&mut self, took: Option<usize>) -> bool {
        let Some(rules) = self.waiting.take() else { return false };
        self.rules = rules;
        for (tier, rules) in self.tiers.iter_mut().zip(&self.rules) {
            let cap = rules.cap.filter(|_| tier.cycle.is_none());
            let excess = cap.map_or(0, |cap| tier.pool.saturating_sub(cap));
            tier.pool -= excess;
            tier.overflow += excess;
        }
        for place in 0..self.tiers.len() {
            if took != Some(place) && self.tiers[place].cycle.is_none() {
                self.begin(place);
            }
        }
        true
    }

    /// What the entry taken last hits: of the tiers that have reached their triggers the one whose cycle began first, whole.
    pub fn hit(&mut self) -> Option<Hit> {
        let since = |tier: &Tier| {
            let cycle = tier.cycle?;
            let is_due = tier.pool >= cycle.min.max(1) && tier.pool + cycle.reversed >= cycle.trigger;
            is_due.then_some(cycle.since)
        };
        let due = self.tiers.iter().enumerate();
        let due = due.filter_map(|(place, tier)| Some((since(tier)?, place)));
        let (_, tier) = due.min()?;
        let cycle = self.tiers[tier].cycle?;
        let amount = self.claim(tier, Prize::All)?;
        Some(Hit { tier, cycle, amount })
    }

    /// What each tier gets of a contribution, in millionths.
    fn shares(&self, whole: u128) -> Vec<u128> {
        let complete = self.rules.iter().map(|r| r.share_ppm).sum::<u128>() == MICRO;
        let mut left = whole;
        let mut shares = Vec::new();
        for (i, rules) in self.rules.iter().enumerate() {
            let last = complete && i + 1 == self.rules.len();
            let amount = if last { left } else { whole * rules.share_ppm / MICRO };
            left -= amount;
            shares.push(amount);
        }
        shares
    }

    /// Adds an entry's contribution; `None`, with nothing changed, when a meter would pass 2^53 − 1.
    pub fn enter(&mut self, stake: u128, rate_ppm: u128) -> Option<Round> {
        let before = self.tiers.clone();
        let shares = self.shares(stake * rate_ppm);
        for ((tier, rules), amount) in self.tiers.iter_mut().zip(&self.rules).zip(shares) {
            tier.contribute(rules, amount);
        }
        if !self.tiers.iter().all(Tier::fits) {
            self.tiers = before;
            return None;
        }
        self.sequence += 1;
        Some(Round {
            sequence: self.sequence,
            stake,
            rate_ppm,
        })
    }

    /// Takes an entry's contribution back: of each tier all of it, and what the tier did not hold, in millionths. `None`,
    /// with nothing changed, when a meter would pass 2^53 − 1.
    pub fn reverse(&mut self, round: Round) -> Option<Vec<(u128, u128)>> {
        let before = self.tiers.clone();
        let shares = self.shares(round.stake * round.rate_ppm);
        let tiers = self.tiers.iter_mut().zip(&self.rules).zip(shares);
        let reversed = tiers
            .map(|((tier, rules), amount)| (amount, tier.reverse(rules, amount, round.sequence)))
            .collect();
        if !self.tiers.iter().all(Tier::fits) {
            self.tiers = before;
            return None;
        }
        Some(reversed)
    }

    /// Takes a prize: the amount, or `None` for retry.
    pub fn claim(&mut self, place: usize, prize: Prize) -> Option<u128> {
        let (rules, tier) = (&self.rules[place], &mut self.tiers[place]);
        let min = tier.cycle.map_or(rules.min_payout, |cycle| cycle.min).max(1);
        let (amount, least) = match prize {
            Prize::All => (tier.pool, min),
            Prize::Share(ppm) => (tier.pool * ppm / MICRO, min),
            Prize::Fixed(amount) => (amount, amount),
        };
        if amount < least || amount > tier.pool {
            return None;
        }
        tier.pool -= amount;
        tier.paid += amount;
        self.claim_order += 1;
        if matches!(prize, Prize::All) {
            tier.wins += 1;
            tier.took = Some(self.sequence);
            tier.cycle = None;
            self.apply(Some(place));
            self.tiers[place].restart(&self.rules[place]);
            self.begin(place);
        }
        Some(amount)
    }

    /// Funds (positive) or takes back the pool; `false`, with nothing changed, when a rule forbids it.
    pub fn adjust(&mut self, tier: usize, amount: i128) -> bool {
        let rules = &self.rules[tier];
        let mut after = self.tiers[tier].clone();
        let Some(pool) = after.pool.checked_add_signed(amount) else {
            return false;
        };
        after.pool = pool;
        after.funded_micro += amount * 1_000_000;
        let above_low = after.cycle.is_some_and(|cycle| pool + cycle.reversed > cycle.low);
        let above = amount > 0 && (above_low || after.cap(rules).is_some_and(|cap| pool > cap));
        if above || !after.fits() {
            return false;
        }
        self.tiers[tier] = after;
        true
    }
}

impl Model {
    /// Takes a payout back into the overflow; `false`, with nothing changed, when there is no room.
    pub fn void(&mut self, tier: usize, amount: u128) -> bool {
        let mut after = self.tiers[tier].clone();
        after.overflow += amount;
        after.voided += amount;
        let fits = after.fits();
        if fits {
            self.tiers[tier] = after;
        }
        fits
    }

    /// What a transfer of this tier would move.
    pub fn holds(&self, tier: usize) -> Moved {
        let tier = &self.tiers[tier];
        Moved {
            pool: tier.pool,
            pool_micro: tier.pool_micro,
            reserve: tier.reserve,
            reserve_micro: tier.reserve_micro,
            overflow: tier.overflow,
        }
    }

    /// Keeps room free for what a transfer brings to these tiers; `false`, with nothing changed, when there is none.
    pub fn expect(&mut self, parts: &[(usize, Moved)]) -> bool {
        let before = self.tiers.clone();
        for (tier, moved) in parts {
            self.tiers[*tier].expected += moved.micro().div_ceil(MICRO);
        }
        // Two remainders may become two units.
        let fits = parts.iter().all(|(tier, _)| self.tiers[*tier].fits_below(MAX - 2));
        if !fits {
            self.tiers = before;
        }
        fits
    }

    /// Whether what these tiers hold is an amount that can be written.
    pub fn can_give(&self, mut places: impl Iterator<Item = usize>) -> bool {
        places
            .try_fold(0, |units, place| {
                let all = units + self.holds(place).micro() / MICRO;
                (all <= MAX).then_some(all)
            })
            .is_some()
    }

    /// Gives everything of a tier out. Its cycle ends with it.
    pub fn give(&mut self, place: usize) {
        let moved = self.holds(place);
        let tier = &mut self.tiers[place];
        tier.transferred_out_micro += moved.micro();
        (tier.pool, tier.reserve, tier.overflow) = (0, 0, 0);
        (tier.pool_micro, tier.reserve_micro) = (0, 0);
        self.restart(place);
    }

    /// Takes what a transfer brings: a pool takes of it what its cap and its open cycle allow, the overflow the rest.
    pub fn receive(&mut self, tier: usize, moved: Moved) {
        let (rules, tier) = (&self.rules[tier], &mut self.tiers[tier]);
        tier.expected -= moved.micro().div_ceil(MICRO);
        tier.transferred_in_micro += moved.micro();
        tier.reserve_micro += moved.reserve_micro;
        tier.reserve += moved.reserve + tier.reserve_micro / MICRO;
        tier.reserve_micro %= MICRO;
        tier.pool_micro += moved.pool_micro;
        let came = moved.pool + tier.pool_micro / MICRO;
        tier.pool_micro %= MICRO;
        let guarded = tier.cycle.map(|cycle| cycle.low.saturating_sub(cycle.reversed));
        let most = tier.cap(rules).into_iter().chain(guarded).min();
        let to_pool = most.map_or(came, |most| came.min(most.saturating_sub(tier.pool)));
        tier.pool += to_pool;
        tier.overflow += moved.overflow + came - to_pool;
    }
}

impl Moved {
    /// All of it, in millionths.
    pub fn micro(&self) -> u128 {
        (self.pool + self.reserve + self.overflow) * MICRO + self.pool_micro + self.reserve_micro
    }
}

impl Tier {
    /// The cap that counts.
    fn cap(&self, rules: &Rules) -> Option<u128> {
        self.cycle.map_or(rules.cap, |cycle| cycle.cap)
    }

    fn contribute(&mut self, rules: &Rules, micro: u128) {
        self.contributed_micro += micro;
        let reserve = micro * rules.reserve_ppm / MICRO;
        self.reserve_micro += reserve;
        self.reserve += self.reserve_micro / MICRO;
        self.reserve_micro %= MICRO;
        self.pool_micro += micro - reserve;
        let whole = self.pool_micro / MICRO;
        self.pool_micro %= MICRO;
        self.pool += whole;
        if let Some(excess) = self.cap(rules).and_then(|cap| self.pool.checked_sub(cap)) {
            // A pool that was above its cap before stays; any amount above that overflows.
            let excess = excess.min(whole);
            self.pool -= excess;
            self.overflow += excess;
        }
    }

    /// Gives a contribution back. Returns what the tier did not hold of it.
    fn reverse(&mut self, rules: &Rules, micro: u128, sequence: u64) -> u128 {
        let of_reserve = micro * rules.reserve_ppm / MICRO;
        let of_pool = micro - of_reserve;
        let won_since = self.took.is_some_and(|took| sequence <= took);
        let held = (self.pool + self.overflow) * MICRO + self.pool_micro;
        let out = if won_since { 0 } else { of_pool.min(held) };
        // The pool gives first: what is left is overflow, up to what was there.
        let left = (held - out) / MICRO;
        self.pool_micro = (held - out) % MICRO;
        self.overflow = self.overflow.min(left);
        let before = self.pool;
        self.pool = left - self.overflow;
        if let Some(cycle) = &mut self.cycle {
            cycle.reversed += before - self.pool;
        }

        let held = self.reserve * MICRO + self.reserve_micro;
        let out_of_reserve = of_reserve.min(held);
        self.reserve = (held - out_of_reserve) / MICRO;
        self.reserve_micro = (held - out_of_reserve) % MICRO;

        let uncovered = micro - out - out_of_reserve;
        self.funded_micro += i128::try_from(uncovered).expect("far below 2^127");
        self.reversed_micro += micro;
        uncovered
    }

    /// Whole units that operators funded, that transfers brought or will bring, and that were taken back.
    fn funded(&self) -> i128 {
        let signed = |amount: u128| i128::try_from(amount).expect("far below 2^127");
        (self.funded_micro + signed(self.transferred_in_micro)).div_euclid(1_000_000)
            + signed(self.expected + self.voided)
    }

    fn restart(&mut self, rules: &Rules) {
        let from_reserve = rules.seed.min(self.reserve);
        let from_overflow = (rules.seed - from_reserve).min(self.overflow);
        self.reserve -= from_reserve;
        self.overflow -= from_overflow;
        self.pool += from_reserve + from_overflow;
        let most = rules.cap.into_iter().chain(rules.must_hit.map(|(low, _)| low)).min();
        let refill = most.map_or(self.overflow, |most| self.overflow.min(most - self.pool));
        self.overflow -= refill;
        self.pool += refill;
    }

    fn fits(&self) -> bool {
        self.fits_below(MAX)
    }

    fn fits_below(&self, most: u128) -> bool {
        let contributed = self.contributed_micro / MICRO;
        let funded = u128::try_from(self.funded().max(0)).unwrap_or_default();
        contributed + funded <= most
    }

    /// Promise 1, in millionths: what came in or back, minus what is there, was paid, was reversed and went to other jackpots;
    /// always 0.
    pub fn balance(&self) -> i128 {
        let held =
            (self.pool + self.reserve + self.overflow + self.paid) * MICRO + self.pool_micro + self.reserve_micro;
        let signed = |amount: u128| i128::try_from(amount).expect("far below 2^127");
        let came_in = self.contributed_micro + self.transferred_in_micro + self.voided * MICRO;
        signed(came_in) + self.funded_micro - signed(held + self.reversed_micro + self.transferred_out_micro)
    }
}

//! A small pure model of a jackpot's money, written from the contract alone: wide integers, no carry, no script. It
//! keeps exact millionths and derives every meter from them.

const MICRO: u128 = 1_000_000;
const MAX: u128 = 9_007_199_254_740_991;

/// What the contract lets an operator choose of a tier.
#[derive(Debug, Clone)]
pub struct Rules {
    pub share_ppm: u128,
    pub reserve_ppm: u128,
    pub min_payout: u128,
    pub seed: u128,
    pub cap: Option<u128>,
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
    pub funded: i128,
    pub paid: u128,
    pub wins: u128,
}

/// The part of the pool that a prize takes.
#[derive(Debug, Clone, Copy)]
pub enum Prize {
    All,
    Share(u128),
    Fixed(u128),
}

#[derive(Debug, Clone)]
pub struct Model {
    pub rules: Vec<Rules>,
    pub tiers: Vec<Tier>,
    pub rate_ppm: u128,
    pub claim_order: u64,
}

impl Model {
    pub fn new(rules: Vec<Rules>, rate_ppm: u128) -> Self {
        Self {
            tiers: vec![Tier::default(); rules.len()],
            rules,
            rate_ppm,
            claim_order: 0,
        }
    }

    /// Adds an entry's contribution; `None`, with nothing changed, when a meter would pass 2^53 − 1.
    pub fn enter(&mut self, stake: u128) -> Option<()> {
        let before = self.tiers.clone();
        let whole = stake * self.rate_ppm;
        let complete = self.rules.iter().map(|r| r.share_ppm).sum::<u128>() == MICRO;
        let mut left = whole;
        for (i, rules) in self.rules.iter().enumerate() {
            let last = complete && i + 1 == self.rules.len();
            let amount = if last { left } else { whole * rules.share_ppm / MICRO };
            left -= amount;
            self.tiers[i].contribute(rules, amount);
        }
        let fits = self.tiers.iter().all(Tier::fits);
        if !fits {
            self.tiers = before;
        }
        fits.then_some(())
    }

    /// Takes a prize: the amount, or `None` for retry.
    pub fn claim(&mut self, tier: usize, prize: Prize) -> Option<u128> {
        let (rules, tier) = (&self.rules[tier], &mut self.tiers[tier]);
        let (amount, least) = match prize {
            Prize::All => (tier.pool, rules.min_payout.max(1)),
            Prize::Share(ppm) => (tier.pool * ppm / MICRO, rules.min_payout.max(1)),
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
            tier.restart(rules);
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
        after.funded += amount;
        let above = amount > 0 && rules.cap.is_some_and(|cap| pool > cap);
        if above || !after.fits() {
            return false;
        }
        self.tiers[tier] = after;
        true
    }
}

impl Tier {
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
        if let Some(excess) = rules.cap.and_then(|cap| self.pool.checked_sub(cap)) {
            // A pool that was above its cap before stays; any amount above that overflows.
            let excess = excess.min(whole);
            self.pool -= excess;
            self.overflow += excess;
        }
    }

    fn restart(&mut self, rules: &Rules) {
        let from_reserve = rules.seed.min(self.reserve);
        let from_overflow = (rules.seed - from_reserve).min(self.overflow);
        self.reserve -= from_reserve;
        self.overflow -= from_overflow;
        self.pool += from_reserve + from_overflow;
        let refill = rules
            .cap
            .map_or(self.overflow, |cap| self.overflow.min(cap - self.pool));
        self.overflow -= refill;
        self.pool += refill;
    }

    fn fits(&self) -> bool {
        let contributed = self.contributed_micro / MICRO;
        let funded = u128::try_from(self.funded.max(0)).unwrap_or_default();
        contributed <= MAX && contributed + funded <= MAX
    }

    /// Promise 1, in millionths: what came in, minus what is there and what was paid; always 0.
    pub fn balance(&self) -> i128 {
        let held =
            (self.pool + self.reserve + self.overflow + self.paid) * MICRO + self.pool_micro + self.reserve_micro;
        let signed = |amount: u128| i128::try_from(amount).expect("far below 2^127");
        signed(self.contributed_micro) + self.funded * signed(MICRO) - signed(held)
    }
}

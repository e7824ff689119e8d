//! The cycles of a jackpot as last read, and what a call brings about them.

use std::sync::OnceLock;
use std::time::Instant;

use jackpot_core::ids::Id;
use jackpot_core::jackpot::cycle::{CycleRow, Cycles, MAX_ENDED, Pins, Preparing, Renews};
use jackpot_core::secret::Secrets;

use super::error::PlayError;
use jackpot_kernel::random;

/// Cycles after the open one that a call usually brings. A view stays of use while at most so many end.
pub(super) const FOLLOWING: usize = 16;
/// Most of them: a batch ends at most [`MAX_ENDED`], and one more begins.
pub(super) const MOST_FOLLOWING: usize = MAX_ENDED + 1;

/// Rules and cycles, with the secrets of their triggers.
#[derive(Debug)]
pub struct Cycling {
    secrets: Secrets,
    cycles: Cycles,
    /// The nonce of tiers without one.
    nonce: [u8; 16],
    /// Redis' clock at the reading, in seconds, and the instant of it.
    read: (i64, Instant),
    usual: OnceLock<String>,
}

/// When a tier is due by its rule.
pub struct Trigger {
    pub tier: Id,
    /// The pool hits from here on only.
    pub min: u64,
    /// What its cycle pins beside its rule.
    pub pins: Option<Pins>,
    /// What was reversed out of the pool in the cycle.
    pub reversed: u64,
    pub amount: Option<u64>,
    /// Seconds since 1970.
    pub at: Option<i64>,
}

/// Without what is secret.
impl std::fmt::Debug for Trigger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trigger")
            .field("tier", &self.tier)
            .finish_non_exhaustive()
    }
}

impl Cycling {
    /// Those of a jackpot that was read now, at `now_ms` of Redis' clock.
    pub fn new(secrets: &Secrets, cycles: Cycles, now_ms: i64) -> Result<Self, PlayError> {
        let nonce = if cycles.is_empty() { [0; 16] } else { random::bytes()? };
        Ok(Self {
            secrets: secrets.clone(),
            cycles,
            nonce,
            read: (now_ms.div_euclid(1_000), Instant::now()),
            usual: OnceLock::new(),
        })
    }

    /// Those of a jackpot that is about to get these rules.
    pub fn with_rules(&self, rules: &str) -> Result<Self, PlayError> {
        let cycles = self.cycles.clone().with_rules(rules).unwrap_or_default();
        let (now, at) = self.read;
        let later = i64::try_from(at.elapsed().as_secs()).unwrap_or(i64::MAX);
        Self::new(&self.secrets, cycles, now.saturating_add(later).saturating_mul(1_000))
    }

    /// Whether no tier has a rule or a cycle.
    pub fn is_empty(&self) -> bool {
        self.cycles.is_empty()
    }

    /// Whether an entry may hit a pool under the definition in force.
    pub fn has_open(&self) -> bool {
        self.cycles.has_open()
    }

    /// What a call brings, with so many cycles after the open ones.
    pub fn prepared(&self, jackpot: &Id, following: usize) -> String {
        if self.is_empty() {
            return String::new();
        }
        let make = || self.cycles.prepared(&self.preparing(jackpot, self.nonce, following));
        if following == FOLLOWING {
            return self.usual.get_or_init(make).clone();
        }
        make()
    }

    /// What a call brings that ends all open cycles and begins new ones with a new nonce; empty without cycles. Those
    /// that follow one under another secret have numbers far above it, as after a restore.
    pub fn renewed(&self, jackpot: &Id) -> Result<String, PlayError> {
        if self.is_empty() {
            return Ok(String::new());
        }
        let with = Preparing {
            renews: Some(Renews::Next),
            ..self.preparing(jackpot, random::bytes()?, 1)
        };
        Ok(self.cycles.prepared(&with))
    }

    /// The triggers of the open cycles of a state, by its field `cycles`; `None` if one of them can't be computed.
    pub fn triggers(&self, jackpot: &Id, field: &str) -> Option<Vec<Trigger>> {
        let cycles = Cycles::parse(field)?;
        let open = cycles.rows.into_iter().filter(CycleRow::is_open);
        let trigger = |row: CycleRow| {
            let seed = row.seed(&self.secrets, jackpot)?;
            Some(Trigger {
                min: row.min,
                pins: row.pins.0,
                reversed: row.reversed,
                amount: row.trigger_amount(&seed),
                at: row.trigger_at(&seed),
                tier: row.tier,
            })
        };
        open.map(trigger).collect()
    }

    fn preparing<'a>(&'a self, jackpot: &'a Id, nonce: [u8; 16], following: usize) -> Preparing<'a> {
        let (now, at) = self.read;
        Preparing {
            jackpot,
            secrets: &self.secrets,
            nonce,
            renews: None,
            following,
            now: now.saturating_add(i64::try_from(at.elapsed().as_secs()).unwrap_or(i64::MAX)),
        }
    }

    /// The secrets that open cycles need and that this instance lacks.
    pub fn missing(&self) -> impl Iterator<Item = &str> {
        self.cycles.missing(&self.secrets)
    }

    /// The open cycles.
    pub fn open(&self) -> impl Iterator<Item = &CycleRow> {
        self.cycles.rows.iter().filter(|row| row.is_open())
    }

    /// Whether the open cycles are those of another reading.
    pub fn has_same_open(&self, other: &Self) -> bool {
        let key = |row: &'_ CycleRow| (row.tier.clone(), row.cycle);
        self.open().map(key).eq(other.open().map(key))
    }

    /// Whether one of the open cycles is not under the current secret.
    pub fn is_under_another_secret(&self) -> bool {
        self.open().any(|row| row.secret != self.secrets.current_id())
    }
}

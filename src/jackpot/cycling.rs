//! The cycles of a jackpot as last read, and what a call brings about them.

use std::sync::OnceLock;
use std::time::Instant;

use jackpot_core::ids::Id;
use jackpot_core::jackpot::cycle::{Cycles, MAX_ENDED, Preparing};
use jackpot_core::secret::Secrets;

use super::error::PlayError;
use crate::random;

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

    /// What a call brings, with so many cycles after the open ones.
    pub fn prepared(&self, jackpot: &Id, following: usize) -> String {
        if self.is_empty() {
            return String::new();
        }
        let make = |following| {
            let (now, at) = self.read;
            self.cycles.prepared(&Preparing {
                jackpot,
                secrets: &self.secrets,
                nonce: self.nonce,
                renews: None,
                following,
                now: now.saturating_add(i64::try_from(at.elapsed().as_secs()).unwrap_or(i64::MAX)),
            })
        };
        if following == FOLLOWING {
            return self.usual.get_or_init(|| make(FOLLOWING)).clone();
        }
        make(following)
    }
}

//! What a comparison of Redis with the ledger found. Pure.

use std::fmt::Display;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A term of the identity, from both sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Term {
    /// `opening`, `contributions`, `contributions_micro`, `funding`, `funding_micro`, `transfers_in`, `transfers_in_micro`
    /// and `voided` on one side of the identity; `pool`, `reserve`, `overflow`, `remainder_micro`, `paid`,
    /// `transfers_out`, `transfers_out_micro`, `reversed` and `reversed_micro` on the other; and, on the first, `skipped`
    /// and `skipped_micro` (what came in by events that were skipped and did not say from where) in a tier that has any.
    #[schema(example = "pool")]
    pub term: String,
    /// Minor units, or millionths where the name says micro.
    pub redis: i64,
    /// The same in the ledger.
    pub ledger: i64,
}

/// A meter that is not the same on both sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Difference {
    /// Its name.
    #[schema(example = "pool")]
    pub meter: String,
    /// What Redis has.
    pub redis: i64,
    /// What the ledger has.
    pub ledger: i64,
}

/// Promise 1 of one tier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TierReport {
    /// Which tier.
    #[schema(example = "grand")]
    pub tier: String,
    /// Each term, from both sides.
    pub terms: Vec<Term>,
    /// Whether the identity holds, on both sides.
    pub identity_holds: bool,
    /// Whether all meters are the same on both sides.
    pub agrees: bool,
    /// Those that are not.
    pub differences: Vec<Difference>,
}

/// A part of the state, from both sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StateRow {
    /// `status`, `version`, `tiers`, `sequence`, `claim_order`, `epoch`, `seen_a`, `pending` and so on
    /// (docs/explanation/ledger.md has all); or only `readable`, when it is not.
    #[schema(example = "sequence")]
    pub name: String,
    /// What Redis has.
    pub redis: String,
    /// What the ledger has.
    pub ledger: String,
    /// Whether they are the same.
    pub agrees: bool,
}

/// What a reconciliation found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Report {
    /// Whether all of it is as it should be.
    pub clean: bool,
    /// Each tier.
    pub tiers: Vec<TierReport>,
    /// The rest.
    pub state: Vec<StateRow>,
}

impl StateRow {
    /// Compares both sides of one part.
    pub fn of(name: &str, redis: &dyn Display, ledger: &dyn Display) -> Self {
        let (redis, ledger) = (redis.to_string(), ledger.to_string());
        Self {
            name: name.to_owned(),
            agrees: redis == ledger,
            redis,
            ledger,
        }
    }
}

impl Report {
    /// The report of a subject without tiers.
    pub fn of_state(state: Vec<StateRow>) -> Self {
        Self {
            clean: state.iter().all(|row| row.agrees),
            tiers: Vec::new(),
            state,
        }
    }

    /// What is wrong, for a log line; empty when nothing is.
    pub fn faults(&self) -> Vec<String> {
        let meters = self.tiers.iter().flat_map(|tier| {
            let broken = (!tier.identity_holds).then(|| format!("tier '{}': the identity does not hold", tier.tier));
            let differ = tier.differences.iter().map(|difference| {
                let Difference { meter, redis, ledger } = difference;
                format!(
                    "tier '{}': {meter} is {redis} in Redis and {ledger} in the ledger",
                    tier.tier
                )
            });
            differ.chain(broken)
        });
        let state = self.state.iter().filter(|row| !row.agrees);
        let state = state.map(|row| {
            format!(
                "{} is {} in Redis and {} in the ledger",
                row.name, row.redis, row.ledger
            )
        });
        meters.chain(state).collect()
    }
}

//! Answers of the API, as far as the pages show them.

use jackpot_core::currency::Currency;
use jackpot_core::jackpot::document::{Contribution, OddsTable, Tier, Winners as Shown};
use jackpot_core::money::Minor;
use jackpot_ui::Words;
use jackpot_ui::rules::{Rules, Terms};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The pools now.
#[derive(Debug, Deserialize)]
pub struct Meter {
    pub jackpot_id: String,
    pub status: String,
    pub stopped: Option<Stopped>,
    pub meters: Vec<Pool>,
}

/// The emergency stop, while it lasts.
#[derive(Debug, Deserialize)]
pub struct Stopped {
    pub reason: String,
}

#[derive(Debug, Deserialize)]
pub struct Pool {
    pub tier: String,
    pub pool: u64,
}

/// A definition in its public form.
#[derive(Debug, Deserialize)]
pub struct Definition {
    pub version: u64,
    pub name: String,
    pub currency: Currency,
    pub contribution: Contribution,
    pub tiers: Vec<Tier>,
    /// As it came, for the script that draws.
    pub odds: Value,
    pub max_redraws: u32,
    pub min_stake: Minor,
    pub max_stake: Option<Minor>,
    pub reverse_within_s: u64,
    pub winners: Shown,
}

impl Definition {
    /// The odds table; without ranks if it is one that this program can't read.
    pub fn odds(&self) -> OddsTable {
        OddsTable::deserialize(&self.odds).unwrap_or_else(|error| {
            tracing::error!(%error, "a page can't read the odds of a definition");
            OddsTable {
                total: 1,
                per_stake: None,
                ranks: Vec::new(),
            }
        })
    }

    /// Its words, with the odds that [`odds`](Self::odds) made.
    pub fn rules<'a>(&'a self, words: Words, odds: &'a OddsTable) -> Rules<'a> {
        let definition = Terms {
            currency: self.currency,
            contribution: self.contribution,
            tiers: &self.tiers,
            odds,
            max_redraws: self.max_redraws,
            min_stake: self.min_stake,
            max_stake: self.max_stake,
            reverse_within_s: self.reverse_within_s,
        };
        Rules { words, definition }
    }
}

/// A page of epochs and cycles, oldest first.
#[derive(Debug, Deserialize)]
pub struct Epochs {
    pub epochs: Vec<Epoch>,
    pub cycles: Vec<Cycle>,
    pub next_cursor: Option<String>,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct Epoch {
    pub epoch: u64,
    pub commitment: String,
    pub opened_at: String,
    pub closed_at: Option<String>,
    pub seed: Option<String>,
}

/// A cycle of a pool with a must-hit rule.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct Cycle {
    pub tier: String,
    pub cycle: u64,
    pub commitment: String,
    pub low: Option<u64>,
    pub high: Option<u64>,
    pub began_at: String,
    pub from_at: Option<String>,
    pub deadline_at: Option<String>,
    pub ended_at: Option<String>,
    pub ended_by: Option<String>,
    pub seed: Option<String>,
    pub trigger_amount: Option<u64>,
    pub trigger_at: Option<String>,
}

/// The last winners, newest first.
#[derive(Debug, Deserialize)]
pub struct Winners {
    pub items: Vec<Winner>,
}

#[derive(Debug, Deserialize)]
pub struct Winner {
    pub tier: String,
    pub amount: u64,
    pub at: String,
    pub player: String,
}

/// What a pool held, step by step.
#[derive(Debug, Deserialize)]
pub struct History {
    pub points: Vec<HistoryPoint>,
}

#[derive(Debug, Deserialize)]
pub struct HistoryPoint {
    pub at: jiff::Timestamp,
    pub pool: u64,
}

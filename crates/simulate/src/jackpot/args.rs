//! The options of a run of a jackpot.

use serde::Serialize;

use crate::SimulateError;
use crate::args::id;

/// The options below, which no other run takes. --master-secret is not one: in the environment it is meant for other runs.
// No group, because its refusal would name all options in place of the given ones.
pub const OF_JACKPOT: [&str; 17] = [
    "players",
    "entries",
    "winners",
    "collisions",
    "replays",
    "tiers",
    "min_payout",
    "contribution",
    "rate_ppm",
    "reserve_ppm",
    "pool_seed",
    "must_hit_low",
    "must_hit_high",
    "odds_ppm",
    "per_stake",
    "max_redraws",
    "jackpot",
];

/// The plan of a run holds them. Its parameters show the options that are not in the definition.
#[derive(Debug, Clone, clap::Args, Serialize)]
pub struct JackpotArgs {
    /// Concurrent players, each with one kept-alive connection.
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=20_000), help_heading = "Load")]
    pub players: u32,
    /// Entries besides those of the collisions.
    #[arg(long, default_value_t = 200_000, value_parser = clap::value_parser!(u64).range(1..=5_000_000), help_heading = "Load")]
    pub entries: u64,
    /// Simultaneous winners in each collision: this many players send an entry that draws rank 1 at one instant.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(0..=20_000), help_heading = "Load")]
    pub winners: u32,
    /// Collisions, spread evenly over the run while the other players go on.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(0..=1_000), help_heading = "Load")]
    pub collisions: u32,
    /// Percentage of the entries that players send again: half of them at the same instant, half later.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(0..=100), help_heading = "Load")]
    #[serde(rename = "replays_percent")]
    pub replays: u32,

    /// Tiers of the jackpot, each with an equal share and a rank of its own.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4), help_heading = "Jackpot")]
    #[serde(skip)]
    pub tiers: u32,
    /// Least amount that a pool prize may take, in minor units.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(i64).range(1..=1_000_000_000), help_heading = "Jackpot")]
    #[serde(skip)]
    pub min_payout: i64,
    /// What each entry adds, in minor units.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(i64).range(1..=1_000_000), help_heading = "Jackpot")]
    #[serde(skip)]
    pub contribution: i64,
    /// What each entry adds, in millionths of its stake of 100, in place of --contribution.
    #[arg(long, conflicts_with = "contribution", value_parser = clap::value_parser!(u32).range(1..=1_000_000), help_heading = "Jackpot")]
    #[serde(skip)]
    pub rate_ppm: Option<u32>,
    /// Share of each tier's contributions that goes to its reserve, in millionths.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1_000_000), help_heading = "Jackpot")]
    #[serde(skip)]
    pub reserve_ppm: u32,
    /// Value at which a pool restarts after a win, if the reserve has as much, in minor units.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(i64).range(0..=1_000_000_000), help_heading = "Jackpot")]
    #[serde(skip)]
    pub pool_seed: i64,
    /// Each pool must be hit before it is above --must-hit-high: the hidden amounts are above this, in minor units.
    #[arg(long, requires = "must_hit_high", value_parser = clap::value_parser!(i64).range(1..=1_000_000_000_000), help_heading = "Jackpot")]
    #[serde(skip)]
    pub must_hit_low: Option<i64>,
    /// The largest hidden amount, in minor units.
    #[arg(long, requires = "must_hit_low", value_parser = clap::value_parser!(i64).range(1..=1_000_000_000_000), help_heading = "Jackpot")]
    #[serde(skip)]
    pub must_hit_high: Option<i64>,
    /// Odds of rank 1 in millionths [default: 1000; 50000 where winners can't be chosen beforehand].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=60_000), help_heading = "Jackpot")]
    #[serde(skip)]
    pub odds_ppm: Option<u32>,
    /// Odds that grow with the stake: each stake of so many minor units has the odds once. Stakes are up to 9 times as
    /// much, for which the odds above hold.
    #[arg(long, conflicts_with = "rate_ppm", value_parser = clap::value_parser!(i64).range(1..=1_000_000), help_heading = "Jackpot")]
    #[serde(skip)]
    pub per_stake: Option<i64>,
    /// Redraws of an entry at most.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(0..=16), help_heading = "Jackpot")]
    #[serde(skip)]
    pub max_redraws: u32,

    /// Id of the new jackpot [default: sim-SEED].
    #[arg(long, value_name = "ID", value_parser = id, help_heading = "Jackpot")]
    #[serde(skip)]
    pub jackpot: Option<String>,
}

impl JackpotArgs {
    /// Refuses what clap can't see.
    pub fn validate(&self) -> Result<(), SimulateError> {
        if self.winners > self.players {
            return Err(SimulateError::Usage(format!(
                "--winners {} needs at least as many --players, there are {}: each winner is a player of its own",
                self.winners, self.players
            )));
        }
        if let Some((low, high)) = self.must_hit() {
            let least = self.min_payout.max(self.pool_seed);
            if low < least || high <= low {
                return Err(SimulateError::Usage(format!(
                    "--must-hit-low {low} must be at least --min-payout and --pool-seed, {least}, and below --must-hit-high {high}"
                )));
            }
        }
        Ok(())
    }

    /// Above what and up to what the pools must be hit.
    pub fn must_hit(&self) -> Option<(i64, i64)> {
        self.must_hit_low.zip(self.must_hit_high)
    }

    /// Entries that all collisions together release.
    pub fn collision_entries(&self) -> u64 {
        u64::from(self.winners) * u64::from(self.collisions)
    }
}

//! What a run plays: the jackpot it defines, its entries, and which of them are sent again. All from the seed.

use serde::Serialize;
use serde_json::{Value, json};

use super::args::JackpotArgs;
use super::draw::{EpochSeed, OddsTable};
use crate::scenario::mix;
use crate::{Args, SimulateError};

/// What each entry stakes, in minor units; only its product with the rate matters. Odds by stake have stakes of their own.
const STAKE: i64 = 100;
/// How often the largest stake holds the one that counts once.
const MOST_TIMES: u8 = 9;
const TIER_NAMES: [&str; 4] = ["grand", "major", "minor", "mini"];
/// Odds of rank 1 where its winners are searched beforehand: rare enough for a pool to grow.
const SEARCHED_ODDS_PPM: u32 = 1_000;
/// Odds of rank 1 where winners can't be searched: high enough for collisions to have some.
const UNSEARCHED_ODDS_PPM: u32 = 50_000;
/// Odds and contributions' worth of the small prize that makes redraws pay now and then.
const FIXED_ODDS_PPM: u64 = 50_000;
const FIXED_CONTRIBUTIONS: i64 = 10;
const MILLION: i64 = 1_000_000;
/// Ids tried for one winner before the search gives up: 30 times what the lowest odds need.
const SEARCH_LIMIT_PER_WINNER: u64 = 30_000_000;

/// One pool of the jackpot.
#[derive(Debug, Clone)]
pub struct Tier {
    pub name: &'static str,
    pub share_ppm: i64,
    /// Least amount of a pool prize, in minor units.
    pub min_payout: i64,
    /// Restart value after a win, in minor units.
    pub seed: i64,
    pub reserve_ppm: i64,
    /// What one entry adds to the pool, in millionths of a minor unit.
    pub pool_micro: i64,
    /// What one entry adds to the reserve, in millionths of a minor unit.
    pub reserve_micro: i64,
    /// Above what and up to what it must be hit, in minor units.
    pub must_hit: Option<(i64, i64)>,
}

/// What a rank wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prize {
    /// The whole pool of a tier.
    Pool { tier: usize },
    /// A fixed amount in minor units, out of the pool of a tier.
    Fixed { tier: usize, amount: i64 },
}

impl Prize {
    /// Index of the tier that pays.
    pub fn tier(self) -> usize {
        match self {
            Self::Pool { tier } | Self::Fixed { tier, .. } => tier,
        }
    }
}

/// One entry as a player sends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub id: String,
    pub player: u32,
    /// In minor units.
    pub stake: i64,
    pub client_seed: Option<String>,
}

/// How an entry is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replay {
    /// Twice at the same instant, on two connections.
    AtOnce,
    /// Some entries of the same player later.
    Later,
}

/// The whole run, before anything is sent.
#[derive(Debug, Clone, Serialize)]
pub struct Plan {
    pub jackpot_id: String,
    pub seed: u64,
    #[serde(flatten)]
    pub options: JackpotArgs,
    /// Whether the entries of a collision are known to draw rank 1.
    #[serde(rename = "winners_chosen")]
    pub searched: bool,
    #[serde(skip)]
    pub tiers: Vec<Tier>,
    #[serde(skip)]
    pub odds: OddsTable,
    /// What the ranks of `odds` win, in the same order.
    #[serde(skip)]
    pub prizes: Vec<Prize>,
}

impl Plan {
    /// `searched`: the draw secret is known, so that winners can be chosen beforehand.
    pub fn new(args: &Args, searched: bool) -> Self {
        let options = &args.jackpot;
        let tiers = tiers(options);
        let default_ppm = if searched {
            SEARCHED_ODDS_PPM
        } else {
            UNSEARCHED_ODDS_PPM
        };
        let odds_ppm = u64::from(options.odds_ppm.unwrap_or(default_ppm));
        let (mut ranks, mut prizes) = (Vec::new(), Vec::new());
        for (rank, tier) in (1_u32..).zip(0..tiers.len()) {
            ranks.push((rank, odds_ppm << tier));
            prizes.push(Prize::Pool { tier });
        }
        ranks.push((options.tiers + 1, FIXED_ODDS_PPM));
        prizes.push(Prize::Fixed {
            tier: 0,
            amount: (tiers[0].pool_micro * FIXED_CONTRIBUTIONS / MILLION).max(1),
        });
        if options.per_stake.is_some() {
            for (_, weight) in &mut ranks {
                *weight = (*weight / u64::from(MOST_TIMES)).max(1);
            }
        }
        let id = options.jackpot.clone();
        Self {
            jackpot_id: id.unwrap_or_else(|| format!("sim-{}", args.seed)),
            seed: args.seed,
            options: options.clone(),
            searched,
            tiers,
            odds: OddsTable {
                total: MILLION as u64,
                per_stake: options.per_stake,
                ranks,
            },
            prizes,
        }
    }

    /// The body of `PUT /v1/jackpots/{id}`.
    pub fn document(&self) -> Value {
        let tier_name = |tier: usize| self.tiers[tier].name;
        let ranks: Vec<Value> = self
            .odds
            .ranks
            .iter()
            .zip(&self.prizes)
            .map(|(&(rank, weight), prize)| {
                let prize = match *prize {
                    Prize::Pool { tier } => {
                        json!({ "pool": { "tier": tier_name(tier), "take": "all" } })
                    }
                    Prize::Fixed { tier, amount } => {
                        json!({ "fixed": { "tier": tier_name(tier), "amount": amount } })
                    }
                };
                json!({ "rank": rank, "weight": weight, "prize": prize })
            })
            .collect();
        let tiers: Vec<Value> = self
            .tiers
            .iter()
            .map(|tier| {
                let rule = tier.must_hit.map(|(low, high)| json!({ "amount": { "low": low, "high": high } }));
                json!({ "tier": tier.name, "share_ppm": tier.share_ppm, "min_payout": tier.min_payout, "seed": tier.seed,
                        "reserve_ppm": tier.reserve_ppm, "cap": null, "must_hit_by": rule })
            })
            .collect();
        let contribution = match self.options.rate_ppm {
            Some(rate) => json!({ "rate_ppm": rate }),
            None => json!({ "fixed": self.options.contribution }),
        };
        json!({ "id": self.jackpot_id, "name": "Simulation", "currency": "KRW", "status": "open",
                "contribution": contribution, "tiers": tiers,
                "odds": { "total": self.odds.total, "per_stake": self.odds.per_stake, "ranks": ranks },
                "max_redraws": self.options.max_redraws, "min_stake": self.odds.per_stake.unwrap_or(STAKE),
                "max_stake": self.max_stake(), "public_meter": true, "room": null })
    }

    /// The prize of a rank, none for rank 0 and ranks that aren't there.
    pub fn prize(&self, rank: u32) -> Option<Prize> {
        self.odds
            .ranks
            .iter()
            .position(|&(known, _)| known == rank)
            .map(|index| self.prizes[index])
    }

    /// The largest stake: with odds by stake it holds `per_stake` nine times, and a part of it.
    fn max_stake(&self) -> i64 {
        self.odds
            .per_stake
            .map_or(STAKE, |per_stake| per_stake * (i64::from(MOST_TIMES) + 1) - 1)
    }

    /// The stake of entry `number`: with odds by stake one of all that are allowed.
    fn stake(&self, number: u64) -> i64 {
        let Some(per_stake) = self.odds.per_stake else {
            return STAKE;
        };
        let choices = (self.max_stake() - per_stake + 1).unsigned_abs();
        per_stake + i64::try_from(mix(self.seed.rotate_left(32), number) % choices).unwrap_or_default()
    }

    /// Entry `index` (from 0) of the ordinary ones. Every third has a client seed.
    pub fn regular(&self, index: u64, player: u32) -> Entry {
        Entry {
            stake: self.stake(index),
            id: format!("s{}-e{index}", self.seed),
            player,
            client_seed: index.is_multiple_of(3).then(|| format!("c{:x}", mix(self.seed, index))),
        }
    }

    /// Whether and how ordinary entry `index` is sent again.
    pub fn replay(&self, index: u64) -> Option<Replay> {
        let roll = mix(!self.seed, index);
        (roll % 100 < u64::from(self.options.replays)).then_some(if roll & (1 << 40) == 0 {
            Replay::AtOnce
        } else {
            Replay::Later
        })
    }

    /// The entries of each collision, one per winning player, all drawing rank 1 at attempt 0.
    ///
    /// # Errors
    /// [`SimulateError::Search`] when the odds are so low that none was found within the limit.
    pub fn winners(&self, seed: Option<&EpochSeed>) -> Result<Vec<Vec<Entry>>, SimulateError> {
        let mut number = 0_u64;
        let limit = SEARCH_LIMIT_PER_WINNER;
        (0..self.options.collisions)
            .map(|_| {
                (0..self.options.winners)
                    .map(|player| {
                        let last = number + limit;
                        while number < last {
                            let (id, stake) = (format!("s{}-w{number}", self.seed), self.stake(number));
                            number += 1;
                            let wins = seed.is_none_or(|seed| {
                                let ticket = seed.ticket(&self.jackpot_id, &id, 0, None, self.odds.total);
                                self.odds.rank(ticket, stake) == 1
                            });
                            if wins {
                                return Ok(Entry {
                                    id,
                                    player,
                                    stake,
                                    client_seed: None,
                                });
                            }
                        }
                        Err(SimulateError::Search { tried: limit })
                    })
                    .collect()
            })
            .collect()
    }

    /// The body of an entry's request.
    pub fn body(entry: &Entry) -> Value {
        json!({ "entry_id": entry.id, "player_id": player_id(entry.player), "stake": entry.stake, "client_seed": entry.client_seed })
    }
}

/// The id that player number `player` plays under.
pub fn player_id(player: u32) -> String {
    format!("p{player}")
}

/// Splits of the contribution, as the service's contract words them: rounded down to millionths, the rest to the
/// last tier when the shares are complete (they are here), and to the pool within a tier.
fn tiers(options: &JackpotArgs) -> Vec<Tier> {
    let micro = match options.rate_ppm {
        Some(rate) => STAKE * i64::from(rate),
        None => options.contribution * MILLION,
    };
    let count = i64::from(options.tiers);
    let reserve_ppm = i64::from(options.reserve_ppm);
    let mut left_ppm = MILLION;
    let mut left_micro = micro;
    (1..=count)
        .zip(TIER_NAMES)
        .map(|(number, name)| {
            let last = number == count;
            let share_ppm = if last { left_ppm } else { MILLION / count };
            let tier_micro = if last { left_micro } else { micro * share_ppm / MILLION };
            left_ppm -= share_ppm;
            left_micro -= tier_micro;
            let reserve_micro = tier_micro * reserve_ppm / MILLION;
            Tier {
                name,
                share_ppm,
                min_payout: options.min_payout,
                seed: options.pool_seed,
                reserve_ppm,
                pool_micro: tier_micro - reserve_micro,
                reserve_micro,
                must_hit: options.must_hit(),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::{EpochSeed, Plan, Replay};
    use crate::Args;

    fn plan(line: &str) -> Plan {
        Plan::new(
            &Args::parse_from(std::iter::once("simulate").chain(line.split_whitespace())),
            true,
        )
    }

    #[test]
    fn shares_and_splits_lose_nothing() {
        for line in [
            "--tiers 3 --contribution 7",
            "--tiers 3 --rate-ppm 12345 --reserve-ppm 333333",
            "--tiers 4",
        ] {
            let plan = plan(line);
            assert_eq!(
                plan.tiers.iter().map(|tier| tier.share_ppm).sum::<i64>(),
                1_000_000,
                "{line}"
            );
            let micro: i64 = plan.tiers.iter().map(|tier| tier.pool_micro + tier.reserve_micro).sum();
            let contribution = &plan.document()["contribution"];
            let expected = contribution["fixed"].as_i64().map_or_else(
                || contribution["rate_ppm"].as_i64().unwrap() * 100,
                |fixed| fixed * 1_000_000,
            );
            assert_eq!(micro, expected, "{line}");
        }
    }

    #[test]
    fn weights_fit_the_table_at_the_highest_odds() {
        let plan = plan("--tiers 4 --odds-ppm 60000");
        assert!(plan.odds.ranks.iter().map(|(_, weight)| weight).sum::<u64>() <= plan.odds.total);
        assert_eq!(plan.document()["odds"]["ranks"].as_array().unwrap().len(), 5);
    }

    #[test]
    fn winners_are_distinct_and_draw_rank_one() {
        let plan = plan("--winners 5 --collisions 3 --odds-ppm 60000");
        let seed = EpochSeed::derive(&[7; 32], &plan.jackpot_id, 1, "0");
        let winners = plan.winners(Some(&seed)).unwrap().concat();
        assert_eq!(winners.len(), 15);
        let mut ids: Vec<&str> = winners.iter().map(|entry| entry.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 15);
        for id in ids {
            assert_eq!(
                plan.odds
                    .rank(seed.ticket(&plan.jackpot_id, id, 0, None, plan.odds.total), 100),
                1
            );
        }
    }

    #[test]
    fn stakes_are_what_the_odds_by_stake_allow() {
        for per_stake in [1, 10] {
            let plan = plan(&format!("--per-stake {per_stake} --tiers 4 --odds-ppm 60000"));
            let stakes: Vec<i64> = (0..10_000).map(|index| plan.regular(index, 0).stake).collect();
            let times: std::collections::BTreeSet<i64> = stakes.iter().map(|stake| stake / per_stake).collect();
            assert_eq!(times, (1..=9).collect());
            let document = plan.document();
            assert_eq!(
                (&document["max_stake"], &document["odds"]["per_stake"]),
                (&(per_stake * 10 - 1).into(), &per_stake.into())
            );
            assert!(plan.odds.ranks.iter().map(|(_, weight)| weight * 9).sum::<u64>() <= plan.odds.total);
            let seed = EpochSeed::derive(&[7; 32], &plan.jackpot_id, 1, "0");
            let ticket = |entry: &super::Entry| seed.ticket(&plan.jackpot_id, &entry.id, 0, None, plan.odds.total);
            let winners = plan.winners(Some(&seed)).unwrap().concat();
            assert!(
                winners
                    .iter()
                    .all(|entry| plan.odds.rank(ticket(entry), entry.stake) == 1)
            );
        }
    }

    #[test]
    fn replays_have_both_kinds_and_about_their_share() {
        let plan = plan("--replays 10");
        let kinds: Vec<Replay> = (0..10_000).filter_map(|index| plan.replay(index)).collect();
        assert!((800..1_200).contains(&kinds.len()), "{}", kinds.len());
        let at_once = kinds.iter().filter(|kind| **kind == Replay::AtOnce).count();
        assert!((kinds.len() / 3..kinds.len() * 2 / 3).contains(&at_once), "{at_once}");
    }
}

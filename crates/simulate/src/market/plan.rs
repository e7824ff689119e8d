//! What a market day plays: which jackpot and source each play names, and what it contributes. All from the file and the seed.

use serde::Serialize;
use serde_json::{Value, json};

use super::file::{File, Jackpot};
use crate::scenario::mix;

pub const MILLION: i128 = 1_000_000;

/// The whole day, before anything is sent.
#[derive(Debug, Clone, Serialize)]
pub struct Plan {
    pub seed: u64,
    #[serde(flatten)]
    pub file: File,
}

/// One play.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Play {
    pub entry_id: String,
    pub player_id: String,
    pub stake: i64,
    /// Of the jackpots that it names, if they have sources.
    pub source: Option<String>,
    /// Indexes of the jackpots: one, or all that take this stake and source.
    pub jackpots: Vec<usize>,
}

/// What one entry adds to one tier, in millionths of a minor unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    pub pool: i128,
    pub reserve: i128,
}

impl Share {
    pub fn whole(self) -> i128 {
        self.pool + self.reserve
    }
}

impl Plan {
    pub fn new(file: File, seed: u64) -> Self {
        Self { seed, file }
    }

    pub fn jackpots(&self) -> &[Jackpot] {
        &self.file.jackpots
    }

    /// The subject of its events.
    pub fn subject(&self, jackpot: usize) -> String {
        format!("jackpot:{}", self.jackpots()[jackpot].id())
    }

    /// Play `number` (from 0). `open` says which jackpots are played now; at least one is.
    pub fn play(&self, number: u64, open: impl Fn(usize) -> bool) -> Play {
        let jackpots = self.jackpots();
        let weights = jackpots.iter().enumerate().filter(|(index, _)| open(*index));
        let weights: Vec<(usize, u64)> = weights.map(|(index, one)| (index, u64::from(one.weight))).collect();
        let mut left = mix(self.seed, number) % weights.iter().map(|(_, weight)| weight).sum::<u64>().max(1);
        let mut first = weights.last().map_or(0, |(index, _)| *index);
        for (index, weight) in weights {
            if left < weight {
                first = index;
                break;
            }
            left -= weight;
        }
        let jackpot = &jackpots[first];
        let stake = chosen(&jackpot.stakes, mix(self.seed.rotate_left(16), number))
            .copied()
            .unwrap_or_default();
        let source = chosen(&jackpot.sources(), mix(self.seed.rotate_left(32), number)).map(|id| (*id).to_owned());
        let mut named = vec![first];
        if self.percent(number, 48) < self.file.together_percent {
            let others = (0..jackpots.len()).filter(|index| *index != first && open(*index));
            named.extend(others.filter(|index| self.takes(*index, first, stake, source.as_deref())));
        }
        Play {
            entry_id: format!("s{}-e{number}", self.seed),
            player_id: format!("p{}", number % u64::from(self.file.players)),
            stake,
            source,
            jackpots: named,
        }
    }

    /// Whether a play of the jackpot `first` may feed this one too.
    fn takes(&self, index: usize, first: usize, stake: i64, source: Option<&str>) -> bool {
        let (one, first) = (&self.jackpots()[index], &self.jackpots()[first]);
        let sources = one.sources();
        let bound = |name: &str, default: i64| one.definition[name].as_i64().unwrap_or(default);
        one.definition["currency"] == first.definition["currency"]
            && (bound("min_stake", 0)..=bound("max_stake", i64::MAX)).contains(&stake)
            && (sources.is_empty() || source.is_some_and(|source| sources.contains(&source)))
    }

    /// From 0 to 99, another number for each purpose.
    fn percent(&self, number: u64, purpose: u32) -> u32 {
        u32::try_from(mix(self.seed.rotate_left(purpose), number) % 100).unwrap_or_default()
    }

    /// Whether the game cancels the round of this play, if nothing is won.
    pub fn is_cancelled(&self, number: u64) -> bool {
        self.percent(number, 8) < self.file.cancelled_percent
    }

    /// Whether the play is sent again.
    pub fn is_replayed(&self, number: u64) -> bool {
        self.percent(number, 24) < self.file.replays_percent
    }

    /// The tiers of a jackpot, in the order of its definition.
    pub fn tiers(&self, jackpot: usize) -> Vec<&str> {
        let tiers = tiers(&self.jackpots()[jackpot]);
        tiers.iter().filter_map(|tier| tier["tier"].as_str()).collect()
    }

    /// What an entry adds to each tier, in the order of the definition. As the contract words it: rounded down to millionths,
    /// the rest to the last tier when the shares are complete, and to the pool within a tier.
    pub fn shares(&self, jackpot: usize, source: Option<&str>, stake: i64) -> Vec<Share> {
        let definition = &self.jackpots()[jackpot].definition;
        let own = source.map(|source| &definition["sources"][source]["contribution"]);
        let contribution = own.filter(|own| own.is_object()).unwrap_or(&definition["contribution"]);
        let all = match contribution["fixed"].as_i64() {
            Some(fixed) => i128::from(fixed) * MILLION,
            None => i128::from(stake) * i128::from(contribution["rate_ppm"].as_i64().unwrap_or_default()),
        };
        let tiers = tiers(&self.jackpots()[jackpot]);
        let ppm = |tier: &Value, name: &str| i128::from(tier[name].as_i64().unwrap_or_default());
        let is_complete = tiers.iter().map(|tier| ppm(tier, "share_ppm")).sum::<i128>() == MILLION;
        let mut left = all;
        let last = tiers.len().saturating_sub(1);
        let share = |(index, tier): (usize, &Value)| {
            let whole = if is_complete && index == last {
                left
            } else {
                all * ppm(tier, "share_ppm") / MILLION
            };
            left -= whole;
            let reserve = whole * ppm(tier, "reserve_ppm") / MILLION;
            Share {
                pool: whole - reserve,
                reserve,
            }
        };
        tiers.iter().enumerate().map(share).collect()
    }
}

impl Play {
    /// The body of the call: of one jackpot's entries, or of all.
    pub fn body(&self, plan: &Plan) -> Value {
        let mut body = json!({"entry_id": self.entry_id, "player_id": self.player_id, "stake": self.stake, "source_id": self.source});
        if self.jackpots.len() > 1 {
            let ids = self.jackpots.iter().map(|index| plan.jackpots()[*index].id());
            body["jackpots"] = ids.collect::<Vec<_>>().into();
            body["currency"] = plan.jackpots()[self.jackpots[0]].definition["currency"].clone();
        }
        body
    }

    pub fn path(&self, plan: &Plan) -> String {
        match self.jackpots[..] {
            [only] => format!("/v1/jackpots/{}/entries", plan.jackpots()[only].id()),
            _ => "/v1/entries".to_owned(),
        }
    }
}

fn tiers(jackpot: &Jackpot) -> &[Value] {
    jackpot.definition["tiers"].as_array().map_or(&[], Vec::as_slice)
}

fn chosen<T>(all: &[T], roll: u64) -> Option<&T> {
    let count = u64::try_from(all.len()).unwrap_or(u64::MAX).max(1);
    all.get(usize::try_from(roll % count).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::{Plan, Share};
    use crate::market::file::File;
    use crate::market::file::tests::DAY;

    fn plan() -> Plan {
        Plan::new(File::parse(DAY).unwrap(), 7)
    }

    #[test]
    fn weights_stakes_and_sources_are_used_and_follow_from_the_seed() {
        let plan = plan();
        let plays: Vec<_> = (0..4_000).map(|number| plan.play(number, |_| true)).collect();
        assert_eq!(plays[17], plan.play(17, |_| true));
        let mini = plays.iter().filter(|play| play.jackpots[0] == 0).count();
        assert!((2_800..3_200).contains(&mini), "{mini}");
        for (stake, source) in [(100, "lobby"), (250, "vip")] {
            let is_one = |play: &&super::Play| play.stake == stake && play.source.as_deref() == Some(source);
            assert!(plays.iter().filter(is_one).count() > 600, "{stake} {source}");
        }
        let together = plays.iter().filter(|play| play.jackpots.len() == 2).count();
        // A play of `network` names no source, so `mini` does not take it.
        assert!((200..400).contains(&together), "{together}");
        assert!(plays.iter().all(|play| play.jackpots != [1, 0]));
        assert_eq!(plan.play(5, |index| index == 1).jackpots, [1]);
    }

    #[test]
    fn shares_are_exact() {
        let plan = plan();
        // 100 × 12,345 millionths: 70 % and 30 %, of the first a tenth to the reserve.
        let share = |pool, reserve| Share { pool, reserve };
        assert_eq!(
            plan.shares(0, Some("lobby"), 100),
            [share(777_735, 86_415), share(370_350, 0)]
        );
        assert_eq!(
            plan.shares(0, Some("vip"), 100),
            [share(3_150_000, 350_000), share(1_500_000, 0)]
        );
        assert_eq!(
            plan.shares(1, None, 100),
            [share(6_300_000, 0)],
            "the operator keeps a tenth"
        );
    }

    #[test]
    fn a_play_of_several_names_them() {
        let market = plan();
        let mut play = market.play(3, |index| index == 0);
        assert_eq!(play.path(&market), "/v1/jackpots/mini/entries");
        play.jackpots.push(1);
        assert_eq!(play.path(&market), "/v1/entries");
        let body = play.body(&market);
        assert_eq!(
            (&body["jackpots"][1], &body["currency"]),
            (&"network".into(), &"KRW".into())
        );
    }
}

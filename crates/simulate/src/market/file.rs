//! The file of a scenario: what is played, and what happens meanwhile.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::args;

const MOST_PLAYERS: u32 = 10_000;
const MOST_PLAYS: u64 = 10_000_000;
const MOST_KILLS: u32 = 1_000;
const MOST_WEIGHT: u32 = 1_000_000;
/// Longer than a player waits for an answer.
const LONGEST_STOP_S: u64 = 30;

/// A whole scenario.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// What reports call it.
    pub name: String,
    /// Concurrent players.
    pub players: u32,
    /// Plays of all players together. A play is an entry, or one call that feeds several jackpots.
    pub plays: u64,
    /// Percent of the plays that one call brings to every jackpot that takes them.
    #[serde(default)]
    pub together_percent: u32,
    /// Percent of the plays that are sent again.
    #[serde(default)]
    pub replays_percent: u32,
    /// Percent of the plays whose round the game cancels, where nothing was won.
    #[serde(default)]
    pub cancelled_percent: u32,
    /// `kill -9` of the service at random points.
    #[serde(default)]
    pub kills: u32,
    /// Redis is killed too.
    #[serde(default)]
    pub kill_redis: bool,
    pub jackpots: Vec<Jackpot>,
    /// In any order.
    #[serde(default)]
    pub events: Vec<Event>,
}

/// One jackpot.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jackpot {
    /// Its part of the plays, beside the others' weights.
    pub weight: u32,
    /// The stakes that its players choose from, in minor units.
    #[serde(default = "one_stake")]
    pub stakes: Vec<i64>,
    /// As `PUT /v1/jackpots/{id}` takes it, with `id`.
    pub definition: Value,
}

/// What happens once so many plays are answered.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "WireEvent")]
pub struct Event {
    pub at: u64,
    #[serde(flatten)]
    pub what: What,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// Everything stops, and begins again after some seconds.
    EmergencyStop(Stop),
    /// A jackpot is paused, and all money of these tiers goes to another one. Nobody plays it any more.
    Transfer(Transfer),
    /// An operator pauses a jackpot, and resumes it after some seconds.
    Pause(Pause),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stop {
    pub seconds: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transfer {
    pub from: String,
    pub to: String,
    /// For each tier that gives, the tier that it goes to.
    pub tiers: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pause {
    pub jackpot: String,
    pub seconds: u64,
}

/// As it stands in the file: exactly one of the three.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireEvent {
    at: u64,
    emergency_stop: Option<Stop>,
    transfer: Option<Transfer>,
    pause: Option<Pause>,
}

impl TryFrom<WireEvent> for Event {
    type Error = &'static str;

    fn try_from(wire: WireEvent) -> Result<Self, Self::Error> {
        let what = match (wire.emergency_stop, wire.transfer, wire.pause) {
            (Some(stop), None, None) => What::EmergencyStop(stop),
            (None, Some(transfer), None) => What::Transfer(transfer),
            (None, None, Some(pause)) => What::Pause(pause),
            _ => return Err("an event is one of emergency_stop, transfer and pause"),
        };
        Ok(Self { at: wire.at, what })
    }
}

fn one_stake() -> Vec<i64> {
    vec![100]
}

impl Jackpot {
    pub fn id(&self) -> &str {
        self.definition["id"].as_str().unwrap_or_default()
    }

    /// Ids of its sources.
    pub fn sources(&self) -> Vec<&str> {
        let sources = self.definition["sources"].as_object();
        sources.map_or_else(Vec::new, |all| all.keys().map(String::as_str).collect())
    }

    fn tiers(&self) -> BTreeSet<&str> {
        let tiers = self.definition["tiers"].as_array();
        let names = tiers.into_iter().flatten().filter_map(|tier| tier["tier"].as_str());
        names.collect()
    }

    fn check(&self, at: &str) -> Result<(), String> {
        within(
            &format!("{at}.weight"),
            u64::from(self.weight),
            1,
            u64::from(MOST_WEIGHT),
        )?;
        args::id(self.id()).map_err(|error| format!("{at}.definition.id: {error}"))?;
        if self.tiers().is_empty() {
            return Err(format!("{at}.definition.tiers: must be an array of tiers"));
        }
        if self.stakes.is_empty() {
            return Err(format!("{at}.stakes: must have a stake"));
        }
        let is_external = |source: &Value| source["draw"] == "external";
        let sources = self.definition["sources"].as_object();
        if let Some((id, _)) = sources.into_iter().flatten().find(|(_, source)| is_external(source)) {
            return Err(format!(
                "{at}.definition.sources.{id}: a run has no game that draws for itself; use draw = \"service\""
            ));
        }
        Ok(())
    }
}

impl File {
    /// Reads and checks it. The service checks the definitions.
    ///
    /// # Errors
    /// The field and the rule.
    pub fn parse(text: &str) -> Result<Self, String> {
        let file: Self = toml::from_str(text).map_err(|error| error.to_string())?;
        within("players", u64::from(file.players), 1, u64::from(MOST_PLAYERS))?;
        within("plays", file.plays, 1, MOST_PLAYS)?;
        within("kills", u64::from(file.kills), 0, u64::from(MOST_KILLS))?;
        for (field, percent) in [
            ("together_percent", file.together_percent),
            ("replays_percent", file.replays_percent),
            ("cancelled_percent", file.cancelled_percent),
        ] {
            within(field, u64::from(percent), 0, 100)?;
        }
        if file.kill_redis && file.kills == 0 {
            return Err("kill_redis: needs kills".to_owned());
        }
        file.check_jackpots()?;
        for (index, event) in file.events.iter().enumerate() {
            file.check_event(event, &format!("events[{index}]"))?;
        }
        let leave: BTreeSet<&str> = file.leave().collect();
        if file.jackpots.iter().all(|jackpot| leave.contains(jackpot.id())) {
            return Err("events: a jackpot must be left to play after all transfers".to_owned());
        }
        Ok(file)
    }

    /// The jackpots that give their money away.
    fn leave(&self) -> impl Iterator<Item = &str> {
        self.events.iter().filter_map(|event| match &event.what {
            What::Transfer(transfer) => Some(transfer.from.as_str()),
            What::EmergencyStop(_) | What::Pause(_) => None,
        })
    }

    fn check_jackpots(&self) -> Result<(), String> {
        if self.jackpots.is_empty() {
            return Err("jackpots: must have a jackpot".to_owned());
        }
        let mut ids = BTreeSet::new();
        for (index, jackpot) in self.jackpots.iter().enumerate() {
            jackpot.check(&format!("jackpots[{index}]"))?;
            if !ids.insert(jackpot.id()) {
                return Err(format!(
                    "jackpots[{index}].definition.id: {} is there twice",
                    jackpot.id()
                ));
            }
        }
        Ok(())
    }

    fn check_event(&self, event: &Event, at: &str) -> Result<(), String> {
        within(&format!("{at}.at"), event.at, 0, self.plays)?;
        let known = |field: &str, id: &str| {
            let found = self.jackpots.iter().find(|jackpot| jackpot.id() == id);
            found.ok_or_else(|| format!("{at}.{field}: no jackpot of the file has the id {id}"))
        };
        match &event.what {
            What::EmergencyStop(Stop { seconds }) => {
                within(&format!("{at}.emergency_stop.seconds"), *seconds, 0, LONGEST_STOP_S)
            }
            What::Pause(Pause { jackpot, seconds }) => {
                known("pause.jackpot", jackpot)?;
                if self.leave().any(|id| id == jackpot) {
                    return Err(format!("{at}.pause.jackpot: {jackpot} gives its money away"));
                }
                within(&format!("{at}.pause.seconds"), *seconds, 0, LONGEST_STOP_S)
            }
            What::Transfer(Transfer { from, to, tiers }) => {
                let (from_tiers, to_tiers) = (known("transfer.from", from)?.tiers(), known("transfer.to", to)?.tiers());
                if from == to || self.leave().any(|id| id == to) {
                    return Err(format!("{at}.transfer.to: must be a jackpot that goes on"));
                }
                if self.leave().filter(|id| id == from).count() > 1 {
                    return Err(format!("{at}.transfer.from: {from} gives its money away twice"));
                }
                for (tier, to_tier) in tiers {
                    if !from_tiers.contains(tier.as_str()) || !to_tiers.contains(to_tier.as_str()) {
                        return Err(format!(
                            "{at}.transfer.tiers: {tier} to {to_tier} are not tiers of {from} and {to}"
                        ));
                    }
                }
                Ok(())
            }
        }
    }
}

fn within(field: &str, value: u64, least: u64, most: u64) -> Result<(), String> {
    if (least..=most).contains(&value) {
        Ok(())
    } else {
        Err(format!("{field}: must be an integer from {least} to {most}"))
    }
}

#[cfg(test)]
pub mod tests {
    use super::File;

    /// Two jackpots: `mini` with sources, and `network` with a must-hit rule, which gets the money of `mini`.
    pub const DAY: &str = r#"
        name = "a day"
        players = 4
        plays = 100
        together_percent = 10
        cancelled_percent = 5
        kills = 2

        [[jackpots]]
        weight = 3
        stakes = [100, 250]
        [jackpots.definition]
        id = "mini"
        name = "Mini"
        currency = "KRW"
        min_stake = 1
        contribution = { rate_ppm = 12_345 }
        sources = { lobby = {}, vip = { contribution = { fixed = 5 } } }
        odds = { total = 100, ranks = [{ rank = 1, weight = 1, prize = { pool = { tier = "grand", take = "all" } } }] }
        [[jackpots.definition.tiers]]
        tier = "grand"
        share_ppm = 700_000
        reserve_ppm = 100_000
        min_payout = 1
        [[jackpots.definition.tiers]]
        tier = "small"
        share_ppm = 300_000
        min_payout = 1

        [[jackpots]]
        weight = 1
        [jackpots.definition]
        id = "network"
        name = "Network"
        currency = "KRW"
        contribution = { fixed = 7 }
        odds = { total = 100, ranks = [] }
        [[jackpots.definition.tiers]]
        tier = "grand"
        share_ppm = 900_000
        min_payout = 1
        must_hit_by = { amount = { low = 10, high = 50 } }

        [[events]]
        at = 50
        emergency_stop = { seconds = 1 }
        [[events]]
        at = 80
        transfer = { from = "mini", to = "network", tiers = { grand = "grand", small = "grand" } }
    "#;

    #[test]
    fn a_day_is_read() {
        let file = File::parse(DAY).unwrap();
        assert_eq!((file.jackpots.len(), file.events.len()), (2, 2));
        assert_eq!(file.jackpots[0].sources(), ["lobby", "vip"]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (from, to, named) in [
            (
                "players = 4",
                "players = 0",
                "players: must be an integer from 1 to 10000",
            ),
            ("kills = 2", "kill_redis = true", "kill_redis"),
            ("plays = 100", "plays = 100\ncolour = 1", "colour"),
            ("together_percent = 10", "together_percent = 101", "together_percent"),
            (
                "id = \"network\"",
                "id = \"mini\"",
                "jackpots[1].definition.id: mini is there twice",
            ),
            ("id = \"network\"", "id = \"a:b\"", "jackpots[1].definition.id"),
            ("weight = 3", "weight = 0", "jackpots[0].weight"),
            ("stakes = [100, 250]", "stakes = []", "jackpots[0].stakes"),
            (
                "lobby = {}",
                "lobby = { draw = \"external\" }",
                "jackpots[0].definition.sources.lobby",
            ),
            ("at = 50", "at = 101", "events[0].at"),
            ("seconds = 1", "seconds = 31", "events[0].emergency_stop.seconds"),
            ("to = \"network\"", "to = \"other\"", "events[1].transfer.to"),
            ("to = \"network\"", "to = \"mini\"", "events[1].transfer.to"),
            ("small = \"grand\"", "small = \"tiny\"", "events[1].transfer.tiers"),
            (
                "emergency_stop = { seconds = 1 }",
                "pause = { jackpot = \"mini\", seconds = 1 }",
                "events[0].pause.jackpot",
            ),
            (
                "emergency_stop = { seconds = 1 }",
                "transfer = { from = \"mini\", to = \"network\", tiers = { grand = \"grand\" } }",
                "twice",
            ),
        ] {
            assert!(DAY.contains(from), "{from}");
            let error = File::parse(&DAY.replace(from, to)).expect_err(to);
            assert!(error.contains(named), "{to}: {error}");
        }
    }
}

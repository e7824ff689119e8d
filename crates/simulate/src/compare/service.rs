//! Ours: the same collision through the whole service, over HTTP.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use bytes::Bytes;
use reqwest::{Method, Url};
use serde_json::{Value, json};

use super::collision::{Plays, Seen, Spec, Take};
use crate::SimulateError;
use crate::check_draw::{EpochSeed, OddsTable};
use crate::client::{Api, Target};
use crate::epochs;

pub const NAMES: (&str, &str, &str) = (
    "this service, HTTP",
    "one Lua script per entry decides and takes",
    "everything: HTTP, authorisation, the draw, idempotency, the event of each entry, redraws of refused winners",
);

const ODDS_TOTAL: u64 = 1_000;
const ODDS_OF_WINNING: u64 = 10;

/// The jackpot of one round.
pub struct Jackpot {
    target: Target,
    api: Api,
    path: String,
    winners: Vec<String>,
    contributions: Vec<String>,
}

impl Jackpot {
    /// Defines it, funds its pool, and searches entries that win and entries that don't.
    pub async fn make(target: Target, round: u32, spec: &Spec) -> Result<Self, SimulateError> {
        let id = format!("compare-{round}");
        let path = format!("/v1/jackpots/{id}");
        let api = Api::new(&target, Arc::new(AtomicU64::new(0)))?;
        api.send(Method::PUT, &path, &definition(&id, spec)).await?;
        let fund = json!({ "adjustment_id": "start", "tier": "grand", "meter": "pool", "amount": spec.start, "reason": "comparison" });
        api.send(Method::POST, &format!("{path}/adjustments"), &fund).await?;
        let secret = target
            .secret
            .ok_or_else(|| SimulateError::Usage("the comparison needs a private service".to_owned()))?;
        let published = epochs::read(&api, &id).await?;
        let open = published.values().next_back();
        let open = open.ok_or_else(|| SimulateError::Usage(format!("jackpot {id} has no epoch")))?;
        let seed = open.seed(&secret, &id).map_err(SimulateError::Usage)?;
        let (winners, contributions) = search(&seed, &id, spec);
        Ok(Self {
            target,
            api,
            path,
            winners,
            contributions,
        })
    }

    /// The players: winners first. Their connections are open.
    pub async fn players(&self, spec: &Spec) -> Result<Vec<Player>, SimulateError> {
        let mut players = Vec::new();
        let mut contributions = self
            .contributions
            .chunks(self.contributions.len().div_ceil(spec.contributors as usize).max(1));
        for number in 0..spec.connections() {
            let api = Api::new(&self.target, Arc::new(AtomicU64::new(0)))?;
            api.call(Method::GET, &api.url("/healthz"), None).await?;
            let url = api.url(&format!("{}/entries", self.path));
            let entries = match self.winners.get(number as usize) {
                Some(winner) => vec![winner.clone()],
                None => contributions.next().unwrap_or_default().to_vec(),
            };
            players.push(Player {
                api,
                url,
                entries,
                number,
            });
        }
        Ok(players)
    }

    /// What its pool holds, in minor units.
    pub async fn pool(&self) -> Result<i64, SimulateError> {
        let shown = self.api.get(&self.path).await?;
        let unreadable = || SimulateError::Unreadable {
            call: self.path.clone(),
            detail: shown.to_string(),
        };
        shown["meters"][0]["pool"].as_i64().ok_or_else(unreadable)
    }
}

/// One connection of the round.
pub struct Player {
    api: Api,
    url: Url,
    entries: Vec<String>,
    number: u32,
}

impl Player {
    async fn enter(&mut self) -> Result<Value, SimulateError> {
        // Contributions are shared out beforehand, so that no player has more to send than it was given.
        let Some(id) = self.entries.pop() else {
            return Ok(Value::Null);
        };
        let body = json!({ "entry_id": id, "player_id": format!("p{}", self.number), "stake": 1, "client_seed": null });
        self.api
            .call(Method::POST, &self.url, Some(Bytes::from(body.to_string())))
            .await?
            .json("the entry")
    }
}

impl Plays for Player {
    async fn contribute(&mut self) -> Result<bool, SimulateError> {
        Ok(!self.enter().await?.is_null())
    }

    async fn win(&mut self) -> Result<Take, SimulateError> {
        let answer = self.enter().await?;
        Ok(answer["outcome"]["amount"].as_i64().map_or(Take::Retry, Take::Paid))
    }

    fn seen(&self) -> Seen {
        Seen::default()
    }
}

/// Its jackpot: one tier, one rank that takes all.
pub fn definition(id: &str, spec: &Spec) -> Value {
    json!({ "id": id, "name": "Comparison", "currency": "KRW", "status": "open", "contribution": { "fixed": 1 },
            "tiers": [{ "tier": "grand", "share_ppm": 1_000_000, "min_payout": spec.min_payout, "seed": 0, "reserve_ppm": 0,
                        "cap": null, "must_hit_by": null }],
            "odds": { "total": ODDS_TOTAL, "ranks": [
                { "rank": 1, "weight": ODDS_OF_WINNING, "prize": { "pool": { "tier": "grand", "take": "all" } } }] },
            "max_redraws": 16, "public_meter": false, "room": null })
}

/// Entry ids that draw rank 1, and ids that draw none.
fn search(seed: &EpochSeed, jackpot_id: &str, spec: &Spec) -> (Vec<String>, Vec<String>) {
    let odds = OddsTable {
        total: ODDS_TOTAL,
        ranks: vec![(1, ODDS_OF_WINNING)],
    };
    let (mut winners, mut contributions) = (Vec::new(), Vec::new());
    for number in 0_u64.. {
        let id = format!("e{number}");
        let rank = odds.rank(seed.ticket(jackpot_id, &id, 0, None, odds.total));
        if rank == 1 && winners.len() < spec.winners as usize {
            winners.push(id);
        } else if rank == 0 && contributions.len() < spec.contributions as usize {
            contributions.push(id);
        }
        if winners.len() == spec.winners as usize && contributions.len() == spec.contributions as usize {
            break;
        }
    }
    (winners, contributions)
}

#[cfg(test)]
mod tests {
    use super::{EpochSeed, Spec, search};

    #[test]
    fn enough_entries_of_both_kinds_are_found() {
        let spec = Spec {
            winners: 5,
            contributors: 2,
            contributions: 40,
            rounds: 1,
            start: 0,
            min_payout: 1,
        };
        let (winners, contributions) = search(&EpochSeed::derive(&[1; 32], "c", 1, "0"), "c", &spec);
        assert_eq!((winners.len(), contributions.len()), (5, 40));
        assert!(winners.iter().all(|winner| !contributions.contains(winner)));
    }
}

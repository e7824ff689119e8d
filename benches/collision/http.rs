//! The whole service: the same collision over HTTP.

use std::path::Path;

use jackpot_core::ids::Id;
use jackpot_core::jackpot::definition::Definition;
use jackpot_core::jackpot::draw::EpochSeed;
use jackpot_core::money::Minor;
use jackpot_core::secret::MasterSecret;
use serde_json::{Value, json};

use super::score::{Approach, Round, Score, Spec};
use super::{Take, definition, play};
use crate::Outcome;
use crate::http::Connection;
use crate::service::Service;

pub(super) const APPROACH: Approach = Approach {
    name: "this service, HTTP",
    how: "one Lua script for each entry decides and takes",
    includes: "everything: HTTP, authorisation, the draw, idempotency, the event of each entry, redraws of refused winners",
    ours: true,
};

/// The bench knows the draw secret, so that it can choose the entries that win.
const SECRET: [u8; 32] = [0x5c; 32];

/// Plays all rounds, each with a jackpot of its own.
pub(super) async fn score(place: &Path, spec: &Spec) -> Outcome<Score> {
    let settings = json!({"fairness": {"master_secret": hex::encode(SECRET)}});
    let service = Service::product(place, settings).await?;
    let mut rounds = Vec::new();
    for number in 0..spec.rounds {
        let id = format!("collision-{number}");
        let players = players(&service, &id, spec).await?;
        let round = play(spec, players).await?;
        let path = format!("/v1/jackpots/{id}");
        let shown = service.target.call("GET", &path, &Value::Null).await?;
        let left = shown["meters"][0]["pool"].as_i64().ok_or("no pool")?;
        rounds.push(Round { left, ..round });
    }
    Ok(Score::of(APPROACH, spec, &rounds))
}

/// Defines and funds the jackpot, and gives each connection its entries: one that wins, or contributions.
async fn players(service: &Service, id: &str, spec: &Spec) -> Outcome<Vec<Player>> {
    let (target, path) = (&service.target, format!("/v1/jackpots/{id}"));
    let document = definition(id, spec);
    target.call("PUT", &path, &document).await?;
    let fund = json!({ "adjustment_id": "start", "tier": "grand", "meter": "pool", "amount": spec.start, "reason": "comparison" });
    target.call("POST", &format!("{path}/adjustments"), &fund).await?;
    let published = target.call("GET", &format!("{path}/fairness"), &Value::Null).await?;
    let epoch = &published["epochs"][0];
    let (number, nonce) = (epoch["epoch"].as_u64(), epoch["nonce"].as_str());
    let (number, nonce) = number.zip(nonce).ok_or("no epoch")?;
    let seed = EpochSeed::derive(&MasterSecret::new(SECRET), &Id::parse(id)?, number, nonce);
    let definition = Definition::check(serde_json::from_value(document)?).map_err(|wrong| format!("{wrong:?}"))?;
    let (winners, mut contributions) =
        spec.entries(|entry| seed.rank(entry, None, 0, definition.odds().at(Minor::ZERO)));
    let mut players = Vec::new();
    for number in 0..spec.connections() {
        let entries = match winners.get(number as usize) {
            Some(winner) => vec![winner.clone()],
            None => contributions.split_off(contributions.len() - spec.share(number - spec.winners) as usize),
        };
        let request = |entry: String| {
            let body = json!({ "entry_id": entry, "player_id": format!("p{number}"), "stake": 1, "client_seed": null });
            target.request("POST", &format!("{path}/entries"), body.to_string().as_bytes())
        };
        players.push(Player {
            connection: target.connect().await?,
            requests: entries.into_iter().map(request).collect(),
        });
    }
    Ok(players)
}

struct Player {
    connection: Connection,
    /// The requests that the collision asks of this player.
    requests: Vec<Vec<u8>>,
}

impl Player {
    async fn enter(&mut self) -> Outcome<Value> {
        let request = self.requests.pop().ok_or("no entry is left")?;
        let answer = self.connection.send(&request).await?;
        if answer.status != 201 {
            return Err(answer.refused("an entry").into());
        }
        Ok(serde_json::from_slice(&answer.body)?)
    }
}

impl super::Player for Player {
    async fn contribute(&mut self) -> Outcome<bool> {
        self.enter().await.map(|_| true)
    }

    async fn win(&mut self) -> Outcome<Take> {
        let answer = self.enter().await?;
        Ok(answer["outcome"]["amount"].as_i64().map_or(Take::Retry, Take::Paid))
    }
}

//! `jackpot simulate`: players send entries to a jackpot, and winners collide at one instant.

mod after;
mod answer;
mod args;
mod check;
mod draw;
mod evidence;
mod fairness;
mod numbers;
mod overview;
mod plan;
mod players;
mod plots;
mod triggers;

pub use after::{meters, pending, receipts};
pub use answer::{Wire, WireHit, Won};
pub use args::{JackpotArgs, OF_JACKPOT};
pub use evidence::{Meter, Pending, Receipt, Receipts};
pub use fairness::{Cycle, published};
pub use plan::Plan;
#[cfg(test)]
pub use triggers::tests;
pub use triggers::{Triggers, second, triggers};

use std::sync::Arc;

use reqwest::Method;
use serde_json::{Value, json};

use self::evidence::{Evidence, Seeds};
use self::plan::Entry;
use self::players::{Game, Results};
use crate::client::Api;
use crate::finding::Rule;
use crate::numbers::per;
use crate::report::plots::Plot;
use crate::run::{Played, Setup};
use crate::scenario::Scenario;
use crate::service::PrivateService;
use crate::{Args, SimulateError};

impl Scenario for Plan {
    const KIND: &'static str = "jackpot";
    const ID_OPTION: &'static str = "--jackpot";
    const RATE: &'static str = "entries/s";
    const SHOWN: &'static str = "meters";
    const RULES: &'static [Rule<Evidence>] = check::RULES;

    type Players = Game;
    type Evidence = Evidence;

    fn plan(args: &Args, knows_secret: bool) -> Self {
        Self::new(args, knows_secret)
    }

    fn id(&self) -> &str {
        &self.jackpot_id
    }

    fn connections(&self) -> u32 {
        self.options.players
    }

    fn definition(&self) -> Value {
        self.document()
    }

    async fn players(self: &Arc<Self>, setup: &Setup, _: Option<&PrivateService>) -> Result<Game, SimulateError> {
        setup.bar.say("searching entries that win");
        let winners = winners(self, setup).await?;
        Ok(Game::new(Arc::clone(self), setup, winners))
    }

    async fn evidence(
        self: &Arc<Self>,
        setup: &Setup,
        _: &Arc<Game>,
        results: Results,
        _: u32,
    ) -> Result<Evidence, SimulateError> {
        let (api, mut records) = (&setup.api, results.records);
        let pending = after::pending(api, &self.jackpot_id).await;
        records.sort_by_key(|record| record.answer.as_ref().map_or(u64::MAX, |answer| answer.sequence));
        let answers = records.iter().filter_map(|record| record.answer.as_ref().ok());
        let wins = answers.filter(|answer| answer.payout.is_some()).count();
        Ok(Evidence {
            receipts: after::receipts(api, &self.jackpot_id, wins).await,
            seeds: match setup.target.secret {
                Some(secret) => Some(Seeds::of(
                    &secret,
                    self,
                    &fairness::epochs(api, &self.jackpot_id).await?,
                )),
                None => None,
            },
            records,
            repeated: results.repeated,
            meters: self.in_order(&after::meters(api, &self.jackpot_id).await?)?,
            expected: after::expected(api, &self.jackpot_id).await?,
            cycles: fairness::cycles(api, self, setup.target.secret.as_ref()).await?,
            pending,
            plan: Self::clone(self),
        })
    }

    async fn close(&self, api: &Api) -> Result<(), SimulateError> {
        let reason = json!({ "reason": "the simulation has ended" });
        api.send(Method::POST, &format!("{}/close", self.path()), &reason)
            .await?;
        Ok(())
    }

    fn count(evidence: &Evidence, elapsed_s: f64) -> numbers::Numbers {
        numbers::Numbers::of(evidence, elapsed_s)
    }

    fn client_per_s(numbers: &numbers::Numbers, elapsed_s: f64) -> f64 {
        per(numbers.entries + numbers.replays, elapsed_s)
    }

    fn plots(played: &Played<Self>) -> Result<Vec<Plot>, SimulateError> {
        plots::all(played)
    }
}

impl Plan {
    /// The meters of its tiers, in its order.
    fn in_order(&self, meters: &[Meter]) -> Result<Vec<Meter>, SimulateError> {
        let of_tier = |tier: &plan::Tier| {
            let meter = meters.iter().find(|meter| meter.tier == tier.name).cloned();
            meter.ok_or_else(|| SimulateError::unreadable(&self.path(), format!("no meter of {}", tier.name)))
        };
        self.tiers.iter().map(of_tier).collect()
    }
}

/// The entries of each collision. With the draw secret known, each of them draws rank 1.
async fn winners(plan: &Arc<Plan>, setup: &Setup) -> Result<Vec<Vec<Entry>>, SimulateError> {
    let Some(secret) = setup.target.secret else {
        return plan.winners(None);
    };
    let published = fairness::epochs(&setup.api, &plan.jackpot_id).await?;
    let open = published.values().next_back().filter(|epoch| epoch.closed_at.is_none());
    let none = || format!("jackpot {} has no open epoch", plan.jackpot_id);
    let open = open.ok_or_else(|| SimulateError::unreadable("GET /fairness", none()))?;
    let seed = open.seed(&secret, &plan.jackpot_id).map_err(SimulateError::Usage)?;
    let plan = Arc::clone(plan);
    tokio::task::spawn_blocking(move || plan.winners(Some(&seed))).await?
}

//! `jackpot simulate --scenario FILE`: a market day. Several jackpots with sources and must-hit-by are played, rounds are
//! cancelled, money is transferred, everything is stopped, and processes are killed.

mod after;
mod again;
mod answer;
mod args;
mod check;
mod evidence;
mod file;
mod numbers;
mod operator;
mod overview;
mod plan;
mod players;
mod plots;

pub use args::MarketArgs;
pub use plan::Plan;

use std::sync::Arc;

use reqwest::Method;
use serde_json::{Value, json};

use self::evidence::{Evidence, Seen};
use self::players::Day;
use crate::client::Api;
use crate::finding::Rule;
use crate::report::plots::Plot;
use crate::run::{Played, Setup};
use crate::scenario::Scenario;
use crate::service::PrivateService;
use crate::subscriber::Subscriber;
use crate::{Args, SimulateError};

impl Scenario for Plan {
    const KIND: &'static str = "market";
    const ID_OPTION: &'static str = "another id in the file";
    /// The subscriber is on this machine.
    const SETTINGS: &'static [(&'static str, &'static str)] = &[("JACKPOT__EVENTS__ALLOW_PRIVATE_TARGETS", "true")];
    const RATE: &'static str = "plays/s";
    const SHOWN: &'static str = "meters, receipts, published seeds and the events that it sent";
    const RULES: &'static [Rule<Evidence>] = check::RULES;

    type Players = Day;
    type Evidence = Evidence;

    fn plan(args: &Args, _: bool) -> Self {
        Self::new(args.market.file.clone().expect("a file was read"), args.seed)
    }

    fn id(&self) -> &str {
        self.jackpots()[0].id()
    }

    fn connections(&self) -> u32 {
        self.file.players
    }

    fn definition(&self) -> Value {
        self.jackpots()
            .iter()
            .map(|jackpot| jackpot.definition.clone())
            .collect()
    }

    fn first_definition(&self) -> Value {
        self.jackpots()[0].definition.clone()
    }

    /// Of the first jackpot, which the run looks for before it begins.
    fn path(&self) -> String {
        format!("/v1/jackpots/{}", self.id())
    }

    async fn players(self: &Arc<Self>, setup: &Setup, private: Option<&PrivateService>) -> Result<Day, SimulateError> {
        for jackpot in &self.jackpots()[1..] {
            let path = format!("/v1/jackpots/{}", jackpot.id());
            setup.api.send(Method::PUT, &path, &jackpot.definition).await?;
        }
        let subjects: Vec<String> = (0..self.jackpots().len()).map(|index| self.subject(index)).collect();
        let subscriber = Subscriber::open(&setup.api, self.seed, &subjects, private.is_some()).await?;
        Ok(Day::new(Arc::clone(self), setup, subscriber))
    }

    async fn evidence(
        self: &Arc<Self>,
        setup: &Setup,
        day: &Arc<Day>,
        seen: Seen,
        _: u32,
    ) -> Result<Evidence, SimulateError> {
        let delivered = after::delivered(&setup.api, day, &seen).await?;
        let shown = after::shown(&setup.api, self, &seen).await?;
        Ok(Evidence::new(Self::clone(self), seen, shown, delivered))
    }

    async fn close(&self, api: &Api) -> Result<(), SimulateError> {
        for jackpot in self.jackpots() {
            let path = format!("/v1/jackpots/{}/close", jackpot.id());
            api.send(Method::POST, &path, &json!({"reason": "the simulation is over"}))
                .await?;
        }
        Ok(())
    }

    fn count(evidence: &Evidence, elapsed_s: f64) -> numbers::Numbers {
        numbers::Numbers::of(evidence, elapsed_s)
    }

    fn client_per_s(numbers: &numbers::Numbers, _: f64) -> f64 {
        numbers.plays_per_s
    }

    fn plots(played: &Played<Self>) -> Result<Vec<Plot>, SimulateError> {
        plots::all(played)
    }
}

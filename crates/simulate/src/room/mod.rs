//! `jackpot simulate --room`: a crowd goes through a waiting room, and a monitor watches it.

mod after;
mod answer;
mod args;
mod call;
mod check;
mod crowd;
mod evidence;
mod lag;
mod monitor;
mod numbers;
mod overview;
mod pass;
mod plan;
mod plots;
mod pool;
mod stream;
mod visitor;

pub use args::RoomArgs;
pub use plan::Plan;

use std::sync::Arc;

use reqwest::Method;
use serde_json::Value;

use self::crowd::{Crowd, Results};
use self::evidence::Evidence;
use self::monitor::Monitored;
use crate::client::Api;
use crate::compare::{self, Comparison, Place};
use crate::finding::Rule;
use crate::numbers::per;
use crate::report::plots::Plot;
use crate::run::{Played, Setup};
use crate::scenario::Scenario;
use crate::service::PrivateService;
use crate::{Args, SimulateError};

/// The retention of a private service, which is longer than any run.
const KEPT_US: u64 = 604_800_000_000;
/// The shortest retention that a service accepts.
const LEAST_KEPT_US: u64 = 60_000_000;

impl Scenario for Plan {
    const KIND: &'static str = "room";
    const ID_OPTION: &'static str = "--room-id";
    /// The service remembers every ticket for longer than the run takes.
    const SETTINGS: &'static [(&'static str, &'static str)] = &[("JACKPOT__ROOMS__RETENTION_S", "604800")];
    const RATE: &'static str = "joins/s";
    const SHOWN: &'static str = "what the monitor saw";
    const RULES: &'static [Rule<Evidence>] = check::RULES;

    type Players = Crowd;
    type Evidence = Evidence;

    fn plan(args: &Args, _: bool) -> Self {
        Self::new(args)
    }

    fn id(&self) -> &str {
        &self.room_id
    }

    fn connections(&self) -> u32 {
        self.crowd.connections
    }

    fn definition(&self) -> Value {
        self.definition_with(self.options.capacity)
    }

    /// All early users join before anybody is admitted.
    fn first_definition(&self) -> Value {
        self.definition_with(0)
    }

    async fn players(
        self: &Arc<Self>,
        setup: &Setup,
        service: Option<&PrivateService>,
    ) -> Result<Crowd, SimulateError> {
        let redis = service.map(|service| monitor::Redis::of(service, &self.room_id));
        Crowd::new(Arc::clone(self), &setup.target, &setup.repeats, redis)
    }

    async fn evidence(
        self: &Arc<Self>,
        setup: &Setup,
        crowd: &Arc<Crowd>,
        (results, seen): (Results, Monitored),
        _: u32,
    ) -> Result<Evidence, SimulateError> {
        Ok(Evidence {
            visits: after::ends(crowd, results.visits).await?,
            opening: results.opening,
            stood_still_s: results.stood_still_s,
            samples: seen.samples,
            blind: seen.blind,
            shown: seen.shown,
            kept_us: if crowd.is_private() { KEPT_US } else { LEAST_KEPT_US },
            counts: after::counts(&setup.api, self).await?,
            keys: after::keys(&setup.api).await,
            plan: Self::clone(self),
        })
    }

    async fn close(&self, api: &Api) -> Result<(), SimulateError> {
        api.send(Method::PUT, &self.path(), &self.definition_with(0)).await?;
        Ok(())
    }

    fn count(evidence: &Evidence, _: f64) -> numbers::Numbers {
        numbers::Numbers::of(evidence)
    }

    /// While the early users joined.
    fn client_per_s(numbers: &numbers::Numbers, _: f64) -> f64 {
        per(numbers.joins + numbers.joins_again, numbers.joining_s)
    }

    async fn compare(args: &Args, place: Place<'_>) -> Result<Option<Comparison>, SimulateError> {
        compare::rooms(args, place).await.map(Some)
    }

    fn plots(played: &Played<Self>) -> Result<Vec<Plot>, SimulateError> {
        plots::all(played)
    }
}

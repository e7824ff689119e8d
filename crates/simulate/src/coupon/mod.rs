//! `jackpot simulate --coupons`: a crowd asks for a coupon of limited stock at one instant.

mod after;
mod answer;
mod args;
mod check;
mod crowd;
mod evidence;
mod numbers;
mod overview;
mod plan;
mod plots;

pub use args::CouponArgs;
pub use plan::Plan;

use std::sync::Arc;

use reqwest::Method;
use serde_json::Value;

use self::crowd::{Crowd, Results};
use self::evidence::Evidence;
use crate::client::Api;
use crate::compare::{self, Comparison, Place};
use crate::finding::Rule;
use crate::numbers::per;
use crate::report::plots::Plot;
use crate::run::{Played, Setup};
use crate::scenario::Scenario;
use crate::service::PrivateService;
use crate::{Args, SimulateError};

impl Scenario for Plan {
    const KIND: &'static str = "coupon";
    const ID_OPTION: &'static str = "--coupon";
    /// Redis and the ledger are compared often, also under load and kills.
    const SETTINGS: &'static [(&'static str, &'static str)] = &[("JACKPOT__LEDGER__RECONCILE_INTERVAL_S", "1")];
    const RATE: &'static str = "calls/s";
    const SHOWN: &'static str = "lists";
    const RULES: &'static [Rule<Evidence>] = check::RULES;

    type Players = Crowd;
    type Evidence = Evidence;

    fn plan(args: &Args, _: bool) -> Self {
        Self::new(args)
    }

    fn id(&self) -> &str {
        &self.coupon_id
    }

    fn connections(&self) -> u32 {
        self.crowd.connections
    }

    fn definition(&self) -> Value {
        self.definition_until(None)
    }

    async fn players(self: &Arc<Self>, setup: &Setup, _: Option<&PrivateService>) -> Result<Crowd, SimulateError> {
        Ok(Crowd::new(Arc::clone(self), setup))
    }

    async fn evidence(
        self: &Arc<Self>,
        setup: &Setup,
        _: &Arc<Crowd>,
        results: Results,
        kills: u32,
    ) -> Result<Evidence, SimulateError> {
        let api = &setup.api;
        let counts = after::counts(api, self).await?;
        Ok(Evidence {
            counts,
            dead_letters: after::dead_letters(api, self).await?,
            ledger: after::issues(api, self, counts.issued, counts.voided).await,
            compared: after::compared(api, self, &counts).await,
            calls: results.calls,
            voids: results.voids,
            looks: results.looks,
            kills,
            plan: Self::clone(self),
        })
    }

    async fn close(&self, api: &Api) -> Result<(), SimulateError> {
        let now = jiff::Timestamp::now().to_string();
        api.send(Method::PUT, &self.path(), &self.definition_until(Some(&now)))
            .await?;
        Ok(())
    }

    fn count(evidence: &Evidence, elapsed_s: f64) -> numbers::Numbers {
        numbers::Numbers::of(evidence, elapsed_s)
    }

    fn client_per_s(numbers: &numbers::Numbers, elapsed_s: f64) -> f64 {
        per(numbers.calls + numbers.looks, elapsed_s)
    }

    async fn compare(args: &Args, place: Place<'_>) -> Result<Option<Comparison>, SimulateError> {
        compare::coupons(args, place).await.map(Some)
    }

    fn plots(played: &Played<Self>) -> Result<Vec<Plot>, SimulateError> {
        plots::all(played)
    }
}

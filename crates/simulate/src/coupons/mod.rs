//! `jackpot simulate --coupons`: a crowd asks for a coupon of limited stock at one instant.
//!
//! `plan` says what is asked, `crowd` asks it, `after` reads what the service shows behind it, `evidence` is what was
//! seen, `check` judges it. The rest is as in a run of a jackpot.

mod after;
mod answer;
mod args;
mod check;
mod crowd;
pub mod evidence;
mod numbers;
pub mod overview;
mod plan;

pub use args::CouponArgs;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use reqwest::Method;
use serde::Serialize;

use self::crowd::Crowd;
use self::evidence::Evidence;
use self::numbers::Numbers;
use self::plan::Plan;
use super::begin::begin;
use super::client::Target;
use super::machine::Machine;
use super::service::PrivateService;
use super::{Args, SimulateError, course, summary};

/// Settings of a private service: Redis and the ledger are compared often, also while it is loaded and killed.
pub const SETTINGS: &[(&str, &str)] = &[("JACKPOT__LEDGER__RECONCILE_INTERVAL_S", "1")];

/// What was asked for.
#[derive(Debug, Clone, Serialize)]
pub struct Parameters {
    pub service: String,
    pub coupon_id: String,
    pub seed: u64,
    pub users: u32,
    pub duplicates: u32,
    pub stock: u64,
    pub queued: bool,
    pub voids: u32,
    pub connections: u32,
    pub kills: String,
    pub definition: serde_json::Value,
}

impl Parameters {
    fn of(args: &Args, plan: &Plan) -> Self {
        Self {
            service: summary::service(args),
            coupon_id: plan.coupon_id.clone(),
            seed: plan.seed,
            users: plan.users,
            duplicates: plan.duplicates,
            stock: plan.stock,
            queued: plan.queued,
            voids: plan.voids,
            connections: plan.connections,
            kills: summary::kills(args),
            definition: plan.definition(None),
        }
    }
}

/// One run, told.
pub type Summary = summary::Summary<Parameters, Numbers>;

/// One that came to its end.
pub type Played = summary::Played<Parameters, Numbers, Evidence>;

/// Plays it. `service` is the private one, when there is one.
pub async fn play(args: &Args, target: Target, service: Option<&mut PrivateService>) -> Result<Played, SimulateError> {
    let plan = Arc::new(Plan::new(args));
    let path = format!("/v1/coupons/{}", plan.coupon_id);
    let made = (
        path.as_str(),
        &plan.definition(None),
        "choose another --seed or --coupon",
    );
    let begun = begin(args, &target, plan.connections, made).await?;
    let (api, bar) = (&begun.api, &begun.bar);
    let crowd = Arc::new(Crowd::new(Arc::clone(&plan), target, Arc::clone(&begun.repeats))?);
    let followed = Arc::clone(&crowd);
    let steps = if plan.queued { "calls and decisions" } else { "calls" };
    bar.follow(steps, plan.steps(), move || followed.progress.told());
    let run = course::conduct(args, service, crowd.course(), &begun, crowd.play()).await?;

    bar.say("waiting for the ledger");
    let (calls, voids) = (run.haul.calls, run.haul.voids);
    let counts = after::counts(api, &plan).await?;
    let evidence = Evidence {
        counts,
        dead_letters: after::dead_letters(api, &plan).await?,
        ledger: after::issues(api, &plan, counts.issued, counts.voided).await,
        compared: after::compared(api, &plan, &counts).await,
        calls,
        voids,
        kills: u32::try_from(run.kills_us.len()).unwrap_or(u32::MAX),
        plan: Plan::clone(&plan),
    };
    bar.finish();
    if args.url.is_some() {
        let now = jiff::Timestamp::now().to_string();
        api.send(Method::PUT, &path, &plan.definition(Some(&now))).await?;
    }
    let looks = crowd.progress.looks.load(Ordering::Relaxed);
    let numbers = Numbers::of(&evidence, run.elapsed_s, (begun.repeats(), looks), run.client);
    let summary = Summary {
        parameters: Parameters::of(args, &plan),
        machine: Machine::here(),
        numbers,
        findings: check::all(&evidence),
    };
    Ok(Played {
        summary,
        evidence,
        kills_us: run.kills_us,
    })
}

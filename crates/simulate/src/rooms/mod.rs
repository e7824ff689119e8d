//! `jackpot simulate --room`: a crowd goes through a waiting room.
//!
//! `plan` says who comes and what each does, `crowd` lets them come, `visitor` is one of them, `monitor` watches the room
//! meanwhile, `after` reads what the service shows behind it, `evidence` is what was seen, `check` judges it, `lag` tells
//! how long places were free. The rest is as in a run of a jackpot.

mod after;
mod answer;
mod args;
mod call;
mod check;
mod crowd;
pub mod evidence;
pub mod lag;
mod monitor;
mod numbers;
pub mod overview;
mod pass;
mod plan;
mod stream;
mod visitor;

pub use args::RoomArgs;

use std::sync::Arc;

use reqwest::Method;
use serde::Serialize;
use tokio::sync::watch;

use self::crowd::Crowd;
use self::evidence::Evidence;
use self::numbers::Numbers;
use self::plan::Plan;
use super::begin::begin;
use super::client::Target;
use super::machine::Machine;
use super::service::PrivateService;
use super::{Args, SimulateError, course, summary};

/// Settings of a private service: it remembers every ticket for longer than any run takes.
pub const SETTINGS: &[(&str, &str)] = &[("JACKPOT__ROOMS__RETENTION_S", "604800")];
const KEPT_US: u64 = 604_800_000_000;
/// No service can be set to remember one for less.
const LEAST_KEPT_US: u64 = 60_000_000;

/// What was asked for.
#[derive(Debug, Clone, Serialize)]
pub struct Parameters {
    pub service: String,
    pub room_id: String,
    pub seed: u64,
    pub users: u32,
    pub late_percent: u32,
    pub twice_percent: u32,
    pub listen_percent: u32,
    pub renew_percent: u32,
    pub leave_percent: u32,
    pub abandon_percent: u32,
    pub die_percent: u32,
    pub stay_ms: u32,
    pub capacity: u64,
    pub session_s: u32,
    pub waiting_timeout_s: u32,
    pub rate: Option<u32>,
    pub connections: u32,
    pub kills: String,
    pub definition: serde_json::Value,
}

impl Parameters {
    fn of(args: &Args, plan: &Plan) -> Self {
        Self {
            service: summary::service(args),
            room_id: plan.room_id.clone(),
            seed: plan.seed,
            users: plan.users,
            late_percent: plan.late,
            twice_percent: plan.twice,
            listen_percent: plan.listen,
            renew_percent: plan.renew,
            leave_percent: plan.leave,
            abandon_percent: plan.abandon,
            die_percent: plan.die,
            stay_ms: plan.stay_ms,
            capacity: plan.capacity,
            session_s: plan.session_s,
            waiting_timeout_s: plan.waiting_timeout_s,
            rate: plan.rate,
            connections: plan.connections,
            kills: summary::kills(args),
            definition: plan.definition(plan.capacity),
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
    let path = format!("/v1/rooms/{}", plan.room_id);
    let closed = plan.definition(0);
    let made = (path.as_str(), &closed, "choose another --seed or --room-id");
    let begun = begin(args, &target, plan.connections, made).await?;
    let (api, bar) = (&begun.api, &begun.bar);
    let kept_us = if service.is_some() { KEPT_US } else { LEAST_KEPT_US };
    let redis = service
        .as_deref()
        .map(|service| monitor::Redis::of(service, &plan.room_id));
    let crowd = Arc::new(Crowd::new(Arc::clone(&plan), &target, &begun.repeats)?);
    let followed = Arc::clone(&crowd);
    bar.follow("joined and gone", plan.steps(), move || followed.progress.told());
    let (say_over, over) = watch::channel(false);
    let playing = async {
        let playing = async {
            let haul = crowd.play().await;
            say_over.send_replace(true);
            haul
        };
        let watching = monitor::watch(api, &plan, redis.as_ref(), crowd.course(), over);
        tokio::try_join!(playing, watching)
    };
    let run = Box::pin(course::conduct(args, service, crowd.course(), &begun, playing)).await?;

    bar.say("looking at every ticket once more");
    let (haul, seen) = run.haul;
    let evidence = Evidence {
        visits: after::ends(&crowd, haul.visits).await?,
        opening: haul.opening,
        stood_still_s: haul.stood_still_s,
        samples: seen.samples,
        blind: seen.blind,
        shown: seen.shown,
        kept_us,
        counts: after::counts(api, &plan).await?,
        keys: after::keys(api).await,
        kills: u32::try_from(run.kills_us.len()).unwrap_or(u32::MAX),
        plan: Plan::clone(&plan),
    };
    bar.finish();
    if args.url.is_some() {
        api.send(Method::PUT, &path, &closed).await?;
    }
    let numbers = Numbers::of(&evidence, run.elapsed_s, begun.repeats(), run.client);
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

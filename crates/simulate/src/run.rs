//! The engine: one run of a scenario, from the start of the service to what people read of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use reqwest::Method;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::client::{Api, Target};
use super::compare::{Comparison, Place};
use super::finding::{self, Finding};
use super::machine::{Machine, cpu_ticks};
use super::numbers::{Client, Numbers};
use super::overview::Overview;
use super::product::Product;
use super::progress::Bar;
use super::report::plots::Plot;
use super::scenario::{Players, Scenario};
use super::service::{self, PrivateService};
use super::{Args, SimulateError, ceiling, kill};

/// `/proc` counts CPU time in hundredths of a second.
const TICKS_PER_S: f64 = 100.0;

/// A run whose subject is defined, before anybody plays.
#[derive(Debug)]
pub struct Setup {
    pub target: Target,
    pub api: Api,
    pub bar: Bar,
    /// Calls of all clients that were sent again.
    pub repeats: Arc<AtomicU64>,
    /// Requests per second of the client alone.
    ceiling_per_s: f64,
}

/// A run that came to its end. Its serialised form is that of `--json`.
#[derive(Debug, Serialize)]
pub struct Played<S: Scenario> {
    pub parameters: Parameters<S>,
    machine: Machine,
    pub numbers: Numbers<S::Numbers>,
    findings: Vec<Finding>,
    /// With `--compare`.
    #[serde(skip_serializing_if = "Option::is_none")]
    comparison: Option<Comparison>,
    #[serde(skip)]
    pub evidence: S::Evidence,
    /// When the service was killed, in microseconds of the run.
    #[serde(skip)]
    pub kills_us: Vec<u64>,
}

/// What the options asked for.
#[derive(Debug, Serialize)]
pub struct Parameters<S: Serialize> {
    service: String,
    kills: String,
    definition: Value,
    #[serde(flatten, serialize_with = "shared")]
    plan: Arc<S>,
}

fn shared<S: Serialize, T: Serializer>(plan: &Arc<S>, serializer: T) -> Result<T::Ok, T::Error> {
    S::serialize(plan, serializer)
}

/// A run as it is shown.
#[derive(Debug)]
pub struct Summary {
    pub overview: Overview,
    /// None unless a report is asked for.
    pub plots: Vec<Plot>,
    pub json: Value,
}

/// Runs it against a private service, which stops after it, or against the given one.
pub async fn run<S: Scenario>(args: &Args, product: &Product) -> Result<Summary, SimulateError> {
    let played = if let Some(target) = args.target() {
        play::<S>(args, target, None).await?
    } else {
        let mut service = PrivateService::start(product.clone(), args.seed, args.keep_data, S::SETTINGS).await?;
        let target = service.target()?;
        let played = play_and_compare(args, target, &mut service).await;
        let stopped = service.stop().await;
        let played = played?;
        if let Some(kept) = stopped? {
            eprintln!("the private service's data is kept in {}", kept.display());
        }
        played
    };
    let plots = args.report.is_some().then(|| S::plots(&played)).transpose()?;
    Ok(Summary {
        plots: plots.unwrap_or_default(),
        json: json!(played),
        overview: overview(played),
    })
}

async fn play_and_compare<S: Scenario>(
    args: &Args,
    target: Target,
    service: &mut PrivateService,
) -> Result<Played<S>, SimulateError> {
    let mut played: Played<S> = play(args, target.clone(), Some(service)).await?;
    if args.crowd.compare {
        let bar = &Bar::new(args.quiet);
        let target = &target;
        played.comparison = S::compare(args, Place { service, target, bar }).await?;
        bar.finish();
        played
            .findings
            .extend(played.comparison.as_ref().map(Comparison::finding));
    }
    Ok(played)
}

async fn play<S: Scenario>(
    args: &Args,
    target: Target,
    mut service: Option<&mut PrivateService>,
) -> Result<Played<S>, SimulateError> {
    let plan = Arc::new(S::plan(args, target.secret.is_some()));
    let setup = setup(args, target, &*plan).await?;
    let players = plan.players(&setup, service.as_deref()).await?;
    let players = Arc::new(players);
    let followed = Arc::clone(&players);
    let look = move || (followed.course().done.load(Ordering::Relaxed), followed.message());
    setup.bar.follow(players.steps(), players.course().all, look);

    let before = cpu(service.as_deref());
    let (say_over, over) = watch::channel(false);
    let playing = async {
        let results = players.play().await;
        say_over.send_replace(true);
        results
    };
    let killing = kill::kill_and_restart(args, service.as_deref_mut(), players.course(), over.clone());
    let ending = kill::kill_subscriber(args, players.receiver(), players.course(), over);
    let (results, kills_us, ()) = Box::pin(async { tokio::try_join!(playing, killing, ending) }).await?;
    let elapsed_s = players.course().started.elapsed().as_secs_f64();
    let used = cpu(service.as_deref());

    setup.bar.finish();
    setup.bar.say("reading what the service shows after the run");
    let kills = u32::try_from(kills_us.len()).unwrap_or(u32::MAX);
    let evidence = Box::pin(plan.evidence(&setup, &players, results, kills)).await?;
    setup.bar.finish();
    if args.url.is_some() {
        plan.close(&setup.api).await?;
    }
    let own = S::count(&evidence, elapsed_s);
    let cores = |now: Option<u64>, then: Option<u64>| Some(seconds(now?.saturating_sub(then?)) / elapsed_s);
    let client = Client {
        ceiling_per_s: setup.ceiling_per_s,
        of_ceiling_percent: 100.0 * S::client_per_s(&own, elapsed_s) / setup.ceiling_per_s,
        cores_used: cores(used.0, before.0),
        // A killed process takes its count with it.
        service_cores_used: cores(used.1, before.1).filter(|_| kills == 0),
    };
    Ok(Played {
        parameters: Parameters {
            service: args.service(),
            kills: args.killed(),
            definition: plan.definition(),
            plan,
        },
        machine: Machine::here(),
        numbers: Numbers {
            elapsed_s,
            own,
            repeats: setup.repeats.load(Ordering::Relaxed),
            kills,
            client,
        },
        findings: finding::judge(S::RULES, &evidence),
        comparison: None,
        evidence,
        kills_us,
    })
}

/// Measures the client and defines the subject. A subject that exists already has a history that no rule could tell from
/// the one of this run.
async fn setup<S: Scenario>(args: &Args, target: Target, plan: &S) -> Result<Setup, SimulateError> {
    let bar = Bar::new(args.quiet);
    bar.say("measuring the client alone");
    let ceiling_per_s = ceiling::measure(plan.connections()).await?;
    let repeats = Arc::new(AtomicU64::new(0));
    let api = Api::new(&target, Arc::clone(&repeats))?;
    let path = plan.path();
    let known = api.send_once(Method::GET, &api.url(&path), None).await;
    if known.is_ok_and(|answer| answer.status.is_success()) {
        let option = S::ID_OPTION;
        let text = format!("{path} exists already: choose another --seed or {option}");
        return Err(SimulateError::Usage(text));
    }
    api.send(Method::PUT, &path, &plan.first_definition()).await?;
    Ok(Setup {
        target,
        api,
        bar,
        repeats,
        ceiling_per_s,
    })
}

fn overview<S: Scenario>(played: Played<S>) -> Overview {
    let Played {
        parameters,
        machine,
        numbers,
        findings,
        comparison,
        ..
    } = played;
    let plan = parameters.plan;
    let mut asked = vec![
        ("service".to_owned(), parameters.service),
        (S::KIND.to_owned(), plan.id().to_owned()),
    ];
    asked.extend(plan.parameters());
    asked.push(("kills".to_owned(), parameters.kills));
    let mut overview = Overview {
        shown: S::SHOWN,
        cards: S::cards(&numbers.own),
        rows: plan.rows(&numbers),
        parameters: asked,
        remarks: Vec::new(),
        definition: (S::KIND, parameters.definition),
        machine,
        findings,
        comparison,
    };
    overview.add_common(numbers.kills, &numbers.client, S::RATE);
    overview.remarks.extend(plan.remarks());
    overview
}

/// CPU ticks of this process and of the private service's.
fn cpu(service: Option<&PrivateService>) -> (Option<u64>, Option<u64>) {
    let of_service = service.map(|service| {
        service::pids(service)
            .iter()
            .filter_map(|pid| cpu_ticks(&pid.to_string()))
            .sum()
    });
    (cpu_ticks("self"), of_service)
}

#[expect(clippy::cast_precision_loss, reason = "hundredths of seconds to be shown")]
fn seconds(ticks: u64) -> f64 {
    ticks as f64 / TICKS_PER_S
}

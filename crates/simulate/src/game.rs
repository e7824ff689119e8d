//! One game from the definition of its jackpot to the findings.

use std::sync::Arc;
use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use super::begin::begin;
use super::client::{Api, Target};
use super::course::{self, Course};
use super::evidence::{Evidence, Meter, Pending, Record, Seeds};
use super::machine::Machine;
use super::numbers::Numbers;
use super::plan::Plan;
use super::players::Game;
use super::service::PrivateService;
use super::summary::{Parameters, Played, Summary};
use super::{Args, SimulateError, check, epochs, receipts};

/// Entries without an outcome are finished within this after the last answer.
const PENDING_LIMIT: Duration = Duration::from_secs(10);
const PENDING_POLL: Duration = Duration::from_millis(50);
const PENDING_GAUGE: &str = "jackpot_pending";

/// Plays it. `service` is the private one, when there is one.
pub async fn play(args: &Args, target: Target, service: Option<&mut PrivateService>) -> Result<Played, SimulateError> {
    let plan = Arc::new(Plan::new(args, target.secret.is_some()));
    let path = format!("/v1/jackpots/{}", plan.jackpot_id);
    let made = (path.as_str(), &plan.definition(), "choose another --seed or --jackpot");
    let begun = begin(args, &target, args.players, made).await?;
    let (api, bar) = (&begun.api, &begun.bar);
    bar.say("searching entries that win");
    let winners = search(api, &plan, target.secret).await?;

    let secret = target.secret;
    let game = Arc::new(Game::new(
        Arc::clone(&plan),
        target,
        winners,
        Arc::clone(&begun.repeats),
    )?);
    let all = args.entries + args.collision_entries();
    let course = Course {
        done: &game.progress.entries,
        all,
        eventful: all,
        started: game.started(),
    };
    let followed = Arc::clone(&game);
    bar.follow("entries", course.all, move || followed.progress.told());
    let run = course::conduct(args, service, course, &begun, game.play()).await?;

    let pending = pending(api, &plan).await;
    let mut records = run.haul.records;
    records.sort_by_key(|record| record.answer.as_ref().map_or(u64::MAX, |answer| answer.sequence));
    let paid = |record: &&Record| record.answer.as_ref().is_ok_and(|answer| answer.payout.is_some());
    let wins = records.iter().filter(paid).count();
    let evidence = Evidence {
        receipts: receipts::read(api, &plan, wins).await,
        seeds: match secret {
            Some(secret) => Some(Seeds::of(&secret, &plan, &epochs::read(api, &plan.jackpot_id).await?)),
            None => None,
        },
        records,
        repeated: run.haul.repeated,
        meters: meters(api, &plan).await?,
        pending,
        kills: u32::try_from(run.kills_us.len()).unwrap_or(u32::MAX),
        plan: Plan::clone(&plan),
    };
    if args.url.is_some() {
        api.send(
            Method::POST,
            &format!("{path}/close"),
            &json!({ "reason": "the simulation has ended" }),
        )
        .await?;
    }
    let summary = Summary {
        parameters: Parameters::of(args, &plan),
        machine: Machine::here(),
        numbers: Numbers::of(&evidence, run.elapsed_s, begun.repeats(), run.client),
        findings: check::all(&evidence),
    };
    Ok(Played {
        summary,
        evidence,
        kills_us: run.kills_us,
    })
}

async fn search(
    api: &Api,
    plan: &Arc<Plan>,
    secret: Option<[u8; 32]>,
) -> Result<Vec<Vec<super::plan::Entry>>, SimulateError> {
    let Some(secret) = secret else {
        return plan.winners(None);
    };
    let published = epochs::read(api, &plan.jackpot_id).await?;
    let open = published.values().next_back().filter(|epoch| epoch.closed_at.is_none());
    let open = open.ok_or_else(|| SimulateError::Unreadable {
        call: "GET /fairness".to_owned(),
        detail: format!("jackpot {} has no open epoch", plan.jackpot_id),
    })?;
    let seed = open.seed(&secret, &plan.jackpot_id).map_err(SimulateError::Usage)?;
    let plan = Arc::clone(plan);
    tokio::task::spawn_blocking(move || plan.winners(Some(&seed))).await?
}

async fn meters(api: &Api, plan: &Plan) -> Result<Vec<Meter>, SimulateError> {
    let path = format!("/v1/jackpots/{}", plan.jackpot_id);
    let shown = api.get(&path).await?;
    plan.tiers
        .iter()
        .map(|tier| {
            let items = shown["meters"].as_array().map_or(&[] as &[Value], Vec::as_slice);
            read_meter(items.iter().find(|meter| meter["tier"] == tier.name)).ok_or_else(|| SimulateError::Unreadable {
                call: path.clone(),
                detail: format!("no full meter of {} in {}", tier.name, shown["meters"]),
            })
        })
        .collect()
}

fn read_meter(shown: Option<&Value>) -> Option<Meter> {
    let shown = shown?;
    let whole = |name: &str| shown[name].as_i64();
    Some(Meter {
        pool: whole("pool")?,
        reserve: whole("reserve")?,
        overflow: whole("overflow")?,
        remainder_micro: whole("remainder_micro")?,
        contributed: whole("contributed")?,
        funded: whole("funded")?,
        paid: whole("paid")?,
        wins: shown["wins"].as_u64()?,
    })
}

/// Waits until the gauge says that no entry is left without an outcome.
async fn pending(api: &Api, plan: &Plan) -> Pending {
    let started = Instant::now();
    let url = api.url("/metrics");
    loop {
        let left = match api.send_once(Method::GET, &url, None).await {
            Ok(answer) if answer.status.is_success() => gauge(&String::from_utf8_lossy(&answer.body), &plan.jackpot_id),
            Ok(answer) => return Pending::Unknown(format!("/metrics answers {}", answer.status)),
            Err(error) => {
                return Pending::Unknown(format!("/metrics: {}", super::client::chain(&error)));
            }
        };
        match left {
            None => return Pending::Unknown(format!("/metrics has no gauge {PENDING_GAUGE}")),
            Some(0) => {
                return Pending::None {
                    after_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
                };
            }
            Some(left) if started.elapsed() > PENDING_LIMIT => return Pending::Left(left),
            Some(_) => tokio::time::sleep(PENDING_POLL).await,
        }
    }
}

/// Sum of the gauge's series, of this jackpot's where they name jackpots.
fn gauge(text: &str, jackpot_id: &str) -> Option<u64> {
    let mut sum = None;
    for line in text.lines().filter_map(|line| line.strip_prefix(PENDING_GAUGE)) {
        let (labels, value) = match line.strip_prefix('{') {
            Some(rest) => rest.split_once('}')?,
            None if line.starts_with(' ') => ("", line),
            None => continue,
        };
        if labels.contains("jackpot=") && !labels.contains(&format!("jackpot=\"{jackpot_id}\"")) {
            continue;
        }
        sum = Some(sum.unwrap_or(0) + value.split_whitespace().next()?.parse::<u64>().ok()?);
    }
    sum
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{gauge, read_meter};

    #[test]
    fn the_gauge_is_read_with_and_without_labels() {
        assert_eq!(
            gauge(
                "# TYPE jackpot_pending gauge\njackpot_pending 3\njackpot_pending_age_seconds 9\n",
                "sim-1"
            ),
            Some(3)
        );
        let labelled = "jackpot_pending{jackpot=\"sim-1\"} 2\njackpot_pending{jackpot=\"other\"} 5\n";
        assert_eq!(gauge(labelled, "sim-1"), Some(2));
        assert_eq!(gauge("jackpot_entries_total 3\n", "sim-1"), None);
    }

    #[test]
    fn a_meter_needs_all_its_terms() {
        let mut shown = json!({"tier":"grand","pool":1,"reserve":2,"overflow":3,"remainder_micro":4,"contributed":5,"funded":6,"paid":7,"wins":8});
        assert_eq!(read_meter(Some(&shown)).unwrap().remainder_micro, 4);
        shown.as_object_mut().unwrap().remove("overflow");
        assert!(read_meter(Some(&shown)).is_none());
    }
}

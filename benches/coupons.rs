//! Coupons: issues of the service beside the two public ways, and a locked row in PostgreSQL.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::peer::Kind;
use crate::peers::Round;
use crate::plan::Peers;
use crate::sample::{Load, Sample};
use crate::service::{Service, keep};
use crate::{Outcome, json, postgres, wrk};

/// The points of the service, and of the public ways under the same load.
const POINTS: [(&str, Option<Kind>, usize); 6] = [
    ("issue-64", None, 64),
    ("issue-counter-64", Some(Kind::Counter), 64),
    ("issue-set-64", Some(Kind::Set), 64),
    ("issue-512", None, 512),
    ("issue-counter-512", Some(Kind::Counter), 512),
    ("issue-set-512", Some(Kind::Set), 512),
];
const WARM_UP: Duration = Duration::from_secs(1);
const ROUTE: &str = "issues";
/// Time for the ledger to have all issues.
const CATCH_UP_LIMIT: Duration = Duration::from_mins(5);
const POLL: Duration = Duration::from_millis(10);

/// Measures each wanted point in turn, each with new processes.
pub(crate) async fn round(round: &mut Round<'_>) {
    let (plan, number) = (round.plan, round.number);
    for (point, peer, connections) in POINTS {
        match peer {
            None => round.measure(point, service(plan, number, point, connections)).await,
            Some(kind) => round.plain(point, public(plan, kind, connections)).await,
        }
    }
    round
        .plain("issue-for-update", postgres::issues(plan, plan.time()))
        .await;
}

async fn load(plan: &Peers, process: &Service, connections: usize) -> Outcome<Load> {
    wrk::requests(&process.target, ROUTE, connections, 1, WARM_UP).await?;
    wrk::requests(&process.target, ROUTE, connections, 1, plan.time()).await
}

async fn public(plan: &Peers, kind: Kind, connections: usize) -> Outcome<Load> {
    let process = Service::peer(&plan.place.directory, kind).await?;
    load(plan, &process, connections).await
}

/// Fails if an answered issue is missing, in the coupon or in the ledger.
async fn service(plan: &Peers, number: usize, point: &str, connections: usize) -> Outcome<Sample> {
    let process = Service::product(&plan.place.directory, json!({})).await?;
    process
        .target
        .call("PUT", "/v1/coupons/bench-0", &json::coupon())
        .await?;
    let load = load(plan, &process, connections).await?;
    let mut sample = load.sample(point, number);
    let begun = Instant::now();
    let (mut issued, mut recorded) = counts(&process).await?;
    while issued != recorded {
        if begun.elapsed() > CATCH_UP_LIMIT {
            return Err(format!("{issued} issued, {recorded} in the ledger").into());
        }
        tokio::time::sleep(POLL).await;
        (issued, recorded) = counts(&process).await?;
    }
    if issued < load.entries {
        return Err(format!("{} answered, {issued} issued", load.entries).into());
    }
    keep(
        &mut sample,
        json!({"answered": load.entries, "issued": issued, "catch_up_s": begun.elapsed().as_secs_f64()}),
    );
    Ok(sample)
}

/// Number of issues that the coupon has, and of their rows in the ledger.
async fn counts(process: &Service) -> Outcome<(u64, u64)> {
    let coupon = process.target.call("GET", "/v1/coupons/bench-0", &Value::Null).await?;
    let issued = coupon["issued"].as_u64().ok_or("a coupon without issues")?;
    Ok((issued, process.recorded_issues().await?))
}

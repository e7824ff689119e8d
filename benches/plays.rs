//! One play that feeds several jackpots beside single entries, on the same service: it has as many jackpots in both.

use std::time::Duration;

use serde_json::json;

use crate::peers::Round;
use crate::plan::Peers;
use crate::sample::Sample;
use crate::service::{Service, keep};
use crate::{Outcome, wrk};

/// Jackpots of a play.
const JACKPOTS: usize = 4;
/// Last part of the path of single entries, and the name of plays in load.lua.
const ENTRIES: &str = "entries";
const PLAYS: &str = "plays";

/// Load before the measurement.
const WARM_UP: Duration = Duration::from_secs(1);

/// Each point: what it sends, to how many jackpots, and over how many connections.
const POINTS: [(&str, &str, usize, usize); 4] = [
    ("play-1-lone", ENTRIES, 1, 1),
    ("play-4-lone", PLAYS, JACKPOTS, 1),
    ("play-1-64", ENTRIES, 1, 64),
    ("play-4-64", PLAYS, JACKPOTS, 64),
];

/// Measures each wanted point in turn.
pub(crate) async fn round(round: &mut Round<'_>) {
    let (plan, number) = (round.plan, round.number);
    let mut wanted = POINTS.into_iter().filter(|(point, ..)| plan.wants(point)).peekable();
    let Some((first, ..)) = wanted.peek() else {
        return;
    };
    let service = match service(plan).await {
        Ok(service) => service,
        Err(error) => return round.done(first, Err(error)),
    };
    for (point, route, jackpots, connections) in wanted {
        let one = one(plan, &service, number, point, route, jackpots, connections);
        round.measure(point, one).await;
    }
}

async fn service(plan: &Peers) -> Outcome<Service> {
    let service = Service::product(&plan.place.directory, json!({})).await?;
    service.define(0, JACKPOTS).await?;
    // Each thread of the service has used each jackpot.
    wrk::requests(&service.target, PLAYS, 64, JACKPOTS, WARM_UP).await?;
    Ok(service)
}

/// The rate is that of calls; a call of several jackpots has as many entries.
async fn one(
    plan: &Peers,
    service: &Service,
    number: usize,
    point: &str,
    route: &str,
    jackpots: usize,
    connections: usize,
) -> Outcome<Sample> {
    let before = service.before(JACKPOTS).await?;
    let load = wrk::requests(&service.target, route, connections, jackpots, plan.time()).await?;
    let mut sample = load.sample(point, number);
    // wrk ends without its last answers.
    let (entries, unheard) = (load.entries * jackpots as u64, connections * jackpots);
    service.settle(&before, entries, unheard, &mut sample).await?;
    keep(&mut sample, json!({"entries_of_a_call": jackpots}));
    Ok(sample)
}

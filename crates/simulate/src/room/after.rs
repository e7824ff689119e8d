//! What the service shows of the room after the run: its counts, how every ticket ended, and the keys that sign.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use reqwest::Method;
use tokio::task::JoinSet;

use super::answer;
use super::crowd::Crowd;
use super::evidence::{Counts, Visit};
use super::pass::{self, Key};
use super::plan::Plan;
use crate::SimulateError;
use crate::client::Api;
use crate::scenario::{Players, Scenario};

/// Between two looks at a room that is not empty yet.
const POLL: Duration = Duration::from_millis(100);
/// Beyond the end of the last session and of the last waiting timeout.
const SLACK: Duration = Duration::from_secs(10);

/// Waits until sessions without a leave have expired, and users who never came back are abandoned. The rules find the users
/// who are left then.
pub async fn emptied(api: &Api, plan: &Plan) -> Result<(), SimulateError> {
    let seconds = u64::from(plan.options.session_s) + u64::from(plan.options.waiting_timeout_s);
    let limit = Duration::from_secs(seconds) + SLACK;
    let mut last = (Counts::default(), Instant::now());
    loop {
        let counts = counts(api, plan).await?;
        if (counts.active, counts.waiting) == (0, 0) || last.1.elapsed() > limit {
            return Ok(());
        }
        if counts != last.0 {
            last = (counts, Instant::now());
        }
        tokio::time::sleep(POLL).await;
    }
}

/// The counts of the room.
pub async fn counts(api: &Api, plan: &Plan) -> Result<Counts, SimulateError> {
    api.get(&plan.path()).await
}

/// Looks at every ticket once more.
pub async fn ends(crowd: &Arc<Crowd>, visits: Vec<Visit>) -> Result<Vec<Visit>, SimulateError> {
    let tickets: Arc<[Option<Box<str>>]> = visits.iter().map(|visit| visit.ticket().map(Box::from)).collect();
    let next = Arc::new(AtomicUsize::new(0));
    let mut tasks = JoinSet::new();
    for _ in 0..crowd.plan.crowd.connections {
        let (crowd, tickets, next) = (Arc::clone(crowd), Arc::clone(&tickets), Arc::clone(&next));
        tasks.spawn(async move {
            let mut seen = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(ticket) = tickets.get(number) else {
                    return Ok(seen);
                };
                let Some(ticket) = ticket else {
                    continue;
                };
                let url = crowd.url(&format!("/{ticket}"));
                let said = match crowd.pool.lease().await.call(Method::GET, &url, None).await {
                    Ok(answered) => Some(answer::read(&answered.body)),
                    Err(SimulateError::Refused { status: 404, .. }) => None,
                    Err(error @ SimulateError::Refused { .. }) => Some(Err(error.to_string())),
                    Err(error) => return Err(error),
                };
                seen.push((number, said, crowd.course().micros()));
            }
        });
    }
    let mut visits = visits;
    while let Some(ended) = tasks.join_next().await {
        for (number, said, answered_us) in ended?? {
            let visit = &mut visits[number];
            match said {
                Some(Ok(said)) => visit.finally = Some(said.place),
                Some(Err(error)) => _ = visit.wrong.get_or_insert(format!("the last look: {error}")),
                None => visit.forgotten_us = visit.joins.first().map(|join| answered_us - join.sent_us),
            }
        }
    }
    Ok(visits)
}

/// The public keys of the service.
pub async fn keys(api: &Api) -> Result<Vec<Key>, String> {
    let answered = api.call(Method::GET, &api.url("/v1/keys"), None).await;
    let answered = answered.map_err(|error| error.to_string())?;
    pass::keys(&answered.body)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize as _;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_room_shows_all_its_counts() {
        let mut shown =
            json!({"capacity": 1, "active": 2, "waiting": 3, "admitted": 4, "expired": 5, "abandoned": 6, "left": 7});
        let read = |shown: &Value| Counts::deserialize(shown);
        assert_eq!(read(&shown).expect("all are there").left, 7);
        shown["abandoned"].take();
        assert!(read(&shown).is_err());
    }
}

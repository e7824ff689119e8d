//! The players of a market day. Each sends one play after the other on its own connection; `operator` does the rest.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::again::{self, code};
use super::evidence::{Entry, Reversal, Seen};
use super::plan::{Plan, Play};
use super::{answer, operator};
use crate::SimulateError;
use crate::client::{Answered, Api, Target};
use crate::run::Setup;
use crate::scenario::{Course, Players};
use crate::subscriber::{Receiver, Subscriber};

/// Codes of refusals after which an entry is not sent again: nothing was taken.
const REFUSALS: [&str; 2] = ["jackpot-paused", "jackpot-closed"];

/// What all players and the operator share.
#[derive(Debug)]
pub struct Day {
    pub plan: Arc<Plan>,
    target: Target,
    repeats: Arc<AtomicU64>,
    /// Whether each jackpot is played.
    open: Vec<AtomicBool>,
    next: AtomicU64,
    done: AtomicU64,
    hits: AtomicU64,
    started: Instant,
    /// Who gets the events; or why there is nobody.
    pub subscriber: Result<Subscriber, String>,
}

/// One item of a play's answer.
struct Item {
    jackpot: usize,
    status: u16,
    /// The entry, or the problem.
    body: Value,
}

impl Day {
    pub fn new(plan: Arc<Plan>, setup: &Setup, subscriber: Result<Subscriber, String>) -> Self {
        Self {
            open: plan.jackpots().iter().map(|_| AtomicBool::new(true)).collect(),
            target: setup.target.clone(),
            repeats: Arc::clone(&setup.repeats),
            plan,
            next: AtomicU64::new(0),
            done: AtomicU64::new(0),
            hits: AtomicU64::new(0),
            started: Instant::now(),
            subscriber,
        }
    }

    /// A client with a connection of its own.
    pub fn api(&self) -> Result<Api, SimulateError> {
        Api::new(&self.target, Arc::clone(&self.repeats))
    }

    /// Nobody begins a play of this jackpot any more.
    pub fn leave(&self, jackpot: usize) {
        self.open[jackpot].store(false, Ordering::Relaxed);
    }

    pub fn micros(&self, at: Instant) -> u64 {
        u64::try_from(at.duration_since(self.started).as_micros()).unwrap_or(u64::MAX)
    }
}

impl Players for Day {
    type Results = Seen;

    fn steps(&self) -> &'static str {
        "plays"
    }

    fn course(&self) -> Course<'_> {
        Course {
            done: &self.done,
            all: self.plan.file.plays,
            eventful: self.plan.file.plays,
            started: self.started,
        }
    }

    fn message(&self) -> String {
        format!("{} hits", self.hits.load(Ordering::Relaxed))
    }

    fn receiver(&self) -> Option<&Receiver> {
        self.subscriber.as_ref().ok().map(|subscriber| &subscriber.receiver)
    }

    async fn play(self: &Arc<Self>) -> Result<Seen, SimulateError> {
        let mut tasks = JoinSet::new();
        for _ in 0..self.plan.file.players {
            let player = Player {
                api: self.api()?,
                day: Arc::clone(self),
                seen: Seen::default(),
            };
            tasks.spawn(player.play_all());
        }
        tasks.spawn(operator::work(Arc::clone(self)));
        let mut seen = Seen::default();
        while let Some(ended) = tasks.join_next().await {
            seen.join(ended??);
        }
        Ok(seen)
    }
}

struct Player {
    day: Arc<Day>,
    api: Api,
    seen: Seen,
}

impl Player {
    async fn play_all(mut self) -> Result<Seen, SimulateError> {
        let day = Arc::clone(&self.day);
        loop {
            let number = day.next.fetch_add(1, Ordering::Relaxed);
            if number >= day.plan.file.plays {
                return Ok(self.seen);
            }
            self.play_one(number).await?;
            day.done.fetch_add(1, Ordering::Relaxed);
        }
    }

    async fn play_one(&mut self, number: u64) -> Result<(), SimulateError> {
        let day = Arc::clone(&self.day);
        let play = day.plan.play(number, |index| day.open[index].load(Ordering::Relaxed));
        let began = Instant::now();
        let (answered, items) = self.send(&play).await?;
        let answered_at = Instant::now();
        let latency = answered_at.duration_since(began).as_micros();
        self.seen.latencies_us.push(u64::try_from(latency).unwrap_or(u64::MAX));
        for item in &items {
            if !is_taken(item.status) {
                self.seen.refused += 1;
                continue;
            }
            match answer::entry(&day.plan, &play, item.jackpot, &item.body) {
                Ok(entry) => {
                    let entry = Entry {
                        is_new: item.status == StatusCode::CREATED.as_u16(),
                        sent_us: day.micros(answered.sent),
                        answered_us: day.micros(answered_at),
                        ..entry
                    };
                    day.hits.fetch_add(u64::from(entry.hit.is_some()), Ordering::Relaxed);
                    if day.plan.is_cancelled(number) && entry.won.is_none() {
                        self.cancel(&entry).await?;
                    }
                    self.seen.entries.push(entry);
                }
                Err(what) => self.wrong(&play, &what),
            }
        }
        if day.plan.is_replayed(number) {
            self.play_again(&play, &items).await?;
        }
        Ok(())
    }

    /// Sends it until each of its jackpots took it or refused it.
    async fn send(&self, play: &Play) -> Result<(Answered, Vec<Item>), SimulateError> {
        let market = &self.day.plan;
        let is_refusal = |answered: &Answered| code(answered).is_some_and(|code| REFUSALS.contains(&code.as_str()));
        let is_over = |item: &Item| is_taken(item.status) || is_refused(&item.body);
        let is_done = |answered: &Answered| items(play, answered).is_some_and(|items| items.iter().all(is_over));
        let answered = again::until(&self.api, &play.path(market), &play.body(market), is_refusal, is_done).await?;
        let items = items(play, &answered).unwrap_or_default();
        Ok((answered, items))
    }

    /// A repeat answers with the entry as at first. What a jackpot refused, it may take now; then that is a new entry.
    async fn play_again(&mut self, play: &Play, first: &[Item]) -> Result<(), SimulateError> {
        let (_, again) = self.send(play).await?;
        self.seen.replayed += 1;
        for (first, again) in first.iter().zip(&again) {
            if is_taken(first.status) && (again.status != StatusCode::OK.as_u16() || first.body != again.body) {
                let what = format!(
                    "sent again it answers {} with {}, at first {}",
                    again.status, again.body, first.body
                );
                self.wrong(play, &what);
            }
            if !is_taken(first.status) && is_taken(again.status) {
                match answer::entry(&self.day.plan, play, again.jackpot, &again.body) {
                    Ok(entry) => {
                        self.seen.refused -= 1;
                        self.seen.entries.push(entry);
                    }
                    Err(what) => self.wrong(play, &what),
                }
            }
        }
        Ok(())
    }

    /// The game cancels the round; half of the calls are sent again.
    async fn cancel(&mut self, entry: &Entry) -> Result<(), SimulateError> {
        let id = self.day.plan.jackpots()[entry.jackpot].id().to_owned();
        let path = format!("/v1/jackpots/{id}/entries/{}/reverse", entry.id);
        let body = json!({"reversal_id": format!("c-{}", entry.id), "reason": "the game cancelled the round"});
        let first: Value = self.api.send(Method::POST, &path, &body).await?.json(&path)?;
        if entry.sequence.is_multiple_of(2) {
            let again = self.api.send(Method::POST, &path, &body).await?;
            if again.status != StatusCode::OK || again.json::<Value>(&path)? != first {
                let what = format!("{path} sent again answers {} with another body", again.status);
                self.seen.wrong.push(what);
            }
        }
        match answer::reversal(&first) {
            Ok(parts) => self.seen.reversals.push(Reversal {
                jackpot: entry.jackpot,
                entry_id: entry.id.clone(),
                parts,
            }),
            Err(what) => self.seen.wrong.push(format!("{path}: {what}")),
        }
        Ok(())
    }

    fn wrong(&mut self, play: &Play, what: &str) {
        self.seen.wrong.push(format!("{}: {what}", play.entry_id));
    }
}

fn is_taken(status: u16) -> bool {
    matches!(status, 200 | 201)
}

fn is_refused(problem: &Value) -> bool {
    problem["code"].as_str().is_some_and(|code| REFUSALS.contains(&code))
}

/// The items of an answer, one for each jackpot of the play; none for an answer of another kind.
fn items(play: &Play, answered: &Answered) -> Option<Vec<Item>> {
    let body: Value = serde_json::from_slice(&answered.body).ok()?;
    if let [only] = play.jackpots[..] {
        return Some(vec![Item {
            jackpot: only,
            status: answered.status.as_u16(),
            body,
        }]);
    }
    let shown = body["items"].as_array()?;
    let item = |(jackpot, item): (&usize, &Value)| {
        let status = u16::try_from(item["status"].as_u64()?).ok()?;
        let body = if is_taken(status) {
            &item["entry"]
        } else {
            &item["problem"]
        };
        Some(Item {
            jackpot: *jackpot,
            status,
            body: body.clone(),
        })
    };
    (shown.len() == play.jackpots.len()).then(|| play.jackpots.iter().zip(shown).map(item).collect())?
}

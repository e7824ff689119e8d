//! The players: each sends entries one after the other on its own connection; winners meet at a barrier.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use bytes::Bytes;
use reqwest::{Method, StatusCode, Url};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::answer::{self, Outcome};
use super::evidence::{Record, Repeated, Seen};
use super::plan::{Entry, Plan, Replay};
use crate::SimulateError;
use crate::client::{Answered, Api, Target};
use crate::run::Setup;
use crate::scenario::{Course, Players, Scenario};

/// Entries a player keeps to send again later; the oldest goes when there are more.
const KEPT_FOR_LATER: usize = 8;
/// Every fourth winner of a collision is sent twice at that same instant.
const TWIN_WINNERS: u32 = 4;

/// What all players share.
#[derive(Debug)]
pub struct Game {
    plan: Arc<Plan>,
    target: Target,
    entries_url: Url,
    /// By collision, then by player.
    winners: Vec<Vec<Entry>>,
    barrier: Barrier,
    next: AtomicU64,
    started: Instant,
    progress: Progress,
    repeats: Arc<AtomicU64>,
}

/// Counts while the game goes on.
#[derive(Debug, Default)]
pub struct Progress {
    /// Entries answered, those of collisions included.
    pub entries: AtomicU64,
    /// Ordinary ones among them.
    pub regular: AtomicU64,
    /// Money claims answered.
    pub paid: AtomicU64,
    /// Attempts answered with retry.
    pub retries: AtomicU64,
    /// Entries sent again.
    pub replays: AtomicU64,
    /// Collisions released.
    pub collisions: AtomicU64,
}

/// The results of one player, or of all of them.
#[derive(Debug, Default)]
pub struct Results {
    pub records: Vec<Record>,
    pub repeated: Vec<Repeated>,
}

impl Game {
    /// `winners`: the entries of each collision.
    pub fn new(plan: Arc<Plan>, setup: &Setup, winners: Vec<Vec<Entry>>) -> Self {
        Self {
            barrier: Barrier::new(plan.options.winners.max(1) as usize),
            entries_url: setup.api.url(&format!("{}/entries", plan.path())),
            plan,
            target: setup.target.clone(),
            winners,
            next: AtomicU64::new(0),
            started: Instant::now(),
            progress: Progress::default(),
            repeats: Arc::clone(&setup.repeats),
        }
    }

    /// How far the ordinary entries must have come for a collision: they are spread evenly over the run.
    fn collision_is_due(&self, number: u32) -> bool {
        let due = self.plan.options.entries * u64::from(number + 1) / (u64::from(self.plan.options.collisions) + 1);
        self.progress.regular.load(Ordering::Relaxed) >= due
            || self.next.load(Ordering::Relaxed) >= self.plan.options.entries
    }
}

impl Players for Game {
    type Results = Results;

    fn steps(&self) -> &'static str {
        "entries"
    }

    fn course(&self) -> Course<'_> {
        let all = self.plan.options.entries + self.plan.options.collision_entries();
        Course {
            done: &self.progress.entries,
            all,
            eventful: all,
            started: self.started,
        }
    }

    fn message(&self) -> String {
        let number = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        format!(
            "{} paid  {} retries  {} replays  {} collisions",
            number(&self.progress.paid),
            number(&self.progress.retries),
            number(&self.progress.replays),
            number(&self.progress.collisions)
        )
    }

    async fn play(self: &Arc<Self>) -> Result<Results, SimulateError> {
        let mut players = JoinSet::new();
        for number in 0..self.plan.options.players {
            let player = Player::new(Arc::clone(self), number)?;
            players.spawn(player.play());
        }
        let mut all = Results::default();
        while let Some(ended) = players.join_next().await {
            let results = ended??;
            all.records.extend(results.records);
            all.repeated.extend(results.repeated);
        }
        Ok(all)
    }
}

struct Player {
    game: Arc<Game>,
    number: u32,
    api: Api,
    /// A second connection, to send one entry twice at once.
    twin: Api,
    results: Results,
    later: VecDeque<(Entry, Seen)>,
}

impl Player {
    fn new(game: Arc<Game>, number: u32) -> Result<Self, SimulateError> {
        let api = Api::new(&game.target, Arc::clone(&game.repeats))?;
        let twin = Api::new(&game.target, Arc::clone(&game.repeats))?;
        Ok(Self {
            game,
            number,
            api,
            twin,
            results: Results::default(),
            later: VecDeque::new(),
        })
    }

    async fn play(mut self) -> Result<Results, SimulateError> {
        let game = Arc::clone(&self.game);
        let collisions = if self.number < game.plan.options.winners {
            game.plan.options.collisions
        } else {
            0
        };
        let mut met = 0_u32;
        loop {
            if met < collisions && game.collision_is_due(met) {
                self.collide(met).await?;
                met += 1;
                continue;
            }
            let index = game.next.fetch_add(1, Ordering::Relaxed);
            if index < game.plan.options.entries {
                let entry = game.plan.regular(index, self.number);
                self.enter(entry, None, game.plan.replay(index)).await?;
                game.progress.regular.fetch_add(1, Ordering::Relaxed);
            } else if met == collisions {
                break;
            }
        }
        while let Some((entry, first)) = self.later.pop_front() {
            self.send_again(&entry, first).await?;
        }
        Ok(self.results)
    }

    /// Waits for the other winners of this collision, then sends at the same instant as they.
    async fn collide(&mut self, number: u32) -> Result<(), SimulateError> {
        let game = Arc::clone(&self.game);
        let entry = game.winners[number as usize][self.number as usize].clone();
        let replay = if self.number.is_multiple_of(TWIN_WINNERS) {
            Replay::AtOnce
        } else {
            Replay::Later
        };
        if game.barrier.wait().await.is_leader() {
            game.progress.collisions.fetch_add(1, Ordering::Relaxed);
        }
        self.enter(entry, Some(number), Some(replay)).await
    }

    async fn enter(
        &mut self,
        entry: Entry,
        collision: Option<u32>,
        replay: Option<Replay>,
    ) -> Result<(), SimulateError> {
        let game = Arc::clone(&self.game);
        let body = Bytes::from(Plan::body(&entry).to_string());
        let sent_us = game.course().micros();
        let timed = async |body: Bytes| {
            let answered = self.api.call(Method::POST, &game.entries_url, Some(body)).await?;
            Ok::<_, SimulateError>((answered, game.course().micros()))
        };
        let ((answered, answered_us), second) = if replay == Some(Replay::AtOnce) {
            let (first, second) = tokio::join!(
                timed(body.clone()),
                self.twin.call(Method::POST, &game.entries_url, Some(body))
            );
            (first?, Some(second?))
        } else {
            (timed(body).await?, None)
        };
        let first = seen(&answered);
        if let Some(second) = &second {
            let pair = Repeated {
                entry_id: entry.id.clone(),
                first: first.clone(),
                again: seen(second),
                at_once: true,
            };
            self.keep_pair(pair);
        }
        self.keep_answer(entry.clone(), collision, sent_us, answered_us, &answered);
        if replay == Some(Replay::Later) {
            self.later.push_back((entry, first));
            if self.later.len() > KEPT_FOR_LATER
                && let Some((entry, first)) = self.later.pop_front()
            {
                self.send_again(&entry, first).await?;
            }
        }
        Ok(())
    }

    async fn send_again(&mut self, entry: &Entry, first: Seen) -> Result<(), SimulateError> {
        let body = Bytes::from(Plan::body(entry).to_string());
        let again = seen(&self.api.call(Method::POST, &self.game.entries_url, Some(body)).await?);
        self.keep_pair(Repeated {
            entry_id: entry.id.clone(),
            first,
            again,
            at_once: false,
        });
        Ok(())
    }

    fn keep_pair(&mut self, pair: Repeated) {
        self.game.progress.replays.fetch_add(1, Ordering::Relaxed);
        self.results.repeated.push(pair);
    }

    fn keep_answer(
        &mut self,
        entry: Entry,
        collision: Option<u32>,
        sent_us: u64,
        answered_us: u64,
        answered: &Answered,
    ) {
        let answer = answer::read(&self.game.plan, &entry, &answered.body);
        let progress = &self.game.progress;
        progress.entries.fetch_add(1, Ordering::Relaxed);
        if let Ok(answer) = &answer {
            let retries = answer
                .attempts
                .iter()
                .filter(|attempt| attempt.result == Outcome::Retry)
                .count();
            progress.retries.fetch_add(retries as u64, Ordering::Relaxed);
            progress
                .paid
                .fetch_add(u64::from(answer.payout.is_some()), Ordering::Relaxed);
        }
        self.results.records.push(Record {
            entry,
            collision,
            sent_us,
            answered_us,
            answer,
        });
    }
}

fn seen(answered: &Answered) -> Seen {
    Seen {
        created: answered.status == StatusCode::CREATED,
        replayed: answered.replayed,
        repeats: answered.repeats,
        body: answered.body.clone(),
    }
}

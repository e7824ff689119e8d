//! Players who enter as fast as they are answered, and repeat an id until it is answered, as a good client does. Also
//! the check that each of their entries was counted exactly once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_util::{StreamExt, stream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::interval;

use crate::fault::support::{assert_unavailable, balanced, connection, until_nothing_is_pending};
use crate::support::prelude::*;
use crate::support::service::Caller;

/// Answers asked for again at a time.
const CHECKED_AT_ONCE: usize = 16;
/// How soon an entry that was not answered is tried again.
const REPEAT_EVERY: Duration = Duration::from_millis(20);

/// Players at work.
pub struct Load {
    stop: watch::Sender<bool>,
    tally: Arc<Tally>,
    players: JoinSet<Vec<Played>>,
}

/// What the players met so far.
#[derive(Default)]
struct Tally {
    answered: AtomicUsize,
    unavailable: AtomicUsize,
    suspended: AtomicUsize,
    cut: AtomicUsize,
}

/// An acknowledged entry.
pub struct Played {
    /// What was sent.
    pub entry: Value,
    /// What was answered.
    pub body: Value,
    /// Whether the first try was answered.
    pub at_once: bool,
    /// Whether an earlier try had been taken, unknown to the player.
    pub replayed: bool,
}

impl Load {
    /// Starts `players` players, who enter the jackpot.
    pub fn start(service: &Service, jackpot: &str, players: usize) -> Self {
        Self::start_as("p", service, jackpot, players)
    }

    /// The same with names that begin with `name`, for a second load of the same jackpot.
    pub fn start_as(name: &str, service: &Service, jackpot: &str, players: usize) -> Self {
        let (stop, tally) = (watch::Sender::new(false), Arc::new(Tally::default()));
        let path = format!("/v1/jackpots/{jackpot}/entries");
        let players = (0..players)
            .map(|n| {
                play(
                    service.caller(),
                    path.clone(),
                    format!("{name}{n}"),
                    stop.subscribe(),
                    Arc::clone(&tally),
                )
            })
            .collect();
        Self { stop, tally, players }
    }

    /// Waits until `more` further entries are acknowledged.
    pub async fn until_answered(&self, more: usize) {
        Self::until(&self.tally.answered, more, "entries are acknowledged").await;
    }

    /// How many entries are acknowledged so far.
    pub fn answered(&self) -> usize {
        self.tally.answered.load(Ordering::Relaxed)
    }

    /// Waits until `more` further tries were refused because the jackpot is suspended or restored.
    pub async fn until_suspended(&self, more: usize) {
        Self::until(&self.tally.suspended, more, "entries are refused").await;
    }

    /// Waits until `more` further tries got a 503.
    pub async fn until_unavailable(&self, more: usize) {
        Self::until(&self.tally.unavailable, more, "entries get 503").await;
    }

    /// Waits until `more` further tries were left without an answer.
    pub async fn until_cut(&self, more: usize) {
        Self::until(&self.tally.cut, more, "connections are cut").await;
    }

    async fn until(count: &AtomicUsize, more: usize, what: &str) {
        let goal = count.load(Ordering::Relaxed) + more;
        eventually(PATIENCE, what, async || {
            (count.load(Ordering::Relaxed) >= goal).then_some(())
        })
        .await;
    }

    /// Lets each player end the entry that it has begun. Returns all acknowledged entries, which are all that were
    /// tried.
    ///
    /// # Panics
    /// When the jackpot was ever suspended.
    pub async fn finish(self) -> Vec<Played> {
        let tally = Arc::clone(&self.tally);
        let played = self.finish_through_suspension().await;
        assert_eq!(tally.suspended.load(Ordering::Relaxed), 0, "it was suspended");
        played
    }

    /// The same for a jackpot that was suspended meanwhile.
    pub async fn finish_through_suspension(self) -> Vec<Played> {
        self.stop.send_replace(true);
        self.players.join_all().await.into_iter().flatten().collect()
    }
}

async fn play(
    caller: Caller,
    path: String,
    player: String,
    stop: watch::Receiver<bool>,
    tally: Arc<Tally>,
) -> Vec<Played> {
    let mut acknowledged = Vec::new();
    while !*stop.borrow() {
        let entry = json!({"entry_id": format!("{player}-{}", acknowledged.len()), "player_id": player, "stake": 100});
        // Does what `eventually` does, whose borrowing closure cannot be sent to another task.
        let (mut tries, deadline) = (0, Instant::now() + PATIENCE);
        let mut pace = interval(REPEAT_EVERY);
        let (body, replayed) = loop {
            pace.tick().await;
            tries += 1;
            if let Some(answer) = attempt(&caller, &path, &entry, &tally).await {
                break answer;
            }
            assert!(
                Instant::now() < deadline,
                "not within {PATIENCE:?}: {entry} is answered"
            );
        };
        acknowledged.push(Played {
            entry,
            body,
            at_once: tries == 1,
            replayed,
        });
    }
    acknowledged
}

async fn attempt(caller: &Caller, path: &str, entry: &Value, tally: &Tally) -> Option<(Value, bool)> {
    let began_at = Instant::now();
    let Ok(answer) = caller.post(path, entry).await else {
        tally.cut.fetch_add(1, Ordering::Relaxed);
        return None;
    };
    if answer.status == StatusCode::SERVICE_UNAVAILABLE {
        assert_unavailable(&answer, began_at.elapsed());
        tally.unavailable.fetch_add(1, Ordering::Relaxed);
        return None;
    }
    if answer.body["code"] == "jackpot-suspended" {
        answer.is(409);
        tally.suspended.fetch_add(1, Ordering::Relaxed);
        return None;
    }
    assert!(answer.status.is_success(), "{} {}", answer.status, answer.body);
    tally.answered.fetch_add(1, Ordering::Relaxed);
    let replayed = answer.headers.contains_key("idempotency-replayed");
    assert_eq!(answer.status == StatusCode::OK, replayed, "{}", answer.body);
    Some((answer.body, replayed))
}

/// Every acknowledged entry is there with the same answer, was counted once, and was paid once. Nothing else was.
pub async fn assert_each_counted_once(service: &Service, redis_url: &str, jackpot: &str, played: &[Played]) {
    assert!(!played.is_empty(), "nobody played");
    until_nothing_is_pending(&mut connection(redis_url).await, jackpot).await;
    let (caller, path) = (&service.caller(), &format!("/v1/jackpots/{jackpot}/entries"));
    let checks = played.iter().map(async |one| {
        let again = caller.post(path, &one.entry).await.expect("the service answers again");
        assert_eq!(again.is(200), &one.body, "repeated");
        assert!(again.is_replay());
    });
    stream::iter(checks)
        .buffer_unordered(CHECKED_AT_ONCE)
        .collect::<()>()
        .await;

    let numbers = |field: &dyn Fn(&Value) -> &Value| {
        let mut all: Vec<u64> = played.iter().filter_map(|one| field(&one.body).as_u64()).collect();
        all.sort_unstable();
        all
    };
    let entries = played.len() as u64;
    assert!(
        numbers(&|body| &body["sequence"]).into_iter().eq(1..=entries),
        "numbered 1, 2, 3, ..."
    );
    let orders = numbers(&|body| &body["outcome"]["claim_order"]);
    assert!(
        orders.iter().copied().eq(1..=orders.len() as u64),
        "paid in the order 1, 2, 3, ...: {orders:?}"
    );
    assert!(!orders.is_empty(), "nobody won: the test proves nothing about payouts");
    let meter = balanced(service, jackpot).await;
    assert_eq!(meter["contributed"], entries, "each entry adds one unit, once");
    let paid: u64 = numbers(&|body| &body["outcome"]["amount"]).iter().sum();
    assert_eq!(meter["paid"], paid, "the sum paid is the sum of the answers");
}

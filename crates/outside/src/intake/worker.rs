//! The part of the service that takes messages: a thread of its own, which shares the lanes with the other instances.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, LocalSet, spawn_local};
use tokio::time::MissedTickBehavior;
use tracing::{debug, error, info, warn};

use super::call::Calls;
use super::lane::{Lane, Shared};
use super::positions::Positions;
use crate::broker::Broker;
use jackpot_kernel::http::inside::Api;
use jackpot_kernel::keys::KeyStore;
use jackpot_kernel::settings::Settings;
use jackpot_kernel::sql::Sql;
use jackpot_kernel::stopping::Stopping;
use jackpot_kernel::telemetry::{IntakeMetrics, Metrics};

/// Between two looks at the leases of all instances.
const LOOK: Duration = Duration::from_secs(1);
/// Between two looks for new partitions.
const LOOK_FOR_LANES: Duration = Duration::from_secs(15);
/// For messages on their way when the service stops. What is cut off is taken again.
const LAST: Duration = Duration::from_secs(5);

/// How far the clocks of broker, database and instances may be apart, in ms; at most half of the retention counts.
const CLOCKS_APART_MS: i64 = 120_000;

/// What intake needs.
pub struct Intake {
    settings: Settings,
    broker: Arc<Broker>,
    keys: Arc<KeyStore>,
    metrics: Arc<Metrics>,
    sql: Sql,
    instance: String,
    api: Api,
}

impl Intake {
    /// `None` if the settings name no connection.
    pub fn new(
        settings: &Settings,
        keys: Arc<KeyStore>,
        metrics: Arc<Metrics>,
        sql: Sql,
        instance: &str,
        api: Api,
    ) -> Option<Self> {
        let connection = settings.events.connections.get(&settings.intake.connection)?;
        Some(Self {
            broker: Arc::new(Broker::new(connection.clone())),
            settings: settings.clone(),
            keys,
            metrics,
            sql,
            instance: instance.to_owned(),
            api,
        })
    }

    /// Takes messages until the service stops.
    pub async fn work(self, stopping: Stopping) {
        let (ended, end) = oneshot::channel();
        let thread = std::thread::Builder::new().name("intake".to_owned()).spawn(move || {
            let result = self.on_thread(stopping);
            // Nobody waits for it when the service was dropped.
            let _ = ended.send(result);
        });
        let result = match thread {
            // Without an answer it panicked, which is in the log.
            Ok(_) => end.await.unwrap_or_else(|_| Err(io::Error::other("its thread ended"))),
            Err(error) => Err(error),
        };
        if let Err(error) = result {
            error!(%error, "messages of the broker are not taken any more");
        }
    }

    /// Handlers of the API stay on the thread where they begin, and so do the connections to Redis that they use.
    fn on_thread(self, stopping: Stopping) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        LocalSet::new().block_on(&runtime, self.share(stopping));
        Ok(())
    }

    async fn share(self, stopping: Stopping) {
        let mut sharing = Sharing::new(self);
        let mut ticks = tokio::time::interval(LOOK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = stopping.wait() => break,
                _ = ticks.tick() => {}
            }
            let looked = tokio::select! {
                () = stopping.wait() => break,
                looked = sharing.look() => looked,
            };
            if let Err(error) = looked {
                debug!(%error, "the leases of the broker's lanes were not looked at; the next look tries again");
            }
        }
        sharing.leave().await;
    }
}

/// A lane that this instance holds.
struct Held {
    end: Stopping,
    task: JoinHandle<()>,
}

/// Gives back the lanes that the topic does not have any more, and one of the others if they are more than the share. Returns
/// how many may be taken.
fn free_places(held: &BTreeMap<String, Held>, lanes: &[String], share: usize) -> usize {
    for (lane, held) in held {
        if !lanes.contains(lane) && !held.end.has_begun() {
            info!(lane, "the broker's topic does not have this lane any more");
            held.end.begin();
        }
    }
    let kept: Vec<_> = held.values().filter(|held| !held.end.has_begun()).collect();
    if kept.len() > share
        && let Some(last) = kept.last()
    {
        last.end.begin();
    }
    // A lane takes its place until its last message has ended. One that is gone takes none: it may wait long for that.
    let taken = held.keys().filter(|lane| lanes.contains(lane)).count();
    share.saturating_sub(taken)
}

/// The lanes of this instance among those of the topic.
struct Sharing {
    shared: Rc<Shared>,
    lanes: Vec<String>,
    looked_at: Option<Instant>,
    held: BTreeMap<String, Held>,
    /// How long ids of entries are remembered.
    retention_ms: i64,
}

impl Sharing {
    fn new(intake: Intake) -> Self {
        let of = &intake.settings.intake;
        let topic = format!("{}/{}", of.connection, of.topic);
        let lease_ms = intake.settings.ledger.lease_ms;
        let retention_ms = intake.settings.fairness.retention_s.saturating_mul(1_000);
        let retention_ms = i64::try_from(retention_ms).unwrap_or(i64::MAX);
        let shared = Shared {
            positions: Positions::of(intake.sql, &of.group, topic, &intake.instance, lease_ms),
            topic: of.topic.clone(),
            max_in_flight: usize::try_from(of.max_in_flight).unwrap_or(usize::MAX),
            calls: Calls {
                inside: intake.api.on_this_thread(),
                keys: intake.keys,
                key: of.key.clone(),
                broker: intake.broker,
                reply_topic: Some(of.reply_topic.clone()).filter(|topic| !topic.is_empty()),
                dead_letter_topic: of.dead_letter_topic.clone(),
                metrics: intake.metrics,
                logged: RefCell::default(),
            },
        };
        Self {
            shared: Rc::new(shared),
            lanes: Vec::new(),
            looked_at: None,
            held: BTreeMap::new(),
            retention_ms,
        }
    }

    /// Renews the leases, finds new lanes, and takes or gives back some, so that each instance has its share.
    async fn look(&mut self) -> Result<(), sqlx::Error> {
        self.held.retain(|_, held| !held.task.is_finished());
        let positions = &self.shared.positions;
        positions.renew().await?;
        self.find_lanes().await?;
        let look = self.shared.positions.look().await?;
        let share = self.lanes.len().div_ceil(look.instances);
        let mut free = free_places(&self.held, &self.lanes, share);
        for row in look.rows {
            if free == 0 {
                break;
            }
            let is_there = self.lanes.contains(&row.lane);
            if !row.is_free || !is_there || self.held.contains_key(&row.lane) {
                continue;
            }
            let Some(token) = self.shared.positions.take(&row).await? else {
                continue;
            };
            let end = Stopping::default();
            let lane = Lane {
                shared: Rc::clone(&self.shared),
                name: row.lane.clone(),
                token,
                position: row.position,
                late_before_ms: self.late_before_ms(row.left_ms),
                end: end.clone(),
            };
            let task = spawn_local(lane.run());
            self.held.insert(row.lane, Held { end, task });
            free -= 1;
        }
        Ok(())
    }

    /// Repeats of messages of before this time may not be known any more. A younger message can't have been taken before ids
    /// of that time were forgotten.
    fn late_before_ms(&self, left_ms: Option<i64>) -> Option<i64> {
        let known_ms = self.retention_ms - CLOCKS_APART_MS.min(self.retention_ms / 2);
        left_ms.filter(|left_ms| *left_ms > known_ms)?;
        Some(Timestamp::now().as_millisecond() - known_ms)
    }

    async fn find_lanes(&mut self) -> Result<(), sqlx::Error> {
        let is_fresh = self.looked_at.is_some_and(|at| at.elapsed() < LOOK_FOR_LANES);
        if is_fresh && !self.lanes.is_empty() {
            return Ok(());
        }
        let (topic, metrics) = (&self.shared.topic, &self.shared.calls.metrics.intake);
        match self.shared.calls.broker.lanes(topic).await {
            Ok(lanes) => {
                metrics.can_read(topic, IntakeMetrics::LANES, true);
                if lanes != self.lanes {
                    self.shared.positions.add(&lanes).await?;
                    info!(topic, lanes = lanes.len(), "the broker's topic is there");
                }
                self.lanes = lanes;
                self.looked_at = Some(Instant::now());
            }
            // Its lanes are read on, and say whether they can be read.
            Err(error) if !self.lanes.is_empty() => {
                debug!(topic, %error, "the broker's topic was not looked at");
                self.looked_at = Some(Instant::now());
            }
            Err(error) => {
                if metrics.can_read(topic, IntakeMetrics::LANES, false) || self.looked_at.is_none() {
                    warn!(topic, %error, "the broker's topic was not found; tried again each second");
                }
                self.looked_at = Some(Instant::now());
            }
        }
        Ok(())
    }

    /// Lets what has begun end, and gives all lanes back.
    async fn leave(self) {
        for held in self.held.values() {
            held.end.begin();
        }
        let ended = async {
            for (lane, held) in self.held {
                if let Err(error) = held.task.await {
                    error!(lane, %error, "a lane of the broker broke");
                }
            }
        };
        let in_time = tokio::time::timeout(LAST, ended).await.is_ok();
        if !in_time {
            info!("some messages of the broker were cut off; they are taken again");
        }
        if let Err(error) = self.shared.positions.leave().await {
            debug!(%error, "the leases of the broker's lanes were not released; they expire");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    fn names(lanes: &[&str]) -> Vec<String> {
        lanes.iter().map(|lane| (*lane).to_owned()).collect()
    }

    fn held(lanes: &[&str]) -> BTreeMap<String, Held> {
        let held = |lane| {
            let (end, task) = (Stopping::default(), tokio::spawn(pending()));
            (lane, Held { end, task })
        };
        names(lanes).into_iter().map(held).collect()
    }

    fn kept(held: &BTreeMap<String, Held>) -> Vec<&str> {
        let kept = held.iter().filter(|(_, held)| !held.end.has_begun());
        kept.map(|(lane, _)| lane.as_str()).collect()
    }

    /// The topic was made anew with fewer partitions.
    #[tokio::test]
    async fn a_lane_that_is_gone_takes_no_place() {
        let held_before = held(&["0", "1", "10", "11", "9"]);
        let lanes = names(&["0", "1", "2"]);
        for _ in 0..2 {
            assert_eq!(free_places(&held_before, &lanes, 3), 1, "for lane 2");
            assert_eq!(kept(&held_before), ["0", "1"]);
        }
        let of_another = held(&["10"]);
        assert_eq!(free_places(&of_another, &lanes, 2), 2);
        assert!(kept(&of_another).is_empty());
    }

    #[tokio::test]
    async fn a_lane_beyond_the_share_is_given_back_and_another_one_takes_its_place_after_its_end() {
        let mut held = held(&["0", "1", "2"]);
        let lanes = names(&["0", "1", "2", "3"]);
        assert_eq!(free_places(&held, &lanes, 2), 0);
        assert_eq!(kept(&held), ["0", "1"]);
        assert_eq!(free_places(&held, &lanes, 3), 0, "its last message has not ended");
        held.remove("2");
        assert_eq!(free_places(&held, &lanes, 3), 1);
    }
}

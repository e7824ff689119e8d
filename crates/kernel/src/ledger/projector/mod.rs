//! The projector: the stream of each subject → SQL, in order, rows and cursor in one transaction.
//!
//! Delivery is exactly once without acknowledgements: the cursor is in SQL ([`mod@write`]) and moves only from where
//! the batch began. A repeat after a crash reads again after the cursor. One instance reads a stream at a time
//! ([`lease`]). An event that can't be applied stops its own stream only, and suspends its subject. The projector
//! skips nothing.
//!
//! [`Kind`] says what differs between the kinds of streams. Each kind has its own projector; [`Projectors`] are all
//! of them.
//!
//! Now and then a round looks for new streams and leases. It reads new events ([`stream`]), checks them and makes
//! rows ([`batch`]), and commits everything at once. If the commit fails, it commits each stream separately, to find
//! the one at fault. A kind may write more in its own transactions ([`Upkeep`]).

mod ahead;
mod all;
pub mod batch;
mod commit;
mod compare;
mod due;
mod lag;
pub mod lease;
pub mod load;
mod pace;
pub mod rows;
mod same;
pub mod stream;
mod sweep;
mod trouble;
pub mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jackpot_core::ids::Id;
use tokio::time::timeout;
use tracing::{debug, error, info, warn};

pub use all::{AnyProjector, Projectors};

use crate::ledger::Ledger;
use crate::ledger::kind::{Kind, Upkeep};
use crate::ledger::kinds::Projecting;
use crate::ledger::restore::Restorer;
use crate::settings;
use crate::stopping::Stopping;
use crate::store::Store;
use crate::subject::rises;
use crate::telemetry::Metrics;
use batch::{Batch, With};
use lease::Leases;
use stream::Stream;

/// Pause between two looks at all streams, including those without news on this instance.
const SWEEP: Duration = Duration::from_secs(1);
/// Most streams read concurrently.
const AT_ONCE: usize = 32;
/// Pause after SQL failed, to avoid thousands of queries a second.
const AFTER_FAILURE: Duration = Duration::from_millis(500);
/// Pause before a stream with damaged rows is looked at again: the rows may have been restored from a backup.
const DAMAGED: Duration = Duration::from_secs(30);
/// Most rounds at a start or a stop, to bring SQL up to date. Later rounds, or the next start, read what is left.
const LAST_ROUNDS: usize = 50;
/// Longest time of these rounds at a stop: with an unreachable Redis, each of thousands of streams would wait.
const LAST: Duration = Duration::from_secs(15);

/// What a round left in Redis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// Events that it saw and did not take, or those of subjects that it has rebuilt.
    Events,
    /// A checkpoint that it appended, and no events that it saw.
    Checkpoint,
    /// Nothing that it saw.
    Nothing,
}

/// Reads the streams of a kind that this instance holds.
pub struct Projector<K: Kind> {
    pub ledger: Ledger,
    store: Store,
    pub kind: K,
    metrics: Arc<Metrics>,
    pub settings: settings::Ledger,
    pub leases: Leases,
    restorer: Restorer,
    auto_restore: bool,
    pub streams: BTreeMap<Id, Stream<K>>,
    added: BTreeSet<Id>,
    /// How many subjects this instance had used at the last look at all.
    used_at_sweep: usize,
    /// The last stream whose events were taken: the next round begins after it.
    taken_to: Option<Id>,
    /// Where the last sweep stopped looking for news that this instance did not see; `None`: it covered all streams.
    looked_to: Option<Id>,
    /// Streams that were not looked at, because the round was full.
    left: BTreeSet<Id>,
    /// Streams whose own rows are damaged, and when that was last seen.
    damaged: BTreeMap<Id, Instant>,
    /// Streams that were taken over together with many others: only the last two hashes are checked yet.
    unchecked: BTreeSet<Id>,
    /// The last row of a stream that a sweep read; `None`: all had their turn.
    placed_to: Option<Id>,
    /// The names of all subjects at the last sweep.
    listed: Arc<BTreeSet<Id>>,
    /// Whether SQL failed at the last query.
    down: bool,
    /// Whether the last look left something to do.
    goes_on: bool,
    /// The count of risen marks at the last look.
    rises: u64,
    reconciled_at: Option<Instant>,
    /// The last stream that was compared in this turn; `None`: all had their turn.
    reconciled_to: Option<Id>,
    pub upkeep: K::Upkeep,
    swept_at: Option<Instant>,
    renewed_at: Instant,
}

impl<K: Kind> Projector<K> {
    /// A projector that holds no stream yet.
    pub fn of(kind: K, from: &Projecting<'_>) -> Self {
        let (ledger, store, settings) = (from.ledger.clone(), from.store.clone(), from.settings.clone());
        let instance = from.instance.to_owned();
        Self {
            restorer: Restorer::new(ledger.sql.clone(), store.clone()),
            leases: Leases::of(K::NAME, ledger.sql.clone(), instance, settings.lease_ms),
            ledger,
            store,
            kind,
            metrics: Arc::clone(from.metrics),
            settings,
            auto_restore: from.auto_restore,
            streams: BTreeMap::new(),
            added: BTreeSet::new(),
            used_at_sweep: 0,
            taken_to: None,
            looked_to: None,
            left: BTreeSet::new(),
            damaged: BTreeMap::new(),
            unchecked: BTreeSet::new(),
            placed_to: None,
            listed: Arc::default(),
            down: false,
            goes_on: true,
            rises: 0,
            reconciled_at: None,
            reconciled_to: None,
            upkeep: K::Upkeep::default(),
            swept_at: None,
            renewed_at: Instant::now(),
        }
    }

    /// Works until the service stops. Under load one commit covers all events that came within the pause, because
    /// each commit's fsync delays Redis' fsyncs. At the stop it commits what is there and releases the streams.
    pub async fn run(mut self, stopping: Stopping) {
        let lag = lag::Lag::of(&self);
        tokio::select! {
            () = self.work(&stopping) => {}
            () = lag.tell() => {}
            () = lag.look() => {}
        }
        self.finish().await;
    }

    async fn work(&mut self, stopping: &Stopping) {
        let pause = Duration::from_millis(self.settings.poll_interval_ms);
        while !stopping.has_begun() {
            let (began, seen) = (Instant::now(), rises());
            let done = self.round().await;
            let rest = self.rest(began.elapsed(), seen);
            let pause = match done {
                Ok(Left::Events) => rest,
                Ok(Left::Checkpoint | Left::Nothing) => pause.max(rest),
                Err(error) => {
                    self.failed(&error);
                    AFTER_FAILURE
                }
            };
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = stopping.wait() => {}
            }
        }
    }

    /// The rest after a round of this length. There is none if no request came during the round, or if too much waits.
    fn rest(&self, round: Duration, seen: u64) -> Duration {
        let (registry, most) = (self.kind.registry(), self.settings.max_backlog_events);
        let hurries = |id| pace::must_hurry(registry.known(id).backlog(), most);
        let rest = pace::rest(round, self.renewal());
        if rest.is_zero() || rises() == seen || self.streams.keys().any(hurries) {
            return Duration::ZERO;
        }
        rest
    }

    /// Runs rounds until SQL has all that Redis had at the start of the last one, or SQL fails. Events that come meanwhile
    /// are left to later rounds: while other instances play, each round would find some. The number of rounds is bounded,
    /// because others may add events faster than rounds take them.
    pub async fn catch_up(&mut self) {
        // The first checkpoint is read too, so that its comparison is made. Beside play each further round may append one.
        let mut has_checkpoint = false;
        for _ in 0..LAST_ROUNDS {
            self.swept_at = None;
            match self.round().await {
                Ok(Left::Events) => {}
                Ok(Left::Checkpoint) if !std::mem::replace(&mut has_checkpoint, true) => {}
                Ok(Left::Checkpoint | Left::Nothing) => break,
                Err(error) => return self.failed(&error),
            }
        }
        if let Err(error) = K::Upkeep::follow(self, true).await {
            self.failed(&error);
        }
    }

    /// Runs the last rounds.
    pub async fn finish(mut self) {
        if timeout(LAST, self.catch_up()).await.is_err() {
            warn!(
                what = K::NAME.as_str(),
                "stopped before all events were in SQL; they are read at the next start"
            );
        }
        if let Err(error) = self.leases.release().await {
            debug!(%error, "the leases were not released; they expire");
        }
    }

    fn failed(&mut self, error: &sqlx::Error) {
        if !std::mem::replace(&mut self.down, true) {
            error!(%error, "the ledger's database can't be used; play continues, and events wait in Redis");
        }
        self.metrics.ledger.up(false);
    }

    /// Runs one round.
    pub async fn round(&mut self) -> Result<Left, sqlx::Error> {
        let used = self.kind.registry().count_used();
        // A new subject is swept at once: until its first event is in SQL, nothing of it could be rebuilt.
        let sweep = self.swept_at.is_none_or(|at| at.elapsed() >= SWEEP) || used > self.used_at_sweep;
        if sweep {
            self.used_at_sweep = used;
            self.sweep().await?;
        }
        self.keep_leases().await?;
        // Otherwise a round of an idle instance would look at each of its streams.
        let rises = rises();
        let news = std::mem::replace(&mut self.rises, rises) != rises;
        let more = (sweep || news || self.goes_on) && self.look(sweep).await?;
        if std::mem::take(&mut self.down) {
            info!("the ledger's database answers again");
        }
        self.metrics.ledger.up(true);
        let mut put = false;
        if sweep {
            lag::tell(&self.kind, &self.metrics);
            put = self.reconcile().await?;
        }
        Ok(match (more, put) {
            (true, _) => Left::Events,
            (false, true) => Left::Checkpoint,
            (false, false) => Left::Nothing,
        })
    }

    /// Reads what is new, and commits it. Returns whether it left events.
    async fn look(&mut self, sweep: bool) -> Result<bool, sqlx::Error> {
        // A failure leaves something to do.
        self.goes_on = true;
        let (batches, rebuilt) = self.read(sweep).await?;
        let took = !batches.is_empty();
        if sweep {
            self.swept_at = Some(Instant::now());
        }
        self.commit(batches).await?;
        let follows = K::Upkeep::follow(self, false).await?;
        let more = rebuilt || self.is_behind();
        // A stream that rests now is looked at again by the next sweep.
        self.goes_on = took || more || follows;
        Ok(more)
    }

    /// Longest time between two renewals of the leases, so that two may fail.
    fn renewal(&self) -> Duration {
        Duration::from_millis(self.settings.lease_ms / 3)
    }

    async fn keep_leases(&mut self) -> Result<(), sqlx::Error> {
        if self.renewed_at.elapsed() >= self.renewal() && !self.streams.is_empty() {
            self.leases.renew().await?;
            self.renewed_at = Instant::now();
        }
        Ok(())
    }

    fn batch(&self, id: &Id, raw: &[batch::Raw]) -> Option<(Batch<K>, i64)> {
        let stream = self.streams.get(id)?;
        let key = self.ledger.signing.current();
        let with = With {
            key: &key,
            index_entries: self.settings.entry_index_days > 0,
        };
        Some((Batch::build(&stream.start(with), raw), stream.token))
    }

    fn drop_stream(&mut self, id: &Id) {
        self.streams.remove(id);
        self.unchecked.remove(id);
        // Another instance reports the stream from now on.
        K::show(&self.metrics, id, None);
        self.metrics.ledger.stopped(K::NAME.as_str(), id, false);
    }
}

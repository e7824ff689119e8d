//! Delivers what this instance holds: takes leases on subjects of subscriptions, starts a stream for each that has news, and
//! follows the changes of subscriptions.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jackpot_core::ids::Id;
use jackpot_core::secret::Secrets;
use sqlx::{AssertSqlSafe, Row};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::{Id as TaskId, JoinHandle, JoinSet};
use tracing::{debug, error, warn};

use super::cursors::Cursors;
use super::place::{Key, Place};
use super::reading::Outbox;
use super::sink::Sinks;
use super::store::{Status, StreamRow, Subscription, Subscriptions, read_stream};
use super::stream::{Ended, Live, Stream};
use super::target::Allowed;
use super::webhook::WebhookError;
use jackpot_kernel::background::{Background, Urgency};
use jackpot_kernel::ledger::Ledger;
use jackpot_kernel::ledger::kinds::Kinds;
use jackpot_kernel::ledger::news::News;
use jackpot_kernel::settings::Settings;
use jackpot_kernel::sql::{Lease, Sql, cells, update};
use jackpot_kernel::stopping::Stopping;
use jackpot_kernel::subject::kinds::KindName;
use jackpot_kernel::telemetry::Metrics;

/// Between two looks at SQL, for what other instances did.
const LOOK: Duration = Duration::from_secs(1);
/// Between two looks for figures.
const FIGURES: Duration = Duration::from_secs(5);
/// Subjects of a subscription that are delivered at a time.
const AT_ONCE: usize = 64;
/// Subjects that are taken by one statement.
const TAKEN_AT_ONCE: i64 = 500;
/// For streams on their way when the service stops. What is cut off is delivered again.
const LAST: Duration = Duration::from_secs(3);
/// The wait after a bug.
const AFTER_PANIC: Duration = Duration::from_secs(10);
/// A failure that lasts so long is an alarm.
pub const ALARM_MS: i64 = 24 * 3_600_000;

/// What streams and handlers share.
pub(super) struct Shared {
    pub subscriptions: Subscriptions,
    pub outbox: Outbox,
    pub sinks: Sinks,
    pub secrets: Secrets,
    pub cursors: Cursors,
    pub metrics: Arc<Metrics>,
    pub allowed: Allowed,
    /// Runs the tests of targets, away from the threads of the API.
    pub tests: Background,
    news: Arc<News>,
    lease: Lease,
    poke: Notify,
    live: Mutex<BTreeMap<Id, Arc<Live>>>,
    /// When the leases of this instance end, by its own clock.
    held_until: Mutex<Option<Instant>>,
}

impl Shared {
    pub fn ledger_id(&self) -> &str {
        self.sql().ledger_id()
    }

    pub fn sql(&self) -> &Sql {
        &self.subscriptions.sql
    }

    /// Whether the leases of this instance are in force. A stalled one must send nothing.
    pub fn holds_leases(&self) -> bool {
        let until = self.held_until.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_some_and(|until| Instant::now() < until)
    }

    fn live(&self) -> std::sync::MutexGuard<'_, BTreeMap<Id, Arc<Live>>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Events out, for the service. Clones are the same.
#[derive(Clone)]
pub struct Events(pub(super) Arc<Shared>);

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").finish_non_exhaustive()
    }
}

impl Events {
    /// Nothing is delivered before [`work`](Self::work).
    pub fn new(
        settings: &Settings,
        ledger: &Ledger,
        secrets: &Secrets,
        instance: &str,
        kinds: Kinds,
        metrics: Arc<Metrics>,
    ) -> Result<Self, WebhookError> {
        let sql = ledger.sql.clone();
        let connections = settings.events.connections.iter();
        let allowed = Allowed {
            private: settings.events.allow_private_targets,
            connections: connections.map(|(name, of)| (name.clone(), of.kind)).collect(),
        };
        Ok(Self(Arc::new(Shared {
            outbox: Outbox::new(sql.clone(), kinds),
            subscriptions: Subscriptions { sql },
            sinks: Sinks::new(&settings.events)?,
            secrets: secrets.clone(),
            cursors: Cursors::default(),
            metrics,
            allowed,
            tests: Background::start("events-test", Urgency::Low)?,
            news: Arc::clone(&ledger.news),
            lease: Lease::of("subscription", instance, settings.ledger.lease_ms),
            poke: Notify::new(),
            live: Mutex::default(),
            held_until: Mutex::default(),
        })))
    }

    /// A subscription was changed: streams of the version before stop before their next event.
    pub(super) fn changed(&self, id: &Id) {
        if let Some(live) = self.0.live().get(id) {
            live.end();
        }
        self.0.poke.notify_one();
    }

    /// The same; then the cursors of this instance have what was delivered before. So a pause is where a target stands, even
    /// if the instance dies next.
    pub(super) async fn paused(&self, id: &Id) {
        let live = self.0.live().get(id).cloned();
        self.changed(id);
        if let Some(live) = live {
            live.rests().await;
        }
        // What was not written is tried again, and then perhaps delivered again.
        self.0.cursors.flush(self.0.sql()).await;
    }

    /// Delivers until the service stops, and releases what it holds.
    pub async fn work(self, stopping: Stopping) {
        let shared = self.0;
        let background = match Background::start("events", Urgency::Low) {
            Ok(background) => background,
            Err(error) => return error!(%error, "events are not delivered: there is no thread for them"),
        };
        shared.news.listen();
        let writer = {
            let shared = Arc::clone(&shared);
            tokio::spawn(async move { shared.cursors.write(shared.sql()).await })
        };
        let mut deliverer = Deliverer::new(Arc::clone(&shared), background);
        tokio::select! {
            () = deliverer.deliver() => {}
            () = stopping.wait() => {}
        }
        deliverer.finish(writer).await;
    }
}

/// A subject that this instance holds.
struct Held {
    place: Arc<Place>,
    /// When it may be tried again.
    not_before: Option<Instant>,
    /// Its thread got too little of the processors, and the stream has not caught up since.
    is_urgent: bool,
}

struct Deliverer {
    shared: Arc<Shared>,
    /// Runs the streams.
    background: Background,
    /// Runs the urgent streams. It begins with the first of them.
    urgent: Option<Background>,
    held: BTreeMap<Key, Held>,
    /// With events that may have to be delivered.
    ready: BTreeSet<Key>,
    /// With a try that waits.
    later: BTreeSet<(Instant, Key)>,
    /// Each with the version of its subscription that it is sent as.
    running: BTreeMap<Key, (Arc<Place>, Arc<Live>)>,
    tasks: JoinSet<Ended>,
    keys: HashMap<TaskId, Key>,
    looked_at: Option<Instant>,
    renewed_at: Option<Instant>,
    figures_at: Option<Instant>,
    /// Streams of the ledger and versions of subscriptions at the last look for new subjects.
    seen: (i64, Vec<(Id, i64)>),
}

impl Deliverer {
    fn new(shared: Arc<Shared>, background: Background) -> Self {
        Self {
            shared,
            background,
            urgent: None,
            held: BTreeMap::new(),
            ready: BTreeSet::new(),
            later: BTreeSet::new(),
            running: BTreeMap::new(),
            tasks: JoinSet::new(),
            keys: HashMap::new(),
            looked_at: None,
            renewed_at: None,
            figures_at: None,
            seen: (-1, Vec::new()),
        }
    }

    async fn deliver(&mut self) {
        let shared = Arc::clone(&self.shared);
        loop {
            if self.looked_at.is_none_or(|at| at.elapsed() >= LOOK) {
                self.looked_at = Some(Instant::now());
                if let Err(error) = self.look().await {
                    debug!(%error, "subscriptions were not looked at; the next look tries again");
                }
            }
            self.wake();
            self.start();
            let next_look = self.looked_at.unwrap_or_else(Instant::now) + LOOK;
            let next = self.later.first().map_or(next_look, |(at, _)| (*at).min(next_look));
            tokio::select! {
                moved = shared.news.next() => self.news(&moved),
                Some(done) = self.tasks.join_next_with_id() => {
                    let (id, ended) = match done {
                        Ok((id, ended)) => (id, ended),
                        Err(error) => {
                            tracing::error!(%error, "a stream of events broke; it is tried again");
                            (error.id(), Ended::Waits(AFTER_PANIC))
                        }
                    };
                    if let Some(key) = self.keys.remove(&id) {
                        self.ended(&key, ended).await;
                    }
                }
                () = shared.poke.notified() => self.looked_at = None,
                () = tokio::time::sleep_until(next.into()) => {}
            }
        }
    }

    /// What waited long enough is ready.
    fn wake(&mut self) {
        let now = Instant::now();
        while let Some((_, key)) = self.later.first().filter(|(at, _)| *at <= now).cloned() {
            self.later.pop_first();
            if let Some(held) = self.held.get_mut(&key) {
                held.not_before = None;
                self.ready.insert(key);
            }
        }
    }

    /// Streams that this instance has just committed.
    fn news(&mut self, moved: &BTreeSet<(KindName, Id)>) {
        let subscriptions: Vec<Id> = self.shared.live().keys().cloned().collect();
        for subscription in &subscriptions {
            for (kind, id) in moved {
                self.is_ready(Key {
                    subscription: subscription.clone(),
                    kind: *kind,
                    id: id.clone(),
                });
            }
        }
    }

    fn is_ready(&mut self, key: Key) {
        if self.held.get(&key).is_some_and(|held| held.not_before.is_none()) {
            self.ready.insert(key);
        }
    }

    /// Starts the streams that are ready.
    fn start(&mut self) {
        if self.ready.is_empty() || !self.shared.holds_leases() {
            return;
        }
        let live = self.shared.live().clone();
        let mut counts: BTreeMap<Id, usize> = BTreeMap::new();
        for key in self.running.keys() {
            *counts.entry(key.subscription.clone()).or_default() += 1;
        }
        for key in std::mem::take(&mut self.ready) {
            let (Some(held), Some(live)) = (self.held.get(&key), live.get(&key.subscription)) else {
                continue;
            };
            // A resume looks at all subjects again.
            if live.subscription.status != Status::Running || held.not_before.is_some() {
                continue;
            }
            let count = counts.entry(key.subscription.clone()).or_default();
            if self.running.contains_key(&key) || *count >= AT_ONCE {
                self.ready.insert(key);
                continue;
            }
            *count += 1;
            let stream = Stream {
                shared: Arc::clone(&self.shared),
                live: Arc::clone(live),
                place: Arc::clone(&held.place),
                is_urgent: held.is_urgent,
            };
            let sent = (Arc::clone(&held.place), Arc::clone(live));
            self.running.insert(key.clone(), sent);
            let thread = self.thread(stream.is_urgent);
            let task = self.tasks.spawn_on(async move { stream.run().await }, &thread);
            self.keys.insert(task.id(), key);
        }
    }

    /// The thread for a stream.
    fn thread(&mut self, is_urgent: bool) -> Handle {
        if is_urgent && self.urgent.is_none() {
            match Background::start("events-urgent", Urgency::Normal) {
                Ok(thread) => self.urgent = Some(thread),
                Err(error) => warn!(%error, "events that are late get no thread of their own"),
            }
        }
        let urgent = self.urgent.as_ref().filter(|_| is_urgent);
        urgent.unwrap_or(&self.background).tasks().clone()
    }

    async fn ended(&mut self, key: &Key, ended: Ended) {
        let Some((place, live)) = self.running.remove(key) else {
            return;
        };
        let is_held = self.held.get(key).is_some_and(|held| Arc::ptr_eq(&held.place, &place));
        if is_held && place.is_lost() {
            self.held.remove(key);
            self.looked_at = None;
            return;
        }
        if let Some(held) = self.held.get_mut(key).filter(|_| is_held) {
            held.is_urgent = ended == Ended::Starved;
        }
        match ended {
            Ended::Starved => {
                debug!(subscription = %key.subscription, kind = %key.kind, id = %key.id,
                    "a stream of events waits for processors: it goes on with the priority of others");
                self.ready.insert(key.clone());
            }
            Ended::Stopped => {
                self.ready.insert(key.clone());
                // A changed subscription is known after a look; without one the stream would start as before.
                self.looked_at = None;
            }
            Ended::Waits(wait) if is_held => self.waits(key, wait),
            Ended::Idle | Ended::Waits(_) => {}
            Ended::Gone => {
                self.disable(key, &live).await;
                self.looked_at = None;
            }
        }
    }

    fn waits(&mut self, key: &Key, wait: Duration) {
        let at = Instant::now() + wait;
        if let Some(held) = self.held.get_mut(key) {
            held.not_before = Some(at);
            self.ready.remove(key);
            self.later.insert((at, key.clone()));
        }
    }

    /// Disables a subscription in the version that was sent: after a change the answer is that of the target before.
    async fn disable(&mut self, key: &Key, sent: &Live) {
        sent.end();
        match self.shared.subscriptions.disable(&sent.subscription).await {
            Ok(true) => {
                warn!(subscription = %key.subscription, kind = %key.kind, id = %key.id,
                    "the target answered 410: the subscription is disabled");
            }
            Ok(false) => {
                debug!(subscription = %key.subscription, kind = %key.kind, id = %key.id,
                    "a target answered 410 after the subscription changed; the event is sent again");
            }
            // It gets the same answer again.
            Err(error) => warn!(%error, subscription = %key.subscription, "the subscription was not disabled"),
        }
    }

    /// Looks at SQL: at subscriptions, for free subjects, and for news that other instances committed.
    async fn look(&mut self) -> Result<(), sqlx::Error> {
        let all = self.shared.subscriptions.all().await?;
        self.show_figures(&all).await?;
        let changed = self.follow(all);
        if self.shared.live().is_empty() {
            return Ok(());
        }
        self.renew().await?;
        for id in &changed {
            self.check(id).await?;
        }
        self.add_new_streams().await?;
        self.take_free().await?;
        for key in self.with_news().await? {
            self.is_ready(key);
        }
        Ok(())
    }

    /// Follows the changes of subscriptions. Returns those that have changed.
    fn follow(&mut self, all: Vec<Subscription>) -> Vec<Id> {
        let (mut changed, mut now) = (Vec::new(), BTreeMap::new());
        let mut live = self.shared.live();
        for subscription in all {
            let id = subscription.id.clone();
            match live.remove(&id) {
                Some(before) if before.subscription == subscription && !before.is_over() => {
                    now.insert(id, before);
                }
                before => {
                    if let Some(before) = before {
                        before.end();
                    }
                    let key = subscription.key(&self.shared.secrets);
                    let sink = self.shared.sinks.of(subscription.definition.destination(), key);
                    now.insert(id.clone(), Arc::new(Live::new(subscription, sink)));
                    changed.push(id);
                }
            }
        }
        for gone in live.values() {
            gone.end();
        }
        *live = now;
        drop(live);
        let live = self.shared.live().clone();
        self.held.retain(|key, held| {
            let stays = live.contains_key(&key.subscription);
            if !stays {
                held.place.lose();
            }
            stays
        });
        changed
    }

    /// Checks which subjects of a changed subscription this instance still holds.
    async fn check(&mut self, id: &Id) -> Result<(), sqlx::Error> {
        let select = sqlx::query(
            "SELECT kind, id, n, i, token, tries, failing_ms, next_try_ms, last_error FROM subscription_streams \
             WHERE subscription_id = $1 AND holder = $2",
        )
        .bind(id.as_str())
        .bind(self.shared.lease.instance.clone());
        let sql = self.shared.sql();
        let rows = sql.reading(select.fetch_all(sql.reader())).await?;
        let mut tokens = BTreeMap::new();
        for row in &rows {
            if let Some(row) = read_stream(row)? {
                tokens.insert((row.kind, row.id), row.token);
            }
        }
        self.held.retain(|key, held| {
            let token = tokens.get(&(key.kind, key.id.clone()));
            let stays = key.subscription != *id || token == Some(&held.place.token);
            if !stays {
                held.place.lose();
            }
            stays
        });
        Ok(())
    }

    /// Renews the leases of this instance, a row for all of them.
    async fn renew(&mut self) -> Result<(), sqlx::Error> {
        let lease = self.shared.lease.length();
        if self.renewed_at.is_some_and(|at| at.elapsed() < lease / 3) {
            return Ok(());
        }
        let began = Instant::now();
        self.shared.lease.renew(self.shared.sql()).await?;
        self.renewed_at = Some(began);
        let until = Some(began + lease);
        *self.shared.held_until.lock().unwrap_or_else(PoisonError::into_inner) = until;
        Ok(())
    }

    /// Adds subjects that have appeared since the last look.
    async fn add_new_streams(&mut self) -> Result<(), sqlx::Error> {
        let sql = self.shared.sql();
        let count = sqlx::query_scalar("SELECT COUNT(*) FROM streams").fetch_one(sql.reader());
        let count: i64 = sql.reading(count).await?;
        let version = |live: &Arc<Live>| (live.subscription.id.clone(), live.subscription.version);
        let seen = (count, self.shared.live().values().map(version).collect());
        if seen != self.seen {
            self.shared.subscriptions.add_new_streams().await?;
            self.seen = seen;
        }
        Ok(())
    }

    /// Takes subjects that nobody delivers.
    async fn take_free(&mut self) -> Result<(), sqlx::Error> {
        loop {
            let (found, now_ms) = self.free().await?;
            if found.is_empty() {
                return Ok(());
            }
            let is_last = found.len() < usize::try_from(TAKEN_AT_ONCE).unwrap_or(usize::MAX);
            for (subscription, mut row) in self.take(found).await? {
                row.token += 1;
                let place = Arc::new(Place::of(&subscription, &row));
                let key = place.key.clone();
                let wait = u64::try_from(row.next_try_ms - now_ms).unwrap_or(0);
                let held = Held {
                    place,
                    not_before: None,
                    is_urgent: false,
                };
                if let Some(before) = self.held.insert(key.clone(), held) {
                    before.place.lose();
                }
                // Those with news are looked for next.
                if row.next_try_ms > 0 && wait > 0 {
                    self.waits(&key, Duration::from_millis(wait));
                }
            }
            if is_last {
                return Ok(());
            }
        }
    }

    /// Free subjects of running subscriptions, and the time of the database.
    async fn free(&self) -> Result<(Vec<(Id, StreamRow)>, i64), sqlx::Error> {
        let (sql, now) = (self.shared.sql(), self.shared.sql().now_ms());
        let text = format!(
            "SELECT t.subscription_id AS subscription_id, t.kind AS kind, t.id AS id, t.n AS n, t.i AS i, t.token AS token, \
             t.tries AS tries, t.failing_ms AS failing_ms, t.next_try_ms AS next_try_ms, t.last_error AS last_error, \
             {now} AS now_ms FROM subscription_streams AS t JOIN subscriptions AS b ON b.id = t.subscription_id \
             WHERE b.status = 'running' AND t.holder <> $1 AND (t.holder = '' OR t.holder NOT IN \
             ({})) LIMIT {TAKEN_AT_ONCE}",
            sql.alive("'subscription'"),
        );
        let select = sqlx::query(AssertSqlSafe(text)).bind(self.shared.lease.instance.clone());
        let rows = sql.reading(select.fetch_all(sql.reader())).await?;
        let (mut found, mut now_ms) = (Vec::with_capacity(rows.len()), 0);
        for row in &rows {
            now_ms = row.try_get("now_ms")?;
            let subscription = Id::parse(row.try_get("subscription_id")?).ok();
            found.extend(subscription.zip(read_stream(row)?));
        }
        Ok((found, now_ms))
    }

    /// Takes those of them whose tokens are still the same: two instances may try at once.
    async fn take(&self, found: Vec<(Id, StreamRow)>) -> Result<Vec<(Id, StreamRow)>, sqlx::Error> {
        let sql = self.shared.sql();
        let rows = found.iter().map(|(subscription, row)| {
            cells! { subscription_id: subscription, kind: row.kind.as_str(), id: &row.id, token: row.token }
        });
        // The name of an instance is hexadecimal.
        let set = format!(
            "holder = '{}', token = subscription_streams.token + 1",
            self.shared.lease.instance
        );
        let which = "subscription_streams.subscription_id = given.subscription_id AND subscription_streams.kind = given.kind \
                     AND subscription_streams.id = given.id AND subscription_streams.token = given.token";
        let work = async {
            let mut tx = sql.begin().await?;
            let moved = update(&mut tx, "subscription_streams", &set, which, rows).await?;
            let mut own = BTreeMap::new();
            if moved != found.len() as u64 {
                let text = "SELECT subscription_id, kind, id, token FROM subscription_streams WHERE holder = $1";
                let select = sqlx::query(text).bind(self.shared.lease.instance.clone());
                for row in select.fetch_all(&mut *tx).await? {
                    let name = |column: &str| row.try_get::<String, _>(column);
                    let token: i64 = row.try_get("token")?;
                    own.insert((name("subscription_id")?, name("kind")?, name("id")?), token);
                }
            }
            tx.commit().await?;
            Ok::<_, sqlx::Error>((moved, own))
        };
        let (moved, own) = sql.writing(work).await?;
        if moved == found.len() as u64 {
            return Ok(found);
        }
        let is_own = |(subscription, row): &(Id, StreamRow)| {
            let key = (subscription.to_string(), row.kind.to_string(), row.id.to_string());
            own.get(&key) == Some(&(row.token + 1))
        };
        Ok(found.into_iter().filter(is_own).collect())
    }

    /// Subjects of this instance whose streams have more events.
    async fn with_news(&self) -> Result<Vec<Key>, sqlx::Error> {
        let sql = self.shared.sql();
        let text = "SELECT t.subscription_id AS subscription_id, t.kind AS kind, t.id AS id FROM subscription_streams AS t \
                    JOIN streams AS s ON s.kind = t.kind AND s.id = t.id WHERE t.holder = $1 AND t.n <= s.n";
        let select = sqlx::query(text).bind(self.shared.lease.instance.clone());
        let rows = sql.reading(select.fetch_all(sql.reader())).await?;
        let mut keys = Vec::with_capacity(rows.len());
        for row in &rows {
            let subscription = Id::parse(row.try_get("subscription_id")?).ok();
            let (kind, id) = (
                KindName::parse(row.try_get("kind")?),
                Id::parse(row.try_get("id")?).ok(),
            );
            if let (Some(subscription), Some(kind), Some(id)) = (subscription, kind, id) {
                keys.push(Key { subscription, kind, id });
            }
        }
        Ok(keys)
    }

    async fn show_figures(&mut self, all: &[Subscription]) -> Result<(), sqlx::Error> {
        if self.figures_at.is_some_and(|at| at.elapsed() < FIGURES) {
            return Ok(());
        }
        self.figures_at = Some(Instant::now());
        let sql = self.shared.sql();
        let text = format!(
            "SELECT t.subscription_id AS id, CAST(SUM(CASE WHEN s.n >= t.n THEN s.n - t.n + 1 ELSE 0 END) AS BIGINT) AS lag, \
             CAST(MAX(CASE WHEN t.failing_ms > 0 AND t.failing_ms <= {} - {ALARM_MS} THEN 1 ELSE 0 END) AS BIGINT) AS alarm \
             FROM subscription_streams AS t JOIN streams AS s ON s.kind = t.kind AND s.id = t.id GROUP BY t.subscription_id",
            sql.now_ms()
        );
        let rows = if all.is_empty() {
            Vec::new()
        } else {
            sql.reading(sqlx::query(AssertSqlSafe(text)).fetch_all(sql.reader()))
                .await?
        };
        let mut figures = BTreeMap::new();
        for row in &rows {
            let id: String = row.try_get("id")?;
            figures.insert(id, (row.try_get("lag")?, row.try_get::<i64, _>("alarm")? == 1));
        }
        let shown = all.iter().map(|one| {
            let (lag, alarm) = figures.get(one.id.as_str()).copied().unwrap_or_default();
            (one.id.to_string(), lag, alarm)
        });
        self.shared.metrics.subscriptions.show(shown.collect());
        Ok(())
    }

    /// Waits a little for what is on its way, writes all cursors and releases the leases.
    async fn finish(mut self, writer: JoinHandle<()>) {
        for live in self.shared.live().values() {
            live.end();
        }
        let joined = async { while self.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(LAST, joined).await.is_err() {
            self.tasks.abort_all();
        }
        writer.abort();
        let _ = writer.await;
        if !self.shared.cursors.flush(self.shared.sql()).await || self.renewed_at.is_none() {
            return;
        }
        let release = async {
            let (sql, lease) = (self.shared.sql(), &self.shared.lease);
            let mut tx = sql.begin().await?;
            let release = "UPDATE subscription_streams SET holder = '' WHERE holder = $1";
            sqlx::query(release).bind(&lease.instance).execute(&mut *tx).await?;
            lease.end(sql).execute(&mut *tx).await?;
            tx.commit().await
        };
        if let Err(error) = self.shared.sql().writing(release).await {
            debug!(%error, "the leases on subscriptions were not released; they expire");
        }
    }
}

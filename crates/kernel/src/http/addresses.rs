//! The record of each client address: how much of this instance it uses, and how fast it sends requests.
//!
//! The listener calls [`Addresses::connect`] before it reads a byte, and puts the result into the connection's
//! extensions. There [`super::peer`] finds the client of a request, and `limits` counts the request.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::rate::{Bucket, Left, Moment, Rate};
use crate::settings::{Proxies, Settings};

/// Most records, some 150 bytes each. An IPv6 site has more networks than any memory. New addresses beyond the limit
/// share one record, so together they get what one address may have. Known addresses keep their own.
const MAX_RECORDS: usize = 100_000;

/// Parts of the table with a lock of their own.
const SHARDS: usize = 16;

/// A part with fewer records is not swept.
const SWEEP_FROM: usize = 64;

/// Shortest time between two sweeps of a full part: each looks at all its records.
const SWEEP_EVERY: Duration = Duration::from_secs(1);

/// How long the last use of a valid key vouches for its address.
const KEYED_FOR: Duration = Duration::from_mins(1);

/// Least time between two log lines about refusals: an attack must not fill the disk.
const TELL_EVERY: Duration = Duration::from_secs(10);

/// Least time between two updates of an address's last use of a valid key.
const NOTE_KEY_EVERY: Duration = Duration::from_secs(1);

/// Refusals (429) that the service sends to an address in a second. If an address continues after that, its connections
/// are refused, because each new connection costs more than the answer.
const REFUSALS_PER_SECOND: u32 = 50;

/// Most refusals sent at once.
const REFUSAL_BURST: u32 = 1_000;

/// Seconds of `auth.failed_keys_per_second_per_address` that may come at once, because many connections still use a key
/// that was changed.
const FAILED_KEYS_BURST_S: u32 = 10;

/// The limits of one address.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Connections, and requests in flight through a proxy; 0: no limit.
    pub connections: u32,
    /// Streams without a key; 0: no limit.
    pub streams: u32,
    /// Requests without a key.
    pub public: Option<Rate>,
    /// Requests with a wrong key.
    pub failed: Option<Rate>,
    /// Proxies that name the client in a header.
    pub proxies: Proxies,
}

impl Limits {
    /// From the settings.
    pub fn of(settings: &Settings) -> Self {
        let (http, auth) = (&settings.http, &settings.auth);
        let failed = auth.failed_keys_per_second_per_address;
        Self {
            connections: http.max_connections_per_address,
            streams: http.max_public_streams_per_address,
            public: Rate::new(auth.public_requests_per_second_per_address, 0),
            failed: Rate::new(failed, failed.saturating_mul(FAILED_KEYS_BURST_S)),
            proxies: Proxies::parse(&http.trusted_proxies).expect("checked when the settings were read"),
        }
    }
}

jackpot_core::names! {
    /// Why a connection is refused.
    pub enum Refused {
        /// The address has its limit of connections (setting `http.max_connections_per_address`).
        TooMany = "too-many-from-address",
        /// The address continues to send requests after refusals, and no valid key was used from it recently.
        Flood = "flood-from-address",
    }
}

/// The common part of all records.
#[derive(Debug)]
struct Common {
    limits: Limits,
    told_at: AtomicU64,
    /// Refusals since the last log line.
    untold: AtomicU64,
}

impl Common {
    fn tell(&self, address: IpAddr, reason: &'static str, now: Moment) {
        let untold = self.untold.fetch_add(1, Ordering::Relaxed) + 1;
        let told_at = self.told_at.load(Ordering::Relaxed);
        if now.since(Moment::from_ns(told_at)) < TELL_EVERY {
            return;
        }
        let swap = self
            .told_at
            .compare_exchange(told_at, now.as_ns(), Ordering::Relaxed, Ordering::Relaxed);
        if swap.is_ok() {
            self.untold.fetch_sub(untold, Ordering::Relaxed);
            tracing::warn!(%address, reason, refused = untold, "limits of addresses refuse clients; this is the last one");
        }
    }
}

/// The counters and buckets of an address.
#[derive(Debug)]
struct Record {
    /// The network, or unspecified for the record that new addresses share.
    network: IpAddr,
    common: Arc<Common>,
    connections: AtomicU32,
    /// Requests in flight of a client that a proxy named.
    proxied: AtomicU32,
    streams: AtomicU32,
    public: Bucket,
    probes: Bucket,
    failed: Bucket,
    refusals: Bucket,
    /// When a valid key was last used, as [`Moment::as_ns`]; 0: never.
    keyed_at: AtomicU64,
}

impl Record {
    fn new(network: IpAddr, common: Arc<Common>) -> Self {
        Self {
            network,
            common,
            connections: AtomicU32::new(0),
            proxied: AtomicU32::new(0),
            streams: AtomicU32::new(0),
            public: Bucket::default(),
            probes: Bucket::default(),
            failed: Bucket::default(),
            refusals: Bucket::default(),
            keyed_at: AtomicU64::new(0),
        }
    }

    fn is_keyed(&self, now: Moment) -> bool {
        let at = self.keyed_at.load(Ordering::Relaxed);
        at > 0 && now.since(Moment::from_ns(at)) < KEYED_FOR
    }

    /// Whether a new record would be equal. Open connections hold the record.
    fn is_idle(&self, now: Moment) -> bool {
        let buckets = [&self.public, &self.probes, &self.failed, &self.refusals];
        !self.is_keyed(now) && buckets.iter().all(|bucket| bucket.is_full(now))
    }
}

/// Adds one to the counter, unless it has reached `limit` (0: no limit).
fn count(counter: &AtomicU32, limit: u32) -> bool {
    let before = counter.fetch_add(1, Ordering::Relaxed);
    let fits = limit == 0 || before < limit;
    if !fits {
        counter.fetch_sub(1, Ordering::Relaxed);
    }
    fits
}

/// One address, as requests use it.
#[derive(Debug, Clone)]
pub struct Address(Arc<Record>);

impl Address {
    /// Counts a request without a key. `None`: no limit.
    ///
    /// # Errors
    /// The time until the next one is answered.
    pub fn public(&self, now: Moment) -> Result<Option<Left>, Duration> {
        self.take(&self.0.public, self.limits().public, "public-requests", now)
    }

    /// Whether the next request without a key would be refused.
    pub fn is_public_spent(&self, now: Moment) -> bool {
        let rate = self.limits().public;
        rate.is_some_and(|rate| self.0.public.left(rate, now).tokens == 0)
    }

    /// Counts a request for `/readyz` or `/metrics`. They have a bucket as large as that of requests without a key,
    /// because a load balancer must see the state of an instance while its users are refused.
    ///
    /// # Errors
    /// The time until the next one is answered.
    pub fn probe(&self, now: Moment) -> Result<Option<Left>, Duration> {
        self.take(&self.0.probes, self.limits().public, "probes", now)
    }

    /// Counts a request with a wrong key.
    ///
    /// # Errors
    /// The time until the next one is answered by another status than 429.
    pub fn failed_key(&self, now: Moment) -> Result<Option<Left>, Duration> {
        self.take(&self.0.failed, self.limits().failed, "failed-keys", now)
    }

    fn take(
        &self,
        bucket: &Bucket,
        rate: Option<Rate>,
        reason: &'static str,
        now: Moment,
    ) -> Result<Option<Left>, Duration> {
        let Some(rate) = rate else { return Ok(None) };
        let taken = bucket.take(rate, now);
        if taken.is_err() {
            // An empty one stays empty, so connections are refused.
            let _ = self.0.refusals.take(refusal_rate(), now);
            self.0.common.tell(self.0.network, reason, now);
        }
        taken.map(Some)
    }

    /// Records that a valid key was used.
    pub fn keyed(&self, now: Moment) {
        let at = Moment::from_ns(self.0.keyed_at.load(Ordering::Relaxed));
        if now.since(at) >= NOTE_KEY_EVERY {
            self.0.keyed_at.store(now.as_ns(), Ordering::Relaxed);
        }
    }

    /// Opens a stream without a key, until the result is dropped. `None`: the address has its limit.
    pub fn open_stream(&self) -> Option<OpenStream> {
        let fits = count(&self.0.streams, self.limits().streams);
        fits.then(|| OpenStream(Arc::clone(&self.0)))
    }

    /// Begins a request that a proxy passed on, until the result is dropped. `None`: the client has its limit.
    pub fn begin_proxied(&self, now: Moment) -> Option<Proxied> {
        let fits = count(&self.0.proxied, self.limits().connections);
        if !fits {
            self.0.common.tell(self.0.network, "requests-in-flight", now);
        }
        fits.then(|| Proxied(Arc::clone(&self.0)))
    }

    /// The limits of each address.
    pub fn limits(&self) -> &Limits {
        &self.0.common.limits
    }
}

fn refusal_rate() -> Rate {
    Rate::new(REFUSALS_PER_SECOND, REFUSAL_BURST).expect("it is not 0")
}

/// A stream without a key.
#[derive(Debug)]
pub struct OpenStream(Arc<Record>);

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.streams.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A request in flight of a client that a proxy named.
#[derive(Debug)]
pub struct Proxied(Arc<Record>);

impl Drop for Proxied {
    fn drop(&mut self) {
        self.0.proxied.fetch_sub(1, Ordering::Relaxed);
    }
}

/// An accepted connection; it counts until the last clone is dropped.
#[derive(Debug, Clone)]
pub struct Connected(Peer);

#[derive(Debug, Clone)]
enum Peer {
    /// A trusted proxy: neither counted nor limited.
    Proxy,
    Client(Arc<Connection>),
}

#[derive(Debug)]
struct Connection(Address);

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Connected {
    /// The address, unless it is a trusted proxy, which stands for others.
    pub fn address(&self) -> Option<&Address> {
        match &self.0 {
            Peer::Client(connection) => Some(&connection.0),
            Peer::Proxy => None,
        }
    }

    /// Whether it is a trusted proxy.
    pub fn is_proxy(&self) -> bool {
        matches!(self.0, Peer::Proxy)
    }
}

/// A part of the table.
#[derive(Debug, Default)]
struct Shard {
    records: HashMap<IpAddr, Arc<Record>>,
    /// The number of records for the next sweep.
    sweep_at: usize,
    swept: Option<Moment>,
}

impl Shard {
    fn find(&mut self, address: IpAddr, most: usize, common: &Arc<Common>, now: Moment) -> Option<Arc<Record>> {
        if let Some(record) = self.records.get(&address) {
            return Some(Arc::clone(record));
        }
        if self.records.len() >= self.sweep_at.clamp(SWEEP_FROM.min(most), most) {
            self.sweep(now);
        }
        if self.records.len() >= most {
            return None;
        }
        let record = Arc::new(Record::new(address, Arc::clone(common)));
        self.records.insert(address, Arc::clone(&record));
        Some(record)
    }

    /// Drops idle records. Each sweep waits for twice the records that the last one left, so a record costs two looks
    /// on average.
    fn sweep(&mut self, now: Moment) {
        if self.swept.is_some_and(|at| now.since(at) < SWEEP_EVERY) {
            return;
        }
        // Under the lock nobody takes a record that only the table holds.
        self.records
            .retain(|_, record| Arc::strong_count(record) > 1 || !record.is_idle(now));
        self.sweep_at = self.records.len().saturating_mul(2);
        self.swept = Some(now);
    }
}

#[derive(Debug)]
pub struct Addresses {
    common: Arc<Common>,
    shards: [Mutex<Shard>; SHARDS],
    /// For new addresses beyond the limit of records.
    shared: Arc<Record>,
    hasher: RandomState,
    most_per_shard: usize,
}

impl Addresses {
    /// An empty table.
    pub fn new(limits: Limits) -> Self {
        Self::with_most(limits, MAX_RECORDS)
    }

    fn with_most(limits: Limits, most: usize) -> Self {
        let common = Arc::new(Common {
            limits,
            told_at: AtomicU64::new(0),
            untold: AtomicU64::new(0),
        });
        Self {
            shared: Arc::new(Record::new(Ipv6Addr::UNSPECIFIED.into(), Arc::clone(&common))),
            common,
            shards: Default::default(),
            // With a random key, so that nobody can choose addresses of one shard.
            hasher: RandomState::new(),
            most_per_shard: most / SHARDS,
        }
    }

    /// Accepts a connection from `address`, or returns why not. Call it before any byte is read.
    ///
    /// # Errors
    /// The address has its limit, or floods.
    pub fn connect(&self, address: IpAddr) -> Result<Connected, Refused> {
        self.connect_at(address, Moment::now())
    }

    fn connect_at(&self, address: IpAddr, now: Moment) -> Result<Connected, Refused> {
        if self.limits().proxies.trusts(address) {
            return Ok(Connected(Peer::Proxy));
        }
        let address = self.address_at(address, now);
        let record = &address.0;
        let refused = if record.refusals.left(refusal_rate(), now).tokens == 0 && !record.is_keyed(now) {
            Refused::Flood
        } else if !count(&record.connections, self.limits().connections) {
            Refused::TooMany
        } else {
            return Ok(Connected(Peer::Client(Arc::new(Connection(address)))));
        };
        self.common.tell(record.network, refused.as_str(), now);
        Err(refused)
    }

    /// The record of an address.
    pub fn address(&self, address: IpAddr) -> Address {
        self.address_at(address, Moment::now())
    }

    fn address_at(&self, address: IpAddr, now: Moment) -> Address {
        let address = network(address);
        let hash = self.hasher.hash_one(address);
        let shard = &self.shards[usize::try_from(hash % SHARDS as u64).unwrap_or(0)];
        let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
        let record = shard.find(address, self.most_per_shard, &self.common, now);
        Address(record.unwrap_or_else(|| Arc::clone(&self.shared)))
    }

    /// The limits of each address.
    pub fn limits(&self) -> &Limits {
        &self.common.limits
    }

    #[cfg(test)]
    fn count(&self) -> usize {
        let len = |shard: &Mutex<Shard>| shard.lock().unwrap_or_else(PoisonError::into_inner).records.len();
        self.shards.iter().map(len).sum()
    }
}

/// The unit of counting: an IPv4 address, or the /64 of an IPv6 address, whose host part its owner can choose.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(v4) => v4.into(),
        IpAddr::V6(v6) => {
            let [a, b, c, d, ..] = v6.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
    }
}

#[cfg(test)]
#[path = "addresses_tests.rs"]
mod tests;

//! Metrics in the Prometheus text format. Every label comes from a closed or bounded set, so a client can't invent one.

use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::connections::ConnectionMetrics;
use super::coupons::CouponMetrics;
use super::declared::{Fixed, MAX_LABELS, Named, OfEach, REQUESTS, metrics};
use super::exposition::classic;
use super::intake::IntakeMetrics;
use super::ledger::LedgerMetrics;
use super::pools::PoolMetrics;
use super::process::ProcessMetrics;
use super::rooms::RoomMetrics;
use super::settlement::SettlementMetrics;
use super::subscriptions::SubscriptionMetrics;

/// Upper bounds in seconds. A script normally takes some 20 µs, and 2.5 s at the time limit.
const SECONDS: [f64; 15] = [
    0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0,
];

/// How an entry was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryResult {
    /// Taken and drawn.
    Accepted,
    /// A repeated answer.
    Replayed,
    /// Refused: paused, closed, a used id, a bad amount.
    Refused,
}

/// The result of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimResult {
    /// Paid.
    Paid,
    /// The pool was below the minimum.
    Retry,
}

jackpot_core::names! {
    /// The limit that refused a request with 429.
    pub enum Limit {
        /// The rate of a key.
        Key = "key",
        /// The rate of an address without a key.
        Public = "public",
        /// The rate of an address on `/readyz` and `/metrics`.
        Probes = "probes",
        /// The rate of an address with wrong keys.
        FailedKeys = "failed-keys",
        /// Requests in flight of a client of a proxy.
        InFlight = "in-flight",
    }
}

/// How a script call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptResult {
    /// It answered.
    Ok,
    /// It failed, or its result is unknown.
    Error,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReversalLabels {
    jackpot: String,
    source: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ResultLabels {
    jackpot: String,
    result: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StatusLabels {
    kind: &'static str,
    status: String,
}

/// Pattern of a route, shared by its requests.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct RouteLabel(Arc<str>);

impl EncodeLabelValue for RouteLabel {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> fmt::Result {
        EncodeLabelValue::encode(&&*self.0, encoder)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    route: RouteLabel,
    method: &'static str,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    route: RouteLabel,
    method: &'static str,
}

type Seconds<L> = Family<L, Histogram, fn() -> Histogram>;
type Ratio = Gauge<f64, AtomicU64>;

fn seconds() -> Histogram {
    Histogram::new(SECONDS)
}

/// The counters of one jackpot, looked up once and then without a lock.
pub struct JackpotMetrics {
    accepted: Counter,
    replayed: Counter,
    refused: Counter,
    paid: Counter,
    retry: Counter,
    /// Attempts after the first.
    pub redraws: Counter,
    /// Entries that hit a pool by its must-hit rule.
    pub must_hits: Counter,
    /// Entries without a final outcome, as last seen by this instance.
    pub pending: Gauge,
}

impl JackpotMetrics {
    /// Counts `count` entries that were answered in this way.
    pub fn entries(&self, result: EntryResult, count: u64) {
        match result {
            EntryResult::Accepted => self.accepted.inc_by(count),
            EntryResult::Replayed => self.replayed.inc_by(count),
            EntryResult::Refused => self.refused.inc_by(count),
        };
    }

    /// Counts a claim.
    pub fn claim(&self, result: ClaimResult) {
        match result {
            ClaimResult::Paid => self.paid.inc(),
            ClaimResult::Retry => self.retry.inc(),
        };
    }
}

// A rate over a counter that appears with its first event misses that event: what is known at once is shown at once.

fn build() -> Family<Fixed<1>, Gauge> {
    let (build, version) = (Family::<Fixed<1>, Gauge>::default(), env!("CARGO_PKG_VERSION"));
    build.get_or_create_owned(&[("version", version)]).set(1);
    build
}

fn all_limits() -> Family<Fixed<1>, Counter> {
    let limits = Family::<Fixed<1>, Counter>::default();
    for limit in Limit::ALL.map(Limit::as_str) {
        limits.get_or_create_owned(&[("limit", limit)]);
    }
    limits
}

metrics! {
    /// All metrics of the service.
    pub struct Metrics {
        build: Family<Fixed<1>, Gauge> = "build_info", "1, with the version of the service", build();
        subjects: Family<StatusLabels, Gauge> = "subjects",
            "Jackpots, coupons and rooms by status, as the ledger has them";
        pub pools: PoolMetrics;
        pub settlement: SettlementMetrics;
        entries: Family<ResultLabels, Counter> = "entries", "Entries by result";
        combined: Histogram = "combined_entries", "Entries that went out in one script call", Histogram::new(REQUESTS);
        claims: Family<ResultLabels, Counter> = "claims", "Claims by result";
        redraws: Family<Named, Counter> = "redraws", "Attempts after the first";
        must_hits: Family<Named, Counter> = "must_hits", "Entries that hit a pool by its must-hit rule";
        reversals: Family<ReversalLabels, Counter> = "reversals",
            "Entries whose round was cancelled, by the source of the entry; `other` for a source that the definition does not name";
        pending: Family<Named, Gauge> = "pending", "Entries without a final outcome";
        scripts: Seconds<Fixed<2>> = "script_seconds",
            "Time of Redis script calls with their repeats", Family::new_with_constructor(seconds);
        requests: Family<RequestLabels, Counter> = "http_requests", "Requests answered";
        request_seconds: Seconds<RouteLabels> = "http_request_seconds",
            "Time to the head of the answer", Family::new_with_constructor(seconds);
        in_flight: Gauge = "http_in_flight", "Requests being answered";
        rate_limited: Family<Fixed<1>, Counter> = "rate_limited",
            "Requests refused by a limit of a key or an address", all_limits();
        streams: Gauge = "meter_streams",
            "Open streams of requests in a queue, of tickets, of waiting pages, and of meters and winners with a key";
        public_streams: Gauge = "public_streams", "Open streams of meters and winners without a key";
        redis_up: Gauge = "redis_up", "1 when Redis answers";
        redis_memory: Ratio = "redis_memory_ratio", "Used share of maxmemory, fullest node";
        pub connections: ConnectionMetrics;
        pub ledger: LedgerMetrics;
        pub subscriptions: SubscriptionMetrics;
        pub intake: IntakeMetrics;
        pub coupons: CouponMetrics;
        pub rooms: RoomMetrics;
    }
    beside {
        jackpots: OfEach<JackpotMetrics>,
        /// Jackpot and source of each reversal that has labels of its own.
        reversed: RwLock<HashSet<String>>,
    }
}

impl Metrics {
    /// All metrics at zero.
    pub fn new() -> Metrics {
        Self::default()
    }

    /// The counters of a jackpot. Call it for jackpots that exist, and keep the answer: a name that a client invented
    /// must not become a label.
    pub fn jackpot(&self, id: &str) -> Arc<JackpotMetrics> {
        self.jackpots.get(id, |label| self.make_jackpot(label))
    }

    /// Counts the cancelled round of an entry of this source, which the definition names; `None`: it had none.
    pub fn reversed(&self, jackpot: &str, source: Option<&str>) {
        let jackpot = self.jackpots.label(jackpot);
        let source = source.unwrap_or_default();
        let mut known = self.reversed.write().unwrap_or_else(PoisonError::into_inner);
        let pair = format!("{jackpot} {source}");
        let is_kept = known.contains(&pair) || known.len() < MAX_LABELS;
        let source = if is_kept { source } else { "other" };
        let labels = ReversalLabels {
            jackpot,
            source: source.to_owned(),
        };
        self.reversals.get_or_create_owned(&labels).inc();
        if is_kept {
            known.insert(pair);
        }
    }

    fn make_jackpot(&self, id: &str) -> JackpotMetrics {
        let label = [("jackpot", id.to_owned())];
        let of = |counters: &Family<ResultLabels, Counter>, result| {
            let jackpot = id.to_owned();
            counters.get_or_create_owned(&ResultLabels { jackpot, result })
        };
        JackpotMetrics {
            accepted: of(&self.entries, "accepted"),
            replayed: of(&self.entries, "replayed"),
            refused: of(&self.entries, "refused"),
            paid: of(&self.claims, "paid"),
            retry: of(&self.claims, "retry"),
            redraws: self.redraws.get_or_create_owned(&label),
            must_hits: self.must_hits.get_or_create_owned(&label),
            pending: self.pending.get_or_create_owned(&label),
        }
    }

    /// Records how many entries went out in one script call.
    pub fn combined(&self, entries: usize) {
        #[expect(clippy::cast_precision_loss, reason = "at most a thousand, for a graph")]
        self.combined.observe(entries as f64);
    }

    /// Records a script call.
    pub fn script(&self, script: &'static str, result: ScriptResult, took: Duration) {
        let result = match result {
            ScriptResult::Ok => "ok",
            ScriptResult::Error => "error",
        };
        self.scripts
            .get_or_create(&[("script", script), ("result", result)])
            .observe(took.as_secs_f64());
    }

    /// Records an answered request; `route` is the pattern of the route table.
    pub fn request(&self, route: &Arc<str>, method: &str, status: u16, took: Duration) {
        let (route, method) = (RouteLabel(Arc::clone(route)), method_label(method));
        self.request_seconds
            .get_or_create(&RouteLabels {
                route: route.clone(),
                method,
            })
            .observe(took.as_secs_f64());
        self.requests
            .get_or_create(&RequestLabels { route, method, status })
            .inc();
    }

    /// A request has come; it is in flight until the guard is dropped.
    pub fn begin_request(&self) -> GaugeGuard {
        self.in_flight.inc();
        GaugeGuard(self.in_flight.clone())
    }

    /// Counts a request that a limit refused.
    pub fn rate_limited(&self, limit: Limit) {
        let limit = limit.as_str();
        self.rate_limited.get_or_create(&[("limit", limit)]).inc();
    }

    /// Opens a stream unless `limit` are open; the stream is open until the guard is dropped.
    pub fn open_stream(&self, limit: usize) -> Option<GaugeGuard> {
        open(&self.streams, limit)
    }

    /// The same for a meter without a key.
    pub fn open_public_stream(&self, limit: usize) -> Option<GaugeGuard> {
        open(&self.public_streams, limit)
    }

    /// Sets the state of Redis; `memory_ratio` is the used share of maxmemory.
    pub fn set_redis(&self, up: bool, memory_ratio: f64) {
        self.redis_up.set(i64::from(up));
        self.redis_memory.set(memory_ratio);
    }

    /// Sets how many subjects of a kind have a status.
    pub fn subjects(&self, kind: &'static str, status: &str, count: usize) {
        let status = status.to_owned();
        self.subjects
            .get_or_create_owned(&StatusLabels { kind, status })
            .set(i64::try_from(count).unwrap_or(i64::MAX));
    }

    /// The text that Prometheus reads, in the older format.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    pub fn encode_classic(&self) -> Result<String, fmt::Error> {
        self.encode().map(|text| classic(&text))
    }

    /// The text that Prometheus reads, in `OpenMetrics`.
    ///
    /// # Errors
    /// Never in practice: writing to a string does not fail.
    pub fn encode(&self) -> Result<String, fmt::Error> {
        let (mut text, mut registry) = (String::new(), Registry::default());
        registry.register_collector(Box::new(ProcessMetrics));
        // The library adds `_total` to counters.
        self.register_in(registry.sub_registry_with_prefix("jackpot"));
        prometheus_client::encoding::text::encode(&mut text, &registry)?;
        Ok(text)
    }
}

fn open(streams: &Gauge, limit: usize) -> Option<GaugeGuard> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    if streams.inc() < limit {
        return Some(GaugeGuard(streams.clone()));
    }
    streams.dec();
    None
}

/// One unit of a gauge: a request in flight, an open stream.
pub struct GaugeGuard(Gauge);

impl Drop for GaugeGuard {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// The HTTP methods. An invented one must not become a label.
fn method_label(method: &str) -> &'static str {
    const METHODS: [&str; 7] = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"];
    METHODS.into_iter().find(|known| *known == method).unwrap_or("other")
}

#[cfg(test)]
#[path = "metrics_tests.rs"]
mod tests;

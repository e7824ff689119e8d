//! Settings: `config/default.toml` ← a file ← the environment, parsed once at start and checked as a whole.

mod check;
mod error;
mod layer;
mod load;
mod proxies;
mod range;
#[cfg(test)]
mod tests;
mod topic;
mod twins;
mod variables;

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

use jackpot_core::day::{self, Days};
use serde::Deserialize;

pub use error::SettingsError;
pub use proxies::Proxies;
pub use range::rule;

/// All settings. `config/default.toml` documents each with its unit and range.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(
    missing_docs,
    reason = "config/default.toml documents every key; a second text would drift"
)]
pub struct Settings {
    pub format: u32,
    pub data_dir: PathBuf,
    pub http: Http,
    pub auth: Auth,
    pub redis: Redis,
    pub fairness: Fairness,
    pub play: Play,
    pub coupons: Coupons,
    pub rooms: Rooms,
    pub ledger: Ledger,
    pub reports: Reports,
    pub events: Events,
    pub intake: Intake,
    pub jackpots: Jackpots,
    pub log: Log,
    pub tracing: Tracing,
    /// The file among its layers, as an absolute path.
    #[serde(skip)]
    pub file: Option<PathBuf>,
    /// Names of variables that look like settings and are none.
    #[serde(skip)]
    pub unknown_variables: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "see Settings")]
pub struct Http {
    pub listen: SocketAddr,
    pub metrics_listen: String,
    pub workers: usize,
    pub max_body_bytes: usize,
    pub shutdown_timeout_s: u64,
    pub keep_alive_s: u64,
    pub tls_cert_file: String,
    pub tls_key_file: String,
    pub max_connections: usize,
    pub max_streams: usize,
    pub max_public_streams: usize,
    pub max_public_streams_per_address: u32,
    pub max_connections_per_address: u32,
    pub trusted_proxies: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "see Settings")]
pub struct Auth {
    pub keys_file: String,
    pub requests_per_second_per_key: u32,
    pub burst_per_key: u32,
    pub public_requests_per_second_per_address: u32,
    pub failed_keys_per_second_per_address: u32,
}

/// Where Redis is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RedisMode {
    /// A private server that this service starts, watches and stops.
    Embedded,
    /// One external server.
    Standalone,
    /// The server that Redis Sentinels name as the primary.
    Sentinel,
    /// A Redis Cluster, with some of its nodes as seeds.
    Cluster,
}

/// How durable an acknowledged write is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// The primary's disk.
    Local,
    /// The primary's disk and one replica.
    Replicated,
}

/// Whether a server whose settings can't be read is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckConfig {
    /// Yes.
    Required,
    /// No: its provider answers for what it keeps.
    IfAllowed,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "see Settings")]
pub struct Redis {
    pub mode: RedisMode,
    pub urls: Vec<String>,
    pub primary_url: String,
    pub durability: Durability,
    pub check_config: CheckConfig,
    pub tls_ca_file: String,
    pub connect_timeout_ms: u64,
    pub response_timeout_ms: u64,
    pub total_timeout_ms: u64,
    pub server_program: String,
    pub max_memory_mib: u64,
    pub refuse_entries_above_memory_pct: u8,
}

impl fmt::Debug for Redis {
    /// URLs can hold a password, so only their number is shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redis")
            .field("mode", &self.mode)
            .field("urls", &format_args!("{} hidden", self.urls.len()))
            .field("durability", &self.durability)
            .finish_non_exhaustive()
    }
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "see Settings")]
pub struct Fairness {
    pub master_secret: String,
    pub previous_secrets: Vec<String>,
    pub retention_s: u64,
}

impl fmt::Debug for Fairness {
    /// With the secret, every future draw is known. So no log has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fairness")
            .field("retention_s", &self.retention_s)
            .finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "see Settings")]
pub struct Play {
    pub recovery_interval_ms: u64,
    pub recovery_after_ms: u64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "see Settings")]
pub struct Coupons {
    pub consumer_lease_ms: u64,
    pub turn_wait_ms: u64,
    pub draw_wait_ms: u64,
    pub retention_s: u64,
    pub max_bulk_bytes: u64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "see Settings")]
pub struct Rooms {
    pub issuer: String,
    pub retention_s: u64,
    pub join_token_s: u64,
}

/// Whether the service rebuilds a lost jackpot without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AutoRestore {
    /// Yes.
    On,
    /// No: an operator does it.
    Off,
    /// Yes with the embedded Redis, which has no other user.
    #[serde(rename = "")]
    Embedded,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "see Settings")]
pub struct Ledger {
    pub url: String,
    pub max_connections: u32,
    pub entry_index_days: u32,
    pub poll_interval_ms: u64,
    pub lease_ms: u64,
    pub max_backlog_events: u64,
    pub trim_margin_events: u64,
    pub reconcile_interval_s: u64,
    pub auto_restore: AutoRestore,
    pub signing_key: String,
}

impl Settings {
    /// Worker threads of the API: `http.workers`, or for 0 one for each core. Beside an embedded Redis it is half of
    /// them: the other half is for Redis and the ledger, and fewer threads send fewer, larger calls
    /// (docs/decisions/0012).
    pub fn workers(&self) -> usize {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        match (self.http.workers, self.redis.mode) {
            (0, RedisMode::Embedded) => (cores / 2).max(1),
            (0, _) => cores,
            (some, _) => some,
        }
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "see Settings")]
pub struct Events {
    pub allow_private_targets: bool,
    /// By name. None stands in the default.
    #[serde(default)]
    pub connections: BTreeMap<String, Connection>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "see Settings")]
pub struct Intake {
    pub connection: String,
    pub topic: String,
    pub reply_topic: String,
    pub dead_letter_topic: String,
    pub group: String,
    pub key: String,
    pub max_in_flight: u64,
}

/// Which protocol a broker speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BrokerKind {
    /// NATS with `JetStream`.
    Nats,
    /// Kafka, or a server that is compatible with it.
    Kafka,
}

/// How a client proves its password to Kafka.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sasl {
    /// The password itself, inside TLS.
    Plain,
    #[serde(rename = "scram-sha-256")]
    ScramSha256,
    #[serde(rename = "scram-sha-512")]
    ScramSha512,
}

/// A connection to a broker.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "see Settings")]
pub struct Connection {
    pub kind: BrokerKind,
    pub servers: Vec<String>,
    pub tls: Tls,
    pub ca_file: String,
    pub cert_file: String,
    pub key_file: String,
    pub user: String,
    pub password: String,
    pub token: String,
    pub credentials_file: String,
    pub sasl: Sasl,
}

/// Whether a connection is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tls {
    On,
    Off,
}

impl fmt::Debug for Connection {
    /// Password and token are secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("kind", &self.kind)
            .field("servers", &self.servers)
            .field("tls", &self.tls)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Ledger {
    /// The URL can hold a password, and the key signs receipts.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledger")
            .field("entry_index_days", &self.entry_index_days)
            .field("auto_restore", &self.auto_restore)
            .finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "see Settings")]
pub struct Reports {
    pub day_starts_at: String,
    pub zone: String,
}

impl Reports {
    /// The days of reports. The settings are checked when they are loaded.
    pub fn days(&self) -> Days {
        let days = day::time_of_day(&self.day_starts_at).zip(day::zone_named(&self.zone));
        days.map(|(begin, zone)| Days::new(begin, zone)).unwrap_or_default()
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "see Settings")]
pub struct Jackpots {
    pub directory: String,
}

/// The format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    Pretty,
    /// One JSON object per line.
    Json,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "see Settings")]
pub struct Tracing {
    pub otlp_endpoint: String,
    pub sample_ppm: u32,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "see Settings")]
pub struct Log {
    pub format: LogFormat,
    pub level: String,
}

//! The ranges that `config/default.toml` documents.

use config::ValueKind;

use super::SettingsError;
use super::layer::{Layer, in_default};
use super::load::FORMAT;

/// An integer key with its smallest and largest value, and whether 0 is allowed as well, with a meaning of its own.
struct Range(&'static str, i64, i64, Zero);

#[derive(PartialEq)]
enum Zero {
    /// 0 is an ordinary value.
    Plain,
    /// 0 is allowed below the smallest value.
    Also,
}

const RANGES: &[Range] = &[
    Range("format", FORMAT, FORMAT, Zero::Plain),
    Range("http.workers", 0, 256, Zero::Plain),
    Range("http.max_body_bytes", 1024, 16_777_216, Zero::Plain),
    Range("http.shutdown_timeout_s", 1, 300, Zero::Plain),
    Range("http.keep_alive_s", 1, 3600, Zero::Plain),
    Range("http.max_connections", 16, 1_000_000, Zero::Also),
    Range("http.max_streams", 0, 100_000, Zero::Plain),
    Range("http.max_public_streams", 0, 100_000, Zero::Plain),
    Range("http.max_public_streams_per_address", 0, 100_000, Zero::Plain),
    Range("http.max_connections_per_address", 0, 1_000_000, Zero::Plain),
    Range("auth.requests_per_second_per_key", 0, 1_000_000, Zero::Plain),
    Range("auth.burst_per_key", 0, 1_000_000, Zero::Plain),
    Range("auth.public_requests_per_second_per_address", 0, 1_000_000, Zero::Plain),
    Range("auth.failed_keys_per_second_per_address", 0, 1_000_000, Zero::Plain),
    Range("redis.connect_timeout_ms", 10, 60_000, Zero::Plain),
    Range("redis.response_timeout_ms", 10, 60_000, Zero::Plain),
    Range("redis.total_timeout_ms", 10, 60_000, Zero::Plain),
    Range("redis.max_memory_mib", 16, 1_048_576, Zero::Also),
    Range("redis.refuse_entries_above_memory_pct", 1, 99, Zero::Plain),
    Range("fairness.retention_s", 60, 604_800, Zero::Plain),
    Range("play.recovery_interval_ms", 50, 60_000, Zero::Plain),
    Range("play.recovery_after_ms", 100, 600_000, Zero::Plain),
    Range("coupons.consumer_lease_ms", 300, 60_000, Zero::Plain),
    Range("coupons.turn_wait_ms", 0, 20_000, Zero::Plain),
    Range("coupons.draw_wait_ms", 0, 20_000, Zero::Plain),
    Range("coupons.retention_s", 60, 604_800, Zero::Plain),
    Range("coupons.max_bulk_bytes", 1024, 17_179_869_184, Zero::Plain),
    Range("rooms.retention_s", 60, 604_800, Zero::Plain),
    Range("rooms.join_token_s", 10, 3_600, Zero::Plain),
    Range("ledger.max_connections", 1, 100, Zero::Plain),
    Range("ledger.entry_index_days", 0, 3650, Zero::Plain),
    Range("ledger.poll_interval_ms", 5, 10_000, Zero::Plain),
    Range("ledger.lease_ms", 1_000, 300_000, Zero::Plain),
    Range("ledger.max_backlog_events", 1_000, 100_000_000, Zero::Plain),
    Range("ledger.trim_margin_events", 0, 1_000_000, Zero::Plain),
    Range("ledger.reconcile_interval_s", 1, 86_400, Zero::Plain),
    Range("intake.max_in_flight", 1, 4096, Zero::Plain),
    Range("tracing.sample_ppm", 0, 1_000_000, Zero::Plain),
];

/// The keys with a few allowed words. The structs would refuse others too, but not list the allowed ones.
const WORDS: &[(&str, &[&str])] = &[
    ("redis.mode", &["embedded", "standalone", "sentinel", "cluster"]),
    ("redis.durability", &["local", "replicated"]),
    ("redis.check_config", &["required", "if-allowed"]),
    ("ledger.auto_restore", &["on", "off", ""]),
    ("events.connections.*.kind", &["nats", "kafka"]),
    ("events.connections.*.tls", &["on", "off"]),
    (
        "events.connections.*.sasl",
        &["plain", "scram-sha-256", "scram-sha-512"],
    ),
    ("log.format", &["pretty", "json"]),
];

/// What a key takes: the range of an integer, or its words. `None`: any value of its type.
pub fn rule(key: &str) -> Option<String> {
    if let Some(Range(_, low, high, zero)) = RANGES.iter().find(|range| range.0 == key) {
        let also = if *zero == Zero::Also { "0 or " } else { "" };
        return Some(format!("{also}{low} to {high}"));
    }
    let (_, words) = WORDS.iter().find(|words| words.0 == key)?;
    Some(words.join(" or "))
}

/// Refuses the first value outside its range.
pub(super) fn check(merged: &Layer) -> Result<(), SettingsError> {
    integers(merged)?;
    words(merged)
}

fn words(merged: &Layer) -> Result<(), SettingsError> {
    for (key, value) in merged {
        let ValueKind::String(word) = &value.kind else {
            continue;
        };
        let of_default = in_default(key);
        let Some((known, words)) = WORDS.iter().find(|words| words.0 == of_default) else {
            continue;
        };
        if !words.contains(&word.as_str()) {
            return Err(SettingsError::OutOfRange {
                key: key.clone(),
                value: format!(" = {word:?}"),
                rule: rule(known).unwrap_or_default(),
            });
        }
    }
    Ok(())
}

fn integers(merged: &Layer) -> Result<(), SettingsError> {
    for (key, value) in merged {
        let ValueKind::I64(number) = value.kind else {
            continue;
        };
        // A key without a range is an oversight; the tests find it.
        let Some(Range(_, low, high, zero)) = RANGES.iter().find(|range| range.0 == key) else {
            continue;
        };
        let allowed = (*low..=*high).contains(&number) || (*zero == Zero::Also && number == 0);
        if !allowed {
            return Err(SettingsError::OutOfRange {
                key: key.clone(),
                value: format!(" = {number}"),
                rule: rule(key).unwrap_or_default(),
            });
        }
    }
    Ok(())
}

/// Whether an integer key has a range.
#[cfg(test)]
pub(super) fn has(key: &str) -> bool {
    RANGES.iter().any(|range| range.0 == key)
}

//! The state of Redis: asked twice a second, read by everyone without a call.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use futures_util::future::{join, join_all};
use redis::Value;
use tokio::time::MissedTickBehavior;

use super::checks::Rules;
use super::connection::Link;
use super::dispatch::Dispatcher;
use super::error::Failure;

/// Time between two looks.
const INTERVAL: Duration = Duration::from_millis(500);
/// Every how many looks the start-up checks run again; they also run after each look that found a problem. A failover
/// can put a server with other settings at the same address.
const RULES_EVERY: u32 = 20;

/// The state of Redis, as of half a second ago.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// At least one primary answers. In a cluster the others may be down: see `cause`.
    pub up: bool,
    /// The problem, if there is one, also while `up`. It names the node and holds no credentials.
    pub cause: Option<Arc<str>>,
    /// Memory that counts towards the limit, of the fullest node, in bytes.
    pub used_bytes: u64,
    /// The limit of that node in bytes: its `maxmemory`, or the machine's memory when that is 0.
    pub limit_bytes: u64,
    /// Whether new entries must get 503: memory is above `redis.refuse_entries_above_memory_pct`, no server takes writes,
    /// or a server breaks a rule of the start-up checks.
    pub refuse_entries: bool,
}

impl Health {
    /// Memory used, in percent of the limit, rounded down; 0 while unknown.
    pub fn memory_pct(&self) -> u64 {
        self.used_bytes
            .saturating_mul(100)
            .checked_div(self.limit_bytes)
            .unwrap_or(0)
    }
}

/// The result of one look at one node.
struct Look {
    used: u64,
    limit: u64,
    /// The node answers, but its cluster does not work for it.
    trouble: Option<Failure>,
    /// Why it takes no writes.
    read_only: Option<Failure>,
}

/// Redis refuses to begin it, as every script that writes: on a replica (READONLY), with too few replicas (NOREPLICAS),
/// when its disk fails (MISCONF) or memory is full (OOM). It writes nothing itself, so nothing grows.
const WRITER: &str = "#!lua\nreturn 1";

/// Looks at every primary at once and sums up. `broken_rule` stays true until the rules are checked again.
async fn look(dispatcher: &Dispatcher, above_pct: u8, broken_rule: Option<&Arc<str>>) -> Health {
    let (_, seen) = dispatcher.topology.pick(None);
    let nodes = dispatcher.topology.primaries();
    let in_cluster = dispatcher.topology.is_cluster();
    let looks = join_all(nodes.iter().map(|node| look_at(node, in_cluster))).await;
    let mut health = Health {
        up: false,
        cause: None,
        used_bytes: 0,
        limit_bytes: 0,
        refuse_entries: false,
    };
    let (mut takes_writes, mut is_full) = (false, false);
    for look in looks {
        match look {
            Ok(Look {
                used,
                limit,
                trouble,
                read_only,
            }) => {
                health.up = true;
                is_full |= read_only.as_ref().is_some_and(Failure::is_oom);
                let read_only = read_only.filter(|failure| !failure.is_oom());
                takes_writes |= read_only.is_none();
                if let Some(cause) = trouble.or(read_only) {
                    health.cause = Some(cause.to_string().into());
                }
                // Compares fractions without division: used/limit > the fullest so far.
                if u128::from(used) * u128::from(health.limit_bytes.max(1))
                    >= u128::from(health.used_bytes) * u128::from(limit)
                {
                    (health.used_bytes, health.limit_bytes) = (used, limit);
                }
            }
            Err(failure) => health.cause = Some(failure.to_string().into()),
        }
    }
    if health.cause.is_some() || dispatcher.topology.is_by_sentinels() {
        dispatcher.topology.look_again(&seen).await;
    }
    if let Some(broken) = broken_rule {
        health.cause = Some(Arc::clone(broken));
    }
    is_full |= u128::from(health.used_bytes) * 100 > u128::from(health.limit_bytes) * u128::from(above_pct);
    health.refuse_entries = !takes_writes || is_full || broken_rule.is_some();
    health
}

async fn look_at(node: &Link, in_cluster: bool) -> Result<Look, Failure> {
    let trouble = if in_cluster { cluster_trouble(node).await? } else { None };
    let mut writer = redis::cmd("EVAL");
    writer.arg(WRITER).arg(0);
    let (info, written) = join(info(node, "memory"), node.send(&writer)).await;
    let info = info?;
    let number = |key: &str| info.get(key).and_then(|value| value.parse::<u64>().ok()).unwrap_or(0);
    let limit = match number("maxmemory") {
        0 => number("total_system_memory"),
        limit => limit,
    };
    Ok(Look {
        used: number("used_memory").saturating_sub(number("mem_not_counted_for_evict")),
        limit,
        trouble,
        read_only: written.err(),
    })
}

/// A primary that is cut off from its peers still answers INFO normally; only this shows it. It is no reason to refuse
/// entries, because the other primaries may work.
async fn cluster_trouble(node: &Link) -> Result<Option<Failure>, Failure> {
    let mut question = redis::cmd("CLUSTER");
    question.arg("INFO");
    let state = table(&node.send(&question).await?).remove("cluster_state");
    Ok(state.filter(|state| state != "ok").map(|state| Failure::ClusterState {
        node: Arc::clone(node.node()),
        state,
    }))
}

/// One section of INFO as a table.
pub(super) async fn info(node: &Link, section: &str) -> Result<HashMap<String, String>, Failure> {
    let mut question = redis::cmd("INFO");
    question.arg(section);
    Ok(table(&node.send(&question).await?))
}

/// The lines `key:value` of an answer; empty for another kind of answer.
pub(super) fn table(answer: &Value) -> HashMap<String, String> {
    let text = match answer {
        Value::BulkString(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::VerbatimString { text, .. } => text.clone(),
        _ => String::new(),
    };
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .map(|(key, value)| (key.to_owned(), value.trim_end().to_owned()))
        .collect()
}

/// The first look, before any request.
pub(super) async fn first(dispatcher: &Dispatcher, above_pct: u8) -> Health {
    look(dispatcher, above_pct, None).await
}

/// Looks until it is dropped. The connect and response limits bound each look.
pub(super) async fn watch(dispatcher: Arc<Dispatcher>, above_pct: u8, rules: Rules, current: Arc<ArcSwap<Health>>) {
    let mut ticks = tokio::time::interval(INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut broken: Option<Arc<str>> = None;
    for count in 1_u32.. {
        ticks.tick().await;
        if current.load().cause.is_some() || count.is_multiple_of(RULES_EVERY) {
            broken = rules.broken(&dispatcher.topology).await.map(Into::into);
        }
        let health = look(&dispatcher, above_pct, broken.as_ref()).await;
        let before = current.swap(Arc::new(health.clone()));
        if before.up != health.up
            || before.refuse_entries != health.refuse_entries
            || before.cause.is_some() != health.cause.is_some()
        {
            tracing::warn!(
                up = health.up,
                refuse_entries = health.refuse_entries,
                memory_pct = health.memory_pct(),
                cause = health.cause.as_deref().unwrap_or("none"),
                "the state of Redis changed"
            );
        }
    }
}

//! What servers say of themselves, for people. Nobody asks while nobody looks.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::future::join_all;

use super::Store;
use super::health::info;

/// A server, by its own account. Texts are empty where it does not say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its name, without credentials.
    pub name: Arc<str>,
    /// Why it can't be asked.
    pub trouble: Option<String>,
    /// `Redis 8.2.1` or `Valkey 8.0.1`.
    pub version: String,
    /// `master` or `slave`.
    pub role: String,
    pub replicas: u64,
    pub used_bytes: u64,
    /// 0: no limit.
    pub limit_bytes: u64,
    /// Whether it writes the append-only file.
    pub has_aof: bool,
    /// Whether its last write to that file worked.
    pub is_aof_ok: bool,
    pub uptime_s: u64,
}

impl Store {
    /// Asks every primary.
    pub async fn nodes(&self) -> Vec<Node> {
        let nodes = self.inner.dispatcher.topology.primaries();
        let asked = nodes.iter().map(|link| async {
            let name = Arc::clone(link.node());
            match info(link, "default").await {
                Ok(said) => Node::of(name, &said),
                Err(failure) => Node {
                    trouble: Some(failure.to_string()),
                    ..Node::of(name, &HashMap::new())
                },
            }
        });
        join_all(asked).await
    }
}

impl Node {
    fn of(name: Arc<str>, said: &HashMap<String, String>) -> Self {
        let text = |key: &str| said.get(key).cloned().unwrap_or_default();
        let number = |key: &str| said.get(key).and_then(|value| value.parse().ok()).unwrap_or(0);
        let version = match said.get("valkey_version") {
            Some(version) => format!("Valkey {version}"),
            None if said.is_empty() => String::new(),
            None => format!("Redis {}", text("redis_version")),
        };
        Self {
            name,
            trouble: None,
            version,
            role: text("role"),
            replicas: number("connected_slaves"),
            used_bytes: number("used_memory"),
            limit_bytes: number("maxmemory"),
            has_aof: text("aof_enabled") == "1",
            is_aof_ok: text("aof_last_write_status") == "ok",
            uptime_s: number("uptime_in_seconds"),
        }
    }
}

//! Checks of a server before it holds money. Each refusal says what would be lost and what to set.

use std::collections::HashMap;
use std::sync::Arc;

use redis::Value;
use thiserror::Error;

use crate::settings::{CheckConfig, Durability, RedisMode};

use super::cluster::SLOTS;
use super::connection::Link;
use super::error::Failure;
use super::health::info;
use super::topology::Topology;

/// Oldest servers with script flags and with CONFIG GET of several names.
const OLDEST_REDIS: (u32, u32) = (7, 0);
const OLDEST_VALKEY: (u32, u32) = (7, 2);

/// A server's setting that must have one value.
struct Needed {
    name: &'static str,
    value: &'static str,
    otherwise: &'static str,
}

/// Checked in this order; the first that differs is reported.
const NEEDED: [Needed; 4] = [
    Needed {
        name: "maxmemory-policy",
        value: "noeviction",
        otherwise: "pools and idempotency records would be evicted when memory is full, and repeated entries counted twice",
    },
    Needed {
        name: "appendonly",
        value: "yes",
        otherwise: "a restart would lose every entry and payout since the last snapshot",
    },
    Needed {
        name: "appendfsync",
        value: "always",
        otherwise: "a power loss would lose acknowledged entries and payouts (everysec: the last 2 seconds; no: what the kernel has not yet written, some 30 seconds)",
    },
    Needed {
        name: "no-appendfsync-on-rewrite",
        value: "no",
        otherwise: "while the append-only file is rewritten, a power loss would lose acknowledged entries and payouts",
    },
];

/// Why a server is refused.
#[derive(Debug, Clone, Error)]
pub enum CheckError {
    /// The version lacks what the scripts need.
    #[error("{node}: version {found} is too old: Redis 7.0 or Valkey 7.2 is the oldest that works")]
    Version {
        node: Arc<str>,
        /// The version in INFO.
        found: String,
    },
    /// A setting would lose money.
    #[error(
        "{node}: {name} is {found:?}, it must be {needed:?}: {otherwise}. Set it by CONFIG SET {name} {needed} and in the server's configuration file"
    )]
    Setting {
        node: Arc<str>,
        name: &'static str,
        found: String,
        /// The required value.
        needed: &'static str,
        /// What would be lost.
        otherwise: &'static str,
    },
    /// The server is in cluster mode and `redis.mode` is not, or the reverse.
    #[error("{node}: the server runs in {found} mode: set redis.mode = {set:?}")]
    Mode {
        node: Arc<str>,
        /// `redis_mode` of INFO.
        found: String,
        /// The required `redis.mode`.
        set: &'static str,
    },
    /// The server takes no writes.
    #[error("{node}: this is a replica and takes no writes: redis.urls must name its primary")]
    Replica { node: Arc<str> },
    /// A failover could lose writes that only the primary has.
    #[error(
        "{node}: {replicas} replica(s) are connected and redis.durability is \"local\": a failover would lose acknowledged entries and payouts that no replica has yet. Set redis.durability = \"replicated\", required when replicas exist"
    )]
    Durability { node: Arc<str>, replicas: u32 },
    /// The user lacks rights, or the server lacks commands.
    #[error("{node}: {lacking}")]
    Rights {
        node: Arc<str>,
        /// All of them, and what to do.
        lacking: String,
    },
    /// Some slots have no owner.
    #[error("the cluster serves {covered} of {SLOTS} slots: assign the others (redis-cli --cluster fix)")]
    Slots { covered: usize },
    #[error("can't check the server: {0}")]
    NoAnswer(String),
}

/// The requirements of this instance.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    pub(super) mode: RedisMode,
    pub(super) durability: Durability,
    pub(super) check_config: CheckConfig,
}

impl Rules {
    /// Checks every primary. One that is away in a cluster is checked when it is back: the watcher looks at each of them
    /// again and again.
    pub(super) async fn check(self, topology: &Topology) -> Result<(), CheckError> {
        for node in topology.primaries() {
            match self.check_node(&node).await {
                Err(CheckError::NoAnswer(_)) if topology.is_cluster() => {}
                checked => checked?,
            }
        }
        match topology {
            Topology::Cluster(cluster) if cluster.map().covered() < SLOTS => Err(CheckError::Slots {
                covered: cluster.map().covered(),
            }),
            _ => Ok(()),
        }
    }

    /// Checks while running: the first broken rule, if any. A silent node breaks no rule.
    pub(super) async fn broken(self, topology: &Topology) -> Option<String> {
        for node in topology.primaries() {
            match self.check_node(&node).await {
                Ok(()) | Err(CheckError::NoAnswer(_) | CheckError::Replica { .. }) => {}
                Err(error) => return Some(error.to_string()),
            }
        }
        None
    }

    /// Checks one server, also before a cluster's nodes are known.
    pub(super) async fn check_node(self, link: &Link) -> Result<(), CheckError> {
        let node = || Arc::clone(link.node());
        match info(link, "server").await {
            Ok(server) => {
                check_version(node(), &server)?;
                self.check_mode(node(), &server)?;
                self.check_role(link).await?;
            }
            // The check of the rights names it, with all others.
            Err(failure) if failure.is_no_permission() || failure.is_unknown_command() => {}
            Err(failure) => return Err(no_answer(&failure)),
        }
        self.check_rights(link).await?;
        self.check_settings(link).await
    }

    async fn check_role(self, link: &Link) -> Result<(), CheckError> {
        let node = || Arc::clone(link.node());
        let replication = info(link, "replication").await.map_err(|failure| no_answer(&failure))?;
        if replication.get("role").is_some_and(|role| role == "slave") {
            return Err(CheckError::Replica { node: node() });
        }
        let replicas = replication
            .get("connected_slaves")
            .and_then(|count| count.parse().ok())
            .unwrap_or(0);
        if replicas > 0 && self.durability == Durability::Local {
            return Err(CheckError::Durability { node: node(), replicas });
        }
        if replicas == 0 && self.durability == Durability::Replicated {
            tracing::warn!(node = %link.node(), "no replica is connected: entries get 503 until one is");
        }
        Ok(())
    }

    fn check_mode(self, node: Arc<str>, server: &HashMap<String, String>) -> Result<(), CheckError> {
        let found = server
            .get("redis_mode")
            .or_else(|| server.get("server_mode"))
            .map_or("standalone", String::as_str);
        match (self.mode, found) {
            (RedisMode::Cluster, "cluster")
            | (RedisMode::Embedded | RedisMode::Standalone | RedisMode::Sentinel, "standalone") => Ok(()),
            (_, "cluster") => Err(CheckError::Mode {
                node,
                found: found.to_owned(),
                set: "cluster",
            }),
            (_, "sentinel") => Err(CheckError::Mode {
                node,
                found: found.to_owned(),
                set: "sentinel",
            }),
            (_, _) => Err(CheckError::Mode {
                node,
                found: found.to_owned(),
                set: "standalone",
            }),
        }
    }

    /// Checks the server's settings. Managed servers refuse CONFIG. If the operator allows that, only what INFO tells is
    /// checked.
    async fn check_settings(self, link: &Link) -> Result<(), CheckError> {
        let mut question = redis::cmd("CONFIG");
        question.arg("GET");
        for needed in &NEEDED {
            question.arg(needed.name);
        }
        match link.send(&question).await {
            Ok(answer) => {
                let found = pairs(&answer);
                let found = |name| found.get(name).map_or("", String::as_str);
                return NEEDED
                    .iter()
                    .try_for_each(|needed| check(link, needed, found(needed.name)));
            }
            Err(failure)
                if self.check_config == CheckConfig::IfAllowed
                    && (failure.is_no_permission() || failure.is_unknown_command()) => {}
            Err(failure) => return Err(no_answer(&failure)),
        }
        let memory = info(link, "memory").await.map_err(|failure| no_answer(&failure))?;
        check(
            link,
            &NEEDED[0],
            memory.get("maxmemory_policy").map_or("", String::as_str),
        )
    }
}

fn check_version(node: Arc<str>, server: &HashMap<String, String>) -> Result<(), CheckError> {
    let (found, oldest) = match (server.get("valkey_version"), server.get("redis_version")) {
        (Some(valkey), _) => (valkey.as_str(), OLDEST_VALKEY),
        (None, Some(redis)) => (redis.as_str(), OLDEST_REDIS),
        (None, None) => ("unknown", OLDEST_REDIS),
    };
    let mut numbers = found.split('.').map_while(|number| number.parse::<u32>().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if version >= oldest {
        Ok(())
    } else {
        Err(CheckError::Version {
            node,
            found: found.to_owned(),
        })
    }
}

fn check(link: &Link, needed: &Needed, found: &str) -> Result<(), CheckError> {
    if found == needed.value {
        return Ok(());
    }
    Err(CheckError::Setting {
        node: Arc::clone(link.node()),
        name: needed.name,
        found: found.to_owned(),
        needed: needed.value,
        otherwise: needed.otherwise,
    })
}

/// The answer of CONFIG GET as a table.
pub(super) fn pairs(answer: &Value) -> HashMap<String, String> {
    redis::from_redis_value_ref(answer).unwrap_or_default()
}

fn no_answer(failure: &Failure) -> CheckError {
    CheckError::NoAnswer(failure.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(pairs: &[(&str, &str)]) -> Result<(), CheckError> {
        check_version(
            "n".into(),
            &pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
        )
    }

    #[test]
    fn old_servers_are_refused() {
        assert!(version(&[("redis_version", "7.0.0")]).is_ok());
        assert!(version(&[("redis_version", "8.2.1")]).is_ok());
        assert!(version(&[("redis_version", "6.2.14")]).is_err());
        assert!(version(&[("redis_version", "7.2.4"), ("valkey_version", "8.0.1")]).is_ok());
        assert!(version(&[("redis_version", "7.2.4"), ("valkey_version", "7.0.0")]).is_err());
        assert!(version(&[]).is_err());
    }

    #[test]
    fn a_server_in_the_wrong_mode_is_named() {
        let rules = Rules {
            check_config: CheckConfig::Required,
            mode: RedisMode::Standalone,
            durability: Durability::Local,
        };
        let server = HashMap::from([(String::from("redis_mode"), String::from("cluster"))]);
        let error = rules.check_mode("n".into(), &server).unwrap_err();
        assert!(error.to_string().contains("set redis.mode = \"cluster\""), "{error}");
    }
}

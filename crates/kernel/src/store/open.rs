//! Opening the store: connect in the configured mode, check the servers, start watching.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use arc_swap::ArcSwap;
use futures_util::future::join_all;
use thiserror::Error;
use tokio::time::{Instant, timeout};

use crate::settings::{self, Durability, RedisMode};

use super::address;
use super::checks::{CheckError, Rules};
use super::cluster::Cluster;
use super::connection::{Limits, Link};
use super::data_dir::{DataDirError, DataDirLock};
use super::dispatch::Dispatcher;
use super::embedded::{self, Embedded, EmbeddedError};
use super::error::Failure;
use super::health;
use super::sentinel::Sentinels;
use super::topology::Topology;
use super::{Inner, Store};

/// How long a server may load its data. Loading takes about a minute for 10 GiB.
const LOADING_LIMIT: Duration = Duration::from_mins(5);
/// Pause between two looks at a server that is loading, or at sentinels that name no primary.
const PAUSE: Duration = Duration::from_millis(20);

/// Why the store can't be opened.
#[derive(Debug, Error)]
pub enum OpenError {
    /// `redis.urls` is empty, or has several URLs in standalone mode.
    #[error("redis.urls needs {needed} in {mode} mode")]
    Urls { needed: &'static str, mode: &'static str },
    /// A URL can't be used. The message does not repeat it, because it may hold a password.
    #[error(
        "redis.urls[{index}] can't be used ({reason}): redis://[user[:password]@]host[:port][/db], rediss:// for TLS, redis+unix:///path for a socket"
    )]
    InvalidUrl {
        /// Its place in the list, from 0.
        index: usize,
        reason: String,
    },
    /// `redis.primary_url` can't be used. The message does not repeat it, because it may hold a password.
    #[error(
        "redis.primary_url can't be used ({reason}): redis://[user[:password]@]name[/db] with the primary's name in the \
         Sentinels' configuration, or rediss:// for TLS"
    )]
    InvalidPrimaryUrl { reason: String },
    /// The data directory can't be locked.
    #[error(transparent)]
    DataDir(#[from] DataDirError),
    /// The private server can't be started or adopted.
    #[error(transparent)]
    Embedded(#[from] EmbeddedError),
    /// No server answers.
    #[error("Redis does not answer: {cause}")]
    Unreachable {
        /// The last failure.
        cause: String,
    },
    /// A server's settings could lose money.
    #[error(transparent)]
    Check(#[from] CheckError),
    /// A file can't be read.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        source: std::io::Error,
    },
}

impl Store {
    /// Opens the store: locks the data directory, starts or adopts the private server in embedded mode, and checks
    /// every primary. Takes at most the total limit if no server answers. It waits longer for a server that is loading
    /// its data.
    pub async fn open(settings: &settings::Redis, data_dir: &Path) -> Result<Self, OpenError> {
        let lock = DataDirLock::take(data_dir)?;
        let limits = limits(settings);
        let (topology, embedded) = match settings.mode {
            RedisMode::Embedded => {
                let embedded = Embedded::start(settings, data_dir, limits).await?;
                (Topology::Single(Arc::clone(embedded.link())), Some(embedded))
            }
            RedisMode::Standalone => (standalone(settings, limits)?, None),
            RedisMode::Sentinel => (sentinels(settings, limits).await?, None),
            RedisMode::Cluster => (cluster(settings, limits).await?, None),
        };
        match Self::over(topology, settings, limits).await {
            Ok((dispatcher, health, watcher)) => Ok(Self {
                inner: Arc::new(Inner {
                    dispatcher,
                    health,
                    watcher,
                    observer: OnceLock::new(),
                    is_shut: AtomicBool::new(false),
                    shut: Mutex::default(),
                    embedded: Mutex::new(embedded),
                    lock: Mutex::new(Some(lock)),
                }),
            }),
            Err(error) => {
                if let Some(embedded) = embedded {
                    embedded.stop().await;
                }
                Err(error)
            }
        }
    }

    /// Connects without a lock, beside an instance that may hold the data directory. Starts and stops nothing.
    pub async fn beside(settings: &settings::Redis, data_dir: &Path) -> Result<Self, OpenError> {
        let limits = limits(settings);
        let topology = match settings.mode {
            RedisMode::Embedded => Topology::Single(Arc::new(embedded::link(data_dir, limits)?)),
            RedisMode::Standalone => standalone(settings, limits)?,
            RedisMode::Sentinel => sentinels(settings, limits).await?,
            RedisMode::Cluster => cluster(settings, limits).await?,
        };
        let (dispatcher, health, watcher) = Self::over(topology, settings, limits).await?;
        Ok(Self {
            inner: Arc::new(Inner {
                dispatcher,
                health,
                watcher,
                observer: OnceLock::new(),
                shut: Mutex::new(None),
                is_shut: AtomicBool::new(false),
                embedded: Mutex::new(None),
                lock: Mutex::new(None),
            }),
        })
    }

    async fn over(
        topology: Topology,
        settings: &settings::Redis,
        limits: Limits,
    ) -> Result<(Arc<Dispatcher>, Arc<ArcSwap<health::Health>>, tokio::task::AbortHandle), OpenError> {
        one_answers(&topology, limits).await?;
        let rules = Rules {
            mode: settings.mode,
            durability: settings.durability,
            check_config: settings.check_config,
        };
        rules.check(&topology).await?;
        // The wait for a replica must end before the connection's own time limit, or a slow replica would cost a
        // connection.
        let wait_ms =
            (settings.durability == Durability::Replicated).then_some((settings.response_timeout_ms * 3 / 4).max(1));
        let dispatcher = Arc::new(Dispatcher {
            topology,
            limits,
            wait_ms,
        });
        let above_pct = settings.refuse_entries_above_memory_pct;
        let health = Arc::new(ArcSwap::from_pointee(health::first(&dispatcher, above_pct).await));
        let watcher = tokio::spawn(health::watch(
            Arc::clone(&dispatcher),
            above_pct,
            rules,
            Arc::clone(&health),
        ))
        .abort_handle();
        Ok((dispatcher, health, watcher))
    }
}

fn limits(settings: &settings::Redis) -> Limits {
    Limits {
        connect: Duration::from_millis(settings.connect_timeout_ms),
        response: Duration::from_millis(settings.response_timeout_ms),
        total: Duration::from_millis(settings.total_timeout_ms),
    }
}

fn standalone(settings: &settings::Redis, limits: Limits) -> Result<Topology, OpenError> {
    let mut clients = address::clients(&settings.urls, &settings.tls_ca_file)?;
    match (clients.pop(), clients.is_empty()) {
        (Some(client), true) => Ok(Topology::Single(Arc::new(Link::new(client, limits)))),
        _ => Err(OpenError::Urls {
            needed: "one URL",
            mode: "standalone",
        }),
    }
}

async fn sentinels(settings: &settings::Redis, limits: Limits) -> Result<Topology, OpenError> {
    let clients = address::clients(&settings.urls, &settings.tls_ca_file)?;
    if clients.is_empty() {
        return Err(OpenError::Urls {
            needed: "the URL of each Sentinel",
            mode: "sentinel",
        });
    }
    let (template, name) = address::primary(&settings.primary_url, &settings.tls_ca_file)?;
    let sentinels = Sentinels::new(clients, template, name, limits);
    let began_at = Instant::now();
    while let Err(failure) = sentinels.refresh(&sentinels.primary()).await {
        if began_at.elapsed() >= limits.total {
            return Err(OpenError::Unreachable {
                cause: failure.to_string(),
            });
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(Topology::Sentinel(Box::new(sentinels)))
}

async fn cluster(settings: &settings::Redis, limits: Limits) -> Result<Topology, OpenError> {
    let clients = address::clients(&settings.urls, &settings.tls_ca_file)?;
    if clients.is_empty() {
        return Err(OpenError::Urls {
            needed: "at least one URL",
            mode: "cluster",
        });
    }
    let rules = Rules {
        mode: settings.mode,
        durability: settings.durability,
        check_config: settings.check_config,
    };
    let cluster = Cluster::new(clients, limits);
    let learned = match timeout(limits.total, cluster.refresh(&cluster.map())).await {
        Ok(learned) => learned,
        Err(_) => Err(Failure::NoOwner),
    };
    if let Err(failure) = learned {
        // The error message alone is no proof that a server is not a cluster node. Its INFO is.
        for seed in cluster.seeds() {
            if let Ok(Err(error @ CheckError::Mode { .. })) = timeout(limits.total, rules.check_node(seed)).await {
                return Err(error.into());
            }
        }
        return Err(OpenError::Unreachable {
            cause: failure.to_string(),
        });
    }
    Ok(Topology::Cluster(cluster))
}

/// Waits until every primary answers, or fails, and one answers. In a cluster the subjects of the others get 503 until
/// they are back.
async fn one_answers(topology: &Topology, limits: Limits) -> Result<(), OpenError> {
    let nodes = topology.primaries();
    let looks = join_all(nodes.iter().map(|node| answering(node, limits))).await;
    let is_all = looks.iter().all(Result::is_err);
    for (node, look) in nodes.iter().zip(looks) {
        match look {
            Ok(()) => {}
            Err(error) if is_all => return Err(error),
            Err(error) => {
                tracing::error!(node = %node.node(), %error, "a node of the cluster is away: its subjects get 503 until it is back");
            }
        }
    }
    Ok(())
}

/// Waits until a server answers: for the total limit, or longer while it says that it is loading.
async fn answering(node: &Link, limits: Limits) -> Result<(), OpenError> {
    let began_at = Instant::now();
    loop {
        let Err(failure) = node.send(&redis::cmd("PING")).await else {
            return Ok(());
        };
        let limit = match &failure {
            // PING itself may be forbidden to this user. That is an answer, and the checks say which rules to add.
            Failure::Redis { source, .. } if source.code() == Some("NOPERM") => return Ok(()),
            Failure::Redis { source, .. } if source.code() == Some("LOADING") => LOADING_LIMIT,
            failure if matches!(failure.next(), super::error::Next::GiveUp(_)) => Duration::ZERO,
            _ => limits.total,
        };
        if began_at.elapsed() >= limit {
            return Err(OpenError::Unreachable {
                cause: failure.to_string(),
            });
        }
        tokio::time::sleep(PAUSE).await;
    }
}

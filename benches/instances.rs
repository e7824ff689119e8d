//! Several instances on one Redis, and Redis clusters of some nodes.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use redis::aio::MultiplexedConnection;
use serde_json::json;
use tempfile::TempDir;

use crate::Outcome;
use crate::bare_redis::program;
use crate::service::Service;

/// Connections of all instances together.
const CONNECTIONS: usize = 64;
const START_LIMIT: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(20);
/// Slots of a cluster.
const SLOTS: usize = 16_384;
/// What draws come from: any value that all instances have.
const SECRET: &str = "6b0c6e1f0d7a4c1b9f2e5d8a3b7c4e1f6b0c6e1f0d7a4c1b9f2e5d8a3b7c4e1f";

/// Instances on the Redis and the ledger of the first one.
pub(crate) struct Instances(Vec<Service>);

impl Instances {
    pub(crate) fn of(first: Service) -> Self {
        Self(vec![first])
    }

    /// Starts instances until there are `wanted`.
    pub(crate) async fn grow(&mut self, place: &Path, wanted: usize) -> Outcome {
        while self.0.len() < wanted {
            let next = self.first().another(place).await?;
            self.0.push(next);
        }
        Ok(())
    }

    pub(crate) fn first(&self) -> &Service {
        &self.0[0]
    }

    pub(crate) fn each(&self) -> impl ExactSizeIterator<Item = &Service> {
        self.0.iter()
    }

    /// The connections of each.
    pub(crate) fn connections(&self) -> usize {
        CONNECTIONS / self.0.len()
    }
}

/// A cluster of primaries. Dropping it ends them and removes their data.
pub(crate) struct Cluster {
    nodes: Vec<Child>,
    ports: Vec<u16>,
    directory: TempDir,
}

impl Cluster {
    pub(crate) async fn start(place: &Path, count: usize) -> Outcome<Self> {
        std::fs::create_dir_all(place)?;
        let directory = tempfile::Builder::new().prefix("jb-").tempdir_in(place)?;
        let mut cluster = Self {
            nodes: Vec::new(),
            ports: Vec::new(),
            directory,
        };
        for number in 0..count {
            cluster.add(number).await?;
        }
        let mut first = cluster.connect(0).await?;
        for port in &cluster.ports[1..] {
            let mut meet = redis::cmd("CLUSTER");
            meet.arg("MEET").arg("127.0.0.1").arg(*port);
            meet.exec_async(&mut first).await?;
        }
        for number in 0..count {
            let range = (number * SLOTS / count, (number + 1) * SLOTS / count - 1);
            let mut slots = redis::cmd("CLUSTER");
            slots.arg("ADDSLOTSRANGE").arg(range.0).arg(range.1);
            slots.exec_async(&mut cluster.connect(number).await?).await?;
        }
        let begun = Instant::now();
        while !cluster.is_whole(count).await? {
            if begun.elapsed() > START_LIMIT {
                return Err("the cluster does not become whole".into());
            }
            tokio::time::sleep(POLL).await;
        }
        Ok(cluster)
    }

    /// Settings of a service on it.
    pub(crate) fn settings(&self) -> serde_json::Value {
        let urls = self.ports.iter().map(|port| format!("redis://127.0.0.1:{port}"));
        json!({
            "redis": {"mode": "cluster", "urls": urls.collect::<Vec<_>>()},
            "fairness": {"master_secret": SECRET},
        })
    }

    async fn add(&mut self, number: usize) -> Outcome {
        let at = std::path::absolute(self.directory.path())?.join(number.to_string());
        std::fs::create_dir(&at)?;
        let port = jackpot_simulate::free_port()?;
        let node = Command::new(program()?)
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1"])
            .args(["--cluster-enabled", "yes"])
            .args(["--appendonly", "yes", "--appendfsync", "always", "--save", ""])
            .args(["--maxmemory-policy", "noeviction", "--hash-max-listpack-entries", "64"])
            .arg("--dir")
            .arg(&at)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        self.nodes.push(node);
        self.ports.push(port);
        let begun = Instant::now();
        while let Err(error) = self.connect(number).await {
            if begun.elapsed() > START_LIMIT {
                return Err(error);
            }
            tokio::time::sleep(POLL).await;
        }
        Ok(())
    }

    /// Whether every node sees every slot served, by so many nodes.
    async fn is_whole(&self, count: usize) -> Outcome<bool> {
        for number in 0..count {
            let mut info = redis::cmd("CLUSTER");
            let info: String = info.arg("INFO").query_async(&mut self.connect(number).await?).await?;
            if !info.contains("cluster_state:ok") || !info.contains(&format!("cluster_size:{count}")) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn connect(&self, number: usize) -> Outcome<MultiplexedConnection> {
        let client = redis::Client::open(format!("redis://127.0.0.1:{}", self.ports[number]))?;
        Ok(client.get_multiplexed_async_connection().await?)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for node in &mut self.nodes {
            let _gone = node.kill();
            let _gone = node.wait();
        }
    }
}

//! The Redis or Valkey server of a test.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use redis::FromRedisValue;
use redis::aio::MultiplexedConnection;
use testcontainers::core::{ContainerPort, WaitFor};
use testcontainers::runners::AsyncRunner;
use testcontainers::{ContainerAsync, GenericImage, ImageExt, TestcontainersError};

use super::local::{LocalServer, connect, own_redis, run};
use super::shifted_clock::ShiftedClock;

/// The kind of server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    /// Redis 7.
    Redis,
    /// Valkey 8.
    Valkey,
}

impl Flavour {
    fn program(self) -> &'static str {
        match self {
            Self::Redis => "redis-server",
            Self::Valkey => "valkey-server",
        }
    }

    /// Name and tag; `scripts/images.sh` makes them where they cannot be pulled.
    fn image(self) -> (&'static str, &'static str) {
        match self {
            Self::Redis => ("redis", "7"),
            Self::Valkey => ("valkey/valkey", "8"),
        }
    }

    fn variable(self) -> &'static str {
        match self {
            Self::Redis => "JACKPOT_TEST_REDIS_URL",
            Self::Valkey => "JACKPOT_TEST_VALKEY_URL",
        }
    }
}

/// A server to test on. Dropping it removes its container.
pub struct TestRedis {
    url: String,
    backend: Backend,
}

#[expect(dead_code, reason = "held so that the server lives as long as the test")]
enum Backend {
    Shared,
    Container(Box<ContainerAsync<GenericImage>>),
    Local(LocalServer),
}

/// A test that ends its runtime before has none, and a container is removed by one.
impl Drop for TestRedis {
    fn drop(&mut self) {
        let Backend::Container(container) = std::mem::replace(&mut self.backend, Backend::Shared) else {
            return;
        };
        let remove = || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.expect("a runtime");
            let _inside = runtime.enter();
            drop(container);
        };
        std::thread::spawn(remove).join().expect("the container is removed");
    }
}

impl TestRedis {
    /// A Redis of the test's own, which it may reconfigure.
    pub async fn own(extra: &[&str]) -> Self {
        let server = own_redis(extra).await;
        Self {
            url: server.url().to_owned(),
            backend: Backend::Local(server),
        }
    }

    /// A Redis of the test's own, by this clock.
    pub async fn by(clock: &Arc<ShiftedClock>) -> Self {
        let server = LocalServer::on_socket_by(Some(Arc::clone(clock)), "redis-server", &[])
            .await
            .expect("redis-server is needed on PATH: apt-get install redis-server");
        Self {
            url: server.url().to_owned(),
            backend: Backend::Local(server),
        }
    }

    /// A Redis, perhaps shared with other tests: use [`id`](Self::id) for what you create, and don't stop, empty or
    /// reconfigure it. A test that has to takes [`LocalServer::on_socket`].
    pub async fn start() -> Self {
        Self::of(Flavour::Redis).await
    }

    /// The same with either server. Tests of Valkey have `valkey` in their name, by which they are in
    /// `make nightly` alone.
    ///
    /// # Panics
    /// When there is no address in the environment, no container and no local server.
    pub async fn of(flavour: Flavour) -> Self {
        if let Ok(url) = std::env::var(flavour.variable()) {
            return Self {
                url,
                backend: Backend::Shared,
            };
        }
        let container = match Self::container(flavour).await {
            Ok(server) => return server,
            Err(error) => error,
        };
        match LocalServer::on_socket(flavour.program(), &[]).await {
            Ok(server) => Self {
                url: server.url().to_owned(),
                backend: Backend::Local(server),
            },
            Err(local) => panic!(
                "no {flavour:?} to test on. Set {}, or start a Docker engine and run scripts/images.sh ({container}), \
                 or install {} ({local})",
                flavour.variable(),
                flavour.program(),
            ),
        }
    }

    /// A container of the test's own, whatever the environment names.
    ///
    /// # Errors
    /// When no Docker engine answers, or the image cannot be had.
    pub async fn container(flavour: Flavour) -> Result<Self, TestcontainersError> {
        const PORT: u16 = 6379;
        let (name, tag) = flavour.image();
        let container = GenericImage::new(name, tag)
            .with_exposed_port(ContainerPort::Tcp(PORT))
            .with_wait_for(WaitFor::message_on_either_std("Ready to accept connections"))
            .with_cmd(
                [
                    flavour.program(),
                    "--bind",
                    "0.0.0.0",
                    "--protected-mode",
                    "no",
                    "--appendonly",
                    "yes",
                ]
                .into_iter()
                .chain([
                    "--appendfsync",
                    "always",
                    "--maxmemory-policy",
                    "noeviction",
                    "--save",
                    "",
                ]),
            )
            .start()
            .await?;
        let address = (container.get_host().await?, container.get_host_port_ipv4(PORT).await?);
        let url = format!("redis://{}:{}", address.0, address.1);
        Ok(Self {
            url,
            backend: Backend::Container(Box::new(container)),
        })
    }

    /// Where clients connect.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// A new connection.
    pub async fn connection(&self) -> MultiplexedConnection {
        connect(&self.url).await.expect("the server to test on answers")
    }

    /// A command, on a connection of its own.
    pub async fn run<T: FromRedisValue>(&self, words: &[&str]) -> T {
        run(&mut self.connection().await, words).await
    }

    /// An id (of a jackpot, say) that no other test and no earlier run uses.
    pub fn id(stem: &str) -> String {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let started = std::time::UNIX_EPOCH
            .elapsed()
            .expect("the clock is past 1970")
            .as_millis();
        format!(
            "{stem}-{started:x}-{:x}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        )
    }
}

async fn set_and_get(server: &TestRedis) {
    let key = TestRedis::id("set-and-get");
    server.run::<()>(&["SET", &key, "7"]).await;
    assert_eq!(server.run::<i64>(&["GET", &key]).await, 7);
    server.run::<()>(&["DEL", &key]).await;
}

async fn version_field(server: &TestRedis, field: &str) -> Option<String> {
    server.run::<redis::InfoDict>(&["INFO"]).await.get(field)
}

#[tokio::test]
async fn redis_starts_and_is_redis() {
    let server = TestRedis::start().await;
    set_and_get(&server).await;
    let version = version_field(&server, "redis_version").await.expect("a version");
    let major: u32 = version.split('.').next().expect("a number").parse().expect("a number");
    assert!(major >= 7);
    assert_eq!(version_field(&server, "valkey_version").await, None);
}

#[tokio::test]
async fn valkey_starts_and_is_valkey() {
    let server = TestRedis::of(Flavour::Valkey).await;
    set_and_get(&server).await;
    let version = version_field(&server, "valkey_version").await;
    assert!(version.is_some_and(|version| version.starts_with('8')));
}

#[test]
fn ids_differ() {
    let ids = [TestRedis::id("spring"), TestRedis::id("spring")];
    assert_ne!(ids[0], ids[1]);
    assert!(ids[0].len() <= 64 && ids[0].starts_with("spring-"));
}

#[tokio::test]
async fn an_acknowledged_write_outlives_kill9_of_a_server_of_ones_own() {
    let mut server = own_redis(&["--maxmemory", "64mb"]).await;
    server.run::<()>(&["SET", "k", "v"]).await;
    server.kill9();
    assert!(connect(server.url()).await.is_err(), "nothing answers after kill -9");
    server.restart().await;
    assert_eq!(server.run::<String>(&["GET", "k"]).await, "v");
    assert!(server.directory().join("appendonlydir").is_dir());
}

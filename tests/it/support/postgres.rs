//! Where a test gets its PostgreSQL from: the environment, a container, or local binaries.

use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection, postgres::PgConnectOptions};
use testcontainers::core::ContainerPort;
use testcontainers::runners::AsyncRunner;
use testcontainers::{ContainerAsync, GenericImage, ImageExt, TestcontainersError};

use super::eventually;
use super::postgres_local::{PASSWORD, PrivatePostgres, START_DEADLINE};
use super::redis::TestRedis;

/// Set by `scripts/servers.sh`: a server with a superuser, on which each test makes a database of its own.
const VARIABLE: &str = "JACKPOT_TEST_POSTGRES_URL";

/// Name and tag; `scripts/images.sh` makes it where it cannot be pulled.
const IMAGE: (&str, &str) = ("postgres", "15");

/// A fresh database, perhaps on a server that other tests use too. Dropping this removes it, and a server of its own.
pub struct TestPostgres {
    url: String,
    backend: Backend,
}

#[expect(dead_code, reason = "held so that the server lives as long as the test")]
enum Backend {
    Shared {
        server: Box<PgConnectOptions>,
        database: String,
    },
    Container(Box<ContainerAsync<GenericImage>>),
    Local(PrivatePostgres),
}

impl TestPostgres {
    /// An empty database. A test that stops its server takes [`PrivatePostgres`] instead.
    ///
    /// # Panics
    /// When there is no address in the environment, no container and no local server.
    pub async fn start() -> Self {
        super::not_in_make_test("PostgreSQL");
        if let Ok(url) = std::env::var(VARIABLE) {
            return Self::on(&url).await;
        }
        let container = match Self::container().await {
            Ok(server) => return server,
            Err(error) => error,
        };
        match PrivatePostgres::start().await {
            Ok(server) => Self {
                url: server.url(),
                backend: Backend::Local(server),
            },
            Err(local) => panic!(
                "no PostgreSQL to test on. Set {VARIABLE}, or start a Docker engine and run scripts/images.sh \
                 ({container}), or install postgresql ({local})"
            ),
        }
    }

    /// A database on the server that `url` names.
    async fn on(url: &str) -> Self {
        let server: PgConnectOptions = url.parse().expect("the URL of the server to test on is one");
        let database = TestRedis::id("jackpot").replace('-', "_");
        let mut connection = server.connect().await.expect("the server to test on answers");
        sqlx::query(AssertSqlSafe(format!("CREATE DATABASE {database}")))
            .execute(&mut connection)
            .await
            .expect("the user may create databases");
        connection.close().await.expect("a connection can be closed");
        let mut url: reqwest::Url = url.parse().expect("it was one before");
        url.set_path(&database);
        Self {
            url: url.into(),
            backend: Backend::Shared {
                server: Box::new(server),
                database,
            },
        }
    }

    /// A container of the test's own, whatever the environment names.
    ///
    /// # Errors
    /// When no Docker engine answers, or the image cannot be had.
    pub async fn container() -> Result<Self, TestcontainersError> {
        const PORT: u16 = 5432;
        let container = GenericImage::new(IMAGE.0, IMAGE.1)
            .with_exposed_port(ContainerPort::Tcp(PORT))
            .with_env_var("POSTGRES_PASSWORD", PASSWORD)
            .start()
            .await?;
        let address = (container.get_host().await?, container.get_host_port_ipv4(PORT).await?);
        let url = format!("postgres://postgres:{PASSWORD}@{}:{}/postgres", address.0, address.1);
        // The log does not show it: the image first starts a server for itself, which logs the same.
        let options: PgConnectOptions = url.parse().expect("a URL made here is one");
        eventually(START_DEADLINE, "the container's PostgreSQL answers", async || {
            answers(&options).await.then_some(())
        })
        .await;
        Ok(Self {
            url,
            backend: Backend::Container(Box::new(container)),
        })
    }

    /// Where clients connect, with the name of the database.
    pub fn url(&self) -> &str {
        &self.url
    }
}

/// Whether a query gets its answer.
pub async fn answers(options: &PgConnectOptions) -> bool {
    let Ok(mut connection) = options.connect().await else {
        return false;
    };
    let answer = sqlx::query("SELECT 1").execute(&mut connection).await;
    answer.is_ok()
}

impl Drop for TestPostgres {
    fn drop(&mut self) {
        let Backend::Shared { server, database } = &self.backend else {
            return;
        };
        let (server, database) = (server.clone(), database.clone());
        // A separate runtime, because the test's own may be the one that runs this, and must not block.
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.map(|runtime| runtime.block_on(drop_database(&server, &database)))
        });
        if !matches!(dropping.join(), Ok(Ok(Ok(())))) {
            eprintln!("the database {} is left over", self.url);
        }
    }
}

async fn drop_database(server: &PgConnectOptions, database: &str) -> sqlx::Result<()> {
    let mut connection: PgConnection = server.connect().await?;
    sqlx::query(AssertSqlSafe(format!("DROP DATABASE {database} WITH (FORCE)")))
        .execute(&mut connection)
        .await?;
    connection.close().await
}

#[tokio::test]
async fn postgres_starts_with_an_empty_database_for_each_test() {
    let (one, other) = (TestPostgres::start().await, TestPostgres::start().await);
    assert_ne!(one.url(), other.url());
    for database in [&one, &other] {
        let options: PgConnectOptions = database.url().parse().expect("a URL");
        let mut connection = options.connect().await.expect("the server to test on answers");
        let version: String = sqlx::query_scalar("SHOW server_version")
            .fetch_one(&mut connection)
            .await
            .expect("it says its version");
        eprintln!("PostgreSQL {version} at {}", options.get_host());
        sqlx::query("CREATE TABLE only_here (n BIGINT)")
            .execute(&mut connection)
            .await
            .expect("a table of this name is in neither");
    }
}

#[tokio::test]
async fn postgres_of_ones_own_keeps_what_it_committed_when_killed() {
    let mut server = PrivatePostgres::start().await.expect("apt-get install postgresql");
    let options: PgConnectOptions = server.url().parse().expect("a URL");
    let mut connection = options.connect().await.expect("it answers");
    sqlx::raw_sql("CREATE TABLE kept (n BIGINT); INSERT INTO kept VALUES (7)")
        .execute(&mut connection)
        .await
        .expect("a table can be made");
    server.stop_immediate();
    assert!(!answers(&options).await, "nothing answers after it was killed");
    server.start_again().await;
    let mut connection = options.connect().await.expect("it answers again");
    let n: i64 = sqlx::query_scalar("SELECT n FROM kept")
        .fetch_one(&mut connection)
        .await
        .expect("the row is there");
    assert_eq!(n, 7);
    drop(server);
    assert!(!answers(&options).await, "it ends with the test");
}

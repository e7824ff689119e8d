//! Where a test gets its PostgreSQL from: the environment, a container, or local binaries.

use std::path::Path;

use jackpot::sql::Sql;
use sha2::{Digest, Sha256};
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

/// What a new database has.
#[derive(Clone, Copy)]
enum Contents {
    Nothing,
    Schema,
}

impl TestPostgres {
    /// An empty database. A test that stops its server takes [`PrivatePostgres`] instead.
    ///
    /// # Panics
    /// When there is no address in the environment, no container and no local server.
    pub async fn start() -> Self {
        Self::start_with(Contents::Nothing).await
    }

    /// The same with the schema of this program, on a shared server: a copy of one database costs half of what the
    /// migrations cost. On a server of the test's own it is empty.
    pub async fn with_schema() -> Self {
        Self::start_with(Contents::Schema).await
    }

    async fn start_with(contents: Contents) -> Self {
        super::not_in_make_test("PostgreSQL");
        if let Ok(url) = std::env::var(VARIABLE) {
            return Self::on(&url, contents).await;
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
    async fn on(url: &str, contents: Contents) -> Self {
        let server: PgConnectOptions = url.parse().expect("the URL of the server to test on is one");
        let database = TestRedis::id("jackpot").replace('-', "_");
        let mut connection = server.connect().await.expect("the server to test on answers");
        let template = match contents {
            Contents::Nothing => "template1".to_owned(),
            Contents::Schema => template(&mut connection, url).await,
        };
        run(
            &mut connection,
            format!("CREATE DATABASE {database} TEMPLATE {template}"),
        )
        .await;
        connection.close().await.expect("a connection can be closed");
        Self {
            url: with_database(url, &database),
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

/// The database with the schema of this program. The first test that needs it makes it; the server keeps it.
async fn template(connection: &mut PgConnection, url: &str) -> String {
    /// Of the lock that one test at a time makes a template under. Any number that no other program uses.
    const LOCK: i64 = 0x6a61_636b_706f_7434;
    let name = format!("jackpot_schema_{}", schema_hash());
    run(connection, format!("SELECT pg_advisory_lock({LOCK})")).await;
    let made: Option<i32> = sqlx::query_scalar("SELECT 1 FROM pg_database WHERE datname = $1")
        .bind(&name)
        .fetch_optional(&mut *connection)
        .await
        .expect("the server lists its databases");
    if made.is_none() {
        // Its name becomes the template's when it is whole. A test that was ended may have left one.
        let unfinished = format!("{name}_unfinished");
        run(connection, format!("DROP DATABASE IF EXISTS {unfinished} WITH (FORCE)")).await;
        run(connection, format!("CREATE DATABASE {unfinished}")).await;
        let data = tempfile::tempdir().expect("a temporary directory can be made");
        let settings = super::ledger_db::settings(&with_database(url, &unfinished));
        let ledger = Sql::open(&settings, data.path()).await.expect("the schema is made");
        // Each ledger gets an id of its own when it is opened first.
        let forget = sqlx::query("DELETE FROM ledger");
        assert_eq!(ledger.execute(forget).await.expect("the id is deleted"), 1);
        ledger.close().await;
        run(connection, format!("ALTER DATABASE {unfinished} RENAME TO {name}")).await;
    }
    run(connection, format!("SELECT pg_advisory_unlock({LOCK})")).await;
    name
}

/// Of all that makes the schema.
fn schema_hash() -> String {
    let house = Path::new(env!("CARGO_MANIFEST_DIR"));
    let migrations = std::fs::read_dir(house.join("migrations")).expect("the migrations");
    let mut files: Vec<_> = migrations.map(|file| file.expect("a file").path()).collect();
    files.sort();
    let mut hash = Sha256::new();
    for file in files {
        hash.update(std::fs::read(file).expect("a file can be read"));
    }
    hex::encode(&hash.finalize()[..8])
}

fn with_database(server: &str, database: &str) -> String {
    let mut url: reqwest::Url = server.parse().expect("the URL of the server to test on is one");
    url.set_path(database);
    url.into()
}

async fn run(connection: &mut PgConnection, statement: String) {
    sqlx::query(AssertSqlSafe(statement))
        .execute(connection)
        .await
        .expect("the user of the tests may create databases");
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

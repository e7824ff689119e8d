//! A `PgBouncer` of the test's own before a PostgreSQL.

use std::fs::File;
use std::process::{Child, Stdio};
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use tempfile::TempDir;

use super::postgres::answers;
use super::postgres_local::{command, owner};
use super::{eventually, free_port};

const START_DEADLINE: Duration = Duration::from_secs(20);

pub struct PgBouncer {
    process: Child,
    url: String,
    directory: TempDir,
}

impl PgBouncer {
    /// Starts one in this mode with so many connections to the database of `server`.
    ///
    /// # Panics
    /// When it is not installed, or does not start.
    pub async fn start(server: &str, mode: &str, connections: usize) -> Self {
        let (port, directory) = (free_port(), TempDir::new().expect("a directory"));
        let of: reqwest::Url = server.parse().expect("a URL");
        let database = of.path().trim_start_matches('/');
        let file = directory.path().join("pgbouncer.ini");
        let text = format!(
            "[databases]\n{database} = host={} port={} user={} password={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
             listen_port = {port}\nunix_socket_dir =\nauth_type = any\npool_mode = {mode}\n\
             default_pool_size = {connections}\nignore_startup_parameters = extra_float_digits\n",
            of.host_str().expect("a host"),
            of.port().expect("a port"),
            of.username(),
            of.password().unwrap_or_default(),
        );
        std::fs::write(&file, text).expect("written");
        let log = File::create(directory.path().join("log")).expect("a log");
        let owner = owner().expect("a user");
        if let Some((user, group)) = owner {
            for path in [directory.path(), &file] {
                std::os::unix::fs::chown(path, Some(user), Some(group)).expect("given to the user");
            }
        }
        let process = command("pgbouncer".as_ref(), owner)
            .arg(&file)
            .env(
                "PATH",
                format!("{}:/usr/sbin", std::env::var("PATH").unwrap_or_default()),
            )
            .stdout(log.try_clone().expect("a log"))
            .stderr(log)
            .stdin(Stdio::null())
            .spawn()
            .expect("setpriv starts");
        let url = format!("postgres://{}@127.0.0.1:{port}/{database}", of.username());
        let mut bouncer = Self {
            process,
            url,
            directory,
        };
        let options: PgConnectOptions = bouncer.url.parse().expect("a URL made here is one");
        eventually(
            START_DEADLINE,
            "PgBouncer answers (apt-get install pgbouncer)",
            async || {
                if let Ok(Some(status)) = bouncer.process.try_wait() {
                    let log = std::fs::read_to_string(bouncer.directory.path().join("log"));
                    panic!("pgbouncer ended with {status} (apt-get install pgbouncer): {log:?}");
                }
                answers(&options.clone().statement_cache_capacity(0))
                    .await
                    .then_some(())
            },
        )
        .await;
        bouncer
    }

    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

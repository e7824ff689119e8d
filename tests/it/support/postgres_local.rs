//! A PostgreSQL server process of the test's own: it may be frozen, killed and started again.

use std::fs::File;
use std::io;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, geteuid, kill_process};
use sqlx::postgres::PgConnectOptions;
use tempfile::TempDir;

use super::postgres::answers;
use super::{eventually, free_port};

/// Password of the superuser `postgres`, on every server that tests start.
pub const PASSWORD: &str = "of-the-tests";

/// Time for `initdb`, and for a start on a loaded machine.
pub const START_DEADLINE: Duration = Duration::from_mins(1);

/// Number of tries with other ports, when somebody took the one that was free.
const PORTS_TRIED: u32 = 5;

/// Where Debian and others put the programs that are not on PATH.
const INSTALLED: &str = "/usr/lib/postgresql";

/// A server, with its files in a directory that is removed with it.
pub struct PrivatePostgres {
    programs: PathBuf,
    owner: Option<(u32, u32)>,
    directory: TempDir,
    port: u16,
    process: Child,
}

impl PrivatePostgres {
    /// Makes a new cluster and starts a server on it, durable as by default.
    ///
    /// # Errors
    /// When the programs are not there or don't work here.
    pub async fn start() -> io::Result<Self> {
        super::not_in_make_test("PostgreSQL");
        let programs = programs()?;
        let owner = owner()?;
        let directory = tempfile::Builder::new().prefix("jackpot-postgres-").tempdir()?;
        if let Some((user, group)) = owner {
            chown(directory.path(), Some(user), Some(group))?;
        }
        make_cluster(&programs, owner, directory.path())?;
        let port = free_port();
        let process = spawn(&programs, owner, directory.path(), port)?;
        let mut server = Self {
            programs,
            owner,
            directory,
            port,
            process,
        };
        for left in (0..PORTS_TRIED).rev() {
            match server.wait_until_it_answers().await {
                Ok(()) => break,
                Err(error) if left == 0 => return Err(error),
                Err(_) => server.port = free_port(),
            }
            server.process = spawn(&server.programs, owner, server.directory.path(), server.port)?;
        }
        Ok(server)
    }

    /// Where clients connect.
    pub fn url(&self) -> String {
        format!("postgres://postgres:{PASSWORD}@127.0.0.1:{}/postgres", self.port)
    }

    /// Ends it as a power cut would: without a request, and without a write. Its files stay.
    pub fn stop_immediate(&mut self) {
        // Left alone, its children end when they see it gone. One that commits just then would still answer.
        self.freeze();
        let children = children(Pid::from_child(&self.process));
        self.process.kill().expect("a process started here can be killed");
        self.process.wait().expect("a killed process can be waited for");
        for child in children {
            // It may have ended just before.
            let _ = kill_process(child, Signal::KILL);
        }
    }

    /// Starts it again on its own files and port, after [`stop_immediate`](Self::stop_immediate).
    pub async fn start_again(&mut self) {
        // The killed server's children may hold its shared memory for a moment longer. Then the new server ends at
        // once.
        eventually(START_DEADLINE, "PostgreSQL starts again", async || {
            self.process =
                spawn(&self.programs, self.owner, self.directory.path(), self.port).expect("it started before");
            self.wait_until_it_answers().await.ok()
        })
        .await;
    }

    /// Stops all its processes where they stand: connections stay open and nothing answers.
    pub fn freeze(&self) {
        self.signal_all(Signal::STOP);
    }

    /// Lets frozen ones go on.
    pub fn thaw(&self) {
        self.signal_all(Signal::CONT);
    }

    fn signal_all(&self, signal: Signal) {
        let postmaster = Pid::from_child(&self.process);
        for pid in children(postmaster).into_iter().chain([postmaster]) {
            // A child may have ended since it was listed.
            let _ = kill_process(pid, signal);
        }
    }

    async fn wait_until_it_answers(&mut self) -> io::Result<()> {
        let options: PgConnectOptions = self.url().parse().map_err(io::Error::other)?;
        let process = &mut self.process;
        let ended = eventually(START_DEADLINE, "PostgreSQL answers", async || {
            if let Some(status) = process.try_wait().expect("a child can be asked for its status") {
                return Some(Some(status));
            }
            answers(&options).await.then_some(None)
        })
        .await;
        match ended {
            None => Ok(()),
            Some(status) => {
                let log = std::fs::read_to_string(self.directory.path().join("log")).unwrap_or_default();
                Err(io::Error::other(format!("postgres ended with {status}: {log}")))
            }
        }
    }
}

impl Drop for PrivatePostgres {
    fn drop(&mut self) {
        // Frozen children would outlive it. It may be dead already: then there is nothing to do.
        self.thaw();
        // SIGQUIT ends it at once too, and gives its shared memory back. A system has a few thousand segments. It kills
        // children that do not end within 5 s by itself.
        if matches!(self.process.try_wait(), Ok(None)) {
            let _ = kill_process(Pid::from_child(&self.process), Signal::QUIT);
        }
        let _ = self.process.wait();
    }
}

/// The directory of `initdb` and `postgres`.
fn programs() -> io::Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut candidates: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let versions = std::fs::read_dir(INSTALLED).map(|entries| entries.flatten().map(|entry| entry.path().join("bin")));
    candidates.extend(versions.into_iter().flatten());
    candidates
        .into_iter()
        .find(|directory| directory.join("initdb").is_file() && directory.join("postgres").is_file())
        .ok_or_else(|| io::Error::other(format!("no initdb and postgres on PATH or in {INSTALLED}")))
}

/// The user that it runs as, because PostgreSQL refuses root. `None`: the user of the test.
pub fn owner() -> io::Result<Option<(u32, u32)>> {
    if !geteuid().is_root() {
        return Ok(None);
    }
    let users = std::fs::read_to_string("/etc/passwd")?;
    let find = |name: &str| {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    find("postgres")
        .or_else(|| find("nobody"))
        .map(Some)
        .ok_or_else(|| io::Error::other("PostgreSQL refuses root, and there is neither a user postgres nor nobody"))
}

/// A command that runs as `owner` and ends with this process, however that ends.
pub fn command(program: &Path, owner: Option<(u32, u32)>) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "QUIT"]);
    if let Some((user, group)) = owner {
        command
            .args([format!("--reuid={user}"), format!("--regid={group}")])
            .arg("--clear-groups");
    }
    command.arg(program).stdin(Stdio::null());
    command
}

fn make_cluster(programs: &Path, owner: Option<(u32, u32)>, directory: &Path) -> io::Result<()> {
    let password = directory.join("password");
    std::fs::write(&password, PASSWORD)?;
    // The other user reads it; the directory is private anyway.
    std::fs::set_permissions(&password, std::fs::Permissions::from_mode(0o644))?;
    let made = command(&programs.join("initdb"), owner)
        .args([
            "--no-sync",
            "--username=postgres",
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            "--locale=C",
        ])
        .arg("--pgdata")
        .arg(directory.join("data"))
        .arg("--pwfile")
        .arg(&password)
        .current_dir(directory)
        .output()?;
    if made.status.success() {
        return Ok(());
    }
    Err(io::Error::other(String::from_utf8_lossy(&made.stderr)))
}

fn spawn(programs: &Path, owner: Option<(u32, u32)>, directory: &Path, port: u16) -> io::Result<Child> {
    let log = File::options().create(true).append(true).open(directory.join("log"))?;
    command(&programs.join("postgres"), owner)
        .arg("-D")
        .arg(directory.join("data"))
        .arg("-k")
        .arg(directory)
        .args(["-h", "127.0.0.1", "-p", &port.to_string(), "-c", "fsync=on"])
        .current_dir(directory)
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()
}

fn children(parent: Pid) -> Vec<Pid> {
    let id = parent.as_raw_nonzero();
    std::fs::read_to_string(format!("/proc/{id}/task/{id}/children"))
        .unwrap_or_default()
        .split_whitespace()
        .filter_map(|pid| Pid::from_raw(pid.parse().ok()?))
        .collect()
}

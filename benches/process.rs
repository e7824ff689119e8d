//! A service as a process: the product, another build of it, or a peer.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::Outcome;

/// Time for a start on a loaded machine.
const START_LIMIT: Duration = Duration::from_mins(1);
/// A longer stop is ended by force.
const STOP_LIMIT: Duration = Duration::from_mins(1);
const POLL: Duration = Duration::from_millis(10);

/// It runs. Dropping it stops it in order, with its Redis.
pub(crate) struct Process {
    command: Command,
    child: Child,
    directory: PathBuf,
}

/// The product as it comes.
pub(crate) fn product() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jackpot"));
    command.arg("serve");
    command
}

impl Process {
    /// Starts it in this directory with the settings there, and keeps its log there.
    pub(crate) fn start(mut command: Command, directory: &Path) -> Outcome<Self> {
        let directory = std::path::absolute(directory)?;
        let log = std::fs::File::create(directory.join("log"))?;
        // The environment of this process may have settings of another service.
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("JACKPOT_")) {
            command.env_remove(name);
        }
        command
            .arg("--config")
            .arg(directory.join("settings.toml"))
            .current_dir(&directory)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log);
        let child = command.spawn()?;
        Ok(Self {
            command,
            child,
            directory,
        })
    }

    /// Waits until this is true of it. Returns how long it took.
    pub(crate) async fn until(&mut self, is_it: impl AsyncFn() -> bool) -> Outcome<Duration> {
        let begun = Instant::now();
        while !is_it().await {
            if begun.elapsed() > START_LIMIT || self.child.try_wait()?.is_some() {
                return Err(std::fs::read_to_string(self.directory.join("log"))?.into());
            }
            tokio::time::sleep(POLL).await;
        }
        Ok(begun.elapsed())
    }

    /// The key of its operator, once it is ready.
    pub(crate) fn operator_key(&self) -> Outcome<String> {
        let key = std::fs::read_to_string(self.directory.join("operator.key"))?;
        Ok(key.trim().to_owned())
    }

    /// Stops it in order, and starts it again.
    pub(crate) fn restart(&mut self) -> Outcome {
        self.stop();
        self.child = self.command.spawn()?;
        Ok(())
    }

    fn stop(&mut self) {
        // It may have ended already; then no signal is needed.
        if let Ok(None) = self.child.try_wait() {
            let _gone = kill_process(Pid::from_child(&self.child), Signal::TERM);
        }
        let begun = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) {
            if begun.elapsed() > STOP_LIMIT {
                eprintln!("a process did not stop within {STOP_LIMIT:?}");
                let _gone = self.child.kill();
            }
            std::thread::sleep(POLL);
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A line of `/proc/<pid>/status`, such as `VmRSS`, in KiB.
pub(crate) fn status_kib(pid: u32, name: &str) -> Outcome<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number.ok_or_else(|| format!("no {name}"))?.parse()?)
}

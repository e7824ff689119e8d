//! Processor time of the service and of its database, from `/proc`.

use std::fs;
use std::ops::{AddAssign, Sub};
use std::path::Path;
use std::time::Duration;

use jackpot::sql::{Kind, Sql};

use crate::Outcome;

/// Threads on which SQLite runs, as sqlx names them; the kernel keeps 15 bytes of a name.
const SQLITE_THREADS: &str = "sqlx-sqlite-wor";

/// Processor time until now, or between two times.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cpu {
    /// Of this process, without SQLite.
    pub(crate) service: Duration,
    /// Of SQLite's threads, or of PostgreSQL's processes.
    pub(crate) database: Duration,
}

impl Cpu {
    /// The time until now. PostgreSQL must run on this machine.
    pub(crate) async fn now(sql: &Sql) -> Outcome<Self> {
        let mut cpu = Self::default();
        for thread in fs::read_dir("/proc/self/task")? {
            let thread = thread?.path();
            // A thread may end between the two reads.
            let Ok(name) = fs::read_to_string(thread.join("comm")) else {
                continue;
            };
            let sqlite = name.trim_end().starts_with(SQLITE_THREADS);
            *(if sqlite { &mut cpu.database } else { &mut cpu.service }) += ran(&thread);
        }
        if sql.kind() == Kind::Postgres {
            let own: i32 = sqlx::query_scalar("SELECT pg_backend_pid()")
                .fetch_one(sql.reader())
                .await?;
            let server = parent(&format!("/proc/{own}")).ok_or("PostgreSQL is not on this machine")?;
            for process in fs::read_dir("/proc")? {
                let process = process?.path();
                if parent(&process.to_string_lossy()).as_ref() == Some(&server) {
                    cpu.database += ran(&process);
                }
            }
        }
        Ok(cpu)
    }
}

impl Sub for Cpu {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            service: self.service.saturating_sub(before.service),
            database: self.database.saturating_sub(before.database),
        }
    }
}

impl AddAssign for Cpu {
    fn add_assign(&mut self, more: Self) {
        self.service += more.service;
        self.database += more.database;
    }
}

/// Time that a thread, or a process of one thread, was on a processor.
fn ran(directory: &Path) -> Duration {
    let text = fs::read_to_string(directory.join("schedstat")).unwrap_or_default();
    let ns = text.split(' ').next().and_then(|ns| ns.parse().ok());
    Duration::from_nanos(ns.unwrap_or_default())
}

fn parent(process: &str) -> Option<String> {
    let text = fs::read_to_string(format!("{process}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("PPid:"))?;
    Some(line.trim().to_owned())
}

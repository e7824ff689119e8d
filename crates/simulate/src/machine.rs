//! The machine that a run was made on, and how much of it the client used.

use serde::Serialize;

/// What a reader needs to place the numbers.
#[derive(Debug, Clone, Serialize)]
pub struct Machine {
    /// As the processor names itself.
    pub processor: String,
    /// Cores that this process may use.
    pub cores: usize,
    /// Memory in MiB, when the system says.
    pub memory_mib: Option<u64>,
    /// Operating system and kernel.
    pub system: String,
    /// Of this executable.
    pub version: &'static str,
    /// An unoptimised build measures itself more than the service.
    pub optimised: bool,
}

impl Machine {
    /// This one.
    pub fn here() -> Self {
        let field = |path: &str, name: &str| {
            let text = std::fs::read_to_string(path).unwrap_or_default();
            let line = text.lines().find(|line| line.starts_with(name))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        };
        let memory = field("/proc/meminfo", "MemTotal").and_then(|text| text.split(' ').next()?.parse::<u64>().ok());
        let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        Self {
            processor: field("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            cores: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            memory_mib: memory.map(|kib| kib / 1024),
            system: format!("{} {}", std::env::consts::OS, kernel.trim()).trim().to_owned(),
            version: env!("CARGO_PKG_VERSION"),
            optimised: !cfg!(debug_assertions),
        }
    }
}

/// CPU time that a process has used so far, in clock ticks of 10 ms; none where the system does not say.
pub fn cpu_ticks(pid: &str) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything; the fields after it are numbered from 3.
    let mut fields = text.rsplit_once(')')?.1.split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(user + system)
}

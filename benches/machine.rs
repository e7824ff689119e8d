//! The machine and the programs that the numbers were measured with.

use std::process::Command;

use serde::Serialize;

/// The machine and the programs.
#[derive(Debug, Serialize)]
pub(crate) struct Machine {
    processor: String,
    cores: usize,
    memory_mib: Option<u64>,
    kernel: String,
    /// Name, and first line of the program's version text.
    programs: Vec<(String, String)>,
    /// Commit of the source; `+` when files were changed since.
    commit: String,
}

impl Machine {
    pub(crate) fn here() -> Self {
        let field = |path: &str, name: &str| {
            let text = std::fs::read_to_string(path).unwrap_or_default();
            let line = text.lines().find(|line| line.starts_with(name))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        };
        let memory = field("/proc/meminfo", "MemTotal").and_then(|text| text.split(' ').next()?.parse::<u64>().ok());
        let programs = [
            ("rustc", "--version"),
            ("redis-server", "--version"),
            ("redis-benchmark", "--version"),
            ("pgbench", "--version"),
            ("wrk", "--version"),
        ];
        let changed = if says("git", &["status", "--porcelain", "-uno"]).is_empty() {
            ""
        } else {
            "+"
        };
        Self {
            processor: field("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_mib: memory.map(|kib| kib / 1024),
            kernel: says("uname", &["-sr"]),
            programs: programs
                .iter()
                .map(|(name, option)| ((*name).to_owned(), says(name, &[option])))
                .collect(),
            commit: format!("{}{changed}", says("git", &["rev-parse", "--short=12", "HEAD"])),
        }
    }

    /// The machine in one line.
    pub(crate) fn line(&self) -> String {
        let memory = self
            .memory_mib
            .map_or_else(String::new, |mib| format!(", {} GiB", mib.div_ceil(1024)));
        let programs: Vec<&str> = self.programs.iter().map(|(_, version)| version.as_str()).collect();
        format!(
            "{}, {} cores{memory}, {}; commit {}; {}",
            self.processor,
            self.cores,
            self.kernel,
            self.commit,
            programs.join("; ")
        )
    }
}

/// The first line that a program prints; empty when the program is missing.
fn says(program: &str, arguments: &[&str]) -> String {
    let Ok(output) = Command::new(program).args(arguments).output() else {
        return String::new();
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().next().unwrap_or_default();
    line.split(" [").next().unwrap_or_default().trim().to_owned()
}

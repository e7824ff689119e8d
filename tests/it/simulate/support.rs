//! Runs of `jackpot simulate`, as a user makes them.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use reqwest::StatusCode;
use serde_json::Value;

use crate::support::eventually;
use crate::support::service::{Service, output_text};

/// Time limit of a run in a debug build, beside others.
const LIMIT: Duration = Duration::from_mins(1);

/// A scenario: its option, how many rules it has, and what its report shows.
pub struct Scenario {
    pub option: &'static str,
    pub rules: usize,
    pub shown: &'static [&'static str],
}

/// A run that ended.
pub struct Run {
    pub code: i32,
    /// What it printed.
    pub shown: String,
    /// Its report.
    pub page: String,
}

impl Run {
    /// The verdict.
    pub fn last(&self) -> &str {
        self.shown
            .lines()
            .rfind(|line| line.contains("no violation") || line.contains("VIOLATED"))
            .expect("a verdict")
    }
}

impl Scenario {
    fn command(&self, directory: &Path, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jackpot"));
        command
            .args(["simulate", self.option, "--json", "run.json", "--report", "run.html"])
            .args(line.split_whitespace())
            .current_dir(directory)
            .stdin(Stdio::null());
        command
    }

    /// Runs it to a verdict without a violation, with every check made, and returns its numbers.
    pub fn honest(&self, line: &str) -> Value {
        let directory = tempfile::tempdir().expect("a directory");
        let output = self
            .command(directory.path(), line)
            .output()
            .expect("the program starts");
        assert_eq!(output.status.code(), Some(0), "{line}: {}", output_text(&output));
        let run = fs::read(directory.path().join("run.json")).expect("its numbers");
        let run: Value = serde_json::from_slice(&run).expect("they are JSON");
        let findings = run["run"]["findings"].as_array().expect("findings");
        assert_eq!(findings.len(), self.rules);
        for finding in findings {
            assert_eq!(finding["result"], "held", "{line}: {finding}");
        }
        let page = fs::read_to_string(directory.path().join("run.html")).expect("its report");
        for part in ["No violation", "<svg"].iter().chain(self.shown) {
            assert!(page.contains(part), "{part}");
        }
        assert!(
            !page.contains("href=\"http") && !page.contains("src=\"http"),
            "nothing from outside"
        );
        run["run"]["numbers"].clone()
    }

    /// Runs it on a service to its end.
    pub async fn run_on(&self, service: &Service, line: &str) -> Run {
        let directory = tempfile::tempdir().expect("a directory");
        let line = format!("--url {} --key {} {line}", service.url(""), service.operator_key());
        let mut command = self.command(directory.path(), &line);
        let output = tokio::task::spawn_blocking(move || command.output()).await;
        let output = output.expect("it is waited for").expect("the program starts");
        Run {
            code: output.status.code().expect("an exit code"),
            shown: output_text(&output),
            page: fs::read_to_string(directory.path().join("run.html")).unwrap_or_default(),
        }
    }

    /// Runs it on a service until another client makes a call that creates something. Each of these rules must be
    /// violated.
    pub async fn violated(&self, service: &Service, line: &str, path: &str, body: Value, rules: &[&str]) {
        let directory = tempfile::tempdir().expect("a directory");
        let line = format!("--url {} --key {} {line}", service.url(""), service.operator_key());
        let run = self
            .command(directory.path(), &line)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        eventually(LIMIT, "the other client has its own", async || {
            let answer = service.post(path, body.clone()).await;
            (answer.status == StatusCode::CREATED).then_some(())
        })
        .await;
        let output = tokio::task::spawn_blocking(|| run.wait_with_output()).await;
        let output = output.expect("it is waited for").expect("it ends");
        assert_eq!(output.status.code(), Some(1), "{}", output_text(&output));
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        let last = shown.lines().last().expect("a verdict");
        assert!(last.starts_with("VIOLATED: "), "{last}");
        for rule in rules {
            let line = shown.lines().find(|line| line.contains(&format!(" {rule} ")));
            assert!(line.is_some_and(|line| line.contains('✗')), "{rule}: {shown}");
        }
    }

    /// Options that make no sense end it with 2; its words name the option.
    pub fn assert_refused(&self, lines: &[(&str, &str)]) {
        let directory = tempfile::tempdir().expect("a directory");
        for (line, named) in lines {
            let output: Output = self
                .command(directory.path(), line)
                .output()
                .expect("the program starts");
            assert_eq!(output.status.code(), Some(2), "{line}");
            assert!(output_text(&output).contains(named), "{}", output_text(&output));
        }
    }
}

//! `jackpot doctor`: looks for what would keep the service from its work, and says what to do. It changes nothing, and
//! works beside a running service.
//!
//! - `finding`: what a check found, and how it is printed. `machine`: directory, files, keys, certificate, addresses,
//!   limits. `stores`: Redis, the ledger, whether they belong together, clocks.

mod finding;
mod machine;
mod stores;

use std::io::Write as _;
use std::process::ExitCode;

use super::{Failure, SettingsArgs, failed, until_signalled};
use crate::built;
use crate::settings::Settings;
use finding::{Finding, Verdict};

/// Look for what is wrong with settings, files, Redis, SQL and clocks, and say what to do. Changes nothing. Works with or
/// without a running service. Exit code: 0 when the service can work, also with warnings; 1 when it can't.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Print one JSON object per line: check, verdict (ok, warn or fail), text, advice.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingsArgs,
}

pub(super) fn run(args: &Args) -> ExitCode {
    match examine(args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => failed(&*error),
    }
}

/// Prints all findings. Returns whether the service can work.
fn examine(args: &Args) -> Result<bool, Failure> {
    let mut findings = vec![Finding::ok("version", format!("jackpot {}", built::version()))];
    match Settings::load(args.settings.config.as_deref()) {
        Ok(settings) => {
            findings.extend(of_settings(&settings));
            findings.extend(machine::examine(&settings));
            findings.extend(until_signalled(async { Ok(stores::examine(&settings).await) })?);
        }
        // Nothing else can be looked at.
        Err(error) => findings.push(Finding::fail("settings", error.to_string())),
    }
    let mut out = std::io::stdout().lock();
    for finding in &findings {
        if args.json {
            writeln!(out, "{}", serde_json::to_string(finding)?)?;
        } else {
            writeln!(out, "{finding}")?;
        }
    }
    Ok(findings.iter().all(|finding| finding.verdict != Verdict::Fail))
}

fn of_settings(settings: &Settings) -> Vec<Finding> {
    let mut findings = vec![Finding::ok(
        "settings",
        format!("all valid; data_dir is {}", settings.data_dir.display()),
    )];
    if !settings.unknown_variables.is_empty() {
        // Anyone who names a service may choose these names, so unprintable characters are escaped.
        let text = format!("these variables are no settings: {:?}", settings.unknown_variables);
        let advice = "settings begin with JACKPOT__; remove the others, or correct their names";
        findings.push(Finding::warn("settings", text, advice));
    }
    findings
}

//! `jackpot simulate`.

use std::process::ExitCode;

use crate::simulate::{self, Args, SimulateError};

pub(super) fn run(args: Args) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("jackpot: {error}");
            return ExitCode::FAILURE;
        }
    };
    match runtime.block_on(simulate::run(args)) {
        Ok(verdict) => ExitCode::from(verdict.exit_code()),
        Err(error) => {
            eprintln!("jackpot: {}", with_causes(&error));
            ExitCode::from(error.exit_code())
        }
    }
}

/// A failed run is looked into from its message alone, so that it names every cause.
fn with_causes(error: &SimulateError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

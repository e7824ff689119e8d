//! The `jackpot` program: dispatch only.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    jackpot::cli::Cli::parse().run()
}

//! `jackpot completions`: what a shell loads to complete commands and options.

use std::io::{self, Write as _};

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::{Cli, CommandResult};

/// Print the completions of a shell.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The shell.
    shell: Shell,
}

pub(super) fn run(args: &Args) -> CommandResult {
    // It writes with `expect`, and a closed pipe is no fault of the program.
    let mut text = Vec::new();
    let mut command = Cli::command();
    let name = command.get_name().to_owned();
    clap_complete::generate(args.shell, &mut command, name, &mut text);
    io::stdout().lock().write_all(&text)?;
    Ok(())
}

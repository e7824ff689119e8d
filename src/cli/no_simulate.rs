//! In place of `jackpot simulate`, in a program that was built without it.

use std::process::ExitCode;

use super::failed;
use crate::built;

/// Not in this build of the program.
#[derive(clap::Args)]
pub(super) struct Args {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    options: Vec<String>,
}

pub(super) fn run(Args { options }: Args) -> ExitCode {
    drop(options);
    failed(&built::SIMULATE.absent())
}

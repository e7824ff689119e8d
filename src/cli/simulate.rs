//! `jackpot simulate`.

use std::process::ExitCode;

use jackpot_core::ids::Id;
pub(super) use jackpot_simulate::Args;
use jackpot_simulate::{Product, RoomKeys, SimulateError};

use crate::open_files;
use crate::store::keys;

pub(super) fn run(args: Args) -> ExitCode {
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => {
            eprintln!("jackpot: finding this executable for the private service: {error}");
            return ExitCode::FAILURE;
        }
    };
    // Two connections per player, and as many in the private service, pass the usual limit.
    open_files::raise();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("jackpot: {error}");
            return ExitCode::FAILURE;
        }
    };
    match runtime.block_on(jackpot_simulate::run(args, Product { program, room_keys })) {
        Ok(verdict) => ExitCode::from(verdict.exit_code()),
        Err(error) => {
            eprintln!("jackpot: {}", with_causes(&error));
            ExitCode::from(error.exit_code())
        }
    }
}

/// The keys of a room, as the service builds them.
fn room_keys(room: &str) -> RoomKeys {
    let keys = keys::RoomKeys::new(&Id::parse(room).expect("the options take ids alone"));
    RoomKeys {
        active: keys.active,
        waiting: keys.waiting,
        state: keys.state,
    }
}

/// The message of a failed run must name every cause, because there is nothing else to investigate.
fn with_causes(error: &SimulateError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

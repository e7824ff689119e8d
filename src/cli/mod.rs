//! The command line. A command's result goes to standard output, everything else to standard error.

mod backup;
mod completions;
mod doctor;
mod examples;
mod export;
mod health;
mod key;
mod ledger;
mod migrate;
mod only;
mod reconcile;
mod restore;
mod restore_from;
mod rng_test;
mod serve;
mod session;
#[cfg(not(feature = "simulate"))]
#[path = "no_simulate.rs"]
mod simulate;
#[cfg(feature = "simulate")]
mod simulate;
mod verify;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};

use crate::built;
use crate::signals::Signals;

/// Shared prize pools on Redis with one atomic claim per winner.
#[derive(Parser)]
#[command(name = "jackpot", version = built::version(), arg_required_else_help = true, after_help = examples::EXIT_CODES)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the service.
    #[command(after_help = examples::SERVE)]
    Serve(SettingsArgs),
    #[command(after_help = examples::HEALTH)]
    Health(health::Args),
    /// Make, list and revoke API keys; rotate the key that signs.
    Key(key::Args),
    /// Bring the ledger's schema up to date, and say from which version to which.
    #[command(after_help = examples::MIGRATE)]
    Migrate(SettingsArgs),
    #[command(after_help = examples::SIMULATE)]
    Simulate(Box<simulate::Args>),
    #[command(after_help = examples::EXPORT)]
    Export(export::Args),
    #[command(after_help = examples::VERIFY)]
    Verify(verify::Args),
    #[command(after_help = examples::RNG_TEST)]
    RngTest(rng_test::Args),
    #[command(after_help = examples::RECONCILE)]
    Reconcile(reconcile::Args),
    #[command(after_help = examples::BACKUP)]
    Backup(backup::Args),
    #[command(after_help = examples::RESTORE)]
    Restore(restore::Args),
    Ledger(ledger::Args),
    #[command(after_help = examples::DOCTOR)]
    Doctor(doctor::Args),
    #[command(after_help = examples::COMPLETIONS)]
    Completions(completions::Args),
}

/// The settings: the compiled-in default, this file, and `JACKPOT__SECTION__KEY` in the environment.
#[derive(clap::Args)]
struct SettingsArgs {
    /// Settings file; default: `config/<JACKPOT_ENV>.toml`, if `JACKPOT_ENV` is set.
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
}

impl Cli {
    /// Runs the command; exit code 1 when it fails. clap has already ended the process with 2 for a usage error.
    pub fn run(self) -> ExitCode {
        let result = match self.command {
            Command::Serve(args) => serve::run(&args),
            Command::Health(args) => health::run(&args),
            Command::Key(args) => return key::run(args),
            Command::Migrate(args) => migrate::run(&args),
            Command::Simulate(args) => return simulate::run(*args),
            Command::Export(args) => export::run(&args),
            Command::Verify(args) => return verify::run(&args),
            Command::RngTest(args) => return rng_test::run(&args),
            Command::Reconcile(args) => return reconcile::run(&args),
            Command::Backup(args) => backup::run(&args),
            Command::Restore(args) => return restore::run(&args),
            Command::Ledger(args) => return ledger::run(&args),
            Command::Doctor(args) => return doctor::run(&args),
            Command::Completions(args) => completions::run(&args),
        };
        match result {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => failed(&*error),
        }
    }
}

/// Prints the error, with exit code 1.
fn failed(error: &dyn std::error::Error) -> ExitCode {
    eprintln!("jackpot: {error}");
    ExitCode::FAILURE
}

/// How long the tasks of a command may take to end after a signal.
const LAST: Duration = Duration::from_secs(10);

/// Runs a command that may hold the private Redis. SIGINT, SIGTERM, SIGHUP and SIGQUIT end it in order. Its work is
/// dropped, a [`session::Session`] then closes itself, and a server that is still starting gets its signal.
fn until_signalled<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let result = runtime.block_on(async {
        let mut signals = Signals::listen()?;
        tokio::select! {
            result = work => result,
            name = signals.next() => Err(format!("ended by {name} before it was done").into()),
        }
    });
    // Not a plain drop, which would wait for a blocking call to end.
    runtime.shutdown_timeout(LAST);
    result
}

type Failure = Box<dyn std::error::Error>;

/// Any failure of a command: it is printed, not handled.
type CommandResult = Result<(), Box<dyn std::error::Error>>;

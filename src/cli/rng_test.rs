//! `jackpot rng-test`: the statistical tests of the draw, over fresh randomness.

use std::io::Write;
use std::process::ExitCode;

use jackpot_core::jackpot::draw::EpochSeed;
use jackpot_core::secret::MasterSecret;

use crate::proof::randomness::{MAX_ENTRIES, MIN_ENTRIES, Sample, jackpot, judge};
use crate::random;

/// Test the draw for randomness, with the seven tests that GLI-19 3.2.2 names: total distribution, overlaps, coupon
/// collector, runs, interplay, serial correlation, duplicates.
///
/// It draws with the service's own code and a fresh secret of the operating system. It needs no settings and touches no
/// data. Exit code 0: passed, all seven together at 99 %. A random draw fails one run in a hundred, so repeat a run that
/// failed: two in a row are a reason to look for the cause. 1: failed; 2: no randomness, or a wrong option.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Entries to draw, each with four attempts.
    #[arg(long, default_value_t = 200_000, value_parser = clap::value_parser!(u32).range(i64::from(MIN_ENTRIES)..=i64::from(MAX_ENTRIES)))]
    entries: u32,
    /// Epoch seed that another run printed: repeats its draws. Default: a fresh one.
    #[arg(long, value_name = "HEX", value_parser = seed)]
    seed: Option<EpochSeed>,
}

pub(super) fn run(args: &Args) -> ExitCode {
    match tested(args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("jackpot: {error}");
            ExitCode::from(2)
        }
    }
}

fn tested(args: &Args) -> Result<bool, Box<dyn std::error::Error>> {
    let seed = match &args.seed {
        Some(seed) => seed.clone(),
        None => fresh()?,
    };
    let report = judge(&Sample::draw(&seed, args.entries));
    let mut out = std::io::stdout().lock();
    writeln!(out, "epoch seed {}", seed.reveal())?;
    write!(out, "{report}")?;
    Ok(report.passes())
}

/// The seed of an epoch, made as the service makes it.
fn fresh() -> Result<EpochSeed, random::RandomError> {
    let nonce = hex::encode(random::bytes::<16>()?);
    Ok(EpochSeed::derive(
        &MasterSecret::new(random::bytes()?),
        &jackpot(),
        1,
        &nonce,
    ))
}

fn seed(text: &str) -> Result<EpochSeed, String> {
    EpochSeed::published(&jackpot(), text).ok_or_else(|| "an epoch seed has 64 hexadecimal digits".to_owned())
}

//! The options of `jackpot simulate`.

use std::path::PathBuf;

use clap::{ArgGroup, Parser};
use jackpot_core::ids::{Id, InvalidId};

use super::SimulateError;
use super::coupons::CouponArgs;
use super::crowd::CrowdArgs;
use super::rooms::RoomArgs;

/// Options of a run of a jackpot. Not --master-secret: where it comes from the environment it is meant for other runs.
// No group: a refusal would name all of them instead of those that were given.
pub(super) const OF_JACKPOT: [&str; 14] = [
    "players",
    "entries",
    "winners",
    "collisions",
    "replays",
    "tiers",
    "min_payout",
    "contribution",
    "rate_ppm",
    "reserve_ppm",
    "pool_seed",
    "odds_ppm",
    "max_redraws",
    "jackpot",
];

/// Play a jackpot from outside with many concurrent players and simultaneous winners, and check every promise.
///
/// With `--coupons` it is a coupon of limited stock that many users ask for at one instant, with `--room` a waiting room
/// that they join and go through.
///
/// Without `--url` a private service is started for the run, in a directory of its own, and stopped after it.
/// Exit code: 0 when nothing was violated, 1 when something was (the first violation is named) or the run
/// could not be finished, 2 when the options make no sense.
#[derive(Debug, Clone, Parser)]
#[command(group = ArgGroup::new("crowd").args(["coupons", "room"]))]
pub struct Args {
    /// Concurrent players, each with one kept-alive connection.
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=20_000), help_heading = "Load")]
    pub players: u32,
    /// Entries beside those of the collisions.
    #[arg(long, default_value_t = 200_000, value_parser = clap::value_parser!(u64).range(1..=5_000_000), help_heading = "Load")]
    pub entries: u64,
    /// Simultaneous winners in each collision: that many players send an entry that draws rank 1 at one instant.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(0..=20_000), help_heading = "Load")]
    pub winners: u32,
    /// Collisions, spread evenly over the run while the other players go on.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(0..=1_000), help_heading = "Load")]
    pub collisions: u32,
    /// Percentage of the entries that are sent again: half of them at the same instant, half later.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(0..=100), help_heading = "Load")]
    pub replays: u32,
    /// What ids, draws and moments of kills follow from: the same seed plays the same game.
    #[arg(long, default_value_t = 1, help_heading = "Load")]
    pub seed: u64,

    /// Tiers of the jackpot, each with an equal share and a rank of its own.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4), help_heading = "Jackpot")]
    pub tiers: u32,
    /// Least amount that a pool prize may take, in minor units.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(i64).range(1..=1_000_000_000), help_heading = "Jackpot")]
    pub min_payout: i64,
    /// What each entry adds, in minor units.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(i64).range(1..=1_000_000), help_heading = "Jackpot")]
    pub contribution: i64,
    /// What each entry adds, in millionths of its stake of 100, in place of --contribution.
    #[arg(long, conflicts_with = "contribution", value_parser = clap::value_parser!(u32).range(1..=1_000_000), help_heading = "Jackpot")]
    pub rate_ppm: Option<u32>,
    /// Share of each tier's contributions that goes to its reserve, in millionths.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1_000_000), help_heading = "Jackpot")]
    pub reserve_ppm: u32,
    /// Value at which a pool restarts after a win, as far as the reserve reaches, in minor units.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(i64).range(0..=1_000_000_000), help_heading = "Jackpot")]
    pub pool_seed: i64,
    /// Odds of rank 1 in millionths [default: 1000; 50000 where winners can't be chosen beforehand].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=60_000), help_heading = "Jackpot")]
    pub odds_ppm: Option<u32>,
    /// How often an entry may be redrawn.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(0..=16), help_heading = "Jackpot")]
    pub max_redraws: u32,

    /// Of a run of coupons or of a room.
    #[command(flatten)]
    pub crowd: CrowdArgs,
    /// Of a run of coupons.
    #[command(flatten)]
    pub coupons: CouponArgs,
    /// Of a run of a room.
    #[command(flatten)]
    pub rooms: RoomArgs,

    /// A running service, in place of a private one. The run makes a jackpot, a coupon or a room there and closes it at the end.
    #[arg(long, value_name = "URL", requires = "key", help_heading = "Service")]
    pub url: Option<String>,
    /// Key with the role `operate` for --url.
    #[arg(long, env = "JACKPOT_KEY", hide_env_values = true, help_heading = "Service")]
    pub key: Option<String>,
    /// Draw secret of the service at --url (64 hex digits). Without it its draws can't be recomputed while the
    /// epoch is open, and winners can't be chosen beforehand.
    #[arg(
        long,
        env = "JACKPOT_MASTER_SECRET",
        hide_env_values = true,
        requires = "url",
        help_heading = "Service"
    )]
    pub master_secret: Option<String>,
    /// Id of the jackpot to make [default: sim-SEED].
    #[arg(long, value_name = "ID", value_parser = id, help_heading = "Service")]
    pub jackpot: Option<String>,
    /// Keep the private service's directory after the run, for a look at its log and data.
    #[arg(long, conflicts_with = "url", help_heading = "Service")]
    pub keep_data: bool,

    /// `kill -9` the private service this often, at random moments, and restart it.
    #[arg(long, value_name = "SECONDS", conflicts_with = "url", value_parser = clap::value_parser!(u32).range(1..=3_600), help_heading = "Faults")]
    pub kill_every: Option<u32>,
    /// `kill -9` the private service so many times: at random points of the run, or at most with --kill-every.
    #[arg(long, value_name = "N", conflicts_with = "url", value_parser = clap::value_parser!(u32).range(1..=1_000), help_heading = "Faults")]
    pub kills: Option<u32>,
    /// Kill the private Redis together with the service.
    #[arg(long, conflicts_with = "url", help_heading = "Faults")]
    pub kill_redis: bool,

    /// Write a self-contained HTML report.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub report: Option<PathBuf>,
    /// Write the numbers and checks as JSON.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub json: Option<PathBuf>,
    /// Print the verdict alone.
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,
}

impl Args {
    /// What clap can't see: options that contradict each other by value.
    pub(super) fn validate(&self) -> Result<(), SimulateError> {
        let usage = |text: String| Err(SimulateError::Usage(text));
        if self.winners > self.players {
            return usage(format!(
                "--winners {} needs at least as many --players, there are {}: each winner is a player of its own",
                self.winners, self.players
            ));
        }
        for file in self.report.iter().chain(&self.json) {
            // Asked before the run: afterwards it would be lost.
            let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty());
            if directory.is_some_and(|directory| !directory.is_dir()) {
                return usage(format!("{}: there is no such directory", file.display()));
            }
        }
        if self.kill_redis && self.kills.is_none() && self.kill_every.is_none() {
            return usage("--kill-redis needs --kills or --kill-every".to_owned());
        }
        if self
            .url
            .as_deref()
            .is_some_and(|url| !url.starts_with("http://") && !url.starts_with("https://"))
        {
            return usage("--url starts with http:// or https://".to_owned());
        }
        if let Some(secret) = &self.master_secret
            && hex::decode(secret).map_or(true, |bytes| bytes.len() != 32)
        {
            return usage("--master-secret is 64 hexadecimal digits".to_owned());
        }
        self.coupons.validate(self.crowd.users)?;
        self.rooms.validate()
    }

    /// How many entries all collisions together release.
    pub(super) fn collision_entries(&self) -> u64 {
        u64::from(self.winners) * u64::from(self.collisions)
    }
}

/// The text of an id.
pub(super) fn id(text: &str) -> Result<String, InvalidId> {
    Id::check(text).map(|()| text.to_owned())
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::Args;

    fn parse(line: &str) -> Result<Args, String> {
        let args = Args::try_parse_from(std::iter::once("simulate").chain(line.split_whitespace()))
            .map_err(|error| error.to_string())?;
        args.validate().map_err(|error| error.to_string())?;
        Ok(args)
    }

    #[test]
    fn the_command_is_well_formed() {
        Args::command().debug_assert();
    }

    #[test]
    fn defaults_are_the_announced_run() {
        let args = parse("").unwrap();
        assert_eq!((args.players, args.winners, args.entries), (500, 200, 200_000));
    }

    #[test]
    fn contradictions_are_refused_with_the_option_named() {
        for (line, named) in [
            ("--players 10 --winners 11", "--winners"),
            ("--url http://localhost:1 --key k --kills 3", "--kills"),
            ("--url localhost --key k", "--url"),
            ("--url http://localhost:1 --key k --master-secret 5f", "--master-secret"),
            ("--kill-redis", "--kill-redis"),
            ("--jackpot a:b", "--jackpot"),
            ("--players 0", "--players"),
        ] {
            let error = parse(line).expect_err(line);
            assert!(error.contains(named), "{line}: {error}");
        }
    }
}

//! The options of `jackpot simulate` that every run has.

use std::path::PathBuf;

use clap::{ArgGroup, Parser};
use jackpot_core::ids::{Id, InvalidId};
use serde::Serialize;

use super::SimulateError;
use super::client::Target;
use super::coupon::CouponArgs;
use super::jackpot::JackpotArgs;
use super::market::MarketArgs;
use super::room::RoomArgs;

/// What a run plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Jackpot,
    Coupon,
    Room,
    Market,
}

/// Options of a run with a crowd, whatever it asks for. Each needs `--coupons` or `--room`.
#[derive(Debug, Clone, clap::Args, Serialize)]
pub struct CrowdArgs {
    /// Users who ask for the coupon, all beginning at one instant, or who go through the room.
    #[arg(long, requires = "crowd", default_value_t = 5_000, value_parser = clap::value_parser!(u32).range(1..=200_000), help_heading = "Crowd")]
    pub users: u32,
    /// Connections of the users: this many requests are under way at the same time.
    #[arg(long, requires = "crowd", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=20_000), help_heading = "Crowd")]
    pub connections: u32,
    /// After the run, play the usual ways of doing the same beside the service: what each gives out wrongly, and how fast.
    /// `make bench-collision` does that for the pool of a jackpot.
    #[arg(long, requires = "crowd", conflicts_with = "url", help_heading = "Crowd")]
    #[serde(skip)]
    pub compare: bool,
}

/// Play a jackpot from outside with many concurrent players and simultaneous winners, and check every promise.
///
/// `--coupons` plays a coupon of limited stock, which many users ask for at one instant. `--room` plays a waiting room,
/// which they join and go through. `--scenario` plays a market day out of a file, with several jackpots.
///
/// Without `--url` the run starts a private service in a directory of its own, and stops it at the end.
/// Exit code: 0 without a violation; 1 with one (the last line names it), or when the run could not finish; 2 for options
/// that make no sense.
#[derive(Debug, Clone, Parser)]
#[command(group = ArgGroup::new("crowd").args(["coupons", "room"]))]
pub struct Args {
    /// Of a jackpot.
    #[command(flatten)]
    pub jackpot: JackpotArgs,
    /// Ids, draws and the moments of kills follow from it: the same seed plays the same game.
    #[arg(long, default_value_t = 1, help_heading = "Load")]
    pub seed: u64,

    /// Of a coupon or a room.
    #[command(flatten)]
    pub crowd: CrowdArgs,
    /// Of a coupon.
    #[command(flatten)]
    pub coupon: CouponArgs,
    /// Of a room.
    #[command(flatten)]
    pub room: RoomArgs,
    /// Of a market day.
    #[command(flatten)]
    pub market: MarketArgs,

    /// A running service, instead of a private one. The run defines its jackpot, coupon or room there, and closes it at the
    /// end.
    #[arg(long, value_name = "URL", requires = "key", help_heading = "Service")]
    pub url: Option<String>,
    /// Key with the role `operate` for --url.
    #[arg(long, env = "JACKPOT_KEY", hide_env_values = true, help_heading = "Service")]
    pub key: Option<String>,
    /// Draw secret of the service at --url (64 hex digits). Without it the run can't choose winners beforehand, and can't
    /// recompute draws while the epoch is open.
    #[arg(
        long,
        env = "JACKPOT_MASTER_SECRET",
        hide_env_values = true,
        requires = "url",
        help_heading = "Service"
    )]
    pub master_secret: Option<String>,
    /// Keep the private service's directory after the run, with its log and data.
    #[arg(long, conflicts_with = "url", help_heading = "Service")]
    pub keep_data: bool,

    /// `kill -9` the private service at random moments, on average this many seconds apart, and restart it.
    #[arg(long, value_name = "SECONDS", conflicts_with = "url", value_parser = clap::value_parser!(u32).range(1..=3_600), help_heading = "Faults")]
    pub kill_every: Option<u32>,
    /// `kill -9` the private service this many times, at random points of the run. With --kill-every: at most this many
    /// times.
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
    pub(super) fn kind(&self) -> Kind {
        match self {
            _ if self.coupon.coupons => Kind::Coupon,
            _ if self.room.room => Kind::Room,
            _ if self.market.scenario.is_some() => Kind::Market,
            _ => Kind::Jackpot,
        }
    }

    /// Reads the file of --scenario. Its kills count unless the options name some.
    pub(super) fn read_scenario(&mut self) -> Result<(), SimulateError> {
        self.market.file = self.market.read()?;
        let Some(file) = &self.market.file else {
            return Ok(());
        };
        if file.kills > 0 && self.kills.is_none() && self.kill_every.is_none() {
            if self.url.is_some() {
                return Err(SimulateError::Usage(
                    "kills of the file: the service at --url is not killed; leave kills out".to_owned(),
                ));
            }
            self.kills = Some(file.kills);
            self.kill_redis |= file.kill_redis;
        }
        Ok(())
    }

    /// The given service; none for a private one.
    pub(super) fn target(&self) -> Option<Target> {
        let secret = self.master_secret.as_deref();
        Some(Target {
            url: self.url.as_deref()?.trim_end_matches('/').to_owned(),
            key: self.key.clone()?,
            secret: secret.and_then(|text| hex::decode(text).ok()?.try_into().ok()),
        })
    }

    /// The service that is played, in words.
    pub(super) fn service(&self) -> String {
        let private = || "private, embedded Redis (appendfsync always)".to_owned();
        self.url.clone().unwrap_or_else(private)
    }

    /// What is killed, and when, in words.
    pub(super) fn killed(&self) -> String {
        let what = if self.kill_redis {
            "service and Redis"
        } else {
            "service"
        };
        match (self.kill_every, self.kills) {
            (None, None) => "none".to_owned(),
            (None, Some(kills)) => format!("{what} {kills} times at random points"),
            (Some(seconds), None) => format!("{what} every {seconds} s"),
            (Some(seconds), Some(kills)) => format!("{what} every {seconds} s, at most {kills} times"),
        }
    }

    /// Refuses what clap can't see: options that contradict each other by value.
    pub(super) fn validate(&self) -> Result<(), SimulateError> {
        let usage = |text: String| Err(SimulateError::Usage(text));
        for file in self.report.iter().chain(&self.json) {
            // Before the run, because a refusal after it would lose the run.
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
        self.jackpot.validate()?;
        self.coupon.validate(self.crowd.users)?;
        self.room.validate()
    }
}

/// The text of an id.
pub(super) fn id(text: &str) -> Result<String, InvalidId> {
    Id::check(text).map(|()| text.to_owned())
}

/// The options of a line, as the command reads them.
#[cfg(test)]
pub(super) fn parse(line: &str) -> Result<Args, String> {
    let args = Args::try_parse_from(std::iter::once("simulate").chain(line.split_whitespace()))
        .map_err(|error| error.to_string())?;
    args.validate().map_err(|error| error.to_string())?;
    Ok(args)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::{Args, parse};

    #[test]
    fn the_command_is_well_formed() {
        Args::command().debug_assert();
    }

    #[test]
    fn defaults_are_the_announced_run() {
        let args = parse("").unwrap().jackpot;
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

//! The options of `jackpot simulate --room`.

use serde::Serialize;

use crate::SimulateError;
use crate::args::id;
use crate::jackpot::OF_JACKPOT;

/// Options of a run of a room; each needs `--room`.
#[derive(Debug, Clone, clap::Args, Serialize)]
pub struct RoomArgs {
    /// Play a waiting room: a crowd joins it and goes through it.
    #[arg(long, conflicts_with_all = OF_JACKPOT, conflicts_with = "CouponArgs", help_heading = "Room")]
    #[serde(skip)]
    pub room: bool,
    /// Sessions at once.
    #[arg(long, requires = "room", default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..=1_000_000), help_heading = "Room")]
    pub capacity: u64,
    /// Length of a session, in seconds.
    #[arg(long, requires = "room", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=3_600), help_heading = "Room")]
    pub session_s: u32,
    /// The room abandons a waiting user that makes no call for this many seconds.
    #[arg(long, requires = "room", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=3_600), help_heading = "Room")]
    pub waiting_timeout_s: u32,
    /// Most admissions in any minute [default: no limit but the capacity].
    #[arg(long, value_name = "N", requires = "room", value_parser = clap::value_parser!(u32).range(1..=1_000_000), help_heading = "Room")]
    pub rate: Option<u32>,
    /// How long a user stays inside before it leaves, in milliseconds on average; twice as long at most.
    #[arg(long, requires = "room", default_value_t = 300, value_parser = clap::value_parser!(u32).range(0..=1_000_000), help_heading = "Room")]
    pub stay_ms: u32,
    /// Percentage of the users who come one by one after the opening, not before it.
    #[arg(long, value_name = "PERCENT", requires = "room", default_value_t = 10, value_parser = percent(), help_heading = "Room")]
    #[serde(rename = "late_percent")]
    pub late: u32,
    /// Percentage of the users who join twice at one instant.
    #[arg(long, value_name = "PERCENT", requires = "room", default_value_t = 5, value_parser = percent(), help_heading = "Room")]
    #[serde(rename = "twice_percent")]
    pub twice: u32,
    /// Percentage of the users who listen to events instead of polling; some 500 users at most.
    #[arg(long, value_name = "PERCENT", requires = "room", default_value_t = 5, value_parser = percent(), help_heading = "Room")]
    #[serde(rename = "listen_percent")]
    pub listen: u32,
    /// Percentage of the users who renew their session once, and leave after its first end.
    #[arg(long, value_name = "PERCENT", requires = "room", default_value_t = 5, value_parser = percent(), help_heading = "Room")]
    #[serde(rename = "renew_percent")]
    pub renew: u32,
    /// Percentage of the users who leave while they wait.
    #[arg(long, value_name = "PERCENT", requires = "room", default_value_t = 5, value_parser = percent(), help_heading = "Room")]
    #[serde(rename = "leave_percent")]
    pub leave: u32,
    /// Percentage of the users who never come back while they wait.
    #[arg(long, value_name = "PERCENT", requires = "room", default_value_t = 5, value_parser = percent(), help_heading = "Room")]
    #[serde(rename = "abandon_percent")]
    pub abandon: u32,
    /// Percentage of the users who do not leave, so that their session expires.
    #[arg(long, value_name = "PERCENT", requires = "room", default_value_t = 5, value_parser = percent(), help_heading = "Room")]
    #[serde(rename = "die_percent")]
    pub die: u32,
    /// Id of the new room [default: sim-SEED].
    #[arg(long, value_name = "ID", requires = "room", value_parser = id, help_heading = "Room")]
    #[serde(skip)]
    pub room_id: Option<String>,
}

fn percent() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(0..=100)
}

impl RoomArgs {
    /// Refuses what clap can't see.
    pub fn validate(&self) -> Result<(), SimulateError> {
        let parts = self.renew + self.leave + self.abandon + self.die;
        if parts > 100 {
            return Err(SimulateError::Usage(format!(
                "--renew {}, --leave {}, --abandon {} and --die {} are {parts} percent of the users",
                self.renew, self.leave, self.abandon, self.die
            )));
        }
        if self.stay_ms > self.session_s * 500 {
            return Err(SimulateError::Usage(format!(
                "--stay-ms {} is up to twice as long, beyond a --session-s of {}",
                self.stay_ms, self.session_s
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::args::parse;

    #[test]
    fn defaults_are_the_announced_room() {
        let args = parse("--room").expect("options that make sense");
        assert_eq!((args.crowd.users, args.room.capacity), (5_000, 500));
        let with = "--room --rate 600 --kills 2 --kill-redis --seed 3 --keep-data --quiet --connections 64";
        assert!(parse(with).is_ok(), "{with}");
    }

    #[test]
    fn options_that_make_no_sense_together_are_refused_and_named() {
        for (line, named) in [
            ("--capacity 10", "--room"),
            ("--die 10", "--room"),
            ("--users 10", "--room"),
            ("--room --coupons", "--coupons"),
            ("--room --stock 3", "--stock"),
            ("--room --players 10", "--players"),
            ("--room --capacity 0", "--capacity"),
            ("--room --late 101", "--late"),
            ("--room --renew 50 --die 51", "--die"),
            ("--room --stay-ms 600 --session-s 1", "--stay-ms"),
            ("--room --room-id a:b", "--room-id"),
            ("--room --url http://localhost:1 --key k --kills 3", "--kills"),
        ] {
            let error = parse(line).expect_err(line);
            assert!(error.contains(named), "{line}: {error}");
            assert!(!error.contains("--winners"), "only what was given is named: {error}");
        }
    }
}

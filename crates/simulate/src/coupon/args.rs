//! The options of `jackpot simulate --coupons`.

use serde::Serialize;

use crate::SimulateError;
use crate::args::id;
use crate::jackpot::OF_JACKPOT;

/// Options of a run of coupons; each needs `--coupons`.
#[derive(Debug, Clone, clap::Args, Serialize)]
pub struct CouponArgs {
    /// Play a coupon: a crowd of users asks for a limited stock at one instant.
    #[arg(long, conflicts_with_all = OF_JACKPOT, conflicts_with = "RoomArgs", help_heading = "Coupons")]
    #[serde(skip)]
    pub coupons: bool,
    /// How often each user asks. After the first time, half of the calls repeat the request before, and half are new
    /// requests.
    #[arg(long, requires = "coupons", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=20), help_heading = "Coupons")]
    pub duplicates: u32,
    /// Units of the coupon.
    #[arg(long, requires = "coupons", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(0..=1_000_000), help_heading = "Coupons")]
    pub stock: u64,
    /// Put every request into the coupon's queue (Prefer: respond-async), and wait for its outcome.
    #[arg(long, requires = "coupons", help_heading = "Coupons")]
    pub queued: bool,
    /// Take back this many issued units at random moments of the run. The service issues them again.
    #[arg(long, value_name = "N", requires = "coupons", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=100_000), help_heading = "Coupons")]
    pub voids: u32,
    /// Database in which --compare plays the row lock, in a schema `jackpot_compare` that it makes and removes [default:
    /// the row lock is not measured].
    #[arg(
        long,
        value_name = "URL",
        requires = "compare",
        requires = "coupons",
        help_heading = "Coupons"
    )]
    #[serde(skip)]
    pub postgres: Option<String>,
    /// Id of the new coupon [default: sim-SEED].
    #[arg(long, value_name = "ID", requires = "coupons", value_parser = id, help_heading = "Coupons")]
    #[serde(skip)]
    pub coupon: Option<String>,
}

impl CouponArgs {
    /// Refuses what clap can't see.
    pub fn validate(&self, users: u32) -> Result<(), SimulateError> {
        let issued = self.stock.min(users.into());
        if u64::from(self.voids) > issued {
            return Err(SimulateError::Usage(format!(
                "--voids {} is more than what {users} users get of a --stock of {}: {issued}",
                self.voids, self.stock
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::args::parse;

    #[test]
    fn defaults_are_the_announced_crowd() {
        let args = parse("--coupons").expect("options that make sense");
        assert_eq!(
            (args.crowd.users, args.coupon.duplicates, args.coupon.stock),
            (5_000, 3, 1_000)
        );
        let with = "--coupons --queued --voids 5 --kills 2 --kill-redis --seed 3 --keep-data --quiet";
        assert!(parse(with).is_ok(), "{with}");
    }

    #[test]
    fn options_that_make_no_sense_together_are_refused_and_named() {
        for (line, named) in [
            ("--users 10", "--coupons"),
            ("--queued", "--coupons"),
            ("--stock 3", "--coupons"),
            ("--coupons --players 10", "--players"),
            ("--coupons --entries 10", "--entries"),
            ("--coupons --odds-ppm 10", "--odds-ppm"),
            ("--coupons --jackpot a", "--jackpot"),
            ("--coupons --capacity 3", "--capacity"),
            ("--coupons --users 0", "--users"),
            ("--coupons --voids 11 --stock 10", "--voids"),
            ("--coupons --voids 11 --users 10", "--voids"),
            ("--coupons --coupon a:b", "--coupon"),
            ("--coupons --url http://localhost:1 --key k --kills 3", "--kills"),
            ("--coupons --kill-redis", "--kill-redis"),
            ("--compare", "--coupons"),
            ("--coupons --postgres postgres://localhost/x", "--compare"),
            ("--room --compare --postgres postgres://localhost/x", "--postgres"),
            ("--coupons --compare --url http://localhost:1 --key k", "--compare"),
        ] {
            let error = parse(line).expect_err(line);
            assert!(error.contains(named), "{line}: {error}");
        }
    }
}

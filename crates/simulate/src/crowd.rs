//! The options that a crowd of users has, whatever it asks for: a coupon or a place in a room.

/// Options of a run with a crowd; each needs `--coupons` or `--room`.
#[derive(Debug, Clone, clap::Args)]
pub struct CrowdArgs {
    /// Users of a coupon, who all begin at one instant, or of a room.
    #[arg(long, requires = "crowd", default_value_t = 5_000, value_parser = clap::value_parser!(u32).range(1..=200_000), help_heading = "Crowd")]
    pub users: u32,
    /// Connections on which the users ask: so many requests are under way at the same time.
    #[arg(long, requires = "crowd", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=20_000), help_heading = "Crowd")]
    pub connections: u32,
}

//! What a run asks: the coupon, and the requests of each user with their repeats. All of it follows from the seed.

use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use serde::Serialize;
use serde_json::{Value, json};

use super::args::CouponArgs;
use crate::Args;
use crate::args::CrowdArgs;
use crate::scenario::mix;

/// A request: the number of its user, and its own among those of this user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ask {
    pub user: u32,
    pub request: u32,
}

/// The whole run, before anything is sent.
#[derive(Debug, Clone, Serialize)]
pub struct Plan {
    pub coupon_id: String,
    pub seed: u64,
    #[serde(flatten)]
    pub crowd: CrowdArgs,
    #[serde(flatten)]
    pub options: CouponArgs,
}

impl Plan {
    pub fn new(args: &Args) -> Self {
        let id = args.coupon.coupon.clone();
        Self {
            coupon_id: id.unwrap_or_else(|| format!("sim-{}", args.seed)),
            seed: args.seed,
            crowd: args.crowd.clone(),
            options: args.coupon.clone(),
        }
    }

    /// The body of `PUT /v1/coupons/{id}`, with an end or without.
    pub fn definition_until(&self, ends_at: Option<&str>) -> Value {
        json!({ "name": "Simulation", "stock": self.options.stock, "per_user": 1, "per_user_window_s": null,
                "starts_at": null, "ends_at": ends_at })
    }

    /// Every call in the order in which it is sent. Half of the users ask all their times at one instant, the others
    /// once in each round.
    pub fn asks(&self) -> Vec<Ask> {
        let mut rng = StdRng::seed_from_u64(self.seed);
        let mut users: Vec<u32> = (0..self.crowd.users).collect();
        let mut asks = Vec::new();
        for round in 0..self.options.duplicates {
            users.shuffle(&mut rng);
            for user in &users {
                if mix(self.seed, u64::from(*user)) & 1 == 1 {
                    asks.push(ask(*user, round));
                } else if round == 0 {
                    asks.extend((0..self.options.duplicates).map(|time| ask(*user, time)));
                }
            }
        }
        asks
    }

    /// The steps at which units are taken back, ascending. They are early enough for users to ask for the units again.
    pub fn void_points(&self, all: u64) -> Vec<u64> {
        let mut rng = StdRng::seed_from_u64(!self.seed);
        let last = (all * 9 / 10).max(1);
        let mut points: Vec<u64> = (0..self.options.voids).map(|_| rng.random_range(0..last)).collect();
        points.sort_unstable();
        points
    }

    /// The id of a request.
    pub fn request_id(&self, ask: Ask) -> String {
        format!("s{}-u{}-{}", self.seed, ask.user, ask.request)
    }

    /// The body of a request.
    pub fn body(&self, ask: Ask) -> Value {
        json!({ "request_id": self.request_id(ask), "user_id": user_id(ask.user) })
    }

    /// Steps of the run: a queued call is one when it joins, and one when it is decided.
    pub fn steps(&self) -> u64 {
        let calls = u64::from(self.crowd.users) * u64::from(self.options.duplicates);
        calls << u32::from(self.options.queued)
    }

    /// Units that are issued when none is taken back.
    pub fn expected(&self) -> u64 {
        self.options.stock.min(self.crowd.users.into())
    }
}

/// What a user asks at that time: every second time is the request before it again, from the second time on for one
/// half of the users, from the third for the other.
fn ask(user: u32, time: u32) -> Ask {
    let is_repeat = time > 0 && (time + user).is_multiple_of(2);
    Ask {
        user,
        request: if is_repeat { time - 1 } else { time },
    }
}

/// The id of a user.
pub fn user_id(user: u32) -> String {
    format!("u{user}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn plan(line: &str) -> Plan {
        use clap::Parser;
        let line = format!("simulate --coupons {line}");
        Plan::new(&Args::parse_from(line.split_whitespace()))
    }

    #[test]
    fn half_of_the_duplicates_are_repeats_and_half_are_new_requests() {
        for (duplicates, calls) in [(1, 1_000), (2, 2_000), (3, 3_000), (8, 8_000)] {
            let asks = plan(&format!("--users 1000 --duplicates {duplicates}")).asks();
            let mut times = BTreeMap::<Ask, u32>::new();
            for ask in &asks {
                *times.entry(*ask).or_default() += 1;
            }
            let repeats: u32 = times.values().map(|times| times - 1).sum();
            assert_eq!((asks.len(), repeats), (calls, (duplicates - 1) * 500));
            assert!(times.values().all(|times| *times <= 2));
        }
    }

    #[test]
    fn every_user_asks_early_and_the_seed_says_in_which_order() {
        let plan = plan("--users 500 --seed 3");
        let asks = plan.asks();
        assert_eq!(asks, plan.asks());
        let in_round_one: std::collections::BTreeSet<u32> = asks.iter().take(1_100).map(|ask| ask.user).collect();
        assert_eq!(in_round_one.len(), 500);
        let together = asks
            .windows(3)
            .filter(|three| three.iter().all(|ask| ask.user == three[0].user));
        assert!((150..350).contains(&together.count()));
    }

    #[test]
    fn units_are_taken_back_inside_the_run() {
        let points = plan("--voids 20").void_points(15_000);
        assert_eq!(points.len(), 20);
        assert!(points.is_sorted() && points.iter().all(|point| *point < 13_500));
    }
}

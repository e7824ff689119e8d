//! Which users come to the room, when, and what each does there. All of it follows from the seed.

use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde::Serialize;
use serde_json::{Value, json};

use super::args::RoomArgs;
use crate::Args;
use crate::args::CrowdArgs;
use crate::scenario::mix;

/// Users who listen, about this many at most. Each keeps a connection, and a service has 1,000 streams by default.
pub const LISTENERS: u64 = 500;
/// The parts of a share.
const WHOLE: u64 = 10_000;
/// A tenth of the late users comes after all others have gone, and finds the room empty.
const LAST: u32 = 10;
const MINUTE: Duration = Duration::from_mins(1);

/// What a user does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Waits, stays for a while, and leaves.
    Visit,
    /// Renews its session half-way, and leaves after its first end.
    Renew,
    /// Leaves while it waits, or at once when it is admitted.
    Leave,
    /// Never comes back while it waits.
    Abandon,
    /// Is admitted, and does nothing more.
    Die,
}

impl Part {
    /// Whether it waits until it is admitted.
    pub fn is_patient(self) -> bool {
        matches!(self, Self::Visit | Self::Renew | Self::Die)
    }
}

/// One user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct User {
    pub number: u32,
    pub part: Part,
    /// To the event stream of its ticket, rather than to poll.
    pub listens: bool,
    /// Joins twice at one instant.
    pub twice: bool,
    pub stay_ms: u64,
}

/// The whole run, before anything is sent.
#[derive(Debug, Clone, Serialize)]
pub struct Plan {
    pub room_id: String,
    pub seed: u64,
    #[serde(flatten)]
    pub crowd: CrowdArgs,
    #[serde(flatten)]
    pub options: RoomArgs,
    /// Whether the service is killed meanwhile.
    #[serde(skip)]
    pub is_killed: bool,
}

impl Plan {
    pub fn new(args: &Args) -> Self {
        let id = args.room.room_id.clone();
        Self {
            room_id: id.unwrap_or_else(|| format!("sim-{}", args.seed)),
            seed: args.seed,
            crowd: args.crowd.clone(),
            options: args.room.clone(),
            is_killed: args.kills.is_some() || args.kill_every.is_some(),
        }
    }

    /// The body of `PUT /v1/rooms/{id}`. Without capacity the room admits nobody, so that all early users join first.
    pub fn definition_with(&self, capacity: u64) -> Value {
        json!({ "capacity": capacity, "session_s": self.options.session_s, "waiting_timeout_s": self.options.waiting_timeout_s,
                "admissions_per_minute": self.options.rate, "opens_at": null })
    }

    /// Users who join before the opening: the first ones.
    pub fn early(&self) -> u32 {
        self.crowd.users - u32::try_from(u64::from(self.crowd.users) * u64::from(self.options.late) / 100).unwrap_or(0)
    }

    /// How many of the early users have gone when each of the others comes, ascending.
    pub fn late_points(&self) -> Vec<u64> {
        let mut rng = StdRng::seed_from_u64(!self.seed);
        let early = self.early();
        let late = self.crowd.users - early;
        let last = late / LAST;
        let mut points: Vec<u64> = (last..late).map(|_| u64::from(rng.random_range(0..=early))).collect();
        points.extend((0..last).map(|_| u64::from(early)));
        points.sort_unstable();
        points
    }

    /// A user by its number.
    pub fn user(&self, number: u32) -> User {
        let draw = |salt: u64| mix(self.seed ^ salt, number.into());
        let percent = |share: u32| u64::from(share) * WHOLE / 100;
        let mut below = draw(1) % WHOLE;
        let mut part = Part::Visit;
        for (share, drawn) in [
            (self.options.renew, Part::Renew),
            (self.options.leave, Part::Leave),
            (self.options.abandon, Part::Abandon),
            (self.options.die, Part::Die),
        ] {
            if below < percent(share) {
                part = drawn;
                break;
            }
            below -= percent(share);
        }
        let listeners = percent(self.options.listen).min(LISTENERS * WHOLE / u64::from(self.crowd.users.max(1)));
        User {
            number,
            part,
            listens: part.is_patient() && draw(2) % WHOLE < listeners,
            twice: draw(3) % WHOLE < percent(self.options.twice),
            stay_ms: draw(4) % (2 * u64::from(self.options.stay_ms) + 1),
        }
    }

    /// In milliseconds.
    pub fn session_ms(&self) -> i64 {
        i64::from(self.options.session_s) * 1_000
    }

    /// While the room admits users, something moves within this time. A renewed session has ended, a room that lost its
    /// tickets has waited for the passes, and the waiting timeout is over. So is the minute of a rate, and one in which
    /// clients may have repeated a call.
    pub fn patience(&self) -> Duration {
        let seconds = 2 * self.options.session_s + self.options.waiting_timeout_s;
        let rate = if self.options.rate.is_some() {
            MINUTE
        } else {
            Duration::ZERO
        };
        Duration::from_secs(seconds.into()) + rate + MINUTE
    }

    /// Steps of the run: each user joins, and is done with the room.
    pub fn steps(&self) -> u64 {
        2 * u64::from(self.crowd.users)
    }
}

/// The id of a user.
pub fn user_id(number: u32) -> String {
    format!("u{number}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(line: &str) -> Plan {
        use clap::Parser;
        let line = format!("simulate --room {line}");
        Plan::new(&Args::parse_from(line.split_whitespace()))
    }

    #[test]
    fn users_have_their_parts_in_the_given_shares() {
        let plan = plan("--users 10000 --renew 10 --leave 20 --abandon 5 --die 1 --twice 50 --listen 30");
        let users: Vec<User> = (0..plan.crowd.users).map(|number| plan.user(number)).collect();
        assert_eq!(users[77], plan.user(77), "the seed says it");
        let share = |has: &dyn Fn(&User) -> bool| users.iter().filter(|user| has(user)).count();
        for (part, expected) in [
            (Part::Visit, 6_400),
            (Part::Renew, 1_000),
            (Part::Leave, 2_000),
            (Part::Abandon, 500),
            (Part::Die, 100),
        ] {
            let count = share(&|user| user.part == part);
            assert!(count.abs_diff(expected) < 200, "{part:?}: {count}");
        }
        assert!(share(&|user| user.twice).abs_diff(5_000) < 200);
        let listeners = share(&|user| user.listens);
        assert!(
            (300..600).contains(&listeners),
            "as many as a service may have: {listeners}"
        );
    }

    #[test]
    fn the_late_come_while_the_others_go_and_some_when_all_are_gone() {
        let plan = plan("--users 1000 --late 20");
        let points = plan.late_points();
        assert_eq!((plan.early(), points.len()), (800, 200));
        assert!(points.is_sorted() && points[0] < 100);
        assert!(points.iter().filter(|point| **point == 800).count() >= 20);
        let mut all_late = plan;
        all_late.options.late = 100;
        assert_eq!(all_late.early(), 0);
    }
}

//! `--compare`: the usual ways of giving out a limited number of things, beside the service. What each gives out wrongly,
//! and how fast.
//!
//! `race` is the engine. `coupon` and `room` have the ways of each kind, `lock` and `consumer` two that need more than a few
//! calls. Every way plays twice. The *staged* play holds it at the point where it is weak, so that it goes wrong each time
//! if it can. The *crowd* plays without any hold, and is measured.
//!
//! The usual ways run on the Redis of the private service, so that all have the same durability.

mod consumer;
mod coupon;
mod lock;
mod race;
mod redis;
mod room;

use serde::Serialize;

use super::Args;
use super::SimulateError;
use super::client::Target;
use super::finding::{Finding, Judged};
use super::progress::Bar;
use super::service::PrivateService;
use super::table::{grouped, grouped_rate};
use race::{Size, Way, play};

pub use coupon::coupons;
pub use room::rooms;

/// A crowd need not be larger to show what a way does, and the slow ones take a millisecond for each request.
const MOST_USERS: u64 = 1_000;
const MOST_ASKERS: u32 = 64;

/// How a way works.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Approach {
    pub name: &'static str,
    /// In a sentence.
    pub how: &'static str,
    /// What the staged play does to it.
    pub held: &'static str,
    /// A way of this service, where a wrong count is a violation.
    pub ours: bool,
}

/// What was given out wrongly.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Wrongs {
    /// Given beyond the limit.
    pub over: u64,
    /// Given to a user who had one already.
    pub twice: u64,
    /// Came back, and nobody can get them again.
    pub lost: u64,
    /// Requests without an outcome.
    pub undecided: u64,
}

impl Wrongs {
    pub fn is_wrong(self) -> bool {
        self != Self::default()
    }

    fn words(self) -> String {
        let counts = [
            (self.over, "beyond the limit"),
            (self.twice, "given twice"),
            (self.lost, "lost"),
            (self.undecided, "without an outcome"),
        ];
        let wrong = counts.iter().filter(|(count, _)| *count > 0);
        let words = wrong.map(|(count, what)| format!("{} {what}", grouped(*count)));
        let words = words.collect::<Vec<_>>().join(", ");
        if words.is_empty() { "exact".to_owned() } else { words }
    }
}

/// What a way did.
#[derive(Debug, Clone, Serialize)]
pub struct Score {
    #[serde(flatten)]
    pub approach: Approach,
    #[serde(flatten)]
    pub measured: Measured,
}

#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Measured {
    Played {
        staged: Wrongs,
        crowd: Wrongs,
        asks_per_s: f64,
    },
    /// Why not.
    NotMeasured { not_measured: &'static str },
}

impl Score {
    pub fn is_wrong(&self) -> bool {
        matches!(&self.measured, Measured::Played { staged, crowd, .. } if staged.is_wrong() || crowd.is_wrong())
    }

    /// In the terminal and in the report.
    pub fn mark(&self) -> &'static str {
        match &self.measured {
            Measured::NotMeasured { .. } => "–",
            Measured::Played { .. } if self.is_wrong() => "✗",
            Measured::Played { .. } => "✓",
        }
    }

    pub fn words(&self) -> String {
        match &self.measured {
            Measured::NotMeasured { not_measured } => format!("not measured: {not_measured}"),
            Measured::Played {
                staged,
                crowd,
                asks_per_s,
            } => format!(
                "staged: {}; in the crowd: {}; {} requests/s",
                staged.words(),
                crowd.words(),
                grouped_rate(*asks_per_s)
            ),
        }
    }
}

/// All ways of one kind.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    /// Of the crowd.
    pub size: Size,
    pub approaches: Vec<Score>,
}

impl Comparison {
    fn new(args: &Args, limit: u64) -> Self {
        let users = u64::from(args.crowd.users).clamp(2, MOST_USERS);
        Self {
            size: Size {
                limit: limit.clamp(1, users / 2),
                users,
                askers: args.crowd.connections.min(MOST_ASKERS),
            },
            approaches: Vec::new(),
        }
    }

    async fn add<W: Way>(&mut self, bar: &Bar, way: &W) -> Result<(), SimulateError> {
        let approach = way.approach();
        bar.say(approach.name);
        let staged = play(way, "staged", way.staged(), true).await?;
        let crowd = play(way, "crowd", self.size, false).await?;
        way.clear().await?;
        self.approaches.push(Score {
            approach,
            measured: Measured::Played {
                staged: staged.wrongs,
                crowd: crowd.wrongs,
                asks_per_s: crowd.asks_per_s,
            },
        });
        Ok(())
    }

    fn leave_out(&mut self, approach: Approach, not_measured: &'static str) {
        self.approaches.push(Score {
            approach,
            measured: Measured::NotMeasured { not_measured },
        });
    }

    /// What was compared, in a sentence.
    pub fn words(&self) -> String {
        format!(
            "{} users ask for {} at one instant on {} connections; then some come back, and as many new users ask. Staged: a few \
             users, and the approach is held where it is weak.",
            grouped(self.size.users),
            grouped(self.size.limit),
            self.size.askers
        )
    }

    /// A wrong count of the service is a violation, one of another way is what the comparison is for.
    pub fn finding(&self) -> Finding {
        let ours = self.approaches.iter().filter(|score| score.approach.ours);
        let wrong = ours.clone().find(|score| score.is_wrong());
        let judged = match wrong {
            Some(score) => Judged::Violated(format!("{}: {}", score.approach.name, score.words())),
            None => Judged::Held(format!("ways of the service: {}", ours.count())),
        };
        Finding {
            rule: "comparison",
            demand: "In the races of the comparison the service gives out nothing wrongly.",
            judged,
        }
    }
}

/// What the ways need.
#[derive(Debug)]
pub struct Place<'s> {
    pub service: &'s mut PrivateService,
    pub target: &'s Target,
    pub bar: &'s Bar,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(ours: Wrongs, theirs: Wrongs) -> Comparison {
        let score = |name, ours, staged| Score {
            approach: Approach {
                name,
                how: "",
                held: "",
                ours,
            },
            measured: Measured::Played {
                staged,
                crowd: Wrongs::default(),
                asks_per_s: 1_234.5,
            },
        };
        Comparison {
            size: race::FEW,
            approaches: vec![score("theirs", false, theirs), score("ours", true, ours)],
        }
    }

    #[test]
    fn only_a_wrong_count_of_the_service_is_a_violation() {
        let one_lost = Wrongs {
            lost: 1,
            ..Wrongs::default()
        };
        let theirs = comparison(Wrongs::default(), one_lost);
        assert_eq!(theirs.approaches.iter().map(Score::mark).collect::<String>(), "✗✓");
        assert!(matches!(theirs.finding().judged, Judged::Held(_)));
        let judged = comparison(one_lost, Wrongs::default()).finding().judged;
        let Judged::Violated(words) = judged else {
            panic!("{judged:?}");
        };
        assert_eq!(words, "ours: staged: 1 lost; in the crowd: exact; 1,235 requests/s");
    }
}

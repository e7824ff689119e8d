//! The checks of a run of a room: each promise that can be seen from outside is a named rule over its evidence.

mod answers;
mod capacity;
mod endings;
#[cfg(test)]
pub mod fixture;
mod order;
mod passes;
mod places;
mod sessions;
mod shown;

pub use places::place;

use super::evidence::Evidence;
use crate::finding::Rule;
#[cfg(test)]
use crate::finding::{Finding, judge};

/// In the order in which a reader understands them best: a violation of an early one explains later ones.
pub const RULES: [Rule<Evidence>; 12] = [
    Rule {
        name: "answers",
        demand: "every call is answered, each answer is to its own ticket and says all it must, and poll_after_s stays below half of the timeout",
        judge: |evidence| answers::each_is_its_own(evidence).into(),
    },
    Rule {
        name: "one place",
        demand: "a user who joins twice at one instant has one ticket, and no ticket has two users",
        judge: |evidence| answers::one_ticket_each(evidence).into(),
    },
    Rule {
        name: "capacity",
        demand: "at no instant at which the monitor looked are more sessions open than the capacity, and none before the opening",
        judge: capacity::never_exceeded,
    },
    Rule {
        name: "overlap",
        demand: "by the times that users were told, at no millisecond more sessions overlap than the capacity",
        judge: |evidence| capacity::no_overlap(evidence).into(),
    },
    Rule {
        name: "sessions",
        demand: "a session lasts as long as it must, up to the next whole second, a renewed one as long again, and ends no earlier than told",
        judge: |evidence| sessions::last_as_told(evidence).into(),
    },
    Rule {
        name: "rate",
        demand: "in no 60 s more are admitted than the rate allows, by the times that users were told and by the room's count",
        judge: |evidence| sessions::rate_is_kept(evidence).into(),
    },
    Rule {
        name: "places",
        demand: "those who join before the opening have the places 1, 2, 3 and so on, each once, and no place ever becomes worse",
        judge: places::are_dense_and_only_improve,
    },
    Rule {
        name: "order",
        demand: "who had the better place, or was told its place before another one joined, is let in no later than that one",
        judge: |evidence| order::of_joining(evidence).into(),
    },
    Rule {
        name: "nobody lost",
        demand: "the line moves, and everybody who came back when told to was let in, and told so while the session was open",
        judge: endings::nobody_is_lost,
    },
    Rule {
        name: "endings",
        demand: "every ticket ended as its user did: left, expired, or abandoned, and says so ever after",
        judge: endings::are_what_users_did,
    },
    Rule {
        name: "passes",
        demand: "every pass is signed with a published key, for this room, user and ticket, until the end of the session",
        judge: |evidence| passes::are_right(evidence).into(),
    },
    Rule {
        name: "counts",
        demand: "the room is empty at the end, its counts are what users were told, and none of them ever fell",
        judge: shown::counts_add_up,
    },
];

/// Judges all rules.
#[cfg(test)]
fn all(evidence: &Evidence) -> Vec<Finding> {
    judge(&RULES, evidence)
}

#[cfg(test)]
mod tests {
    use super::{all, fixture};
    use crate::finding::Judged;

    #[test]
    fn an_honest_run_violates_nothing() {
        for line in [
            "",
            "--late 0",
            "--late 100",
            "--capacity 1 --users 30",
            "--capacity 500",
            "--rate 6000",
            "--abandon 40 --leave 40 --twice 50",
            "--die 100 --abandon 0 --leave 0 --renew 0",
        ] {
            for finding in all(&fixture::honest(line)) {
                assert!(matches!(finding.judged, Judged::Held(_)), "{line}: {finding:?}");
            }
        }
    }
}

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
use crate::finding::{Rule, rules};

/// In the order in which a reader understands them best: a violation of an early one explains later ones.
pub const RULES: &[Rule<Evidence>] = rules! {
    "answers" = answers::each_is_its_own:
        "every call has an answer, which is complete and about its own ticket, and poll_after_s stays below half of the timeout";
    "one place" = answers::one_ticket_each:
        "a user who joins twice at one instant has one ticket, and no ticket has two users";
    "capacity" = capacity::never_exceeded:
        "at no instant at which the monitor looked are more sessions open than the capacity, and none before the opening";
    "overlap" = capacity::no_overlap:
        "by the times in the answers, at no millisecond more sessions overlap than the capacity";
    "sessions" = sessions::end_as_answered:
        "a session lasts as long as defined, up to the next whole second; a renewed one as long again; none ends earlier than its answers say";
    "rate" = sessions::rate_is_kept:
        "in no 60 s are more users admitted than the rate allows, by the times in the answers and by the room's count";
    "places" = places::are_dense_and_only_improve:
        "users who join before the opening have the places 1, 2, 3 and so on, each once, and no place ever becomes worse";
    "order" = order::of_joining:
        "a user with the better place, or with a place before another user joined, is admitted no later than the other";
    "nobody lost" = endings::nobody_is_lost:
        "the queue moves, and every user who came back in time was admitted, and got an answer while the session was open";
    "endings" = endings::are_what_users_did:
        "every ticket ended as its user ended it: left, expired or abandoned, and all later answers say so";
    "passes" = passes::are_right:
        "every pass is signed with a published key, for this room, user and ticket, until the end of the session";
    "counts" = shown::counts_add_up:
        "the room is empty at the end, its counts agree with the answers, and none of them ever fell";
};

#[cfg(test)]
mod tests {
    use crate::forge::all_hold;
    use crate::room::plan::Plan;

    #[test]
    fn an_honest_run_violates_nothing() {
        all_hold::<Plan>(&[
            "",
            "--late 0",
            "--late 100",
            "--capacity 1 --users 30",
            "--capacity 500",
            "--rate 6000",
            "--abandon 40 --leave 40 --twice 50",
            "--die 100 --abandon 0 --leave 0 --renew 0",
        ]);
    }
}

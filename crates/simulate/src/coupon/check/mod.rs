//! The checks of a run of coupons: each promise that can be seen from outside is a named rule over its evidence.

mod answers;
mod codes;
#[cfg(test)]
pub mod fixture;
mod issues;
mod order;
mod refusals;
mod shown;

use super::evidence::Evidence;
use crate::finding::{Rule, rules};

/// In the order in which a reader understands them best: a violation of an early one explains later ones.
pub const RULES: &[Rule<Evidence>] = rules! {
    "answers" = answers::each_is_its_own:
        "every call has an answer about its own request, and every request is decided";
    "repeats" = answers::repeats_are_the_same:
        "a repeated request gets the same answer, at the same instant and later, and is made only once";
    "sequences" = issues::sequences_are_dense:
        "sequences of issues are dense from 1, and none is used twice, not even after a unit was taken back";
    "stock" = issues::stock_is_exact:
        "all units are issued, or one for each user; never more are out; only a unit that was taken back is issued again";
    "once per user" = issues::once_per_user:
        "no user is issued a second unit, unless the first was taken back before";
    "codes" = codes::are_distinct_and_right:
        "every code is different from all others, and its check characters are right";
    "order" = order::of_arrival:
        "a request that was answered or queued before another was sent is served before it";
    "refusals" = refusals::are_justified:
        "already-issued only for a user who has a unit, which it names; out-of-stock only while all units may have been out";
    "voids" = answers::voids_are_shown:
        "the service says voided of each unit that was taken back, and of no other";
    "counts" = shown::counts_add_up:
        "the counts of the coupon agree with the answers, and remaining = stock - issued + voided";
    "line" = shown::nothing_is_left:
        "nothing is left in the queue or in the dead letters";
    "ledger" = shown::ledger_is_the_answers:
        "within a minute the ledger lists every issue of the answers, word for word and in order, and no other";
    "reconciliation" = shown::redis_and_ledger_agree:
        "after the run Redis and the ledger agree about the coupon";
};

#[cfg(test)]
mod tests {
    use crate::coupon::plan::Plan;
    use crate::forge::all_hold;

    #[test]
    fn an_honest_run_violates_nothing() {
        all_hold::<Plan>(&[
            "",
            "--queued",
            "--voids 20",
            "--voids 20 --queued",
            "--stock 0",
            "--stock 1000",
            "--duplicates 1",
            "--duplicates 6 --voids 9",
        ]);
    }
}

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
use crate::finding::Rule;

/// In the order in which a reader understands them best: a violation of an early one explains later ones.
pub const RULES: [Rule<Evidence>; 13] = [
    Rule {
        name: "answers",
        demand: "every call has an answer about its own request, and every request is decided",
        judge: |evidence| answers::each_is_its_own(evidence).into(),
    },
    Rule {
        name: "repeats",
        demand: "a repeated request gets the same answer, at the same instant and later, and is made only once",
        judge: |evidence| answers::repeats_are_the_same(evidence).into(),
    },
    Rule {
        name: "sequences",
        demand: "sequences of issues are dense from 1, and none is used twice, not even after a unit was taken back",
        judge: |evidence| issues::sequences_are_dense(evidence).into(),
    },
    Rule {
        name: "stock",
        demand: "all units are issued, or one for each user; never more are out; only a unit that was taken back is issued again",
        judge: |evidence| issues::stock_is_exact(evidence).into(),
    },
    Rule {
        name: "once per user",
        demand: "no user is issued a second unit, unless the first was taken back before",
        judge: |evidence| issues::once_per_user(evidence).into(),
    },
    Rule {
        name: "codes",
        demand: "every code is different from all others, and its check characters are right",
        judge: |evidence| codes::are_distinct_and_right(evidence).into(),
    },
    Rule {
        name: "order",
        demand: "a request that was answered or queued before another was sent is served before it",
        judge: |evidence| order::of_arrival(evidence).into(),
    },
    Rule {
        name: "refusals",
        demand: "already-issued only for a user who has a unit, which it names; out-of-stock only while all units may have been out",
        judge: |evidence| refusals::are_justified(evidence).into(),
    },
    Rule {
        name: "voids",
        demand: "the service says voided of each unit that was taken back, and of no other",
        judge: |evidence| answers::voids_are_shown(evidence).into(),
    },
    Rule {
        name: "counts",
        demand: "the counts of the coupon agree with the answers, and remaining = stock - issued + voided",
        judge: |evidence| shown::counts_add_up(evidence).into(),
    },
    Rule {
        name: "line",
        demand: "nothing is left in the queue or in the dead letters",
        judge: |evidence| shown::nothing_is_left(evidence).into(),
    },
    Rule {
        name: "ledger",
        demand: "within a minute the ledger lists every issue of the answers, word for word and in order, and no other",
        judge: shown::ledger_is_the_answers,
    },
    Rule {
        name: "reconciliation",
        demand: "after the run Redis and the ledger agree about the coupon",
        judge: shown::redis_and_ledger_agree,
    },
];

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

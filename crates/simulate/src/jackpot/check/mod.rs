//! The checks: each promise that can be seen from outside is a named rule over the evidence of a run.

mod answers;
mod cycles;
mod draws;
#[cfg(test)]
pub mod fixture;
mod ledger;
mod money;
mod order;
mod payouts;
mod pending;
mod pools;
mod replays;

use crate::finding::{Judged, Rule};
use crate::jackpot::evidence::Evidence;

/// In the order in which a reader understands them best: a violation of an early one explains later ones.
pub const RULES: [Rule<Evidence>; 14] = [
    Rule {
        name: "answers",
        demand: "every entry has an answer, which is about that entry",
        judge: |evidence| answers::each_is_its_own(evidence).into(),
    },
    Rule {
        name: "replays",
        demand: "a repeated entry gets the same answer, at the same instant and later, and is made only once",
        judge: |evidence| replays::same_answer(evidence).into(),
    },
    Rule {
        name: "sequences",
        demand: "sequences are unique and dense, 1 to the number of entries",
        judge: |evidence| order::sequences_are_dense(evidence).into(),
    },
    Rule {
        name: "real-time order",
        demand: "an entry answered before another was sent has the lower sequence",
        judge: |evidence| order::sequences_follow_time(evidence).into(),
    },
    Rule {
        name: "draws",
        demand: "every attempt draws the rank that follows from the secret, the table and the ids, under the published commitment",
        judge: draws::recomputed,
    },
    Rule {
        name: "attempts",
        demand: "only a refusal leads to a redraw, a rank that refused refuses again, and the last attempt is the outcome",
        judge: |evidence| draws::attempts_fit(evidence).into(),
    },
    Rule {
        name: "one payout per win",
        demand: "payout ids are unique, no entry is paid twice, and answers and meters paid the same amounts",
        judge: |evidence| payouts::one_per_win(evidence).into(),
    },
    Rule {
        name: "minimum payout",
        demand: "every take of a pool is at least the minimum payout, every fixed prize its exact amount",
        judge: |evidence| payouts::amounts_fit(evidence).into(),
    },
    Rule {
        name: "claim order",
        demand: "paid claims are numbered 1, 2, 3…, and first claims in the order of their entries",
        judge: |evidence| order::claims_are_in_order(evidence).into(),
    },
    Rule {
        name: "pools",
        demand: "played back in sequence, every pool, payout and retry is the one of a single pool",
        judge: pools::play_back,
    },
    Rule {
        name: "must-hit cycles",
        demand: "the hidden amount of each cycle is that of the seed whose commitment was public when it began",
        judge: cycles::seeds_give_the_triggers,
    },
    Rule {
        name: "conservation",
        demand: "contributions = pool + reserve + overflow + remainder + paid, to the millionth, in every tier",
        judge: |evidence| money::conserved(evidence).into(),
    },
    Rule {
        name: "pending",
        demand: "no entry is left without an outcome 10 s after the run",
        judge: pending::none_left,
    },
    Rule {
        name: "ledger",
        demand: "every payout of an answer has its receipt in the ledger within a minute, and there are no others",
        judge: ledger::receipts_are_the_answers,
    },
];

#[cfg(test)]
mod tests {
    use super::{Judged, fixture};
    use crate::finding::judge;
    use crate::forge::all_hold;
    use crate::jackpot::plan::Plan;

    #[test]
    fn an_honest_run_violates_nothing() {
        all_hold::<Plan>(&[
            "",
            "--tiers 3 --contribution 7",
            "--tiers 2 --rate-ppm 12345 --reserve-ppm 333333",
            "--tiers 4 --contribution 4",
        ]);
    }

    #[test]
    fn a_restart_value_that_hides_takes_is_not_judged_rather_than_misjudged() {
        let evidence = fixture::honest("--reserve-ppm 300000 --pool-seed 20");
        for finding in judge(&super::RULES, &evidence) {
            assert!(!matches!(finding.judged, Judged::Violated(_)), "{finding:?}");
        }
    }
}

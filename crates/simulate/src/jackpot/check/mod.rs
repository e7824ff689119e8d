//! The checks: each promise that can be seen from outside is a named rule over the evidence of a run.

mod answers;
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

#[cfg(test)]
use crate::finding::{Finding, judge};
use crate::finding::{Judged, Rule};
use crate::jackpot::evidence::Evidence;

/// In the order in which a reader understands them best: a violation of an early one explains later ones.
pub const RULES: [Rule<Evidence>; 13] = [
    Rule {
        name: "answers",
        demand: "every entry is answered, and each answer is to its own entry",
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
        demand: "every attempt draws the rank that the secret, the table and the ids give, under the published commitment",
        judge: draws::recomputed,
    },
    Rule {
        name: "attempts",
        demand: "redraws follow refusals only, a rank that refused refuses again, and the last attempt is the outcome",
        judge: |evidence| draws::attempts_fit(evidence).into(),
    },
    Rule {
        name: "one payout per win",
        demand: "payout ids are unique, no entry is paid twice, and what answers paid is what the meters paid",
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
        demand: "played back in sequence, every pool, payout and retry is what a single pool would have given",
        judge: pools::play_back,
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
        demand: "every payout that winners were told of has its receipt in the ledger within a minute, and there are no others",
        judge: ledger::receipts_are_the_answers,
    },
];

/// Judges all rules.
#[cfg(test)]
fn all(evidence: &Evidence) -> Vec<Finding> {
    judge(&RULES, evidence)
}

#[cfg(test)]
mod tests {
    use super::{Judged, all, fixture};

    #[test]
    fn an_honest_run_violates_nothing() {
        for line in [
            "",
            "--tiers 3 --contribution 7",
            "--tiers 2 --rate-ppm 12345 --reserve-ppm 333333",
            "--tiers 4 --contribution 4",
        ] {
            for finding in all(&fixture::honest(line)) {
                assert!(matches!(finding.judged, Judged::Held(_)), "{line}: {finding:?}");
            }
        }
    }

    #[test]
    fn a_restart_value_that_hides_takes_is_not_judged_rather_than_misjudged() {
        for finding in all(&fixture::honest("--reserve-ppm 300000 --pool-seed 20")) {
            assert!(!matches!(finding.judged, Judged::Violated(_)), "{finding:?}");
        }
    }
}

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

use crate::finding::{Judged, Rule, rules};
use crate::jackpot::evidence::Evidence;

/// In the order in which a reader understands them best: a violation of an early one explains later ones.
pub const RULES: &[Rule<Evidence>] = rules! {
    "answers" = answers::each_is_its_own:
        "every entry has an answer, which is about that entry";
    "replays" = replays::same_answer:
        "a repeated entry gets the same answer, at the same instant and later, and is made only once";
    "sequences" = order::sequences_are_dense:
        "sequences are unique and dense, 1 to the number of entries";
    "real-time order" = order::sequences_follow_time:
        "an entry answered before another was sent has the lower sequence";
    "draws" = draws::recomputed:
        "every attempt draws the rank that follows from the secret, the table and the ids, under the published commitment";
    "attempts" = draws::attempts_fit:
        "only a refusal leads to a redraw, a rank that refused refuses again, and the last attempt is the outcome";
    "one payout per win" = payouts::one_per_win:
        "payout ids are unique, no entry is paid twice, and answers and meters paid the same amounts";
    "minimum payout" = payouts::amounts_fit:
        "every take of a pool is at least the minimum payout, every fixed prize its exact amount";
    "claim order" = order::claims_are_in_order:
        "paid claims are numbered 1, 2, 3…, and first claims in the order of their entries";
    "pools" = pools::play_back:
        "played back in sequence, every pool, payout and retry is the one of a single pool";
    "must-hit cycles" = cycles::seeds_give_the_triggers:
        "the hidden amount of each cycle is that of the seed whose commitment was public when it began";
    "conservation" = money::conserved:
        "contributions = pool + reserve + overflow + remainder + paid, to the millionth, in every tier";
    "pending" = pending::none_left:
        "no entry is left without an outcome 10 s after the run";
    "ledger" = ledger::receipts_are_the_answers:
        "every payout of an answer has its receipt in the ledger within a minute, and there are no others";
};

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
        for finding in judge(super::RULES, &evidence) {
            assert!(!matches!(finding.judged, Judged::Violated(_)), "{finding:?}");
        }
    }
}

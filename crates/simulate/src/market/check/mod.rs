//! The rules of a market day, each judged from outside.

mod answers;
mod cycles;
mod events;
#[cfg(test)]
mod fixture;
mod ledger;
mod money;
mod moved;
mod stops;

use super::evidence::Evidence;
use crate::finding::{Rule, rules};

/// In the order in which a reader understands them best.
pub const RULES: &[Rule<Evidence>] = rules! {
    "answers" = answers::right:
        "Every play is answered as the contract words it, and a repeat as at first.";
    "sequence" = answers::dense:
        "The entries of each jackpot have the numbers 1, 2, 3… without a hole: each was taken once.";
    "pending" = answers::finished:
        "No entry is left without an outcome.";
    "contributions" = money::contributed:
        "Each tier counts exactly what the rules say of every stake and source.";
    "conservation" = money::conserved:
        "What came into each tier is held, was paid, went back or went on, to the millionth.";
    "payouts" = ledger::receipts:
        "The ledger has exactly the payouts that the answers name, in one order of claims.";
    "must-hit" = cycles::hit:
        "Each cycle is hit by exactly one entry, the first at its trigger, which follows from the published seed.";
    "reversals" = moved::reversed:
        "A cancelled round gives back exactly what its entry contributed.";
    "transfers" = moved::transferred:
        "What a jackpot gave, another one received, and nothing is left behind.";
    "emergency-stop" = stops::nothing_taken:
        "From the answer of a stop to the start no entry is taken.";
    "events-out" = events::delivered:
        "A subscriber gets every event of the ledger, each id once after deduplication, in order, signed, with every entry and payout.";
};

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
use crate::finding::Rule;

/// In the order in which a reader understands them best.
pub const RULES: [Rule<Evidence>; 11] = [
    Rule {
        name: "answers",
        demand: "Every play is answered as the contract words it, and a repeat as at first.",
        judge: |evidence| answers::right(evidence).into(),
    },
    Rule {
        name: "sequence",
        demand: "The entries of each jackpot have the numbers 1, 2, 3… without a hole: each was taken once.",
        judge: |evidence| answers::dense(evidence).into(),
    },
    Rule {
        name: "pending",
        demand: "No entry is left without an outcome.",
        judge: answers::finished,
    },
    Rule {
        name: "contributions",
        demand: "Each tier counts exactly what the rules say of every stake and source.",
        judge: |evidence| money::contributed(evidence).into(),
    },
    Rule {
        name: "conservation",
        demand: "What came into each tier is held, was paid, went back or went on, to the millionth.",
        judge: |evidence| money::conserved(evidence).into(),
    },
    Rule {
        name: "payouts",
        demand: "The ledger has exactly the payouts that the answers name, in one order of claims.",
        judge: ledger::receipts,
    },
    Rule {
        name: "must-hit",
        demand: "Each cycle is hit by exactly one entry, the first at its trigger, which follows from the published seed.",
        judge: cycles::hit,
    },
    Rule {
        name: "reversals",
        demand: "A cancelled round gives back exactly what its entry contributed.",
        judge: |evidence| moved::reversed(evidence).into(),
    },
    Rule {
        name: "transfers",
        demand: "What a jackpot gave, another one received, and nothing is left behind.",
        judge: |evidence| moved::transferred(evidence).into(),
    },
    Rule {
        name: "emergency-stop",
        demand: "From the answer of a stop to the start no entry is taken.",
        judge: stops::nothing_taken,
    },
    Rule {
        name: "events-out",
        demand: "A subscriber gets every event of the ledger, each id once after deduplication, in order, signed, with every entry and payout.",
        judge: events::delivered,
    },
];

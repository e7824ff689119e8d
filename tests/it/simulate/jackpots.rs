//! Runs of a jackpot.

use super::support::Scenario;

/// Its pools must be hit above this amount.
const MUST_HIT: Scenario = Scenario {
    option: "--must-hit-low=50",
    rules: 14,
    shown: &["pools hit by their rule"],
};

#[test]
fn pools_are_hit_by_their_rules_though_the_odds_take_them_too() {
    let line = "--must-hit-high 90 --tiers 2 --min-payout 20 --players 16 --entries 3000 --winners 4 --collisions 2 --odds-ppm 2000";
    let numbers = MUST_HIT.honest(line);
    let count = |name: &str| numbers[name].as_u64().expect("a number");
    assert!(count("hits") > 5 && count("hits") < count("paid_pools"), "{numbers}");
    assert_eq!(count("cycles"), count("paid_pools") + 2, "two are open: {numbers}");
}

#[test]
fn a_rule_that_makes_no_sense_ends_with_2() {
    MUST_HIT.assert_refused(&[
        ("", "--must-hit-high"),
        ("--must-hit-high 50 --min-payout 20", "--must-hit-high 50"),
        ("--must-hit-high 90 --min-payout 51", "--min-payout"),
    ]);
}

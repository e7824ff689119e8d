//! Tests of the parts of the benches that judge. They are here because Cargo runs no tests of a bench.

#[path = "../../benches/collision/score.rs"]
mod score;

use std::time::Duration;

use score::{Approach, Round, Score, Spec, failures, table};

use crate::support::prelude::*;

const SPEC: Spec = Spec {
    winners: 3,
    contributors: 1,
    contributions: 7,
    rounds: 1,
    start: 1_000,
    min_payout: 100,
};
const THEIRS: Approach = Approach {
    name: "theirs",
    how: "it subtracts",
    includes: "bare calls",
    ours: false,
};

fn judged(approach: Approach, paid: &[i64], left: i64) -> Score {
    let round = Round {
        paid_in_order: paid.to_vec(),
        left,
        elapsed: Duration::from_secs(1),
        ..Round::default()
    };
    Score::of(approach, &SPEC, &[round])
}

#[test]
fn only_our_own_mistakes_are_failures() {
    let theirs = judged(THEIRS, &[1_000, 1_000], -990);
    assert!(theirs.is_wrong());
    assert_eq!(failures(std::slice::from_ref(&theirs)), [""; 0]);
    let ours = Approach {
        name: "ours",
        ours: true,
        ..THEIRS
    };
    assert_eq!(failures(&[theirs, judged(ours, &[1_000, 1_000], -990)]), ["ours"]);
    assert_eq!(failures(&[judged(ours, &[1_005], 5)]), [""; 0]);
}

#[test]
fn an_exact_round_is_not_wrong() {
    let score = judged(THEIRS, &[1_005], 5);
    assert!(!score.is_wrong(), "{score:?}");
    assert!((score.entries_per_s - 10.0).abs() < 1e-9);
    table(&SPEC, &[score]).says("| ✓ theirs | 1010 | 1005 | 5 | 0 | 0 of 1 |");
}

#[test]
fn a_pool_that_is_paid_three_times_is_counted_in_full() {
    let score = judged(THEIRS, &[1_000, 1_000, 1_000], -1_990);
    assert_eq!(
        (score.from_nothing, score.uncovered_payouts, score.negative_rounds),
        (1_990, 2, 1)
    );
}

#[test]
fn money_put_back_twice_and_a_payout_below_the_minimum_are_counted() {
    let score = judged(THEIRS, &[1_000, 10], 1_000);
    assert_eq!(
        (score.from_nothing, score.below_minimum, score.uncovered_payouts),
        (1_000, 1, 0)
    );
    assert!(judged(THEIRS, &[1_000], 0).is_wrong(), "ten are lost");
}

#[test]
fn the_contributors_send_all_contributions() {
    let spec = Spec {
        contributors: 7,
        contributions: 100,
        ..SPEC
    };
    assert_eq!((0..7).map(|number| spec.share(number)).sum::<u32>(), 100);
    assert_eq!(spec.connections(), 10);
}

#[test]
fn enough_entries_of_both_kinds_are_found() {
    let rank = |id: &str| u32::from(id.ends_with('7')) + 2 * u32::from(id.ends_with('8'));
    let (winners, contributions) = SPEC.entries(rank);
    assert_eq!(winners, ["e7", "e17", "e27"]);
    assert_eq!(contributions, ["e0", "e1", "e2", "e3", "e4", "e5", "e6"]);
}

//! What the property tests of a jackpot play: definitions, and steps on them.

use proptest::prelude::*;

use jackpot_core::money::MAX_MINOR;

use crate::jackpot::fixture::{rank, tier};
use crate::jackpot::model::Rules;
use crate::support::prelude::*;

/// Operations of a sequence, at most.
const STEPS: usize = 40;

#[derive(Debug, Clone)]
pub enum Step {
    /// One call with entries of (id, rank, stake).
    Enter(Vec<(u8, u32, u64)>),
    Claim(u8, u32),
    Finish(u8),
    Reverse(u8),
    /// Cancels the round of an entry that is not there, with the key of this place in `KEYS`.
    Cancel(u8, usize),
    Adjust(usize, i64),
    /// The other one of two definitions ([`changed`]).
    Define,
    /// Takes so many millionths of what winners of a tier still have back.
    Void(usize, u32),
    Pause,
    Resume,
    Rotate,
    /// One entry of the other jackpot.
    Feed(u64),
    /// Gives tiers of the jackpot, or back: for each whether it goes, and to the tier of which place.
    Give {
        back: bool,
        tiers: [Option<usize>; 2],
    },
    /// What is in transit comes in, the newest first or the oldest.
    Receive {
        newest: bool,
    },
}

/// From this amount on, money that leaves needs two owners.
pub const LIMIT: u64 = 300;

fn stake() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0..2_000_u64, 1 => Just(MAX_MINOR), 1 => MAX_MINOR / 4..=MAX_MINOR]
}

/// Mostly no win, so that there are runs.
fn drawn() -> impl Strategy<Value = u32> {
    prop_oneof![2 => Just(0), 1 => 1..5_u32]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => prop::collection::vec((any::<u8>(), drawn(), stake()), 1..16).prop_map(Step::Enter),
        3 => (any::<u8>(), 1..5_u32).prop_map(|(id, rank)| Step::Claim(id, rank)),
        1 => any::<u8>().prop_map(Step::Finish),
        4 => any::<u8>().prop_map(Step::Reverse),
        3 => (any::<u8>(), 0..2_usize).prop_map(|(id, key)| Step::Cancel(id, key)),
        2 => (0..2_usize, -500..5_000_i64).prop_map(|(tier, amount)| Step::Adjust(tier, amount)),
        2 => Just(Step::Define),
        2 => (0..2_usize, 1..=1_000_000_u32).prop_map(|(tier, part)| Step::Void(tier, part)),
        1 => Just(Step::Pause),
        2 => Just(Step::Resume),
        1 => Just(Step::Rotate),
        3 => stake().prop_map(Step::Feed),
        4 => (any::<bool>(), prop::option::of(0..2_usize), prop::option::of(0..2_usize))
            .prop_map(|(back, first, second)| Step::Give { back, tiers: [first, second] }),
        3 => any::<bool>().prop_map(|newest| Step::Receive { newest }),
    ]
}

fn rules() -> impl Strategy<Value = Rules> {
    let cap = prop::option::of(1..3_000_u128);
    let range = prop::option::of((1..400_u128, 1..400_u128));
    (
        0..=500_000_u128,
        0..=1_000_000_u128,
        0..300_u128,
        0..200_u128,
        cap,
        range,
    )
        .prop_map(|(share_ppm, reserve_ppm, min_payout, seed, cap, range)| {
            let seed = cap.map_or(seed, |cap| seed.min(cap));
            let must_hit = range.map(|(low, width)| {
                let low = low.max(seed).max(min_payout);
                (low, low + width)
            });
            Rules {
                share_ppm,
                reserve_ppm,
                min_payout,
                seed,
                cap: cap.map(|cap| must_hit.map_or(cap, |(_, high)| cap.max(high))),
                must_hit,
            }
        })
}

/// Two tiers whose shares are complete or not, a rate, and the steps.
pub fn case() -> impl Strategy<Value = (Vec<Rules>, u128, Vec<Step>)> {
    let steps = prop::collection::vec(step(), 1..STEPS);
    (rules(), rules(), any::<bool>(), 0..=1_000_000_u128, steps).prop_map(
        |(first, mut second, complete, rate, steps)| {
            if complete {
                second.share_ppm = 1_000_000 - first.share_ppm;
            }
            (vec![first, second], rate, steps)
        },
    )
}

/// Another definition: other minimums, lower caps, a narrower rule of the first tier and none of the second.
pub fn changed(rules: &[Rules]) -> Vec<Rules> {
    let mut changed = rules.to_vec();
    let (first, second) = changed.split_at_mut(1);
    let (first, second) = (&mut first[0], &mut second[0]);
    first.min_payout += 40;
    first.must_hit = first.must_hit.map(|(low, high)| {
        let lower = low.max(first.min_payout);
        (lower, lower + (high - low) / 2 + 1)
    });
    first.cap = first.must_hit.map(|(_, high)| high).or(first.cap);
    first.seed = first.seed.min(first.must_hit.map_or(first.seed, |(low, _)| low));
    (second.min_payout, second.must_hit) = (second.min_payout / 2, None);
    second.cap = Some(second.cap.unwrap_or(600) / 2 + 1);
    second.seed = second.seed.min(second.cap.unwrap_or_default());
    changed
}

/// Keys of games. Only the first may send entries of the source `vip`.
pub const KEYS: [&str; 2] = ["game-1", "game-2"];

/// The change of the fixture's document that has these rules.
/// `turns_clock`: no limit is set, because what counts in 24 hours is not modelled then.
pub fn document_of(rules: &[Rules], rate: u128, turns_clock: bool) -> Value {
    let tiers = rules.iter().zip(["grand", "mini"]).map(|(r, name)| {
        let share = u32::try_from(r.share_ppm).expect("a share");
        let must_hit = r
            .must_hit
            .map(|(low, high)| json!({"amount": {"low": low, "high": high}}));
        let of = json!({"min_payout": r.min_payout, "seed": r.seed, "cap": r.cap, "reserve_ppm": r.reserve_ppm,
            "must_hit_by": must_hit});
        tier(name, share, &serde_json::from_str(&of.to_string()).expect("JSON"))
    });
    let odds = json!({"total": 1000, "ranks": [
        rank(1, &json!({"pool": {"tier": "grand", "take": "all"}})), rank(2, &json!({"pool": {"tier": "mini", "take": "all"}})),
        rank(3, &json!({"pool": {"tier": "grand", "take": {"share_ppm": 333_333}}})),
        rank(4, &json!({"fixed": {"tier": "mini", "amount": 70}}))]});
    let vip_rate = 1_000_000 - rate;
    let mut document = json!({"contribution": {"rate_ppm": rate}, "tiers": tiers.collect::<Vec<_>>(), "odds": odds,
        "sources": {"vip": {"contribution": {"rate_ppm": vip_rate}, "keys": [KEYS[0], "tester"]}, "lobby": {}}});
    if !turns_clock {
        (document["settlement"], document["approval_above"]) = (json!("tracked"), json!(LIMIT));
    }
    document
}

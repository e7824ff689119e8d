//! How the entries of an event are split into the parts of `entry.taken`, and so which `i` its payouts have. Pure.
//!
//! What else a claim tells goes after all payouts of its event, so that their `i` depend on nothing but the parts.
//!
//! The projector signs the `i` in each receipt. So parts follow from lengths that the event alone has: names of tiers, which
//! its definition has, count with their longest length, and numbers too.

use std::ops::Range;

use super::carried::{Carried, CarriedEntry};
use super::event::{Claim, ClaimResult, Entered, Kind};

/// Most bytes of the entries of a part: 60,000 for the whole outgoing event, less its envelope.
const PART_BYTES: usize = 59_000;
/// An entry without its names and contributions: `{"entry_id":"","player_id":"","stake":9007199254740991,"source_id":"",
/// "sequence":9007199254740991,"contributions":[]},`.
const ENTRY_BYTES: usize = 140;
/// A contribution with the longest name of a tier: `{"tier":"","amount":9007199254740991,"pool":9007199254740991},`.
const CONTRIBUTION_BYTES: usize = 64 + 70;

/// The places of the entries of each part.
pub fn parts(entries: &[Entered]) -> Vec<Range<usize>> {
    split(entries.iter().map(|entry| {
        let source = entry.sent.source.as_ref().map_or(0, |source| source.as_str().len());
        let names = entry.entry_id.len() + entry.sent.player.as_str().len() + source;
        ENTRY_BYTES + names + entry.contributions.len() * CONTRIBUTION_BYTES
    }))
}

/// The same for the entries of a skipped event. What was sent has all their names.
pub fn carried_parts(entries: &[CarriedEntry]) -> Vec<Range<usize>> {
    split(
        entries
            .iter()
            .map(|entry| ENTRY_BYTES + entry.entry_id.len() + entry.sent.len()),
    )
}

/// The `i` of the first payout of an event. The others follow.
pub fn first_payout(kind: &Kind) -> u64 {
    let parts = match kind {
        Kind::Enter(enter) if enter.claims.iter().any(is_paid) => parts(&enter.call.entries).len(),
        Kind::Skipped(skipped) => carried_parts(&skipped.carried.entries).len(),
        _ => 0,
    };
    parts as u64
}

/// The orders of the claims that an event paid with a receipt, ascending.
pub fn paid(kind: &Kind) -> Vec<u64> {
    let order = |claim: &Claim| match claim.result {
        ClaimResult::Paid { claim_order, .. } => Some(claim_order),
        _ => None,
    };
    match kind {
        Kind::Skipped(skipped) => carried_paid(&skipped.carried),
        _ => kind.claims().iter().filter_map(order).collect(),
    }
}

/// A carried payout has a receipt only if all of it could be read.
fn carried_paid(carried: &Carried) -> Vec<u64> {
    let whole = carried.paid.iter();
    let whole = whole.filter(|paid| paid.player_id.is_some() && paid.pool_before.is_some());
    whole.map(|paid| paid.claim_order).collect()
}

fn is_paid(claim: &Claim) -> bool {
    matches!(claim.result, ClaimResult::Paid { .. })
}

fn split(sizes: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let (mut all, mut begin, mut end, mut sum) = (Vec::new(), 0, 0, 0);
    for size in sizes {
        if sum + size > PART_BYTES && end > begin {
            all.push(begin..end);
            (begin, sum) = (end, 0);
        }
        (end, sum) = (end + 1, sum + size);
    }
    if end > begin {
        all.push(begin..end);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_dense_and_none_is_too_large() {
        assert!(split(std::iter::empty()).is_empty());
        assert_eq!(split(std::iter::once(70_000)), vec![0..1]);
        assert_eq!(split([59_000, 1].into_iter()), vec![0..1, 1..2]);
        let sizes: Vec<usize> = (0..10_000).map(|i| 200 + i % 9_000).collect();
        let parts = split(sizes.iter().copied());
        assert_eq!(parts.first().map(|part| part.start), Some(0));
        assert_eq!(parts.last().map(|part| part.end), Some(sizes.len()));
        assert!(parts.windows(2).all(|two| two[0].end == two[1].start));
        assert!(
            parts
                .into_iter()
                .all(|part| sizes[part].iter().sum::<usize>() <= PART_BYTES)
        );
    }
}

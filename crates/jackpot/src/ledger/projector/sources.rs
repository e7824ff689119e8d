//! Writes what sources brought and won, in the transaction of their events.

use std::collections::BTreeMap;

use super::Jackpots;
use super::write::all;
use crate::ledger::postings::moved_for;
use crate::ledger::sources::OfTier;
use jackpot_kernel::ledger::projector::batch::Batch;
use jackpot_kernel::sql::{Tx, cells, insert, upsert};

/// The row of a source that counts its entries: no tier has this name.
pub const ALL_TIERS: &str = "";

/// Millionths of a minor unit.
const MICRO: i128 = 1_000_000;

/// Writes all of them.
pub(super) async fn write(tx: &mut Tx<'_>, batches: &[&Batch<Jackpots>]) -> Result<(), sqlx::Error> {
    if batches.iter().all(|batch| batch.rows.sources.is_empty()) {
        return Ok(());
    }
    meters(tx, batches).await?;
    postings(tx, batches).await?;
    payouts(tx, batches).await
}

async fn meters(tx: &mut Tx<'_>, batches: &[&Batch<Jackpots>]) -> Result<(), sqlx::Error> {
    const ADD: &str = "(jackpot_id, source_id, tier) DO UPDATE SET entries = source_meters.entries + excluded.entries, \
                       contributed = source_meters.contributed + excluded.contributed \
                       + (source_meters.contributed_micro + excluded.contributed_micro) / 1000000, \
                       contributed_micro = (source_meters.contributed_micro + excluded.contributed_micro) % 1000000, \
                       paid = source_meters.paid + excluded.paid, payouts = source_meters.payouts + excluded.payouts";
    // No two rows of a statement may have the same key.
    let mut sums = BTreeMap::<(&str, &str, &str), (i64, OfTier)>::new();
    for batch in batches {
        for (_, _, source, moved) in &batch.rows.sources {
            let (jackpot, source) = (batch.id.as_str(), source.as_str());
            sums.entry((jackpot, source, ALL_TIERS)).or_default().0 += moved.entries;
            for (tier, of) in &moved.tiers {
                let sum = &mut sums.entry((jackpot, source, tier.as_str())).or_default().1;
                sum.contributed_micro += of.contributed_micro;
                sum.paid += of.paid;
                sum.payouts += of.payouts;
            }
        }
    }
    let whole = |micro: i128| i64::try_from(micro).expect("the contributions of some events are below 2^63");
    let rows = sums.into_iter().map(|((jackpot, source, tier), (entries, of))| {
        cells! {
            jackpot_id: jackpot,
            source_id: source,
            tier: tier,
            entries: entries,
            contributed: whole(of.contributed_micro / MICRO),
            contributed_micro: whole(of.contributed_micro % MICRO),
            paid: of.paid,
            payouts: of.payouts,
        }
    });
    upsert(tx, "source_meters", ADD, rows).await
}

async fn postings(tx: &mut Tx<'_>, batches: &[&Batch<Jackpots>]) -> Result<(), sqlx::Error> {
    let rows = all(batches, |rows| &rows.sources);
    let rows: Vec<_> = rows
        .map(|(jackpot, (n, at_ms, source, moved))| (jackpot, *n, *at_ms, source, moved_for(moved)))
        .collect();
    let rows = rows.iter().map(|(jackpot, n, at_ms, source, moved)| {
        cells! { jackpot_id: *jackpot, source_id: *source, at_ms: *at_ms, n: *n, moved: moved }
    });
    insert(tx, "source_postings", rows).await
}

async fn payouts(tx: &mut Tx<'_>, batches: &[&Batch<Jackpots>]) -> Result<(), sqlx::Error> {
    let rows = all(batches, |rows| &rows.payouts).filter_map(|(jackpot, row)| {
        let (source, receipt) = (row.source_id.as_ref()?, &row.receipt);
        Some(cells! {
            payout_id: &receipt.payout_id,
            source_id: source,
            jackpot_id: jackpot,
            paid_at_ms: row.paid_at_ms,
            claim_order: receipt.claim_order,
            player_id: &receipt.player_id,
            tier: &receipt.tier,
            amount: receipt.amount.get(),
        })
    });
    insert(tx, "source_payouts", rows).await
}

//! Makes the rows of a jackpot's events. Pure but for the signatures.

use std::collections::BTreeMap;

use jackpot_core::ids::{Id, PersonId};
use jackpot_core::jackpot::derived::payout_id;
use jackpot_core::jackpot::record::Sent;
use jackpot_core::jackpot::settlement::{State, Step};
use jackpot_core::money::Minor;
use jackpot_core::receipt::{UnsignedReceipt, UnsignedVoid};

use super::Jackpots;
use super::daily::paid_in;
use super::index::{carried_entry_rows, entry_rows};
use super::rows::{CouponRow, PayoutRow, SettledRow, StepRow};
use crate::ledger::audit;
use crate::ledger::books::{Books, Pending};
use crate::ledger::carried::{Carried, CarriedPayout};
use crate::ledger::event::{Claim, ClaimResult, Enter, Event, Kind, PayoutStep};
use crate::ledger::facts::Fact;
use crate::ledger::parts;
use crate::ledger::postings::moved;
use crate::ledger::report::compare;
use crate::ledger::sides;
use crate::ledger::sources::{self, BySource};
use crate::ledger::steps;
use jackpot_kernel::ledger::events::FoldError;
use jackpot_kernel::ledger::projector::batch::{self, Raw, Stop};

type Batch = batch::Batch<Jackpots>;
type Start<'a> = batch::Start<'a, Jackpots>;

/// Reads an event, applies it, and adds its rows.
pub(super) fn take(batch: &mut Batch, start: &Start<'_>, raw: &Raw) -> Result<(), Stop> {
    let event = Event::parse(&raw.fields)?;
    let before = Before::of(&event, &batch.books);
    if batch.rows.in_step {
        let pools = || steps::text(&steps::pools(&batch.books));
        batch
            .rows
            .steps
            .follow(batch.books.n, batch.books.at_ms, event.at_ms, pools);
    }
    batch.books.apply(&event)?;
    if let Some(books) = &before.books {
        let put = batch.definitions.last().map(|row| row.json.as_str());
        let last = put.unwrap_or(&start.tables.last_definition);
        let action = audit::action(start.id, &event, &raw.fields, books, &batch.books, last);
        batch
            .actions
            .extend(action.map(|action| (event.n, event.at_ms, action)));
    }
    batch.moved = moved(&event.changes);
    batch.rows.cycles.follow(event.n, event.at_ms, &event.cycles);
    if let Some(runs) = &mut batch.rows.daily {
        runs.follow(&event);
    }
    let n = event.n;
    batch.rows.moves.follow(&event, &raw.fields);
    details(batch, start, before, event)?;
    paid_in(batch, n);
    Ok(())
}

/// The last event in the index of entries after the commit. If nothing waits for the index, its cursor moves with
/// the batch.
pub(super) fn indexed_to(batch: &Batch) -> u64 {
    let nothing_waits = batch.rows.indexed_n == batch.from.n && batch.rows.index.is_empty();
    if nothing_waits || !batch.rows.index_entries {
        batch.to.n
    } else {
        batch.rows.indexed_n
    }
}

/// The books are at the event already.
fn details(batch: &mut Batch, start: &Start<'_>, before: Before, event: Event) -> Result<(), Stop> {
    let (n, at_ms) = (event.n, event.at_ms);
    batch.rows.first_payout = parts::first_payout(&event.kind);
    let Before { books, pending, tiers } = before;
    for fact in event.into_facts() {
        match fact {
            Fact::Taken(enter) => {
                if let Some(tiers) = &tiers {
                    moved_for_sources(batch, &enter, tiers)?;
                }
                entered(batch, start, enter)?;
            }
            Fact::Claimed { entry_id, claim } => {
                if let Some(pending) = &pending {
                    claimed(batch, start, entry_id, pending, &claim)?;
                }
            }
            Fact::Finished { sequence, .. } => {
                if let Some(pending) = &pending {
                    settle(batch, start, pending, sequence, 0);
                }
            }
            Fact::Defined { version, json, .. } => batch.define(version, n, at_ms, json),
            Fact::Dropped(version) => batch.rows.dropped_versions.push(version),
            Fact::EpochClosed { epoch, at_ms } => batch.rows.closed_epochs.push((epoch, n, at_ms)),
            Fact::EpochOpened { epoch, opening, at_ms } => batch.rows.epochs.push((epoch, opening, at_ms)),
            Fact::Recorded { name, content, at_ms } => batch.rows.adjustments.push((name, n, at_ms, content)),
            Fact::Given { give, at_ms } => {
                let before_it = batch.rows.given.iter().rev().take_while(|(of, ..)| *of == n);
                let place = before_it.count() as u64;
                batch.rows.given.push((n, place, at_ms, give));
            }
            Fact::Received {
                from,
                transfer_id,
                at_ms,
                ..
            } => batch.rows.received.push((at_ms, from, transfer_id)),
            Fact::Stepped { step, is_carried } => stepped(batch, start, step, is_carried)?,
            Fact::Held(redis) => {
                let report = compare(&sides::of_checkpoint(&redis), &sides::of_books(&batch.books));
                batch.report = Some((n, at_ms, report));
            }
            Fact::Skipped(rest) => {
                let pending = books.as_ref().map(|books| &books.pending);
                carried(batch, start, *rest, pending)?;
            }
            Fact::Changed(_) | Fact::Adjusted(_) | Fact::Reversed(_) | Fact::Restored(_) | Fact::Operated => {}
        }
    }
    Ok(())
}

/// Adds the rows of what a pending entry won, if it won.
fn claimed(
    batch: &mut Batch,
    start: &Start<'_>,
    entry_id: String,
    pending: &Pending,
    claim: &Claim,
) -> Result<(), Stop> {
    paid(
        batch,
        start,
        &entry_id,
        &pending.player_id,
        pending.source_id.as_ref(),
        claim,
    )?;
    if let Some(source) = &pending.source_id {
        let mut all = BySource::new();
        sources::paid(&mut all, source, claim);
        source_rows(batch, all);
    }
    issued(batch, entry_id, &pending.player_id, claim);
    if claim.result.is_won() {
        settle(batch, start, pending, claim.sequence, claim.rank);
    }
    Ok(())
}

/// Adds the rows of a skipped event.
fn carried(
    batch: &mut Batch,
    start: &Start<'_>,
    carried: Carried,
    pending: Option<&BTreeMap<u64, Pending>>,
) -> Result<(), Stop> {
    let (n, at_ms) = (batch.books.n, batch.books.at_ms);
    let mut all = BySource::new();
    for paid in carried.paid {
        let sent = carried.entries.iter().find(|entry| entry.sequence == paid.sequence);
        let sent = sent.and_then(|entry| Sent::parse(&entry.sent)?.source);
        let source = sent.or_else(|| pending?.get(&paid.sequence)?.source_id.clone());
        carried_payout(batch, start, paid, source.as_ref(), &mut all)?;
    }
    source_rows(batch, all);
    batch
        .rows
        .coupons
        .extend(carried.units.into_iter().map(|unit| CouponRow {
            sequence: unit.sequence,
            n,
            entry_id: unit.entry_id,
            player_id: unit.player_id,
            rank: unit.rank,
            coupon_id: unit.coupon_id,
            coupon_sequence: unit.coupon_sequence,
            code: unit.code,
            issued_at_ms: at_ms,
        }));
    if start.with.index_entries {
        let (epoch, version) = (batch.books.epoch, batch.books.version);
        let rows = carried_entry_rows(n, at_ms, epoch, version, &carried.entries);
        batch.rows.index.entries.extend(rows);
    }
    Ok(())
}

fn carried_payout(
    batch: &mut Batch,
    start: &Start<'_>,
    payout: CarriedPayout,
    source: Option<&Id>,
    all: &mut BySource,
) -> Result<(), Stop> {
    let (Some(player_id), Some(pool_before)) = (payout.player_id, payout.pool_before) else {
        return Ok(());
    };
    let claim = Claim {
        sequence: payout.sequence,
        attempt: 0,
        rank: payout.rank,
        result: ClaimResult::Paid {
            tier: payout.tier,
            amount: payout.amount,
            claim_order: payout.claim_order,
            pool_before,
        },
    };
    if let Some(source) = source {
        sources::paid(all, source, &claim);
    }
    paid(batch, start, &payout.entry_id, &player_id, source, &claim)
}

/// Adds what a call moved for sources. `before`: the tiers of the definition in force before it.
fn moved_for_sources(batch: &mut Batch, enter: &Enter, before: &[Id]) -> Result<(), Stop> {
    let n = batch.books.n;
    let after = sources::tiers(&batch.books.terms);
    let moved = sources::of_call(enter, before, &after);
    let moved = moved.ok_or_else(|| wrong(n, "amounts of other tiers than its definition has"))?;
    source_rows(batch, moved);
    Ok(())
}

fn source_rows(batch: &mut Batch, all: BySource) {
    let (n, at_ms) = (batch.books.n, batch.books.at_ms);
    let rows = all.into_iter().map(|(source, moved)| (n, at_ms, source, moved));
    batch.rows.sources.extend(rows);
}

fn entered(batch: &mut Batch, start: &Start<'_>, enter: Enter) -> Result<(), Stop> {
    let (n, at_ms) = (batch.books.n, batch.books.at_ms);
    for claim in &enter.claims {
        if let Some((_, entry)) = enter.call.entry(claim.sequence) {
            let (player, source) = (&entry.sent.player, entry.sent.source.as_ref());
            paid(batch, start, &entry.entry_id, player, source, claim)?;
        }
    }
    if start.with.index_entries {
        batch.rows.index.entries.extend(entry_rows(n, at_ms, enter));
    }
    Ok(())
}

fn paid(
    batch: &mut Batch,
    start: &Start<'_>,
    entry_id: &str,
    player_id: &PersonId,
    source_id: Option<&Id>,
    claim: &Claim,
) -> Result<(), Stop> {
    let (n, at_ms) = (batch.books.n, batch.books.at_ms);
    let ClaimResult::Paid {
        tier,
        amount,
        claim_order,
        pool_before,
    } = &claim.result
    else {
        return Ok(());
    };
    let minor = |amount: u64| Minor::try_from(amount).map_err(|_| wrong(n, "an amount beyond 2^53 - 1"));
    let after = pool_before.checked_sub(*amount);
    let after = after.ok_or_else(|| wrong(n, "more is paid than was in the pool"))?;
    let before_it = batch.rows.payouts.last().filter(|last| last.n == n);
    let i = before_it.map_or(batch.rows.first_payout, |last| last.i + 1);
    let history = batch.books.history.clone();
    let receipt = UnsignedReceipt {
        payout_id: payout_id(start.id, &history, entry_id, claim.sequence),
        jackpot_id: start.id.clone(),
        entry_id: entry_id.to_owned(),
        player_id: player_id.clone(),
        tier: tier.clone(),
        amount: minor(*amount)?,
        currency: batch
            .books
            .currency
            .ok_or_else(|| wrong(n, "a payout before a definition"))?,
        claim_order: *claim_order,
        pool_before: minor(*pool_before)?,
        pool_after: minor(after)?,
        paid_at_ms: at_ms,
        history,
        n,
        i,
    }
    .sign(start.with.key);
    batch.rows.payouts.push(PayoutRow {
        receipt,
        n,
        i,
        sequence: claim.sequence,
        rank: claim.rank,
        paid_at_ms: at_ms,
        source_id: source_id.cloned(),
        state: State::at_claim(&batch.books.settlement_terms(), *amount),
    });
    Ok(())
}

/// Adds the row of a step, and signs the receipt of a void.
fn stepped(batch: &mut Batch, start: &Start<'_>, step: Box<PayoutStep>, is_carried: bool) -> Result<(), Stop> {
    let (n, at_ms) = (batch.books.n, batch.books.at_ms);
    let void_receipt = if step.step == Step::Void {
        let amount = Minor::try_from(step.amount).map_err(|_| wrong(n, "an amount beyond 2^53 - 1"))?;
        let unsigned = UnsignedVoid {
            payout_id: step.payout_id.clone(),
            jackpot_id: start.id.clone(),
            tier: step.tier.clone(),
            amount,
            voided_at_ms: at_ms,
        };
        Some(unsigned.sign(start.with.key))
    } else {
        None
    };
    batch.rows.payout_steps.push(StepRow {
        n,
        at_ms,
        step,
        is_carried,
        void_receipt,
    });
    Ok(())
}

fn issued(batch: &mut Batch, entry_id: String, player_id: &PersonId, claim: &Claim) {
    let (n, at_ms) = (batch.books.n, batch.books.at_ms);
    if let ClaimResult::Issued {
        coupon_id,
        sequence,
        code,
    } = &claim.result
    {
        batch.rows.coupons.push(CouponRow {
            sequence: claim.sequence,
            n,
            entry_id,
            player_id: player_id.clone(),
            rank: claim.rank,
            coupon_id: coupon_id.clone(),
            coupon_sequence: *sequence,
            code: code.clone(),
            issued_at_ms: at_ms,
        });
    }
}

fn settle(batch: &mut Batch, start: &Start<'_>, pending: &Pending, sequence: u64, rank: u32) {
    if start.with.index_entries {
        batch.rows.index.settled.push(SettledRow {
            player_id: pending.player_id.clone(),
            entered_ms: pending.entered_ms,
            sequence,
            rank,
        });
    }
}

/// The books before an event, as far as its rows need them.
struct Before {
    /// The whole books, for an operator's action.
    books: Option<Books>,
    /// The entry that a redraw settles.
    pending: Option<Pending>,
    /// The tiers of the definition in force, for a call whose entries name sources.
    tiers: Option<Vec<Id>>,
}

impl Before {
    fn of(event: &Event, books: &Books) -> Self {
        let (operated, sequence) = match &event.kind {
            Kind::Claim { claim, .. } => (false, Some(claim.sequence)),
            Kind::Finish { sequence, .. } => (false, Some(*sequence)),
            Kind::Enter(_) | Kind::Checkpoint(_) | Kind::Retention { .. } => (false, None),
            _ => (true, None),
        };
        Self {
            books: operated.then(|| books.clone()),
            pending: sequence.and_then(|sequence| books.pending.get(&sequence).cloned()),
            tiers: match &event.kind {
                Kind::Enter(enter) if sources::names_any(enter) => Some(sources::tiers(&books.terms)),
                _ => None,
            },
        }
    }
}

fn wrong(n: u64, what: &'static str) -> Stop {
    Stop::Fold(FoldError::Unexpected { n, what })
}

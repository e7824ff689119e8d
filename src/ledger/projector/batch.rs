//! Events of one jackpot, checked and turned into the rows of one transaction. Pure but for the signatures.

use thiserror::Error;

use super::index::entry_rows;
use super::rows::{CouponRow, EventRow, PayoutRow, Rows, SettledRow};
pub use super::rows::{Cursor, Raw};
use crate::ids::Id;
use crate::jackpot::derived::payout_id;
use crate::ledger::audit;
use crate::ledger::books::{Books, FoldError, Pending};
use crate::ledger::chain;
use crate::ledger::event::{Claim, ClaimResult, Entered, Event, Kind, Unreadable};
use crate::ledger::postings::postings;
use crate::ledger::receipt::{Receipt, UnsignedReceipt};
use crate::ledger::reconcile::report::compare;
use crate::ledger::reconcile::sides;
use crate::money::Minor;

/// Why an event can't be applied.
#[derive(Debug, Error)]
pub enum Stop {
    /// No script of ours wrote it.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// It does not follow from those before it.
    #[error(transparent)]
    Fold(#[from] FoldError),
}

/// Events in one piece, ready to be committed.
#[derive(Debug)]
pub struct Batch {
    /// Of which jackpot.
    pub jackpot: Id,
    /// Where it begins: the cursor that must still stand.
    pub from: Cursor,
    /// Where it ends.
    pub to: Cursor,
    /// The books at its end.
    pub books: Books,
    /// The definition put last, JSON.
    pub last_definition: String,
    /// The last event that the index of entries has.
    pub indexed_n: u64,
    /// The same, once it is committed.
    pub indexed_to: u64,
    /// Its rows.
    pub rows: Rows,
    /// Why it ends before the last event that was given.
    pub stop: Option<Stop>,
}

/// Where a batch begins, and what it needs.
pub struct Start<'a> {
    /// The jackpot.
    pub jackpot: &'a Id,
    /// The last event committed.
    pub cursor: &'a Cursor,
    /// The books there.
    pub books: &'a Books,
    /// The definition put last, JSON.
    pub last_definition: &'a str,
    /// The last event that the index of entries has.
    pub indexed_n: u64,
    /// Whether entries are indexed.
    pub index_entries: bool,
    /// Signs receipts.
    pub sign: &'a dyn Fn(UnsignedReceipt) -> Receipt,
}

impl Batch {
    /// Takes events until one can't be applied. Those before it stand.
    #[must_use]
    pub fn build(start: &Start<'_>, events: &[Raw]) -> Self {
        let mut batch = Self {
            jackpot: start.jackpot.clone(),
            from: start.cursor.clone(),
            to: start.cursor.clone(),
            books: start.books.clone(),
            last_definition: start.last_definition.to_owned(),
            indexed_n: start.indexed_n,
            indexed_to: start.indexed_n,
            rows: Rows::default(),
            stop: None,
        };
        for (i, raw) in events.iter().enumerate() {
            if let Err(stop) = batch.add(start, raw) {
                // The books are of no use after an error: once more, without the event that made it, and without the
                // first half of what it would have completed: a restore from half a batch could not answer its repeat.
                let mut whole = Self::build(start, &events[..i]);
                if i > 0 && whole.books.half_batch.is_some() {
                    whole = Self::build(start, &events[..i - 1]);
                }
                return Self {
                    stop: Some(stop),
                    ..whole
                };
            }
        }
        // Where nothing waits for the index, its cursor goes along.
        let nothing_waits = batch.indexed_n == batch.from.n && batch.rows.index.is_empty();
        if nothing_waits || !start.index_entries {
            batch.indexed_to = batch.to.n;
        }
        batch
    }

    fn add(&mut self, start: &Start<'_>, raw: &Raw) -> Result<(), Stop> {
        let event = Event::parse(&raw.fields)?;
        let before = Before::of(&event, &self.books);
        self.books.apply(&event)?;
        let body = chain::body(&raw.fields);
        self.to = Cursor {
            n: event.n,
            hash: self.to.hash.next(&body),
            stream_id: raw.stream_id.clone(),
        };
        if let Some(books) = &before.books {
            let (books, last) = ((books, &self.books), self.last_definition.as_str());
            let action = audit::action(start.jackpot, &event, &raw.fields, books, last);
            self.rows
                .actions
                .extend(action.map(|action| (event.n, event.at_ms, action)));
        }
        let lines = postings(&event).into_iter().enumerate();
        self.rows
            .postings
            .extend(lines.map(|(line, posting)| (event.n, event.at_ms, line, posting)));
        self.rows.events.push(EventRow {
            cursor: self.to.clone(),
            at_ms: event.at_ms,
            kind: raw.fields.get("type").cloned().unwrap_or_default(),
            last_sequence: self.books.sequence,
            body,
        });
        self.details(start, before.pending, event)
    }

    fn details(&mut self, start: &Start<'_>, pending: Option<Pending>, event: Event) -> Result<(), Stop> {
        let (n, at_ms) = (event.n, event.at_ms);
        match event.kind {
            Kind::Define(define) => {
                if let Some((_, commitment)) = define.created {
                    self.rows.epochs.push((1, commitment, at_ms));
                }
                self.rows.dropped_versions.extend(define.superseded);
                self.last_definition.clone_from(&define.json);
                self.rows.definitions.push((define.version, n, at_ms, define.json));
            }
            Kind::Enter {
                epoch,
                version,
                first,
                entries,
                claims,
                ..
            } => self.entered(start, (n, at_ms), (epoch, version, first), entries, &claims)?,
            Kind::Claim { entry_id, claim } => {
                if let Some(pending) = pending {
                    self.paid(start, (n, at_ms), &entry_id, &pending.player_id, &claim)?;
                    self.issued(at_ms, n, entry_id, &pending.player_id, &claim);
                    if claim.result.is_won() {
                        self.settle(start, pending, claim.sequence, claim.rank);
                    }
                }
            }
            Kind::Finish { sequence, .. } => {
                if let Some(pending) = pending {
                    self.settle(start, pending, sequence, 0);
                }
            }
            Kind::Adjust { adjustment_id, digest } => {
                self.rows
                    .adjustments
                    .push((adjustment_id.to_string(), n, at_ms, digest));
            }
            Kind::Rotate {
                epoch,
                commitment,
                pruned,
                ..
            } => {
                self.rows.closed_epochs.push((epoch - 1, n, at_ms));
                self.rows.epochs.push((epoch, commitment, at_ms));
                self.rows.dropped_versions.extend(pruned);
            }
            Kind::Checkpoint(redis) => {
                let report = compare(&sides::of_checkpoint(&redis), &sides::of_books(&self.books));
                self.rows.report = Some((n, at_ms, report));
            }
            Kind::Status { .. } | Kind::Restore { .. } => {}
        }
        Ok(())
    }

    fn entered(
        &mut self,
        start: &Start<'_>,
        (n, at_ms): (u64, i64),
        (epoch, version, first): (u64, u64, u64),
        entries: Vec<Entered>,
        claims: &[Claim],
    ) -> Result<(), Stop> {
        for claim in claims {
            let place = usize::try_from(claim.sequence - first).ok();
            if let Some(entry) = place.and_then(|place| entries.get(place)) {
                self.paid(start, (n, at_ms), &entry.entry_id, &entry.sent.player, claim)?;
            }
        }
        if start.index_entries {
            let rows = entry_rows((n, at_ms), (epoch, version, first), entries, claims);
            self.rows.index.entries.extend(rows);
        }
        Ok(())
    }

    fn paid(
        &mut self,
        start: &Start<'_>,
        (n, at_ms): (u64, i64),
        entry_id: &str,
        player_id: &Id,
        claim: &Claim,
    ) -> Result<(), Stop> {
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
        let receipt = (start.sign)(UnsignedReceipt {
            payout_id: payout_id(start.jackpot, entry_id, claim.sequence),
            jackpot_id: start.jackpot.clone(),
            entry_id: entry_id.to_owned(),
            player_id: player_id.clone(),
            tier: tier.clone(),
            amount: minor(*amount)?,
            currency: self.books.currency.clone(),
            claim_order: *claim_order,
            pool_before: minor(*pool_before)?,
            pool_after: minor(after)?,
            paid_at_ms: at_ms,
            n,
        });
        self.rows.payouts.push(PayoutRow {
            receipt,
            n,
            sequence: claim.sequence,
            rank: claim.rank,
            paid_at_ms: at_ms,
        });
        Ok(())
    }

    fn issued(&mut self, at_ms: i64, n: u64, entry_id: String, player_id: &Id, claim: &Claim) {
        if let ClaimResult::Issued {
            coupon_id,
            sequence,
            code,
        } = &claim.result
        {
            self.rows.coupons.push(CouponRow {
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

    fn settle(&mut self, start: &Start<'_>, pending: Pending, sequence: u64, rank: u32) {
        if start.index_entries {
            self.rows.index.settled.push(SettledRow {
                player_id: pending.player_id,
                entered_ms: pending.entered_ms,
                sequence,
                rank,
            });
        }
    }
}

/// What the books said before an event, as far as its rows need it.
struct Before {
    /// All of it, for what an operator did.
    books: Option<Books>,
    /// The entry that a redraw settles.
    pending: Option<Pending>,
}

impl Before {
    fn of(event: &Event, books: &Books) -> Self {
        let (operated, sequence) = match &event.kind {
            Kind::Claim { claim, .. } => (false, Some(claim.sequence)),
            Kind::Finish { sequence, .. } => (false, Some(*sequence)),
            Kind::Enter { .. } | Kind::Checkpoint(_) => (false, None),
            _ => (true, None),
        };
        Self {
            books: operated.then(|| books.clone()),
            pending: sequence.and_then(|sequence| books.pending.get(&sequence).cloned()),
        }
    }
}

fn wrong(n: u64, what: &'static str) -> Stop {
    Stop::Fold(FoldError::Unexpected { n, what })
}

//! What entries and their claims change in the books.

use jackpot_core::ids::Id;
use serde::{Deserialize, Serialize};

use super::{Books, Pending};
use crate::jackpot::ledger::event::{Batch, Claim, ClaimResult, Entered, Event, Kind};
use crate::ledger::events::{FoldError, expect};

/// The first segment of a batch, behind which a waiting definition came into force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HalfBatch {
    /// Which batch.
    pub batch_id: Id,
    /// Sequence of its first entry.
    pub first: u64,
    /// Index of the first entry of the second segment.
    pub next: u64,
}

impl Books {
    /// A batch is never left half: both its segments come from one call.
    pub(super) fn go_on_with_batch(&mut self, event: &Event) -> Result<(), FoldError> {
        let batch = match &event.kind {
            Kind::Enter { batch, .. } => batch.as_ref(),
            _ => None,
        };
        match (self.half_batch.take(), batch) {
            (None, None) => Ok(()),
            (None, Some(batch)) => expect(
                self.n,
                batch.from == 1,
                "a batch that does not begin with its first entry",
            ),
            (Some(half), Some(batch)) if batch.batch_id == half.batch_id && batch.from == half.next => {
                expect(self.n, batch.record.is_some(), "a batch has more than two segments")?;
                self.half_batch = Some(half);
                Ok(())
            }
            (Some(_), _) => expect(self.n, false, "the rest of a batch is missing in front of it"),
        }
    }

    pub(super) fn enter(&mut self, event: &Event) -> Result<(), FoldError> {
        let Kind::Enter {
            epoch,
            version,
            first,
            entries,
            claims,
            batch,
            of_call,
        } = &event.kind
        else {
            return Ok(());
        };
        expect(self.n, *epoch == self.epoch, "its epoch is not the open one")?;
        expect(
            self.n,
            *version == self.version,
            "its definition is not the one in force",
        )?;
        expect(
            self.n,
            *first == self.sequence + 1,
            "its first sequence is not the next one",
        )?;
        self.sequence += entries.len() as u64;
        self.records.entries += match batch {
            // Of a batch those that drew a prize have a record, and the batch.
            Some(batch) => {
                let drew = claims.chunk_by(|a, b| a.sequence == b.sequence).count() as u64;
                drew + u64::from(batch.record.is_some())
            }
            None => entries.len() as u64,
        };
        self.records.calls += u64::from(*of_call);
        let retries = |claim: &Claim| matches!(claim.result, ClaimResult::Retry { .. });
        let mut last: Option<&Claim> = None;
        for claim in claims {
            match last.filter(|last| last.sequence == claim.sequence) {
                None => self.first_claim(event.at_ms, (*first, entries), last, claim)?,
                Some(last) => {
                    // The last attempt, when it is refused, is the one that ends it too.
                    let ends = claim.result == ClaimResult::Ended && last.attempt == claim.attempt;
                    let goes_on = retries(last) && (last.attempt < claim.attempt || ends);
                    expect(self.n, batch.is_some(), "an entry makes two first claims")?;
                    expect(self.n, goes_on, "an entry goes on behind its last claim")?;
                }
            }
            self.claim(claim)?;
            last = Some(claim);
        }
        let mut chains = claims.chunk_by(|a, b| a.sequence == b.sequence);
        let open = batch.is_some() && chains.any(|chain| chain.last().is_some_and(retries));
        expect(
            self.n,
            !open,
            "an entry of a batch is left in the middle of its attempts",
        )?;
        match batch {
            Some(batch) => self.end_of_segment(event, batch, *first, entries.len() as u64),
            None => Ok(()),
        }
    }

    fn first_claim(
        &mut self,
        at_ms: i64,
        (first, entries): (u64, &[Entered]),
        last: Option<&Claim>,
        claim: &Claim,
    ) -> Result<(), FoldError> {
        let in_order = last.is_none_or(|last| last.sequence < claim.sequence);
        expect(self.n, in_order, "a claim comes after those of later entries")?;
        let begins = claim.attempt == 0 && claim.result != ClaimResult::Ended;
        expect(
            self.n,
            begins,
            "an entry begins with another claim than that of attempt 0",
        )?;
        let place = claim.sequence.checked_sub(first);
        let entry = place.and_then(|place| entries.get(usize::try_from(place).ok()?));
        let entry = entry.ok_or(FoldError::Unexpected {
            n: self.n,
            what: "a claim of an entry it did not take",
        })?;
        let pending = Pending {
            entry_id: entry.entry_id.clone(),
            player_id: entry.sent.player.clone(),
            epoch: self.epoch,
            entered_ms: at_ms,
        };
        self.pending.insert(claim.sequence, pending);
        Ok(())
    }

    pub(super) fn claim(&mut self, claim: &Claim) -> Result<(), FoldError> {
        match &claim.result {
            ClaimResult::Paid { claim_order, .. } => {
                self.claim_order += 1;
                expect(
                    self.n,
                    *claim_order == self.claim_order,
                    "its claim order is not the next one",
                )?;
                self.pending.remove(&claim.sequence);
            }
            ClaimResult::Ended | ClaimResult::Issued { .. } => drop(self.pending.remove(&claim.sequence)),
            ClaimResult::Retry { .. } | ClaimResult::Refused { .. } | ClaimResult::Later => {}
        }
        Ok(())
    }

    pub(super) fn pending_is(&self, sequence: u64, entry_id: &str) -> Result<(), FoldError> {
        let found = self.pending.get(&sequence);
        expect(
            self.n,
            found.is_some_and(|pending| pending.entry_id == entry_id),
            "an entry that is not pending",
        )
    }

    fn end_of_segment(&mut self, event: &Event, batch: &Batch, first: u64, count: u64) -> Result<(), FoldError> {
        let first = self.half_batch.take().map_or(first, |half| half.first);
        let next = batch.from + count;
        if let Some(record) = &batch.record {
            let right = (record.first, record.count, record.epoch) == (first, next - 1, self.epoch);
            return expect(self.n, right, "the record of its batch is another one's");
        }
        // Only that ends a segment.
        expect(
            self.n,
            event.applied.is_some(),
            "a segment ends without a definition behind it",
        )?;
        let batch_id = batch.batch_id.clone();
        self.half_batch = Some(HalfBatch { batch_id, first, next });
        Ok(())
    }
}

//! What entries and their claims change in the books.

use super::{Books, Pending};
use crate::ledger::event::{Claim, ClaimResult, Enter, Event};
use jackpot_kernel::ledger::events::{FoldError, expect};

impl Books {
    pub(super) fn enter(&mut self, event: &Event, enter: &Enter) -> Result<(), FoldError> {
        let call = &enter.call;
        expect(self.n, call.epoch == self.epoch, "its epoch is not the open one")?;
        expect(
            self.n,
            call.version == self.version,
            "its definition is not the one in force",
        )?;
        expect(
            self.n,
            call.first == self.sequence + 1,
            "its first sequence is not the next one",
        )?;
        let count = call.entries.len() as u64;
        self.sequence += count;
        self.records.entries += enter.records();
        self.records.calls += u64::from(enter.of_call);
        if let Some(record) = &enter.batch_record {
            let right = (record.first, record.count, record.epoch) == (call.first, count, self.epoch);
            expect(self.n, right, "the record of its batch is another one's")?;
        }
        for claims in enter.claims.chunk_by(|a, b| a.sequence == b.sequence) {
            self.first_claims(event.at_ms, enter, claims)?;
        }
        Ok(())
    }

    /// Applies the claims that an entry made in the call that took it: all attempts in a batch, else only the first.
    fn first_claims(&mut self, at_ms: i64, enter: &Enter, claims: &[Claim]) -> Result<(), FoldError> {
        let first = &claims[0];
        expect(
            self.n,
            first.attempt == 0 && first.result != ClaimResult::Ended,
            "an entry begins with another claim than that of attempt 0",
        )?;
        let is_batch = enter.batch_record.is_some();
        expect(self.n, is_batch || claims.len() == 1, "an entry makes two first claims")?;
        let (_, entry) = enter.call.entry(first.sequence).ok_or(FoldError::Unexpected {
            n: self.n,
            what: "a claim of an entry it did not take",
        })?;
        let pending = Pending {
            entry_id: entry.entry_id.clone(),
            player_id: entry.sent.player.clone(),
            epoch: self.epoch,
            entered_ms: at_ms,
            source_id: entry.sent.source.clone(),
        };
        self.pending.insert(first.sequence, pending);
        let is_retry = |claim: &Claim| matches!(claim.result, ClaimResult::Retry { .. });
        for (last, claim) in claims.iter().zip(&claims[1..]) {
            // A last attempt that is refused also ends the entry.
            let ends = claim.result == ClaimResult::Ended && last.attempt == claim.attempt;
            let goes_on = is_retry(last) && (last.attempt < claim.attempt || ends);
            expect(self.n, goes_on, "an entry goes on after its last claim")?;
        }
        for claim in claims {
            self.claim(claim)?;
        }
        let open = is_batch && claims.last().is_some_and(is_retry);
        expect(
            self.n,
            !open,
            "an entry of a batch is left in the middle of its attempts",
        )
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
}

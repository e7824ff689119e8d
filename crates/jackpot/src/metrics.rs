//! Counts entries, claims and redraws.

use std::sync::Arc;

use jackpot_core::ids::Id;
use jackpot_core::jackpot::definition::Definition;
use jackpot_core::jackpot::record::{Record, State};
use jackpot_core::jackpot::steps::Step;

use jackpot_kernel::telemetry::{ClaimResult, EntryResult, Metrics, Unsettled};

use super::batch::BatchPlayed;
use super::error::PlayError;
use super::play::Played;

/// The counters of entries, claims and redraws.
#[derive(Clone)]
pub struct PlayMetrics(Arc<Metrics>);

impl std::fmt::Debug for PlayMetrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PlayMetrics")
    }
}

impl PlayMetrics {
    pub fn new(metrics: Arc<Metrics>) -> Self {
        Self(metrics)
    }

    /// An entry was answered.
    pub(super) fn entry(&self, id: &Id, result: &Result<Played, PlayError>) {
        let kind = match result {
            Ok(played) if played.replayed => EntryResult::Replayed,
            Ok(_) => EntryResult::Accepted,
            Err(_) => EntryResult::Refused,
        };
        self.0.jackpot(id.as_str()).entries(kind, 1);
    }

    /// Entries went out in one call.
    pub(super) fn combined(&self, entries: usize) {
        self.0.combined(entries);
    }

    /// The first claim, inside the call that took the entry.
    pub(super) fn first_claim(&self, id: &Id, record: &Record) {
        match &record.state {
            State::Paid { .. } => self.0.jackpot(id.as_str()).claim(ClaimResult::Paid),
            State::MustHit { .. } => {
                let jackpot = self.0.jackpot(id.as_str());
                jackpot.claim(ClaimResult::Paid);
                jackpot.must_hits.inc();
            }
            State::Pending { refusals, .. } if !refusals.is_empty() => {
                self.0.jackpot(id.as_str()).claim(ClaimResult::Retry);
            }
            State::Pending { .. } | State::Lost | State::Ended { .. } | State::Issued { .. } => {}
        }
    }

    /// An entry was reversed. `source`: what it named.
    pub(super) fn reversed(&self, id: &Id, definition: &Definition, source: Option<&Id>) {
        let known = |source: &&Id| definition.source(source.as_str()).is_some();
        let label = source.map(|source| Some(source).filter(known).map_or("other", |source| source.as_str()));
        self.0.reversed(id.as_str(), label);
    }

    /// A batch was answered: it counts as its entries.
    pub(super) fn batch(&self, id: &Id, entries: usize, result: &Result<BatchPlayed, PlayError>) {
        let kind = match result {
            Ok(played) if played.replayed => EntryResult::Replayed,
            Ok(_) => EntryResult::Accepted,
            Err(_) => EntryResult::Refused,
        };
        self.0.jackpot(id.as_str()).entries(kind, entries as u64);
    }

    /// The claims inside the call that took a batch. A redraw followed each refused one in the same call.
    pub(super) fn batch_claims(&self, id: &Id, winners: &[Record]) {
        if winners.is_empty() {
            return;
        }
        let jackpot = self.0.jackpot(id.as_str());
        for record in winners {
            for _ in record.refusals() {
                jackpot.claim(ClaimResult::Retry);
                jackpot.redraws.inc();
            }
            if let State::Paid { .. } | State::MustHit { .. } = record.state {
                jackpot.claim(ClaimResult::Paid);
            }
            if let State::MustHit { .. } = record.state {
                jackpot.must_hits.inc();
            }
        }
    }

    /// A step of this instance, and its result.
    pub(super) fn step(&self, id: &Id, step: &Step, record: &Record) {
        let jackpot = self.0.jackpot(id.as_str());
        jackpot.redraws.inc();
        if let Step::Claim { .. } = step {
            let paid = matches!(record.state, State::Paid { .. });
            jackpot.claim(if paid { ClaimResult::Paid } else { ClaimResult::Retry });
        }
    }

    /// Transfers that were given and not received, as this instance last saw.
    pub(super) fn in_transit(&self, count: usize) {
        self.0.ledger.in_transit(count);
    }

    /// Payouts that are not settled, as this instance last saw.
    pub(super) fn unsettled(&self, all: Vec<Unsettled>) {
        self.0.settlement.show(all);
    }

    /// Entries without an outcome, as this instance last saw.
    pub(super) fn pending(&self, id: &Id, count: u64) {
        self.0
            .jackpot(id.as_str())
            .pending
            .set(i64::try_from(count).unwrap_or(i64::MAX));
    }
}

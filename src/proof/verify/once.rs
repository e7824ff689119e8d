//! Checks what never repeats, even after a restore: histories, the nonces of epochs, and the numbers of epochs.

use std::collections::{BTreeMap, BTreeSet};

use jackpot_core::jackpot::epoch::Opening;

use super::report::{Place, Report};
use crate::jackpot::ledger::event::{Event, Kind};

/// Smallest step of epoch numbers at a restore: more than the number of epochs that were opened and lost since.
const EPOCH_GAP: u64 = 1_000;
const MS_PER_S: u64 = 1_000;

/// The histories, nonces and numbers seen until now.
#[derive(Default)]
pub(super) struct Once {
    history: String,
    histories: BTreeSet<String>,
    /// Epochs by nonce.
    nonces: BTreeMap<String, u64>,
}

impl Once {
    /// Creation and each restore must begin a new history. Any other event must belong to the current one.
    pub(super) fn history(&mut self, event: &Event, report: &mut Report) {
        let (history, place) = (&event.history, Place::Event(event.n));
        if event.n == 1 || matches!(event.kind, Kind::Restore { .. }) {
            if !self.histories.insert(history.clone()) {
                report.wrong(place, format!("it begins history {history}, which was there before"));
            }
            self.history.clone_from(history);
        } else if *history != self.history {
            let what = format!("it is of history {history}; history {} goes on there", self.history);
            report.wrong(place, what);
        }
    }

    /// A nonce must never be used again: the seed that follows from it may be public.
    pub(super) fn nonce(&mut self, n: u64, epoch: u64, opening: &Opening, report: &mut Report) {
        if let Some(before) = self.nonces.insert(opening.nonce.clone(), epoch) {
            let what = format!("epoch {epoch} has the nonce of epoch {before}");
            report.wrong(Place::Event(n), what);
        }
    }
}

/// Whether a restore may open an epoch of this number: 1,000 above the last one, or a second since 1970 that has passed.
pub(super) fn may_open_after_restore(epoch: u64, last: u64, at_ms: i64) -> bool {
    let lowest = last.saturating_add(EPOCH_GAP);
    let second = u64::try_from(at_ms).unwrap_or_default() / MS_PER_S;
    epoch == lowest || (epoch > lowest && epoch <= second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_restore_opens_an_epoch_far_above_the_last_or_of_a_second_that_has_passed() {
        let at_ms = 1_795_243_503_125;
        for (epoch, may) in [
            (8, false),
            (1_006, false),
            (1_007, true),
            (1_008, true),
            (1_795_243_503, true),
            (1_795_243_504, false),
        ] {
            assert_eq!(may_open_after_restore(epoch, 7, at_ms), may, "{epoch}");
        }
        assert!(may_open_after_restore(1_900_001_000, 1_900_000_000, at_ms));
        assert!(!may_open_after_restore(1_900_001_001, 1_900_000_000, at_ms));
    }
}

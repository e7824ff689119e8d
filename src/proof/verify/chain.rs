//! Verifies the hash chain of an export: each event's number, and its hash over the exact bytes.

use jackpot_core::chain::ChainHash;
use jackpot_core::ids::Id;

use super::report::{Place, Report};

/// The chain up to the last event read.
pub(super) struct Chain {
    n: u64,
    hash: ChainHash,
    /// Number and hash of the heads that the auditor kept and the chain has not reached yet.
    kept: Vec<(u64, ChainHash)>,
}

impl Chain {
    pub(super) fn new(jackpot: &Id, kept: Vec<(u64, ChainHash)>) -> Self {
        let hash = ChainHash::first(jackpot);
        Self { n: 0, hash, kept }
    }

    /// Adds the next event. Returns whether its number is the next one. The chain continues from the stated hash, so
    /// each break is reported once.
    pub(super) fn next(&mut self, n: u64, stated: &str, body: &str, report: &mut Report) -> bool {
        let last = self.n;
        let follows = last.checked_add(1) == Some(n);
        let hash = self.hash.next(body);
        let stated = ChainHash::parse(stated);
        if !follows {
            report.wrong(Place::Event(n), gap(last, n));
        } else if stated != Some(hash) {
            report.wrong(
                Place::Event(n),
                format!("it was changed, or one before it: its hash is {hash}, and the ledger states another"),
            );
        }
        report.counts.events += 1;
        (self.n, self.hash) = (n, stated.unwrap_or(hash));
        for (kept, _) in self
            .kept
            .extract_if(.., |kept| kept.0 == n)
            .filter(|kept| kept.1 != self.hash)
        {
            let what = format!("at event {kept} it states another hash than this export: the history was rewritten");
            report.wrong(Place::KeptHead, what);
        }
        follows
    }

    /// Compares the chain with the head that ends the export.
    pub(super) fn end(&self, n: u64, stated: &str, report: &mut Report) {
        if n != self.n {
            let what = format!("it is at event {n}, the last event of the export is {}", self.n);
            report.wrong(Place::Head, what);
        } else if ChainHash::parse(stated) != Some(self.hash) {
            report.wrong(Place::Head, format!("its hash is not that of event {n}"));
        }
    }

    /// Reports kept heads that the export did not reach. Call it last.
    pub(super) fn kept_was_passed(&self, report: &mut Report) {
        for (n, _) in &self.kept {
            let what = format!(
                "it is at event {n}, which this export does not have: it ends at event {}",
                self.n
            );
            report.wrong(Place::KeptHead, what);
        }
    }
}

fn gap(last: u64, n: u64) -> String {
    if n <= last {
        format!("it comes after event {last}: repeated or out of order")
    } else if n == last + 2 {
        format!("event {} is missing before it", last + 1)
    } else {
        format!("events {} to {} are missing before it", last + 1, n - 1)
    }
}

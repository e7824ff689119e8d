//! What the event of a batch states of itself, recomputed: amounts by stake, the beginnings of its runs, its record.

use std::collections::BTreeMap;

use jackpot_core::ids::Id;
use jackpot_core::jackpot::batch_record::{self, Fingerprint};
use jackpot_core::jackpot::definition::Definition;
use jackpot_core::jackpot::split::split;

use super::{Broken, Fields, Replay, broken, field};
use crate::jackpot::ledger::event::{Batch, Claim, ClaimResult, Entered};
use crate::verify::report::{Place, Report};

/// A batch as far as it was read.
pub(super) struct OpenBatch {
    batch_id: Id,
    /// Sequence of its first entry.
    first: u64,
    /// Index of the entry that comes next, from 1.
    next: u64,
    /// What was contributed to each tier before it.
    contributed: BTreeMap<Id, i128>,
    fingerprint: Fingerprint,
    /// Indexes of the entries that drew a prize in attempt 0.
    winners: Vec<String>,
    /// The beginnings of this segment's runs.
    runs: String,
    /// Whether the next entry begins a run.
    begins_run: bool,
}

impl Replay {
    /// Begins a batch, or goes on with its second segment.
    pub(super) fn begin_segment(&mut self, n: u64, batch: &Batch, report: &mut Report) -> Result<(), Broken> {
        let open = self.batch.take();
        if batch.from == 1 {
            if !self.seen.insert(&batch_record::field(&batch.batch_id)) {
                let what = format!("batch id '{}' was taken before", batch.batch_id);
                report.wrong(Place::Event(n), what);
            }
            let meters = self.tiers.meters().keys();
            self.batch = Some(OpenBatch {
                batch_id: batch.batch_id.clone(),
                first: self.sequence + 1,
                next: 1,
                contributed: meters
                    .map(|tier| (tier.clone(), self.tiers.contributed(tier).0))
                    .collect(),
                fingerprint: Fingerprint::default(),
                winners: Vec::new(),
                runs: String::new(),
                begins_run: true,
            });
            return Ok(());
        }
        let open = open.filter(|open| open.batch_id == batch.batch_id && open.next == batch.from);
        let open = open.ok_or_else(|| broken("it goes on with a batch that did not end there"))?;
        self.batch = Some(OpenBatch {
            runs: String::new(),
            begins_run: true,
            ..open
        });
        Ok(())
    }

    /// In front of an entry of the open batch.
    pub(super) fn place_in_run(&mut self, definition: &Definition) {
        let Some(open) = self.batch.as_mut().filter(|open| open.begins_run) else {
            return;
        };
        open.begins_run = false;
        let places = definition.tiers().iter().map(|tier| self.tiers.place(&tier.tier));
        let run = format!("{} {};", open.next, places.collect::<Vec<_>>().join("/"));
        open.runs.push_str(&run);
    }

    /// Behind an entry of the open batch, with its claims.
    pub(super) fn passed(&mut self, claims: &[Claim]) {
        if let Some(open) = &mut self.batch {
            if !claims.is_empty() {
                open.winners.push(open.next.to_string());
            }
            open.begins_run = claims
                .iter()
                .any(|claim| matches!(claim.result, ClaimResult::Paid { .. }));
            open.next += 1;
        }
    }

    /// Compares what the event states with what its entries did.
    pub(super) fn end_segment(
        &mut self,
        (n, batch, entries): (u64, &Batch, &[Entered]),
        definition: &Definition,
        fields: &Fields,
        report: &mut Report,
    ) {
        let Some(mut open) = self.batch.take() else {
            return;
        };
        open.fingerprint.add(field(fields, "block").unwrap_or_default());
        let tiers = definition.tiers().iter().map(|tier| tier.tier.as_str());
        let mut compare = |name: &str, should: &str| {
            let stated = field(fields, name).unwrap_or_default();
            if stated != should {
                let what = format!(
                    "the {name} of batch '{}' are '{should}'; the event says '{stated}'",
                    open.batch_id
                );
                report.wrong(Place::Event(n), shortened(what));
            }
        };
        compare("tiers", &tiers.collect::<Vec<_>>().join(","));
        compare("runs", &open.runs);
        if let Some(what) = wrong_amounts(batch, entries, definition) {
            report.wrong(Place::Event(n), what);
        }
        let Some(record) = &batch.record else {
            self.batch = Some(open);
            return;
        };
        let should = self.record_text(open, definition);
        let stated = record.to_text();
        if stated != should {
            let what = format!(
                "the record of batch '{}' is '{should}'; the event says '{stated}'",
                batch.batch_id
            );
            report.wrong(Place::Event(n), shortened(what));
        }
    }

    /// The record of a batch that ends here.
    fn record_text(&self, open: OpenBatch, definition: &Definition) -> String {
        let totals = definition.tiers().iter().map(|tier| {
            let (contributed, pool) = self.tiers.contributed(&tier.tier);
            let before = open.contributed.get(&tier.tier).copied().unwrap_or_default();
            format!("{}+{}+{pool}", tier.tier, contributed - before)
        });
        let totals = totals.collect::<Vec<_>>().join(",");
        let (first, count, epoch) = (open.first, open.next - 1, self.epoch().unwrap_or_default());
        let winners = open.winners.join(",");
        let winners = if winners.is_empty() { "-" } else { &winners };
        format!(
            "{first} {count} {} {epoch} {totals} {winners}",
            open.fingerprint.finish()
        )
    }
}

/// The amounts of each stake that was sent, and of no other.
fn wrong_amounts(batch: &Batch, entries: &[Entered], definition: &Definition) -> Option<String> {
    let amounts = &batch.segment.amounts;
    let stakes = entries
        .iter()
        .map(|entry| entry.sent.stake)
        .collect::<std::collections::BTreeSet<_>>();
    let wrong = stakes
        .iter()
        .find(|stake| amounts.get(stake) != Some(&split(definition, **stake)));
    if let Some(stake) = wrong {
        return Some(format!(
            "the amounts of stake {stake} in batch '{}' are others",
            batch.batch_id
        ));
    }
    let more = amounts.len() != stakes.len();
    more.then(|| format!("batch '{}' has amounts of a stake that nobody sent", batch.batch_id))
}

/// A record of thousands of winners is not printed whole.
fn shortened(mut what: String) -> String {
    const MAX_CHARS: usize = 1_000;
    if what.len() > MAX_CHARS {
        let end = (0..=MAX_CHARS)
            .rev()
            .find(|at| what.is_char_boundary(*at))
            .unwrap_or_default();
        what.truncate(end);
        what.push_str("...");
    }
    what
}

//! Entries once more: what each adds, draws and claims.

use jackpot_core::jackpot::definition::Definition;
use jackpot_core::jackpot::split::split;

use super::{Broken, Fields, Replay};
use crate::jackpot::ledger::event::{Claim, ClaimResult, Entered, Event, Kind};
use crate::verify::receipts::Paid;
use crate::verify::report::{Place, Report};

/// Distinct stakes whose split is kept: a game has few, and a hostile export must not fill the memory.
const MAX_SPLITS: usize = 10_000;

impl Replay {
    pub(super) fn enter(&mut self, event: &Event, fields: &Fields, report: &mut Report) -> Result<Vec<Paid>, Broken> {
        let Kind::Enter {
            epoch,
            version,
            first,
            entries,
            claims,
            batch,
            ..
        } = &event.kind
        else {
            return Ok(Vec::new());
        };
        if (*version, Some(*epoch)) != (self.version, self.epoch()) {
            return Err(Broken(format!(
                "epoch {epoch} or definition {version} is not in force there"
            )));
        }
        if *first != self.sequence + 1 {
            return Err(Broken(format!(
                "its first entry is {first}, the last before it is {}",
                self.sequence
            )));
        }
        if let Some(batch) = batch {
            self.begin_segment(event.n, batch, report)?;
        }
        let definition = self.definition(*version)?;
        let (mut rest, mut paid) = (&claims[..], Vec::new());
        for entry in entries {
            if self.version != *version {
                return Err(Broken(format!(
                    "entry '{}' comes behind a take that put another definition in force",
                    entry.entry_id
                )));
            }
            self.sequence += 1;
            let sequence = self.sequence;
            let most = if batch.is_some() { usize::MAX } else { 1 };
            let own = rest.iter().take(most).take_while(|claim| claim.sequence == sequence);
            let (own, others) = rest.split_at(own.count());
            rest = others;
            if batch.is_some() {
                self.place_in_run(&definition);
            }
            self.contribute(event.n, entry, &definition, report);
            self.draws
                .entered((event.n, *epoch, sequence), entry, own.first(), &definition, report);
            for (i, claim) in own.iter().enumerate() {
                if i > 0 {
                    self.draws.goes_on(event.n, &entry.entry_id, claim, report);
                }
                if claim.result != ClaimResult::Ended {
                    let who = (entry.entry_id.as_str(), &entry.sent.player);
                    paid.extend(self.money(event, who, claim, &definition, report)?);
                }
            }
            if batch.is_some() {
                self.passed(own);
            }
        }
        if let Some(claim) = rest.first() {
            return Err(out_of_order(claim));
        }
        if let Some(batch) = batch {
            self.end_segment((event.n, batch, entries), &definition, fields, report);
        }
        Ok(paid)
    }

    /// What an entry added, recomputed from its stake.
    fn contribute(&mut self, n: u64, entry: &Entered, definition: &Definition, report: &mut Report) {
        let id = &entry.entry_id;
        if !self.seen.insert(id) {
            report.wrong(Place::Event(n), format!("entry id '{id}' was taken before"));
        }
        if self.splits.len() >= MAX_SPLITS {
            self.splits.clear();
        }
        let amounts = self
            .splits
            .entry(entry.sent.stake)
            .or_insert_with(|| split(definition, entry.sent.stake));
        let computed = definition
            .tiers()
            .iter()
            .zip(&*amounts)
            .map(|(tier, amount)| self.tiers.accrue(&tier.tier, amount));
        let computed = computed.collect::<Vec<_>>();
        let stated = entry
            .contributions
            .iter()
            .map(|c| (i128::from(c.pool), i128::from(c.amount)));
        if !stated.eq(computed.iter().copied()) {
            let computed = computed
                .iter()
                .map(|(pool, amount)| format!("{amount} to a pool then of {pool}"));
            let computed = computed.collect::<Vec<_>>().join(", ");
            report.wrong(
                Place::Event(n),
                format!("entry '{id}' contributes {computed}; the event says otherwise"),
            );
        }
        report.counts.entries += 1;
    }
}

fn out_of_order(claim: &Claim) -> Broken {
    Broken(format!(
        "its claim of sequence {} is of none of its entries, or out of order",
        claim.sequence
    ))
}

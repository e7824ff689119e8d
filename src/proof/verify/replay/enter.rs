//! Replays entries: what each adds, draws and claims.

use std::sync::Arc;

use jackpot_core::fields::EventFields;
use jackpot_core::jackpot::batch_record;
use jackpot_core::jackpot::definition::Definition;
use jackpot_core::jackpot::split::split;

use super::call::OpenCall;
use super::seen::{Seen, Terms};
use super::{Broken, Replay};
use crate::jackpot::ledger::event::{Claim, ClaimResult, Enter, Entered, Event};
use crate::proof::verify::receipts::Paid;
use crate::proof::verify::report::{Place, Report};

/// Most distinct stakes whose split is cached. A game has few, and a hostile export must not fill the memory.
const MAX_SPLITS: usize = 10_000;

impl Replay {
    pub(super) fn enter(
        &mut self,
        event: &Event,
        enter: &Enter,
        fields: &EventFields,
        report: &mut Report,
    ) -> Result<Vec<Paid>, Broken> {
        let call = &enter.call;
        let (epoch, version, first) = (call.epoch, call.version, call.first);
        if (version, Some(epoch)) != (self.version, self.epoch()) {
            return Err(Broken(format!(
                "epoch {epoch} or definition {version} is not in force there"
            )));
        }
        if self.epochs.get(&epoch).is_some_and(|(.., closed)| closed.is_some()) {
            let what = format!("it takes entries in epoch {epoch}, which ended before: its seed may be public");
            report.wrong(Place::Event(event.n), what);
        }
        if first != self.sequence + 1 {
            return Err(Broken(format!(
                "its first entry is {first}, the last before it is {}",
                self.sequence
            )));
        }
        if let Some(batch) = &call.batch
            && !self.seen.insert(&batch_record::field(batch), Seen::Other)
        {
            report.wrong(Place::Event(event.n), format!("batch id '{batch}' was taken before"));
        }
        let mut open = OpenCall::begin(&self.tiers);
        let mut definitions = vec![self.definition(version)?];
        let mut paid = Vec::new();
        for (place, entry) in call.entries.iter().enumerate() {
            if self.version != call.version_of(place) {
                return Err(Broken(format!(
                    "entry '{}' comes after a take that put another definition in force",
                    entry.entry_id
                )));
            }
            if call.split.is_some_and(|split| split.place == place) {
                definitions.push(self.definition(self.version)?);
            }
            let definition = Arc::clone(&definitions[definitions.len() - 1]);
            self.sequence += 1;
            let own = enter.claims_of(self.sequence);
            open.before_entry(&self.tiers, &definition);
            self.not_cancelled(event.n, entry, &definition, report);
            self.contribute(event.n, entry, &definition, report);
            let hit = self.hit(event.n, enter, &entry.entry_id, own, &definition, report);
            if !hit {
                let at = (event.n, epoch, self.sequence);
                self.draws.entered(at, entry, own.first(), &definition, report);
            }
            paid.extend(self.claims(event, entry, own, &definition, report)?);
            open.after_entry(own);
        }
        self.replaced(event.n, enter, report);
        let definitions = definitions.iter().map(AsRef::as_ref).collect::<Vec<_>>();
        open.end(event.n, enter, &self.tiers, &definitions, fields, report);
        Ok(paid)
    }

    /// Whether the entry taken last hit a pool by its rule. Then its odds are not drawn, and the hit is its only claim.
    fn hit(
        &mut self,
        n: u64,
        enter: &Enter,
        entry_id: &str,
        claims: &[Claim],
        definition: &Definition,
        report: &mut Report,
    ) -> bool {
        let stated = enter.hits.iter().flatten().find(|hit| hit.sequence == self.sequence);
        let tiers = &self.tiers;
        let hit = self.cycles.entered(
            entry_id,
            self.sequence,
            definition,
            |tier| tiers.pool(tier),
            stated,
            report,
        );
        let paid = match claims {
            [claim] if claim.rank == 0 => match &claim.result {
                ClaimResult::Paid { tier, .. } => Some(tier),
                _ => None,
            },
            _ => None,
        };
        if hit.map(|hit| &hit.tier) != paid {
            let what = format!("entry '{entry_id}' is paid without its draw, or its hit is not paid");
            report.wrong(Place::Event(n), what);
        }
        hit.is_some()
    }

    /// Replays the claims that an entry made in the call that took it. Returns the money that they paid.
    fn claims(
        &mut self,
        event: &Event,
        entry: &Entered,
        claims: &[Claim],
        definition: &Definition,
        report: &mut Report,
    ) -> Result<Vec<Paid>, Broken> {
        let mut paid = Vec::new();
        for (i, claim) in claims.iter().enumerate() {
            if i > 0 {
                self.draws.goes_on(event.n, &entry.entry_id, claim, report);
            }
            if claim.result.is_won() {
                self.seen.won(&entry.entry_id);
            }
            if claim.result != ClaimResult::Ended {
                let player = &entry.sent.player;
                paid.extend(self.money(event, &entry.entry_id, player, claim, definition, report)?);
            }
        }
        Ok(paid)
    }

    /// Recomputes what an entry added from its stake and source.
    fn contribute(&mut self, n: u64, entry: &Entered, definition: &Definition, report: &mut Report) {
        let id = &entry.entry_id;
        let source = entry.sent.source.as_ref();
        let terms = Terms::of(self.sequence, self.version, entry.sent.stake, source);
        if !self.seen.insert(id, Seen::Entry(terms)) {
            report.wrong(Place::Event(n), format!("entry id '{id}' was taken before"));
        }
        let contribution = definition.contribution_of(entry.sent.source_text());
        if self.splits.len() >= MAX_SPLITS {
            self.splits.clear();
        }
        let amounts = self
            .splits
            .entry((entry.sent.stake, entry.sent.source.clone()))
            .or_insert_with(|| split(definition, contribution, entry.sent.stake));
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

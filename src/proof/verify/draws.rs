//! Recomputes what each attempt of each entry drew from the published seed of its epoch. The events must claim exactly
//! that.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jackpot_core::ids::Id;
use jackpot_core::jackpot::definition::Definition;
use jackpot_core::jackpot::draw::EpochSeed;
use jackpot_core::jackpot::record::Sent;
use jackpot_core::jackpot::steps::last_attempt;

use crate::jackpot::ledger::event::{Claim, ClaimResult, Entered};

use super::report::{Place, Report};

/// An entry whose outcome is not final yet.
pub(super) struct Drawing {
    pub entry_id: String,
    pub sent: Sent,
    pub definition: Arc<Definition>,
    epoch: u64,
    refused: Vec<u32>,
    /// The last recorded attempt.
    attempt: u32,
}

/// The published seeds, and the entries that are still drawn.
pub(super) struct Draws {
    seeds: BTreeMap<u64, EpochSeed>,
    pending: BTreeMap<u64, Drawing>,
    /// Entries that a skipped event left pending. Their draws can't be recomputed.
    carried: BTreeSet<u64>,
    /// Number of entries by epoch, for epochs whose seed is not published.
    unpublished: BTreeMap<u64, u64>,
    /// Number of entries that the games of external sources drew.
    external: u64,
}

impl Draws {
    pub(super) fn new() -> Self {
        Self {
            seeds: BTreeMap::new(),
            pending: BTreeMap::new(),
            carried: BTreeSet::new(),
            unpublished: BTreeMap::new(),
            external: 0,
        }
    }

    /// Accepts a published seed if it matches its commitment.
    pub(super) fn publish(&mut self, jackpot: &Id, epoch: u64, seed: &str, commitment: &str, report: &mut Report) {
        match EpochSeed::published(jackpot, seed) {
            Some(seed) if seed.commitment() == commitment => {
                report.counts.epochs += 1;
                self.seeds.insert(epoch, seed);
            }
            _ => {
                let what = "its seed is not the one of its commitment: none of its draws can be trusted";
                report.wrong(Place::Epoch(epoch), what);
            }
        }
    }

    /// After a skipped event: drops entries that are no longer pending.
    pub(super) fn keep(&mut self, pending: impl Fn(u64) -> bool) {
        self.pending.retain(|sequence, _| pending(*sequence));
    }

    /// Records an entry that a skipped event left pending.
    pub(super) fn carry(&mut self, sequence: u64) {
        self.carried.insert(sequence);
    }

    pub(super) fn drawing(&self, sequence: u64) -> Option<&Drawing> {
        self.pending.get(&sequence)
    }

    /// Checks a new entry and its first claim: the claim must be exactly what attempt 0 drew.
    pub(super) fn entered(
        &mut self,
        at: (u64, u64, u64),
        entry: &Entered,
        claim: Option<&Claim>,
        definition: &Arc<Definition>,
        report: &mut Report,
    ) {
        let (n, epoch, sequence) = at;
        let place = || Place::Event(n);
        let id = &entry.entry_id;
        if let Some(broken) = definition.refuses(entry.sent.stake, entry.sent.source_text(), entry.sent.ranks.as_ref())
        {
            // Stakes are not checked here: a definition with the same odds may allow others.
            if broken.field != "stake" {
                let what = format!("entry '{id}' (sequence {sequence}): {} {}", broken.field, broken.rule);
                report.wrong(place(), what);
            }
        }
        if let Some(ranks) = &entry.sent.ranks {
            // Its game drew. What is left to check is that exactly its ranks were tried, in their order.
            self.external += 1;
            let claimed = claim.map_or((0, 0), |claim| (claim.attempt, claim.rank));
            if claimed != (0, ranks.first()) {
                let what = format!(
                    "entry '{id}' (sequence {sequence}) brought rank {}; it claims rank {} on attempt {}",
                    ranks.first(),
                    claimed.1,
                    claimed.0
                );
                report.wrong(place(), what);
            }
        } else if let Some(seed) = self.seeds.get(&epoch) {
            let client_seed = entry.sent.client_seed.as_ref();
            let rank = seed.rank(id, client_seed, 0, definition.odds().at(entry.sent.stake));
            let claimed = claim.map_or((0, 0), |claim| (claim.attempt, claim.rank));
            if claimed != (0, rank) {
                let (attempt, claimed) = claimed;
                let what = format!(
                    "entry '{id}' (sequence {sequence}) draws rank {rank}; it claims rank {claimed} on attempt {attempt}"
                );
                report.wrong(place(), what);
            }
            report.counts.draws += 1;
            report.counts.client_seeds += u64::from(client_seed.is_some());
        } else {
            *self.unpublished.entry(epoch).or_default() += 1;
        }
        let Some(claim) = claim else { return };
        if claim.attempt != 0 || claim.rank == 0 {
            report.wrong(
                place(),
                format!("entry '{id}' begins with another claim than that of attempt 0"),
            );
        }
        if claim.result.is_won() || claim.result == ClaimResult::Ended {
            return;
        }
        let refused = claim.result.refusal().map(|_| claim.rank).into_iter().collect();
        let drawing = Drawing {
            entry_id: id.clone(),
            sent: entry.sent.clone(),
            definition: Arc::clone(definition),
            epoch,
            refused,
            attempt: 0,
        };
        self.pending.insert(sequence, drawing);
    }

    /// Checks the claim of a redraw: it must be the first attempt whose rank has not refused this entry.
    pub(super) fn claimed(&mut self, n: u64, entry_id: &str, claim: &Claim, report: &mut Report) {
        let Some(drawing) = self.found(n, entry_id, claim.sequence, report) else {
            return;
        };
        if drawing.refused.contains(&claim.rank) {
            let what = format!(
                "rank {} refused entry '{entry_id}' before: it is not claimed again",
                claim.rank
            );
            report.wrong(Place::Event(n), what);
        }
        self.step(n, claim.sequence, claim.attempt, claim.rank, report);
        match claim.result {
            ClaimResult::Paid { .. } | ClaimResult::Issued { .. } => drop(self.pending.remove(&claim.sequence)),
            ClaimResult::Retry { .. } | ClaimResult::Refused { .. } => {
                if let Some(drawing) = self.pending.get_mut(&claim.sequence) {
                    drawing.refused.push(claim.rank);
                    drawing.attempt = claim.attempt;
                }
            }
            ClaimResult::Later | ClaimResult::Ended => {
                report.wrong(Place::Event(n), "a claim is decided at once");
            }
        }
    }

    /// Checks what an entry of a batch did after its first claim, in the same call.
    pub(super) fn goes_on(&mut self, n: u64, entry_id: &str, claim: &Claim, report: &mut Report) {
        let (sequence, attempt) = (claim.sequence, claim.attempt);
        match claim.result {
            ClaimResult::Paid { .. }
            | ClaimResult::Retry { .. }
            | ClaimResult::Issued { .. }
            | ClaimResult::Refused { .. } => self.claimed(n, entry_id, claim, report),
            ClaimResult::Ended => self.finished(n, entry_id, sequence, attempt, report),
            ClaimResult::Later => {
                if self.found(n, entry_id, sequence, report).is_some() {
                    self.step(n, sequence, attempt, claim.rank, report);
                }
            }
        }
    }

    /// Checks the end of an entry without a prize: an attempt that drew nothing, or the last allowed attempt.
    pub(super) fn finished(&mut self, n: u64, entry_id: &str, sequence: u64, attempt: u32, report: &mut Report) {
        if self.found(n, entry_id, sequence, report).is_some() {
            self.step(n, sequence, attempt, 0, report);
            self.pending.remove(&sequence);
        }
    }

    fn found(&self, n: u64, entry_id: &str, sequence: u64, report: &mut Report) -> Option<&Drawing> {
        let found = self
            .pending
            .get(&sequence)
            .filter(|drawing| drawing.entry_id == entry_id);
        if found.is_none() && !self.carried.contains(&sequence) {
            let what = format!("entry '{entry_id}' (sequence {sequence}) is not pending there");
            report.wrong(Place::Event(n), what);
        }
        found
    }

    /// Compares a step (attempt, and the rank it drew; 0: nothing) with the draw, if the seed is known.
    fn step(&self, n: u64, sequence: u64, attempt: u32, rank: u32, report: &mut Report) {
        let Some(drawing) = self.pending.get(&sequence) else {
            return;
        };
        let seed = self.seeds.get(&drawing.epoch);
        let (last, odds) = (
            last_attempt(&drawing.sent, &drawing.definition),
            drawing.definition.odds().at(drawing.sent.stake),
        );
        let client_seed = drawing.sent.client_seed.as_ref();
        let rank_of = |attempt| match (&drawing.sent.ranks, seed) {
            (Some(ranks), _) => ranks.of(attempt),
            (None, seed) => Some(seed?.rank(&drawing.entry_id, client_seed, attempt, odds)),
        };
        // A rank that refused once refuses again without a call. When all attempts are refused, the last one ends the
        // entry.
        let mut drawn = (last, 0);
        for drawn_at in 0..=last {
            let Some(rank) = rank_of(drawn_at) else { return };
            if !drawing.refused.contains(&rank) {
                drawn = (drawn_at, rank);
                break;
            }
        }
        if drawn != (attempt, rank) {
            let what = format!(
                "entry '{}' (sequence {sequence}) draws rank {} on attempt {}; the event says rank {rank} on attempt {attempt}",
                drawing.entry_id, drawn.1, drawn.0
            );
            report.wrong(Place::Event(n), what);
        }
        report.counts.steps += 1;
    }

    /// Reports what could not be checked.
    pub(super) fn end(&self, open: Option<u64>, report: &mut Report) {
        for (epoch, entries) in &self.unpublished {
            let why = if Some(*epoch) == open {
                "it is open"
            } else {
                "its seed is not published"
            };
            report.unchecked(format!("draws of {entries} entries of epoch {epoch}: {why}"));
        }
        if self.external > 0 {
            report.unchecked(format!(
                "draws of {} entries of external sources: their games drew them, not the service; only that their ranks were \
                 tried in order is checked",
                self.external
            ));
        }
        let without = report.counts.draws - report.counts.client_seeds;
        if without > 0 {
            report.unchecked(format!(
                "{without} entries without a client_seed: seed and odds are proven to be fixed before them, but not that \
                 their ids were not picked for the result"
            ));
        }
        if !self.pending.is_empty() {
            let count = self.pending.len();
            report.unchecked(format!("outcomes of {count} entries that are still pending at the end"));
        }
    }
}

//! Recomputes what the event of an entry call states of the whole call: the amounts, the beginnings of its runs, and
//! the record of its batch.

use std::collections::{BTreeMap, BTreeSet};

use jackpot_core::fields::EventFields;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::added::{Amounts, OfStake};
use jackpot_core::jackpot::batch_record::fingerprint;
use jackpot_core::jackpot::call::Call;
use jackpot_core::jackpot::definition::Definition;
use jackpot_core::jackpot::document::Contribution;
use jackpot_core::jackpot::record::Sent;
use jackpot_core::jackpot::split::split;
use jackpot_core::money::Minor;

use super::field;
use crate::jackpot::ledger::event::{Claim, ClaimResult, Enter, Entered};
use crate::proof::verify::report::{Place, Report};
use crate::proof::verify::tiers::Tiers;

/// A call, up to its last replayed entry.
pub(super) struct OpenCall {
    /// Contributed to each tier before the call.
    contributed: BTreeMap<Id, i128>,
    /// Entries replayed until now.
    entries: u64,
    /// Indexes of the entries that drew a prize in attempt 0.
    winners: Vec<String>,
    /// The beginnings of runs.
    runs: String,
    /// Whether the next entry begins a run.
    begins_run: bool,
}

impl OpenCall {
    pub(super) fn begin(tiers: &Tiers) -> Self {
        let names = tiers.meters().keys();
        Self {
            contributed: names.map(|tier| (tier.clone(), tiers.contributed(tier).0)).collect(),
            entries: 0,
            winners: Vec::new(),
            runs: String::new(),
            begins_run: true,
        }
    }

    /// Saves the tiers before the next entry, if it begins a run.
    pub(super) fn before_entry(&mut self, tiers: &Tiers, definition: &Definition) {
        self.entries += 1;
        if std::mem::take(&mut self.begins_run) {
            let places = definition.tiers().iter().map(|tier| tiers.place(&tier.tier));
            let run = format!("{}:{};", self.entries, places.collect::<Vec<_>>().join("/"));
            self.runs.push_str(&run);
        }
    }

    /// Records the claims of that entry.
    pub(super) fn after_entry(&mut self, claims: &[Claim]) {
        if !claims.is_empty() {
            self.winners.push(self.entries.to_string());
        }
        let is_paid = |claim: &Claim| matches!(claim.result, ClaimResult::Paid { .. });
        self.begins_run = claims.iter().any(is_paid);
    }

    /// Compares what the event states with what its entries did. `definitions`: those in force for its entries, one or
    /// two.
    pub(super) fn end(
        self,
        n: u64,
        enter: &Enter,
        tiers: &Tiers,
        definitions: &[&Definition],
        fields: &EventFields,
        report: &mut Report,
    ) {
        let call = &enter.call;
        let what = match &call.batch {
            Some(batch) => format!("batch '{batch}'"),
            None => format!("the call from sequence {}", call.first),
        };
        let stated = field(fields, "runs").unwrap_or_default();
        if stated != self.runs {
            let wrong = format!("the runs of {what} are '{}'; the event says '{stated}'", self.runs);
            report.wrong(Place::Event(n), shortened(wrong));
        }
        for ((sent, amounts), definition) in sent_under(call, fields)
            .iter()
            .zip(&call.added.amounts)
            .zip(definitions)
        {
            if let Some(wrong) = wrong_amounts(&what, sent, amounts, definition) {
                report.wrong(Place::Event(n), wrong);
            }
        }
        if let (Some(record), Some(definition)) = (&enter.batch_record, definitions.last()) {
            let (should, stated) = (self.record_text(call, tiers, definition, fields), record.to_string());
            if stated != should {
                let wrong = format!("the record of {what} is '{should}'; the event says '{stated}'");
                report.wrong(Place::Event(n), shortened(wrong));
            }
        }
    }

    fn record_text(&self, call: &Call, tiers: &Tiers, definition: &Definition, fields: &EventFields) -> String {
        let totals = definition.tiers().iter().map(|tier| {
            let (contributed, pool) = tiers.contributed(&tier.tier);
            let before = self.contributed.get(&tier.tier).copied().unwrap_or_default();
            format!("{}+{}+{pool}", tier.tier, contributed - before)
        });
        let totals = totals.collect::<Vec<_>>().join(",");
        let fingerprint = fingerprint(field(fields, "block").unwrap_or_default());
        let winners = self.winners.join(",");
        let winners = if winners.is_empty() { "-" } else { &winners };
        let (first, count, epoch) = (call.first, self.entries, call.epoch);
        format!("{first} {count} {fingerprint} {epoch} {totals} {winners}")
    }
}

/// Stake and source of an entry: what decides what it adds.
type Adds = (Minor, Option<Id>);

/// What was sent under each definition, including entries that the call did not take.
fn sent_under(call: &Call, fields: &EventFields) -> Vec<BTreeSet<Adds>> {
    let taken = |entries: &[Entered]| entries.iter().map(|entry| adds(&entry.sent)).collect::<BTreeSet<_>>();
    if let Some((before, after)) = call.split.and_then(|split| call.entries.split_at_checked(split.place)) {
        return vec![taken(before), taken(after)];
    }
    let mut all = taken(&call.entries);
    if call.batch.is_none() {
        let lines = field(fields, "block").unwrap_or_default().split('\n');
        let sent = lines.filter_map(|line| Sent::parse(line.split_once(' ')?.1));
        all.extend(sent.map(|sent| adds(&sent)));
    }
    vec![all]
}

fn adds(sent: &Sent) -> Adds {
    (sent.stake, sent.source.clone())
}

/// The event must state the amounts of all that was sent, in rows as its contributions have them, and no others.
fn wrong_amounts(what: &str, sent: &BTreeSet<Adds>, amounts: &Amounts, definition: &Definition) -> Option<String> {
    let mut rows = BTreeSet::new();
    for (stake, source) in sent {
        let text = source.as_ref().map(Id::as_str);
        let contribution = definition.contribution_of(text);
        if amounts.of(*stake, source.as_ref()) != Some(&split(definition, contribution, *stake)) {
            return Some(format!("the amounts of stake {stake} in {what} are others"));
        }
        rows.insert(OfStake {
            stake: matches!(contribution, Contribution::RatePpm(_)).then_some(*stake),
            source: source
                .clone()
                .filter(|id| definition.own_contribution(id.as_str()).is_some()),
        });
    }
    (amounts.rows() != rows)
        .then(|| format!("{what} has amounts that nobody sent, or not in the rows of its contributions"))
}

/// A record of thousands of winners is shortened for the message.
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

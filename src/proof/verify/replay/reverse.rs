//! Replays reversals: whether the entry was taken as they state it, what each tier gives back of its contribution, and
//! what the tier does not hold.

use jackpot_core::ids::Id;
use jackpot_core::jackpot::reversal::{self, ReversedTier};
use jackpot_core::jackpot::split::split;
use jackpot_core::money::Minor;

use super::seen::{Seen, Terms};
use super::{Broken, Replay};
use crate::jackpot::ledger::event::Reverse;
use crate::proof::verify::report::{Place, Report};

impl Replay {
    pub(super) fn reverse(&mut self, n: u64, reverse: &Reverse, report: &mut Report) -> Result<(), Broken> {
        let entry_id = &reverse.entry_id;
        if !self.seen.insert(&reversal::field(reverse.sequence), Seen::Other) {
            report.wrong(Place::Event(n), format!("entry '{entry_id}' was reversed before"));
        }
        let definition = self.definition(reverse.version)?;
        let stake = Minor::try_from(reverse.stake).map_err(|_| Broken("its stake is beyond 2^53 - 1".to_owned()))?;
        self.compare_entry(n, reverse, stake, report);
        let source = reverse.source_id.as_ref().map(Id::as_str);
        let amounts = split(&definition, definition.contribution_of(source), stake);
        if amounts.len() != reverse.reversed.len() {
            return Err(Broken("it reverses other tiers than the entry had".to_owned()));
        }
        for ((tier, amount), stated) in definition.tiers().iter().zip(amounts).zip(&reverse.reversed) {
            let took = self.took.get(&tier.tier).is_some_and(|last| reverse.sequence <= *last);
            // A take by a version of the service before reversals is not in Redis: then every take may be stated.
            let taken = took || stated.taken == 1;
            let right = ReversedTier {
                taken: u64::from(taken),
                ..self.tiers.reverse(&tier.tier, &amount, taken)
            };
            if right != *stated {
                let what = format!("it gives back '{stated}' of entry '{entry_id}', which is '{right}'");
                report.wrong(Place::Event(n), what);
            }
        }
        Ok(())
    }

    /// The amounts follow from what the reversal states of the entry, so that must be what the event of the entry states.
    fn compare_entry(&self, n: u64, reverse: &Reverse, stake: Minor, report: &mut Report) {
        let (entry_id, sequence, version) = (&reverse.entry_id, reverse.sequence, reverse.version);
        let source = reverse.source_id.as_ref();
        let wrong = match self.seen.get(entry_id) {
            Some(Seen::Entry(taken)) if taken != Terms::of(sequence, version, stake, source) => {
                let source = source.map_or("no source".to_owned(), |source| format!("source '{source}'"));
                format!(
                    "entry '{entry_id}' was not taken as it states: sequence {sequence}, definition {version}, stake \
                     {stake}, {source}"
                )
            }
            Some(Seen::Entry(_)) if self.draws.drawing(sequence).is_some() => {
                format!("it reverses entry '{entry_id}', which is pending")
            }
            Some(Seen::Entry(_)) => return,
            Some(Seen::Won) => format!("it reverses entry '{entry_id}', which has a prize"),
            Some(Seen::Skipped) => {
                return report.unchecked(format!(
                    "stake and source of entry '{entry_id}', which event {n} reverses: an event that was skipped took or \
                     ended it"
                ));
            }
            Some(Seen::Other) | None => format!("it reverses entry '{entry_id}', which is none that is remembered"),
        };
        report.wrong(Place::Event(n), wrong);
    }
}

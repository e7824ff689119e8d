//! Replays reversals: what each tier gives back of an entry's contribution, and what it does not hold.

use jackpot_core::ids::Id;
use jackpot_core::jackpot::reversal::{self, ReversedTier};
use jackpot_core::jackpot::split::split;
use jackpot_core::money::Minor;

use super::{Broken, Replay};
use crate::jackpot::ledger::event::Reverse;
use crate::proof::verify::report::{Place, Report};

impl Replay {
    pub(super) fn reverse(&mut self, n: u64, reverse: &Reverse, report: &mut Report) -> Result<(), Broken> {
        let entry_id = &reverse.entry_id;
        if !self.seen.insert(&reversal::field(entry_id)) {
            report.wrong(Place::Event(n), format!("entry '{entry_id}' was reversed before"));
        }
        if reverse.sequence > self.sequence {
            report.wrong(
                Place::Event(n),
                format!("entry {} has not been taken", reverse.sequence),
            );
        }
        let definition = self.definition(reverse.version)?;
        let stake = Minor::try_from(reverse.stake).map_err(|_| Broken("its stake is beyond 2^53 - 1".to_owned()))?;
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
}

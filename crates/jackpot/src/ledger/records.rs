//! The idempotency records of a jackpot, replayed from its events. Pure.
//!
//! Only entries without an outcome are kept in memory. An entry's record is final after the event that settles it,
//! and a restore writes each record to Redis as it comes. A batch has one record, and one for each entry that drew a
//! prize.

use std::collections::{HashMap, HashSet};

use jackpot_core::jackpot::batch_record;
use jackpot_core::jackpot::cycle::HitRow;
use jackpot_core::jackpot::record::{CouponUnit, Hit, Payout, Record, Refusal, Sent, State};
use jackpot_core::jackpot::reversal::{self, ReversalRecord};

use super::carried::CarriedRecord;
use super::event::{Claim, ClaimResult, Event, Kind};
use jackpot_kernel::ledger::events::FoldError;

/// The records of entries without an outcome.
#[derive(Debug, Clone, Default)]
pub struct Records {
    open: HashMap<String, Open>,
    /// Entries whose records were carried on from a skipped event, as Redis had them then. A record may be newer than
    /// the events that follow it.
    carried: HashSet<String>,
}

#[derive(Debug, Clone)]
struct Open {
    entered_n: u64,
    entered_ms: i64,
    sent: Sent,
    record: Record,
}

/// A record after an event.
#[derive(Debug)]
pub struct Written<'a> {
    /// Event that took the entry; it decides the generation.
    pub entered_n: u64,
    /// The entry, or the field of a batch's own record.
    pub entry_id: &'a str,
    pub text: String,
    /// Whether this is the entry's first record.
    pub first: bool,
}

impl Records {
    /// Applies an event. `write` gets each record that the event makes or changes, in order. Events before the first
    /// applied one must have left nothing pending that later events use.
    pub fn apply(&mut self, event: &Event, write: &mut impl FnMut(Written<'_>)) -> Result<(), FoldError> {
        match &event.kind {
            Kind::Enter(enter) => {
                for (place, entry) in enter.call.entries.iter().enumerate() {
                    let record = enter.call.record_of(place);
                    let claims = enter.claims_of(record.sequence);
                    if enter.batch_record.is_some() && claims.is_empty() {
                        continue;
                    }
                    let mut open = Open {
                        entered_n: event.n,
                        entered_ms: event.at_ms,
                        sent: entry.sent.clone(),
                        record,
                    };
                    for claim in claims {
                        open.claim(claim, &event.history);
                    }
                    open.hit(enter.hits.iter().flatten(), &event.history);
                    let first = !enter.has_replaced(&entry.entry_id);
                    self.keep(entry.entry_id.clone(), open, first, write);
                }
                if let Some((batch_id, record)) = enter.batch() {
                    let name = batch_record::field(batch_id);
                    write(Written {
                        entered_n: event.n,
                        entry_id: &name,
                        text: record.to_string(),
                        first: !enter.has_replaced(&name),
                    });
                }
                Ok(())
            }
            Kind::Claim { entry_id, claim } => {
                let Some(mut open) = self.take(event, entry_id)? else {
                    return Ok(());
                };
                let known = open.record.refusals().iter().any(|refusal| refusal.rank == claim.rank);
                if !(known && self.carried.contains(entry_id)) {
                    open.claim(claim, &event.history);
                }
                self.keep(entry_id.clone(), open, false, write);
                Ok(())
            }
            Kind::Finish { entry_id, .. } => {
                let Some(mut open) = self.take(event, entry_id)? else {
                    return Ok(());
                };
                let refusals = open.record.refusals().to_vec();
                open.record.state = State::Ended { refusals };
                self.keep(entry_id.clone(), open, false, write);
                Ok(())
            }
            Kind::Reverse(reverse) => {
                let record = ReversalRecord {
                    reversal_id: reverse.reversal_id.clone(),
                    at_ms: event.at_ms,
                    tiers: reverse.reversed.clone(),
                };
                let used = reverse.used.as_ref().map(ToString::to_string);
                let used = used.map(|text| (reversal::use_field(&reverse.reversal_id), text));
                let made = [(reversal::field(reverse.sequence), record.to_string())];
                for (name, text) in made.into_iter().chain(used) {
                    write(Written {
                        entered_n: event.n,
                        entry_id: &name,
                        text,
                        first: true,
                    });
                }
                Ok(())
            }
            Kind::Cancel(cancel) => {
                for row in &cancel.records {
                    write(Written {
                        entered_n: event.n,
                        entry_id: &row.name,
                        text: row.text.clone(),
                        first: row.is_new,
                    });
                }
                Ok(())
            }
            Kind::Skipped(skipped) => {
                for record in &skipped.carried.records {
                    self.carry(event, record, write)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Returns `None` for an entry that already has its outcome, carried on from a skipped event.
    fn take(&mut self, event: &Event, entry_id: &str) -> Result<Option<Open>, FoldError> {
        match self.open.remove(entry_id) {
            None if self.carried.contains(entry_id) => Ok(None),
            None => Err(unexpected(event, "an entry that is not pending")),
            open => Ok(open),
        }
    }

    fn carry(
        &mut self,
        event: &Event,
        carried: &CarriedRecord,
        write: &mut impl FnMut(Written<'_>),
    ) -> Result<(), FoldError> {
        self.open.remove(&carried.id);
        self.carried.insert(carried.id.clone());
        write(Written {
            entered_n: carried.entered_n,
            entry_id: &carried.id,
            text: carried.text.clone(),
            first: carried.first,
        });
        if carried.id.ends_with(':') || carried.id.starts_with(['!', '~']) || carried.text.starts_with(reversal::EARLY)
        {
            return Ok(());
        }
        let record = Record::parse(&carried.text);
        let record = record.map_err(|_| unexpected(event, "a record that can't be read is carried on"))?;
        if let State::Pending { entered_ms, sent, .. } = &record.state {
            let open = Open {
                entered_n: carried.entered_n,
                entered_ms: *entered_ms,
                sent: sent.clone(),
                record: record.clone(),
            };
            self.open.insert(carried.id.clone(), open);
        }
        Ok(())
    }

    fn keep(&mut self, entry_id: String, open: Open, first: bool, write: &mut impl FnMut(Written<'_>)) {
        write(Written {
            entered_n: open.entered_n,
            entry_id: &entry_id,
            text: open.record.to_string(),
            first,
        });
        if matches!(open.record.state, State::Pending { .. }) {
            self.open.insert(entry_id, open);
        }
    }
}

impl Open {
    /// A claim of rank 0 was a hit by a rule.
    fn hit<'h>(&mut self, mut hits: impl Iterator<Item = &'h HitRow>, history: &str) {
        let State::Paid { payout, .. } = &self.record.state else {
            return;
        };
        if let Some(row) = hits.find(|row| row.sequence == self.record.sequence) {
            let hit = Hit {
                tier: payout.tier.clone(),
                amount: payout.amount,
                claim_order: payout.claim_order,
                history: history.to_owned(),
                cycle: row.cycle,
                by: row.by,
                trigger: row.trigger,
            };
            self.record.state = State::MustHit { hit };
        }
    }

    fn claim(&mut self, claim: &Claim, history: &str) {
        let mut refusals = self.record.refusals().to_vec();
        let rank = claim.rank;
        match &claim.result {
            ClaimResult::Paid {
                tier,
                amount,
                claim_order,
                ..
            } => {
                let (tier, amount, claim_order) = (tier.clone(), *amount, *claim_order);
                let payout = Payout {
                    rank,
                    tier,
                    amount,
                    claim_order,
                    history: history.to_owned(),
                };
                self.record.state = State::Paid { refusals, payout };
                return;
            }
            ClaimResult::Issued {
                coupon_id,
                sequence,
                code,
            } => {
                let unit = CouponUnit {
                    rank,
                    coupon_id: coupon_id.clone(),
                    sequence: *sequence,
                    code: code.clone(),
                };
                self.record.state = State::Issued { refusals, unit };
                return;
            }
            ClaimResult::Retry { .. } | ClaimResult::Refused { .. } | ClaimResult::Later => {
                let refusal = claim.result.refusal().map(|reason| Refusal { rank, reason });
                refusals.extend(refusal);
            }
            ClaimResult::Ended => {
                self.record.state = State::Ended { refusals };
                return;
            }
        }
        self.record.state = State::Pending {
            refusals,
            entered_ms: self.entered_ms,
            sent: self.sent.clone(),
        };
    }
}

fn unexpected(event: &Event, what: &'static str) -> FoldError {
    FoldError::Unexpected { n: event.n, what }
}

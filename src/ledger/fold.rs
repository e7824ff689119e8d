//! The state of a jackpot as its events alone tell it.
//!
//! Pure. What this cannot rebuild would be lost with Redis, so the tests compare it with Redis field by field.

use std::collections::{BTreeMap, HashMap};

use thiserror::Error;

use super::event::{Claim, ClaimResult, Entered, Event, Kind};
use crate::ids::Id;
use crate::jackpot::record::{Payout, Reason, Record, Refusal, State};
use crate::jackpot::view::{Epoch, Status};

/// A jackpot, rebuilt.
#[derive(Debug, Clone, Default)]
pub struct Fold {
    /// Number of the last event.
    pub n: u64,
    /// How often it was restored.
    pub restores: u64,
    /// The last PUTs, as Redis keeps them.
    pub puts: String,
    /// Its status; `None` before it was created.
    pub status: Option<Status>,
    /// Definition in force.
    pub version: u64,
    /// Definition that waits.
    pub waiting: Option<u64>,
    /// Highest version given.
    pub last_version: u64,
    /// Definitions by version, JSON.
    pub definitions: BTreeMap<u64, String>,
    /// Entries so far.
    pub sequence: u64,
    /// Paid claims so far.
    pub claim_order: u64,
    /// Meters by tier and name.
    pub meters: BTreeMap<(Id, String), i64>,
    /// Epochs, the oldest first.
    pub epochs: Vec<Epoch>,
    /// Records of the newer generation.
    pub seen: HashMap<String, Record>,
    /// Records of the older one.
    pub seen_before: HashMap<String, Record>,
    /// Ids of entries without an outcome, by sequence.
    pub pending: BTreeMap<u64, String>,
    /// Digest and time in ms by adjustment id.
    pub adjustments: BTreeMap<Id, (String, i64)>,
    /// The newer generation of records.
    pub generation: Generation,
}

/// When and where a generation of records began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Generation {
    /// Sequence of the last entry before it.
    pub start: u64,
    /// ms of Redis' clock.
    pub opened_ms: i64,
    /// Definition in force then: older ones are dropped with the generation before.
    pub version: u64,
}

/// An event that does not follow from those before it.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum FoldError {
    /// Its number is not the next one.
    #[error("event {got} comes after event {last}")]
    Gap {
        /// Last number.
        last: u64,
        /// Number that came.
        got: u64,
    },
    /// Its changes make or lose money.
    #[error("event {n}: the changes of tier '{tier}' do not sum to zero: {millionths} millionths")]
    Unbalanced {
        /// Which event.
        n: u64,
        /// Which tier.
        tier: Id,
        /// What was made (or, negative, lost).
        millionths: i128,
    },
    /// A meter would be below zero.
    #[error("event {n}: {meter} of tier '{tier}' falls below zero")]
    BelowZero {
        /// Which event.
        n: u64,
        /// Which tier.
        tier: Id,
        /// Which meter.
        meter: String,
    },
    /// It speaks of something that is not there.
    #[error("event {n}: {what}")]
    Unexpected {
        /// Which event.
        n: u64,
        /// What is wrong.
        what: &'static str,
    },
}

impl Fold {
    /// Applies the next event. After an error the fold is not to be used on.
    pub fn apply(&mut self, event: &Event) -> Result<(), FoldError> {
        if event.n != self.n + 1 {
            return Err(FoldError::Gap {
                last: self.n,
                got: event.n,
            });
        }
        self.n = event.n;
        self.change_meters(event)?;
        match &event.kind {
            Kind::Define(define) => self.define(event, define),
            Kind::Enter {
                epoch,
                version,
                first,
                entries,
                claims,
            } => {
                self.expect(*first == self.sequence + 1, "its first sequence is not the next one")?;
                for entry in entries {
                    self.sequence += 1;
                    self.enter(entry, *epoch, *version)?;
                }
                for claim in claims {
                    let place = usize::try_from(claim.sequence - first)
                        .ok()
                        .and_then(|i| entries.get(i));
                    let entry = place.ok_or(FoldError::Unexpected {
                        n: self.n,
                        what: "a claim of an entry it did not take",
                    })?;
                    self.begin_claims(&entry.entry_id, event.at_ms, entry)?;
                    self.claim(&entry.entry_id, claim)?;
                }
            }
            Kind::Claim { entry_id, claim } => self.claim(entry_id, claim)?,
            Kind::Finish { entry_id, sequence } => {
                let (refusals, _) = self.pending_record(entry_id)?;
                self.settle(entry_id, *sequence, State::Ended { refusals })?;
            }
            Kind::Status { before, after } => {
                self.expect(self.status == Some(*before), "the status before is another one")?;
                self.status = Some(*after);
            }
            Kind::Checkpoint(_) => {}
            Kind::Restore { restores, status, .. } => {
                self.expect(*restores > self.restores, "its restores are not more than before")?;
                self.restores = *restores;
                self.status = Some(*status);
            }
            Kind::Adjust { adjustment_id, digest } => {
                let again = self
                    .adjustments
                    .insert(adjustment_id.clone(), (digest.clone(), event.at_ms))
                    .is_some();
                self.expect(!again, "an adjustment id comes twice")?;
            }
            Kind::Rotate {
                epoch,
                commitment,
                dropped,
                pruned,
            } => {
                self.rotate(event.at_ms, *epoch, commitment, *dropped)?;
                self.definitions.retain(|version, _| !pruned.contains(version));
            }
        }
        if let Some(version) = event.applied {
            self.version = version;
            self.waiting = None;
        }
        Ok(())
    }

    /// Of each tier: contributed + funded = pool + reserve + overflow + remainders + paid, in millionths.
    fn change_meters(&mut self, event: &Event) -> Result<(), FoldError> {
        let mut sums: BTreeMap<&Id, i128> = BTreeMap::new();
        for change in &event.changes {
            let micro = i128::from(change.delta);
            let amount = match change.meter.as_str() {
                "pool" | "reserve" | "overflow" | "paid" => micro * 1_000_000,
                "pool_micro" | "reserve_micro" => micro,
                "contributed" | "funded" => -micro * 1_000_000,
                "contributed_micro" => -micro,
                "wins" => 0,
                _ => {
                    return Err(FoldError::Unexpected {
                        n: event.n,
                        what: "a meter that there is not",
                    });
                }
            };
            *sums.entry(&change.tier).or_default() += amount;
            let meter = self
                .meters
                .entry((change.tier.clone(), change.meter.clone()))
                .or_default();
            *meter += change.delta;
            if *meter < 0 && change.meter != "funded" {
                return Err(FoldError::BelowZero {
                    n: event.n,
                    tier: change.tier.clone(),
                    meter: change.meter.clone(),
                });
            }
        }
        match sums.into_iter().find(|(_, sum)| *sum != 0) {
            Some((tier, millionths)) => Err(FoldError::Unbalanced {
                n: event.n,
                tier: tier.clone(),
                millionths,
            }),
            None => Ok(()),
        }
    }

    fn define(&mut self, event: &Event, define: &super::event::Define) {
        if let Some((status, commitment)) = &define.created {
            self.status = Some(*status);
            self.generation = Generation {
                start: 0,
                opened_ms: event.at_ms,
                version: define.version,
            };
            let (commitment, opened_ms) = (commitment.clone(), event.at_ms);
            self.epochs.push(Epoch {
                epoch: 1,
                commitment,
                opened_ms,
                closed_ms: None,
            });
        }
        if let Some(superseded) = define.superseded {
            self.definitions.remove(&superseded);
        }
        self.definitions.insert(define.version, define.json.clone());
        self.last_version = define.version;
        self.puts = define.remember(&self.puts);
        self.waiting = Some(define.version);
    }

    fn enter(&mut self, entry: &Entered, epoch: u64, version: u64) -> Result<(), FoldError> {
        let record = Record {
            sequence: self.sequence,
            epoch,
            version,
            fingerprint: entry.sent.fingerprint(),
            contributions: entry.contributions.clone(),
            state: State::Lost,
        };
        let again = self.seen_before.contains_key(&entry.entry_id);
        let again = self.seen.insert(entry.entry_id.clone(), record).is_some() || again;
        self.expect(!again, "an entry id comes twice")
    }

    fn begin_claims(&mut self, entry_id: &str, at_ms: i64, entry: &Entered) -> Result<(), FoldError> {
        let n = self.n;
        let record = self.record(entry_id).ok_or(FoldError::Unexpected {
            n,
            what: "no such entry",
        })?;
        let sequence = record.sequence;
        record.state = State::Pending {
            refusals: Vec::new(),
            entered_ms: at_ms,
            sent: entry.sent.clone(),
        };
        self.pending.insert(sequence, entry_id.to_owned());
        Ok(())
    }

    fn claim(&mut self, entry_id: &str, claim: &Claim) -> Result<(), FoldError> {
        let (mut refusals, entered) = self.pending_record(entry_id)?;
        match &claim.result {
            ClaimResult::Later => Ok(()),
            ClaimResult::Retry { .. } => {
                refusals.push(Refusal {
                    rank: claim.rank,
                    reason: Reason::Retry,
                });
                let (entered_ms, sent) = entered;
                if let Some(record) = self.record(entry_id) {
                    record.state = State::Pending {
                        refusals,
                        entered_ms,
                        sent,
                    };
                }
                Ok(())
            }
            ClaimResult::Paid {
                tier,
                amount,
                claim_order,
                ..
            } => {
                self.claim_order += 1;
                self.expect(*claim_order == self.claim_order, "its claim order is not the next one")?;
                let (tier, amount, claim_order) = (tier.clone(), *amount, *claim_order);
                let payout = Payout {
                    rank: claim.rank,
                    tier,
                    amount,
                    claim_order,
                };
                self.settle(entry_id, claim.sequence, State::Paid { refusals, payout })
            }
        }
    }

    fn settle(&mut self, entry_id: &str, sequence: u64, outcome: State) -> Result<(), FoldError> {
        let was = self.pending.remove(&sequence);
        self.expect(
            was.as_deref() == Some(entry_id),
            "an entry is settled that is not pending",
        )?;
        if let Some(record) = self.record(entry_id) {
            record.state = outcome;
        }
        Ok(())
    }

    fn rotate(&mut self, at_ms: i64, epoch: u64, commitment: &str, dropped: bool) -> Result<(), FoldError> {
        let open = self.epochs.last_mut().filter(|last| last.epoch + 1 == epoch);
        open.ok_or(FoldError::Unexpected {
            n: self.n,
            what: "its epoch is not the next one",
        })?
        .closed_ms = Some(at_ms);
        self.epochs.push(Epoch {
            epoch,
            commitment: commitment.to_owned(),
            opened_ms: at_ms,
            closed_ms: None,
        });
        if dropped {
            self.seen_before = std::mem::take(&mut self.seen);
            self.generation = Generation {
                start: self.sequence,
                opened_ms: at_ms,
                version: self.version,
            };
        }
        Ok(())
    }

    fn record(&mut self, entry_id: &str) -> Option<&mut Record> {
        self.seen
            .get_mut(entry_id)
            .or_else(|| self.seen_before.get_mut(entry_id))
    }

    /// Refusals, time and content of a pending entry.
    fn pending_record(
        &mut self,
        entry_id: &str,
    ) -> Result<(Vec<Refusal>, (i64, crate::jackpot::record::Sent)), FoldError> {
        let n = self.n;
        match self.record(entry_id).map(|record| &record.state) {
            Some(State::Pending {
                refusals,
                entered_ms,
                sent,
            }) => Ok((refusals.clone(), (*entered_ms, sent.clone()))),
            _ => Err(FoldError::Unexpected {
                n,
                what: "an entry that is not pending",
            }),
        }
    }

    fn expect(&self, holds: bool, what: &'static str) -> Result<(), FoldError> {
        if holds {
            Ok(())
        } else {
            Err(FoldError::Unexpected { n: self.n, what })
        }
    }
}

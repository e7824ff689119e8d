//! The records of requests without an issue, replayed from a coupon's events: refusals, queued requests, dead
//! letters. Pure.
//!
//! Only queued requests and dead letters are kept in memory. A refusal is final after its event, and a restore writes
//! each one to Redis as it comes.

use std::collections::BTreeMap;

use super::event::{Event, Kind, What};
use crate::metadata::Asker;
use crate::record::{Record, State, Take};
use jackpot_kernel::ledger::events::FoldError;

/// The queued requests and the dead letters.
#[derive(Debug, Default)]
pub struct Waiting {
    /// By request id.
    pub open: BTreeMap<String, Record>,
}

impl Waiting {
    /// Applies an event. Returns the final refusals that it made.
    pub fn apply(&mut self, event: &Event) -> Result<Vec<(String, Record)>, FoldError> {
        let mut refused = Vec::new();
        match &event.kind {
            Kind::Issue { lines, .. } | Kind::Serve { lines, .. } => {
                for line in lines {
                    let at_ms = event.at_ms;
                    let state = match &line.what {
                        What::Queued { arrival } => {
                            let queued = State::Queued {
                                arrival: *arrival,
                                attempts: 0,
                                take: Take,
                                at_ms,
                            };
                            self.keep(&line.request, &line.user, queued);
                            continue;
                        }
                        What::Dead { attempts } => {
                            let (arrival, at_ms) = self.take(event, &line.request)?;
                            let dead = State::Dead {
                                arrival,
                                attempts: *attempts,
                                at_ms,
                            };
                            self.keep(&line.request, &line.user, dead);
                            continue;
                        }
                        What::Issued { .. } => None,
                        What::AlreadyIssued { first } => Some(State::AlreadyIssued {
                            at_ms,
                            first: first.clone(),
                        }),
                        What::OutOfStock => Some(State::OutOfStock { at_ms }),
                        What::NotOpen => Some(State::NotOpen { at_ms }),
                        What::Closed => Some(State::Closed { at_ms }),
                    };
                    if matches!(event.kind, Kind::Serve { .. }) {
                        self.take(event, &line.request)?;
                    }
                    let user = line.user.clone();
                    refused.extend(state.map(|state| (line.request.clone(), Record { user, state })));
                }
            }
            Kind::Redrive { request, arrival } => {
                let user = self.open.get(request).map(|record| record.user.clone());
                let (_, at_ms) = self.take(event, request)?;
                let queued = State::Queued {
                    arrival: *arrival,
                    attempts: 0,
                    take: Take,
                    at_ms,
                };
                user.inspect(|user| self.keep(request, user, queued));
            }
            Kind::Skipped(skipped) => {
                for (request, text) in &skipped.carried.records {
                    self.open.remove(request);
                    let record = Record::parse(text).map_err(|_| FoldError::Unexpected {
                        n: event.n,
                        what: "a record that can't be read is carried on",
                    })?;
                    match record.state {
                        State::Queued { .. } | State::Dead { .. } => {
                            self.open.insert(request.clone(), record);
                        }
                        State::Issued(_) | State::Voided(..) | State::Redeemed(..) => {}
                        _ => refused.push((request.clone(), record)),
                    }
                }
            }
            _ => {}
        }
        Ok(refused)
    }

    fn keep(&mut self, request: &str, user: &Asker, state: State) {
        let user = user.clone();
        self.open.insert(request.to_owned(), Record { user, state });
    }

    /// Arrival and time of a request that leaves its list.
    fn take(&mut self, event: &Event, request: &str) -> Result<(u64, i64), FoldError> {
        let record = self.open.remove(request);
        match record.map(|record| record.state) {
            Some(State::Queued { arrival, at_ms, .. } | State::Dead { arrival, at_ms, .. }) => Ok((arrival, at_ms)),
            _ => Err(FoldError::Unexpected {
                n: event.n,
                what: "a request that is not in the queue",
            }),
        }
    }
}

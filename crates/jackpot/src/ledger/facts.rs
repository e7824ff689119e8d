//! What an event did to definitions, epochs, records, transfers and payouts, as facts. Pure.
//!
//! Rows, events out and the rebuilt state are made of facts. The books and the way out of a stuck stream read the event
//! itself. A skipped event gives the same facts for what it carried on. Money is in [`super::postings`].

use jackpot_core::ids::Id;
use jackpot_core::jackpot::epoch::Opening;
use jackpot_core::jackpot::transfer::{self, GivenRecord, Part};

use super::carried::Carried;
use super::event::{Adjust, Checkpoint, Claim, Define, Enter, Event, Give, Kind, PayoutStep, Receive, Reverse};
use jackpot_api::jackpot::Status;
use jackpot_kernel::ledger::events::{Rebuilt, StatusChange};

/// A thing that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Fact {
    /// Entries were taken, with their first claims.
    Taken(Enter),
    /// A pending entry claimed a prize, or a coupon answered.
    Claimed {
        entry_id: String,
        claim: Claim,
    },
    /// A pending entry ended with no prize.
    Finished {
        entry_id: String,
        sequence: u64,
    },
    /// A round was cancelled.
    Reversed(Reverse),
    /// A definition was put. `mode`: what the PUT did; `None` of one that was carried on.
    Defined {
        version: u64,
        json: String,
        mode: Option<&'static str>,
    },
    /// Redis no longer keeps this version of a definition.
    Dropped(u64),
    /// The status changed.
    Changed(StatusChange<Status>),
    EpochClosed {
        epoch: u64,
        at_ms: i64,
    },
    EpochOpened {
        epoch: u64,
        opening: Opening,
        at_ms: i64,
    },
    /// Redis keeps a record of an adjustment, of a transfer, or of what waits for a second owner.
    Recorded {
        name: String,
        content: String,
        at_ms: i64,
    },
    /// An operator moved money within the jackpot or across its border.
    Adjusted(Adjust),
    /// All money of tiers left for another jackpot.
    Given {
        give: Give,
        at_ms: i64,
    },
    /// The money of a transfer came in. `parts`: `None` where a skipped event does not say it.
    Received {
        from: Id,
        transfer_id: Id,
        parts: Option<Vec<Part>>,
        at_ms: i64,
    },
    /// A tracked payout took a step. `is_carried`: a skipped event took it.
    Stepped {
        step: Box<PayoutStep>,
        is_carried: bool,
    },
    /// Redis was rebuilt.
    Restored(Rebuilt<Status>),
    /// What Redis held.
    Held(Checkpoint),
    /// An event was skipped: what it leaves beside the other facts, its entries, payouts and units of coupons.
    Skipped(Box<Carried>),
    /// Something of which the audit log tells the rest.
    Operated,
}

impl Event {
    /// What happened, in the order in which other systems get it.
    pub fn into_facts(self) -> Vec<Fact> {
        let (at_ms, ended_epoch) = (self.at_ms, self.ended_epoch());
        let records = self.kind.records().into_iter();
        let records: Vec<Fact> = records
            .map(|(name, content)| Fact::Recorded { name, content, at_ms })
            .collect();
        let mut facts = of_kind(self.kind, at_ms);
        facts.extend(ended_epoch.map(|epoch| Fact::EpochClosed { epoch, at_ms }));
        facts.extend(records);
        facts
    }
}

fn of_kind(kind: Kind, at_ms: i64) -> Vec<Fact> {
    let opened = |epoch, opening| Fact::EpochOpened { epoch, opening, at_ms };
    let closed = |epoch| Fact::EpochClosed { epoch, at_ms };
    match kind {
        Kind::Define(define) => defined(define, at_ms),
        Kind::Enter(enter) => vec![Fact::Taken(enter)],
        Kind::Claim { entry_id, claim } => vec![Fact::Claimed { entry_id, claim }],
        Kind::Finish { entry_id, sequence } => vec![Fact::Finished { entry_id, sequence }],
        Kind::Status { change, .. } => vec![Fact::Changed(change)],
        Kind::Adjust(adjust) => vec![Fact::Adjusted(adjust)],
        Kind::Reverse(reverse) => vec![Fact::Reversed(reverse)],
        Kind::Give(give) => vec![Fact::Given { give, at_ms }],
        Kind::Receive(Receive {
            from,
            transfer_id,
            parts,
            ..
        }) => vec![Fact::Received {
            from,
            transfer_id,
            parts: Some(parts),
            at_ms,
        }],
        Kind::Payout(step) => vec![Fact::Stepped {
            step,
            is_carried: false,
        }],
        Kind::Checkpoint(checkpoint) => vec![Fact::Held(checkpoint)],
        Kind::Restore {
            rebuilt,
            closed: epoch,
            epoch: next,
            opening,
            ..
        } => vec![Fact::Restored(rebuilt), closed(epoch), opened(next, opening)],
        Kind::Rotate {
            epoch, opening, pruned, ..
        } => {
            let pruned = pruned.into_iter().map(Fact::Dropped);
            [closed(epoch - 1), opened(epoch, opening)]
                .into_iter()
                .chain(pruned)
                .collect()
        }
        Kind::Skipped(skipped) => carried(skipped.carried),
        Kind::Emergency(_) | Kind::Ask(_) | Kind::Withdraw(_) | Kind::Approval(_) => vec![Fact::Operated],
        Kind::Cancel(_) | Kind::Expect(_) | Kind::Release(_) | Kind::Retention { .. } => Vec::new(),
    }
}

fn defined(define: Define, at_ms: i64) -> Vec<Fact> {
    let first = define.created.0.map(|created| Fact::EpochOpened {
        epoch: 1,
        opening: created.opening,
        at_ms,
    });
    let put = Fact::Defined {
        version: define.put.version,
        json: define.put.json,
        mode: Some(define.put.mode.as_str()),
    };
    let dropped = define.superseded.map(Fact::Dropped);
    [put].into_iter().chain(first).chain(dropped).collect()
}

/// What a skipped event carried on. Only of its last three fields are there no other facts.
fn carried(mut carried: Carried) -> Vec<Fact> {
    let definitions = std::mem::take(&mut carried.definitions).into_iter();
    let closed = std::mem::take(&mut carried.closed_epochs).into_iter();
    let opened = std::mem::take(&mut carried.epochs).into_iter();
    let dropped = std::mem::take(&mut carried.dropped_versions).into_iter();
    let step = carried.step.take();
    let step = step.and_then(|fields| PayoutStep::of_fields(&(&fields).into()));
    let mut facts: Vec<Fact> = definitions
        .map(|(version, json)| Fact::Defined {
            version,
            json,
            mode: None,
        })
        .chain(closed.map(|(epoch, at_ms)| Fact::EpochClosed { epoch, at_ms }))
        .chain(opened.map(|(epoch, opening, at_ms)| Fact::EpochOpened { epoch, opening, at_ms }))
        .chain(dropped.map(Fact::Dropped))
        .chain(step.map(|step| Fact::Stepped {
            step: Box::new(step),
            is_carried: true,
        }))
        .collect();
    for (name, content, at_ms) in std::mem::take(&mut carried.adjustments) {
        facts.extend(transferred(&name, &content, at_ms));
        facts.push(Fact::Recorded { name, content, at_ms });
    }
    facts.push(Fact::Skipped(Box::new(carried)));
    facts
}

/// The transfer of a record that was carried on, if it says that one was given or came in.
fn transferred(name: &str, content: &str, at_ms: i64) -> Option<Fact> {
    if let Some(transfer_id) = name.strip_prefix(transfer::OUT) {
        let transfer_id = Id::parse(transfer_id).ok()?;
        let GivenRecord { digest, to, parts } = GivenRecord::parse(content).ok()?;
        let give = Give {
            transfer_id,
            digest,
            to,
            parts,
            owner: None,
            asked: None,
        };
        return Some(Fact::Given { give, at_ms });
    }
    let (from, transfer_id) = name.strip_prefix(transfer::CAME_IN)?.split_once('!')?;
    Some(Fact::Received {
        from: Id::parse(from).ok()?,
        transfer_id: Id::parse(transfer_id).ok()?,
        parts: None,
        at_ms,
    })
}

//! The books of a coupon: its state as derived from its events alone, without the records of single requests. Pure.
//!
//! The projector stores them with its cursor. It checks each event against them before the commit, and compares them
//! with Redis at a checkpoint. A lost Redis is rebuilt from them.

use serde::{Deserialize, Serialize};

use super::event::{Define, Event, Kind, Line, What};
use jackpot_api::coupon::Status;
use jackpot_kernel::ledger::events::{FoldError, carries_on, expect, follows, go_on_in_history};
use jackpot_kernel::ledger::kind::{Folded, Standing};

/// The state of a coupon at an event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Books {
    /// Number of the last event.
    pub n: u64,
    /// How often Redis was rebuilt from the ledger.
    pub restores: u64,
    /// When the last event happened, ms of Redis' clock.
    pub at_ms: i64,
    /// Made at creation or at the last restore.
    pub history: String,
    /// `None` before it was created.
    pub status: Option<Status>,
    /// What a suspension interrupts: paused or closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<Status>,
    /// Version of the definition.
    pub version: u64,
    /// The definition, JSON as Redis keeps it.
    pub definition: String,
    /// Most units that may be outstanding.
    pub stock: u64,
    /// Number of issues ever.
    pub sequence: u64,
    /// Issues that were taken back.
    pub voided: u64,
    /// Issues whose users have used them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub redeemed: u64,
    /// Requests that ever joined the queue.
    pub arrivals: u64,
    /// Requests in the queue.
    pub queued: u64,
    /// Number of dead letters.
    pub dead: u64,
    /// Requests refused for good.
    pub refused: Refused,
    /// The last PUTs, as Redis keeps them.
    pub puts: String,
    /// Users that have a record: an issue counts, or nobody has looked since it did.
    pub users: u64,
    /// Seconds that records are kept after the end.
    pub retention_s: u64,
    /// Whether its records were dropped.
    pub retired: bool,
}

/// Requests refused for good, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// The user already had the most units per user.
    pub already_issued: u64,
    /// No unit was left.
    pub out_of_stock: u64,
    /// The coupon had not started, or was over.
    pub not_open: u64,
    /// The coupon was closed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub closed: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_zero(value: &u64) -> bool {
    *value == 0
}

impl Folded for Books {
    fn standing(&self) -> Standing {
        let is_suspended = self.status == Some(Status::Suspended);
        Standing {
            n: self.n,
            restores: self.restores,
            at_ms: self.at_ms,
            sequence: self.sequence,
            status: self.status.map_or("", Status::as_str),
            is_suspended,
            is_stopped: is_suspended || self.status == Some(Status::Ended),
        }
    }
}

impl Books {
    /// Outstanding units: issued and not taken back.
    pub fn out(&self) -> u64 {
        self.sequence - self.voided
    }

    /// Number of requests that have a record in Redis.
    pub fn requests(&self) -> u64 {
        if self.retired {
            return 0;
        }
        let Refused {
            already_issued,
            out_of_stock,
            not_open,
            closed,
        } = self.refused;
        self.sequence + already_issued + out_of_stock + not_open + closed + self.queued + self.dead
    }

    /// Applies the next event. After an error the books must not be used.
    pub fn apply(&mut self, event: &Event) -> Result<(), FoldError> {
        follows(self.n, event.n)?;
        if let Kind::Skipped(skipped) = &event.kind {
            let after = &skipped.carried.books;
            carries_on(
                (after.n, after.at_ms, &after.history),
                (event.n, event.at_ms, &event.history),
            )?;
            self.clone_from(after);
            return Ok(());
        }
        (self.n, self.at_ms) = (event.n, event.at_ms);
        expect(
            self.n,
            self.status.is_some() || matches!(&event.kind, Kind::Define(define) if define.is_new()),
            "the first event does not create the coupon",
        )?;
        let begins = self.status.is_none() || matches!(event.kind, Kind::Restore { .. });
        go_on_in_history(self.n, &mut self.history, &event.history, begins)?;
        // A unit can be used after its records were dropped: the ledger has it.
        let moves = !matches!(
            event.kind,
            Kind::Status(_) | Kind::Checkpoint(_) | Kind::Restore { .. } | Kind::Redeem { .. }
        );
        expect(self.n, !(moves && self.retired), "it was retired before")?;
        match &event.kind {
            Kind::Define(define) => self.define(define),
            Kind::Issue { lines, users } => {
                self.users += users.unwrap_or_default();
                lines.iter().try_for_each(|line| self.asked(line))
            }
            Kind::Serve { lines, users } => {
                self.users += users.unwrap_or_default();
                lines.iter().try_for_each(|line| self.served(line))
            }
            Kind::Redrive { arrival, .. } => {
                expect(self.n, *arrival <= self.arrivals, "it was never in the queue")?;
                self.dead = self.less(self.dead, "a dead letter more than there are")?;
                self.queued += 1;
                Ok(())
            }
            Kind::Void { unit, last_of_user } => {
                let is_issued = (1..=self.sequence).contains(&unit.sequence);
                expect(self.n, is_issued, "what is voided was not issued")?;
                expect(self.n, self.out() > self.redeemed, "more is voided than can be")?;
                self.voided += 1;
                self.users = self.users.saturating_sub(u64::from(last_of_user.0));
                Ok(())
            }
            Kind::Redeem { unit, .. } => self.redeem(unit.sequence),
            Kind::Status(change) => {
                expect(
                    self.n,
                    self.status == Some(change.before),
                    "the status before is another one",
                )?;
                self.held =
                    (change.after == Status::Suspended && change.before != Status::Open).then_some(change.before);
                self.status = Some(change.after);
                Ok(())
            }
            // A skipped event has set the whole books already.
            Kind::Checkpoint(_) | Kind::Skipped(_) | Kind::Emergency(_) => Ok(()),
            Kind::Retention { before, retention_s } => {
                let raises = *before == self.retention_s && retention_s > before;
                self.retention_s = *retention_s;
                expect(self.n, raises, "the retention is raised from another one")
            }
            Kind::Restore { rebuilt, users } => {
                expect(
                    self.n,
                    rebuilt.restores > self.restores,
                    "its restores are not more than before",
                )?;
                let was = self.held.or(self.status).filter(|status| *status != Status::Suspended);
                self.held = was.filter(|was| rebuilt.status == Status::Suspended && *was != Status::Open);
                (self.restores, self.status) = (rebuilt.restores, Some(rebuilt.status));
                self.users = users.unwrap_or_default();
                Ok(())
            }
            Kind::Retire { requests, queued, dead } => {
                expect(
                    self.n,
                    (*requests, *queued, *dead) == (self.requests(), self.queued, self.dead),
                    "other numbers of records are dropped than there are",
                )?;
                (self.queued, self.dead, self.users, self.retired) = (0, 0, 0, true);
                self.status = Some(Status::Ended);
                Ok(())
            }
        }
    }

    fn define(&mut self, define: &Define) -> Result<(), FoldError> {
        expect(
            self.n,
            define.version == self.version + 1,
            "its version is not the next one",
        )?;
        expect(self.n, define.is_new() == self.status.is_none(), "it is created twice")?;
        expect(
            self.n,
            define.definition.stock() >= self.out(),
            "its stock is below what is out",
        )?;
        if define.is_new() {
            self.status = Some(Status::Open);
            self.retention_s = define.retention_s.unwrap_or_default();
        }
        self.puts = define.remember(&self.puts);
        self.version = define.version;
        self.stock = define.definition.stock();
        self.definition.clone_from(&define.json);
        Ok(())
    }

    fn redeem(&mut self, sequence: u64) -> Result<(), FoldError> {
        let is_issued = (1..=self.sequence).contains(&sequence);
        expect(self.n, is_issued, "what is redeemed was not issued")?;
        expect(self.n, self.redeemed < self.out(), "more is redeemed than is out")?;
        self.redeemed += 1;
        Ok(())
    }

    /// Applies a request as it arrives.
    fn asked(&mut self, line: &Line) -> Result<(), FoldError> {
        if let What::Queued { arrival } = line.what {
            expect(
                self.n,
                arrival == self.arrivals + 1,
                "its number in the queue is not the next one",
            )?;
            self.arrivals = arrival;
            self.queued += 1;
            return Ok(());
        }
        // A draw does not wait for a coupon that an operator paused or closed.
        let is_shut =
            matches!(self.status, Some(Status::Paused | Status::Closed)) && matches!(line.what, What::NotOpen);
        expect(
            self.n,
            self.queued == 0 || is_shut,
            "it overtakes requests in the queue",
        )?;
        self.decided(&line.what)
    }

    /// Applies a request that was in the queue.
    fn served(&mut self, line: &Line) -> Result<(), FoldError> {
        self.queued = self.less(self.queued, "more requests leave the queue than are in it")?;
        if matches!(line.what, What::Dead { .. }) {
            self.dead += 1;
            return Ok(());
        }
        self.decided(&line.what)
    }

    fn decided(&mut self, what: &What) -> Result<(), FoldError> {
        match what {
            What::Issued { sequence, .. } => {
                expect(
                    self.n,
                    *sequence == self.sequence + 1,
                    "its sequence is not the next one",
                )?;
                expect(self.n, self.out() < self.stock, "more is out than the stock")?;
                self.sequence = *sequence;
            }
            What::AlreadyIssued { .. } => self.refused.already_issued += 1,
            What::OutOfStock => self.refused.out_of_stock += 1,
            What::NotOpen => self.refused.not_open += 1,
            What::Closed => {
                let is_closed = self.status == Some(Status::Closed);
                expect(self.n, is_closed, "it is refused as closed, and the coupon is not")?;
                self.refused.closed += 1;
            }
            What::Queued { .. } | What::Dead { .. } => expect(self.n, false, "it is not decided")?,
        }
        Ok(())
    }

    fn less(&self, count: u64, what: &'static str) -> Result<u64, FoldError> {
        count.checked_sub(1).ok_or(FoldError::Unexpected { n: self.n, what })
    }
}

#[cfg(test)]
#[path = "books_tests.rs"]
mod tests;

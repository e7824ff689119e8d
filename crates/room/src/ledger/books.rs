//! The books of a room: its state as derived from its events alone. Pure.
//!
//! The projector stores them with its cursor. It checks each event against them before the commit, and compares them
//! with Redis at a checkpoint. A lost Redis is rebuilt from them.

use serde::{Deserialize, Serialize};

use super::event::{Define, Event, Kind, Opened};
use crate::definition::Definition;
use crate::known::OrderOf;
use jackpot_api::room::Status;
use jackpot_kernel::ledger::events::{FoldError, carries_on, expect, follows, go_on_in_history};
use jackpot_kernel::ledger::kind::{Folded, Standing};

/// The state of a room at an event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Books {
    /// Number of the last event.
    pub n: u64,
    /// How often Redis was rebuilt from the ledger.
    pub restores: u64,
    /// When the last event happened, ms of Redis' clock.
    pub at_ms: i64,
    /// The room's time: the highest that it has shown, ms. It is ahead of Redis' clock once that was put back.
    pub clock_ms: i64,
    /// Made at creation or at the last restore.
    pub history: String,
    /// `None` before it was created.
    pub status: Option<Status>,
    /// Version of the definition.
    pub version: u64,
    /// The definition, JSON as Redis keeps it.
    pub definition: String,
    /// What decides, or decided, the order before the opening.
    pub order: OrderOf,
    /// When the last pass of an earlier definition, or from before a restore, has expired, ms; 0 for none.
    pub passes_until_ms: i64,
    /// When it opened or will open, ms; it opens only once. A definition without a time opens it at once.
    pub opens_ms: i64,
    /// The users who joined before the opening, once their list is published.
    pub opened: Option<Opened>,
    /// The last PUTs, as Redis keeps them.
    pub puts: String,
}

impl Folded for Books {
    fn standing(&self) -> Standing {
        let is_suspended = self.status == Some(Status::Suspended);
        Standing {
            n: self.n,
            restores: self.restores,
            at_ms: self.at_ms,
            // Nothing in a room has its own number in the ledger.
            sequence: 0,
            status: self.status.map_or("", Status::as_str),
            is_suspended,
            is_stopped: is_suspended,
        }
    }
}

impl Books {
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
        let must = |holds: bool, why: &'static str| expect(event.n, holds, why);
        // A Redis that lost events may have forgotten this time.
        self.clock_ms = self.clock_ms.max(event.clock_ms);
        must(
            self.status.is_some() || matches!(&event.kind, Kind::Define(define) if define.is_new()),
            "the first event does not create the room",
        )?;
        let begins = self.status.is_none() || matches!(event.kind, Kind::Restore { .. });
        go_on_in_history(self.n, &mut self.history, &event.history, begins)?;
        match &event.kind {
            Kind::Define(define) => self.define(define),
            Kind::Opened(opened) => {
                must(self.opened.is_none(), "its list is published twice")?;
                must(self.at_ms >= self.opens_ms, "its list is published before it opens")?;
                self.opened = Some(opened.clone());
                Ok(())
            }
            Kind::Status(change) => {
                must(self.status == Some(change.before), "the status before is another one")?;
                self.status = Some(change.after);
                Ok(())
            }
            // A skipped event has set the whole books already.
            Kind::Checkpoint { .. } | Kind::Skipped(_) | Kind::Emergency(_) => Ok(()),
            Kind::Restore {
                rebuilt,
                passes_until_ms,
                order,
            } => {
                must(
                    rebuilt.restores > self.restores,
                    "its restores are not more than before",
                )?;
                must(
                    *passes_until_ms >= self.passes_until_ms,
                    "passes that were out before are forgotten",
                )?;
                (self.restores, self.status) = (rebuilt.restores, Some(rebuilt.status));
                must(
                    self.opened.is_none() || *order == self.order,
                    "another order than the one that was published",
                )?;
                self.order.clone_from(order);
                self.passes_until_ms = *passes_until_ms;
                self.opens_ms = self.opens_at().unwrap_or(self.at_ms);
                Ok(())
            }
        }
    }

    fn define(&mut self, define: &Define) -> Result<(), FoldError> {
        let n = self.n;
        let must = |holds: bool, why: &'static str| expect(n, holds, why);
        must(define.version == self.version + 1, "its version is not the next one")?;
        must(define.is_new() == self.status.is_none(), "it is created twice")?;
        let opens_at = define.definition.opens_ms();
        let is_new = define.is_new() || (!define.opened && opens_at.is_some() && opens_at != self.opens_at());
        if define.is_new() {
            self.status = Some(Status::Open);
            self.opens_ms = opens_at.unwrap_or(self.at_ms);
        } else if !define.opened {
            must(self.at_ms < self.opens_ms, "it has opened before")?;
            self.opens_ms = opens_at.unwrap_or(self.at_ms).max(self.at_ms);
        } else {
            // The seed is known once the room has opened.
            let stays = opens_at.is_none() || opens_at == self.opens_at();
            must(stays, "it opens a second time")?;
            let before = self.in_force().map_or(0, |before| before.session_ms());
            self.passes_until_ms = self.passes_until_ms.max(whole_second(self.clock_ms, before));
        }
        // The previous order may be known; nothing is known of this one.
        let follows = if is_new {
            define.order.nonce != self.order.nonce
        } else {
            define.order == self.order
        };
        must(follows, "its order is not that of its opening")?;
        self.puts = define.remember(&self.puts);
        self.version = define.version;
        self.definition.clone_from(&define.json);
        self.order.clone_from(&define.order);
        Ok(())
    }

    pub fn in_force(&self) -> Option<Definition> {
        Definition::from_json(&self.definition).ok()
    }

    /// When the room opens, by the definition in force, ms.
    fn opens_at(&self) -> Option<i64> {
        self.in_force()?.opens_ms()
    }
}

/// When a session that begins now has ended: on a whole second, as in `lua/room/state.lua`.
fn whole_second(now_ms: i64, session_ms: u64) -> i64 {
    let end_ms = now_ms.saturating_add_unsigned(session_ms);
    end_ms.saturating_add(999).div_euclid(1_000) * 1_000
}

#[cfg(test)]
#[path = "books_tests.rs"]
mod tests;

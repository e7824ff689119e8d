//! Jackpots in the ledger: what their events say, what the events rebuild, and the tables that only they have.
//!
//! Pure: [`event`] (as the scripts write it), [`facts`] (what it means), [`books`] (a jackpot at an event, each event checked against the books
//! before it), [`records`] and [`fold`] (what else its events rebuild), [`postings`], [`audit`], [`carried`] (from a
//! skipped event), [`report`] and [`sides`] (Redis compared with the ledger), [`steps`] (of a meter's history), [`daily`] (figures of reports). With the database:
//! [`projector`] (rows), [`entry_index`] (entries by player in daily tables), [`restore`], [`stuck`], [`lookup`],
//! [`queries`], [`api`].

pub mod api;
pub mod audit;
pub mod books;
pub mod carried;
pub mod compared;
pub mod daily;
pub mod entry_index;
pub mod event;
pub mod facts;
pub mod fold;
mod forgotten;
pub mod lookup;
mod outgoing;
pub mod parts;
pub mod postings;
pub mod projector;
pub mod queries;
pub mod records;
pub mod report;
pub mod restore;
pub mod sides;
pub mod sources;
pub mod steps;
pub mod stuck;
pub mod takes;

use std::sync::Arc;

use crate::operate::Operate;
use jackpot_kernel::ledger::kinds::AnyKind;

/// Registers jackpots with the ledger.
pub fn kind(operate: &Operate) -> Arc<dyn AnyKind> {
    Arc::new(projector::Jackpots {
        operate: operate.clone(),
    })
}

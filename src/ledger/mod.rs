//! The ledger: the SQL system of record, built from the events alone.
//!
//! Pure: [`event`] reads an event as the scripts write it; [`books`] and [`records`] rebuild a jackpot from events,
//! [`fold`] joins them; [`chain`] hashes, [`postings`] and [`audit`] make rows of them. With SQL: [`sql`] (the
//! database), [`projector`] (stream → SQL), [`entry_index`] (entries by player).

pub mod api;
pub mod audit;
pub mod books;
pub mod chain;
pub mod entry_index;
pub mod event;
pub mod fold;
pub mod lookup;
pub mod postings;
pub mod progress;
pub mod projector;
pub mod queries;
pub mod receipt;
pub mod reconcile;
pub mod records;
pub mod restore;
pub mod sql;
pub mod start;

use std::sync::Arc;

use crate::signing::SigningKeys;
use progress::Progress;
use sql::Sql;

/// What all parts of the ledger share.
#[derive(Debug, Clone)]
pub struct Ledger {
    /// The database.
    pub sql: Sql,
    /// Sign receipts and heads.
    pub signing: Arc<SigningKeys>,
    /// How it is doing.
    pub progress: Arc<Progress>,
}

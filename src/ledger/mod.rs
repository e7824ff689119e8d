//! The ledger: the SQL system of record, built from the events alone.
//!
//! | where | what |
//! | --- | --- |
//! | [`event`], [`books`], [`records`], [`fold`] | an event as the scripts write it, and what events rebuild. Pure |
//! | [`postings`], [`audit`] | rows of an event. Pure |
//! | [`coupons`], [`rooms`] | the same of coupons and rooms. Pure |
//! | [`entry_index`] | the entries by player in daily tables |
//! | [`projector`] | stream → SQL, exactly once |
//! | [`reconcile`] | Redis beside the ledger |
//! | [`restore`], [`forgotten`] | a lost Redis rebuilt; what is given up when it is one that was ahead |
//! | [`stuck`], [`skipped`] | an event that can't be applied: found, shown, skipped without losing what it did |
//! | [`queries`], [`api`], [`export`] | what operators and auditors ask |
//! | [`pair`] | which Redis belongs to the ledger |
//! | [`lookup`], [`start`] | what play asks, how it begins |

pub mod api;
pub mod audit;
pub mod books;
pub mod coupons;
pub mod entry_index;
pub mod event;
mod event_page;
pub mod export;
pub mod export_line;
pub mod fold;
pub mod forgotten;
pub mod lookup;
pub mod pair;
pub mod postings;
mod problem;
pub mod projector;
pub mod queries;
pub mod reconcile;
pub mod records;
pub mod restore;
pub mod rooms;
pub mod skipped;
pub mod start;
pub mod stuck;

use std::path::Path;
use std::sync::Arc;

use crate::signing::SigningKeys;
use crate::sql::Sql;

/// What all parts of the ledger share.
#[derive(Debug, Clone)]
pub struct Ledger {
    /// The database.
    pub sql: Sql,
    /// Where the file with the store's UUID is.
    pub data_dir: Arc<Path>,
    /// Sign receipts and heads.
    pub signing: Arc<SigningKeys>,
}

//! The ledger: the SQL system of record, built from the events alone. It knows a kind of subjects only by the
//! traits of [`kind`], which each capability implements in its own folder `ledger/`.
//!
//! | where | what |
//! | --- | --- |
//! | [`kind`] | what a capability gives the ledger: books, rows, a look at Redis, a restore |
//! | [`kinds`] | every kind of an instance by its name alone: the registration |
//! | [`events`], [`audit`] | what events of all kinds have in common, and an operator's action. Pure |
//! | [`projector`] | stream → SQL, exactly once |
//! | [`reconcile`] | compares Redis with the ledger |
//! | [`emergency`] | stops everything, and makes every subject obey |
//! | [`restore`], [`forgotten`] | rebuilds a lost Redis; what is given up when it replaces a Redis that was ahead |
//! | [`stuck`], [`skipped`] | an event that can't be applied: finds, shows and skips it without losing what it did |
//! | [`stored`] | events as SQL has them, a page at a time |
//! | [`outgoing`], [`news`] | what events tell other systems, and which streams were just committed |
//! | [`queries`], [`api`] | what operators and auditors ask |
//! | [`pair`] | which Redis belongs to the ledger |
//! | [`start`] | how the ledger is opened |

pub mod api;
pub mod audit;
pub mod emergency;
pub mod events;
pub mod forgotten;
pub mod kind;
pub mod kinds;
pub mod news;
pub mod outgoing;
pub mod pair;
mod problem;
pub mod projector;
pub mod queries;
pub mod reconcile;
pub mod restore;
pub mod skipped;
pub mod start;
pub mod stored;
pub mod stuck;

use std::path::Path;
use std::sync::Arc;

use self::news::News;
use crate::signing::SigningKeys;
use crate::sql::Sql;

/// What all parts of the ledger share.
#[derive(Debug, Clone)]
pub struct Ledger {
    /// The database.
    pub sql: Sql,
    /// Directory of the file with the store's UUID.
    pub data_dir: Arc<Path>,
    /// Keys that sign receipts and heads.
    pub signing: Arc<SigningKeys>,
    /// Streams that this instance has just committed.
    pub news: Arc<News>,
}

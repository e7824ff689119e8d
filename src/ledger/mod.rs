//! The ledger: what the events of a jackpot say.
//!
//! `event` reads them as the scripts write them; `fold` rebuilds a jackpot's whole state from them alone, which is
//! what makes a lost Redis restorable. The SQL system of record comes on top of these two: `queries` asks it, `api`
//! serves the answers, and `reconcile` puts Redis beside it.

pub mod api;
pub mod chain;
pub mod entry_index;
pub mod event;
pub mod fold;
pub mod queries;
pub mod receipt;
pub mod reconcile;
pub mod sql;

//! The ledger: what the events of a jackpot say.
//!
//! `event` reads them as the scripts write them; `fold` rebuilds a jackpot's whole state from them alone, which is
//! what makes a lost Redis restorable. The SQL system of record comes on top of these two.

pub mod books;
pub mod chain;
pub mod event;
pub mod export;
pub mod fold;
pub mod receipt;
pub mod records;
pub mod sql;

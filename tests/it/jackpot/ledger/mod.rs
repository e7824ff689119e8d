//! Jackpots in the ledger: their events, the index of their entries, receipts, reconciliation, restore.

mod cycles;
mod daily;
mod entry_index;
pub mod fixture;
mod history;
mod index_cursor;
mod prizes;
pub mod projector;
mod receipts;
mod reconcile;
mod restore;
mod reversals;
mod settlement;
mod stuck;
mod transfers;

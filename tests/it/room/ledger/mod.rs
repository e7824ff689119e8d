//! Rooms in the ledger.

pub mod fixture;
mod projector;
mod reconcile;
mod restore;

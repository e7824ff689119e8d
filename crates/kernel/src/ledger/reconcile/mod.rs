//! Compares Redis with the ledger, at the same event.
//!
//! A busy jackpot is compared at a checkpoint: an event with all its meters. The projector compares it with its own
//! books when it reaches it. An idle jackpot is compared as it stands. So neither load nor lag looks like a mismatch.

pub mod now;
pub mod report;
pub mod store;
pub mod table;

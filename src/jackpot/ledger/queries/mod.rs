//! Lists of what jackpots did, out of the ledger.

pub mod adjustments;
pub mod daily;
mod days;
pub mod entries;
pub mod head;
pub mod history;
pub mod payouts;
pub mod postings;
pub mod sources;
pub mod transfers;
pub mod winners;

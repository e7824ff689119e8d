//! Jackpot: shared prize pools on Redis with one atomic claim per winner.

pub mod http;
pub mod jackpot;
pub mod ledger;
pub mod settings;
pub mod simulate;
pub mod store;

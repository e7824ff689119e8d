//! Jackpot: shared prize pools on Redis with one atomic claim per winner.

pub mod app;
pub mod cli;
pub mod durable_file;
pub mod http;
pub mod jackpot;
pub mod keys;
pub mod ledger;
pub mod master_secret;
pub mod random;
pub mod settings;
pub mod simulate;
pub mod store;
pub mod telemetry;

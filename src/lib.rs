//! Jackpot: shared prize pools on Redis with one atomic claim per winner.

pub mod app;
pub mod cli;
pub mod durable_file;
pub mod http;
pub mod ids;
pub mod jackpot;
pub mod keys;
pub mod ledger;
pub mod master_secret;
pub mod money;
pub mod random;
pub mod settings;
pub mod simulate;
pub mod stopping;
pub mod store;
pub mod telemetry;
pub mod tls;

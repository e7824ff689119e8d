//! The command line.

mod doctor;
pub mod health;
mod help;
pub mod key;
pub mod log_lines;
pub mod migrate;
mod reconcile;
pub mod service_manager;
pub mod signals;

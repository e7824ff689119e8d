//! The command line.

pub mod health;
pub mod key;
pub mod log_lines;
pub mod migrate;
pub mod service_manager;
pub mod signals;

//! The command line.

mod doctor;
mod help;
pub mod key;
pub mod log_lines;
pub mod migrate;
pub mod signals;

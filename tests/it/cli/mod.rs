//! The command line.

pub mod key;
pub mod log_lines;
pub mod migrate;
pub mod signals;

//! Batches of entries.

pub mod http;
pub mod kit;
pub mod play;
pub mod same;
pub mod support;

//! Batches of entries.

pub mod http;
pub mod ledger;
pub mod ledger_real;
pub mod oracle;
pub mod play;
pub mod same;
pub mod support;

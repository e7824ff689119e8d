//! Redis beside the ledger, at the same event.

pub mod report;
pub mod table;

//! What the ledger does for every kind: projector, lists, the SQL database. Tests of one capability in the ledger are in
//! `ledger/` of its folder.

pub mod pair;
pub mod projector_once;
pub mod projector_stop;
pub mod projector_trim;
pub mod queries;
mod server;
pub mod sql;
pub mod stuck_others;
pub mod texts;

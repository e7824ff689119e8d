//! What proves to auditors that a history is whole and right: the export of a jackpot's ledger, and its verification.
//!
//! | file | what |
//! | --- | --- |
//! | [`mod@format`] | the lines of an export, which writer and verifier share. Pure |
//! | [`export`] | writes them from the ledger |
//! | [`api`] | the route `GET /v1/jackpots/{id}/ledger/export` |
//! | [`randomness`] | tests the draw for randomness: `jackpot rng-test`. Pure |
//! | [`verify`] | checks them offline, and the order of a room's pre-queue. Pure |
//!
//! A room writes the list of its pre-queue itself, in the format of [`crate::room::pre_queue_line`].

pub mod api;
pub mod export;
pub mod format;
pub mod randomness;
pub mod verify;

//! Jackpots: definition, draw, play.
//!
//! The pure part is in `jackpot_core::jackpot`. With Redis: `scripts` (wrappers of `lua/jackpot/`), `view` and `known`
//! (what this instance knows), `play` (an entry's path), `entering` (combines entries into one call), `expected` (the state
//! that a call is to find), `taking` (an entry's further steps), `batch` (many entries of one request), `segment` (drawn
//! entries as the scripts take them), `operate` (requests of operators), `reverse` (cancelled
//! rounds), `transfer` (money that moves to another jackpot), `leaving` (what needs two owners), `named` (rooms and coupons that a definition
//! names), `recovery`, `files` (definitions at start). `api` joins them to HTTP.

pub mod api;
pub mod batch;
pub mod capability;
mod cycling;
mod entering;
pub mod error;
mod expected;
pub mod files;
pub mod kept;
pub mod known;
pub mod leaving;
pub mod ledger;
pub mod metrics;
pub mod named;
pub mod operate;
pub mod play;
mod problem;
pub mod recovery;
pub mod reverse;
pub mod scripts;
pub mod secrets;
pub mod segment;
pub mod settlement;
mod taking;
pub mod transfer;
pub mod unsettled;
pub mod view;

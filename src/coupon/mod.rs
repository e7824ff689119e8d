//! Coupons: limited stock, first come, first served, once per user, with a line in front of it.
//!
//! Pure: `definition` (the JSON, checked), `code` (of a unit), `record` (what Redis keeps of a request), `status`. With
//! Redis: `scripts` (wrappers of `lua/coupon/`), `known` (what this instance remembers of each), `coupons` (what clients
//! and draws ask for), `operate` (what operators do), `kept` (what the ledger
//! knows after the records are gone), `asking` (requests that come together, one call). The line: `line` (its consumer),
//! `serving` (of one coupon), `turns` (who waits in it), `bell`. `api` joins them to HTTP. Why it is as it is:
//! `docs/decisions/0015-coupons.md`.

pub mod api;
mod asking;
mod bell;
pub mod bulk;
pub mod code;
pub mod coupons;
pub mod definition;
pub mod error;
mod kept;
pub mod known;
pub mod line;
pub mod operate;
mod problem;
pub mod record;
pub mod scripts;
mod serving;
pub mod status;
mod turns;

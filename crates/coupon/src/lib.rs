//! Coupons: limited stock, first come, first served, once per user, with a queue.
//!
//! Pure: `definition` (the JSON, checked), `code` (of a unit), `record` (Redis' record of a request), `status`. With
//! Redis: `scripts` (wrappers of `lua/coupon/`), `known` (what this instance remembers of each), `coupons` (requests of
//! clients and draws), `operate` (requests of operators), `kept` (issues in the ledger after the records are gone),
//! `asking` (combines requests into one call). The queue: `line` (its worker), `serving` (the consumer of one queue),
//! `turns` (requests that wait in it), `bell`. `api` joins them to HTTP. Why: `docs/decisions/0015-coupons.md`.

pub mod api;
mod asking;
mod bell;
pub mod bulk;
pub mod capability;
pub mod code;
pub mod coupons;
pub mod definition;
pub mod error;
mod kept;
pub mod known;
pub mod ledger;
pub mod metadata;
pub mod operate;
mod problem;
pub mod queue_worker;
pub mod record;
mod redeem;
pub mod redemption;
pub mod scripts;
mod serving;
mod turns;

//! Coupons: limited stock, first come, first served, with a line in front of it.
//!
//! Pure: `definition` (the JSON, checked), `code` (of a unit), `record` (what Redis keeps of a request), `status`. With
//! Redis: `scripts` (wrappers of `lua/coupon/`), `known` (what this instance remembers of each). Why it is as it is:
//! `docs/decisions/0015-coupons.md`.

pub mod code;
pub mod definition;
pub mod known;
pub mod record;
pub mod scripts;
pub mod status;

//! `jackpot simulate`.

mod compare;
pub mod coupons;
mod report;
pub mod room;
mod support;

//! `jackpot simulate`.

pub mod coupons;
mod report;
pub mod room;
mod support;

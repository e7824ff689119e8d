//! `jackpot simulate`.

pub mod coupons;
pub mod room;
mod support;

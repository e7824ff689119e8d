//! `jackpot simulate`.

mod compare;
pub mod coupons;
mod market;
mod report;
pub mod room;
mod support;

//! `jackpot simulate`.

mod compare;
pub mod coupons;
mod jackpots;
mod market;
mod report;
pub mod room;
mod support;

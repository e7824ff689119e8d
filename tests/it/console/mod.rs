//! The operators' console.

mod coupons;
mod day;
mod define;
pub mod fixture;
mod instances;
pub mod pages;
mod rooms;
mod sessions;

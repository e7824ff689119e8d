//! The operators' console.

mod coupons;
pub mod fixture;
mod rooms;
mod sessions;

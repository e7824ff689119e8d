//! Coupons.

pub mod asking;
pub mod consumer;
pub mod define;
pub mod draw;
mod fault;
pub mod fixture;
pub mod http;
pub mod instance;
pub mod issue;
pub mod ledger;
pub mod memory;
mod metadata;
pub mod model;
pub mod over;
pub mod property;
pub mod read;
pub mod records;
mod redeem;
pub mod restore;
pub mod retire;
pub mod serve;
mod status;
pub mod void;

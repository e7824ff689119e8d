//! The operators' console.

mod commands;
mod coupons;
mod day;
mod define;
mod emergency;
pub mod fixture;
mod hostile;
mod instances;
mod ledger;
mod money;
pub mod pages;
mod reports;
mod rooms;
mod service;
mod sessions;
mod settlement;
mod subscriptions;
mod transfers;

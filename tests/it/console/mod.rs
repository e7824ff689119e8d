//! The operators' console.

mod commands;
pub mod fixture;
mod ledger;
mod money;
mod service;
mod sessions;

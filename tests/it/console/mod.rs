//! The operators' console.

mod define;
pub mod fixture;
mod instances;
pub mod pages;
mod sessions;

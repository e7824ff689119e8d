//! The operators' console.

mod define;
pub mod fixture;
pub mod pages;
mod sessions;

//! The operators' console.

mod define;
pub mod fixture;
mod sessions;

//! The operators' console.

pub mod fixture;
mod sessions;

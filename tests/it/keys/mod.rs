//! API keys and secrets.

pub mod http;
pub mod secret_rotation;

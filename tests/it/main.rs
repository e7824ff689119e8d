//! The integration tests: one binary, a file per promise or capability.

mod cli_key;
mod http;
mod proxy;
mod style;
mod support;

//! The integration tests: one binary, a file per promise or capability.

mod proxy;
mod style;
mod support;

//! The integration tests: one binary, a file per promise or capability.

mod proxy;
mod store_calls;
mod store_checks;
mod store_cluster;
mod store_embedded;
mod store_support;
mod store_tls;
mod style;
mod support;

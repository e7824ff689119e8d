//! The integration tests: one binary, a file per promise or capability.

mod bench;
mod cli_key;
mod http;
mod model;
mod promise_conservation;
mod proxy;
mod script_claim;
mod script_enter;
mod script_operate;
mod store_calls;
mod store_checks;
mod store_cluster;
mod store_embedded;
mod store_support;
mod store_tls;
mod style;
mod support;

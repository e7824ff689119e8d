//! What the tests share: servers that can be broken on purpose, the real binary, and waiting without sleeping.
//!
//! Backends come from the environment, else from a Docker engine, else from local binaries, else the test fails
//! and says what to install. A test is never skipped.

pub mod answer;
pub mod brokers;
pub mod browser;
pub mod certificates;
pub mod cluster;
pub mod fixture;
pub mod gate;
pub mod given;
mod http;
pub mod ledger_db;
pub mod ledger_fixture;
pub mod local;
pub mod pgbouncer;
pub mod postgres;
pub mod postgres_local;
pub mod prelude;
pub mod proxy;
pub mod redis;
pub mod resp;
pub mod sentinel;
pub mod service;
pub mod shifted_clock;
pub mod size;
pub mod wait;

pub use http::{client_builder, http_client, http_client_at};
pub use size::{cases, not_in_make_test, size};
pub use wait::{PATIENCE, eventually, free_port};

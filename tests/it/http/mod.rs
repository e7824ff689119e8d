//! The HTTP front over real connections, with routes made for the tests.

mod auth;
mod bare;
mod bytes;
mod errors;
mod full;
mod h2;
pub mod heads;
mod hostile;
mod limits;
pub mod openapi;
pub mod public_reads;
mod public_streams;
mod rate;
mod raw;
pub mod secured;
mod service;
mod stop;
pub mod strangers;
pub mod support;
pub mod teaching;
pub mod tls;
mod traces;

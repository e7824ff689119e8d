//! The HTTP front over real connections, with routes made for the tests.

mod auth;
mod bare;
mod bytes;
mod errors;
mod full;
mod h2;
mod hostile;
mod kit;
mod limits;
mod public_streams;
mod rate;
mod raw;
mod service;
mod stop;
mod tls;

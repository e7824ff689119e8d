//! What a key may name, see and keep open, against a running service.

mod approvals;
mod bound;
mod codes;
mod ended;
mod secrets;
pub mod support;

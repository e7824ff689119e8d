//! Rooms from outside.

mod define;
mod entries;
mod pre_queue;
mod roles;
mod status;
mod stream;
pub mod support;
mod tickets;

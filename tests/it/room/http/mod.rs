//! Rooms from outside.

mod define;
mod entries;
pub mod kit;
mod pre_queue;
mod roles;
mod status;
mod stream;
mod tickets;

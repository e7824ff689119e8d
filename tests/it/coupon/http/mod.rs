//! Coupons from outside.

mod bulk;
mod define;
mod issue;
pub mod kit;
mod line;
mod retired;
mod roles;
mod stalls;
mod stream;

//! Coupons from outside.

mod bulk;
mod define;
mod issue;
mod line;
mod retired;
mod roles;
mod stalls;
mod stream;
pub mod support;

//! Coupons from outside.

mod bulk;
mod define;
mod issue;
mod queue;
mod redeem;
mod retired;
mod roles;
mod stalls;
mod stream;
pub mod support;

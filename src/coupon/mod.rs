//! Coupons: limited stock, first come, first served, once per user, in order.
//!
//! `known` (what this instance remembers of each).

pub mod known;

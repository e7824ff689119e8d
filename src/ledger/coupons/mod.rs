//! Coupons in the ledger: what their events say, and what the events rebuild. Pure.
//!
//! [`event`]: an event as the scripts write it. [`books`]: a coupon at an event, each event checked against what was before
//! it. [`users`], [`mod@line`]: what of a coupon's records in Redis its issues and events rebuild. [`audit`]: what operators
//! did. [`report`]: Redis beside the ledger.

pub mod audit;
pub mod books;
pub mod event;
pub mod line;
pub mod report;
pub mod users;

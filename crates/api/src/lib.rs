//! The answers of the HTTP API that something here reads too: one type each, for the handler that writes it, the console
//! and the public page that read it, tests, and the description. The documents that operators put are here as well,
//! because answers repeat them. What only a handler knows (a request, an answer that nothing here reads) stays beside it.
//!
//! A state is an enum with its names, so a description, a page and a handler can't know different ones.

pub mod coupon;
pub mod entry;
pub mod fairness;
pub mod jackpot;
pub mod ledger;
pub mod payout;
pub mod room;
pub mod subscription;

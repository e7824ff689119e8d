//! Something is killed, frozen or lost while users ask for coupons.

mod barrier;
mod ledger;
mod node;
mod redeem;
mod support;

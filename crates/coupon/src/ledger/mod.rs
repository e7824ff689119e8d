//! Coupons in the ledger: what their events say, and what the events rebuild. Pure.
//!
//! [`event`]: an event as the scripts write it. [`books`]: a coupon at an event, each event checked against the books
//! before it. [`users`], [`mod@line`]: the records in Redis that a coupon's issues and events rebuild. [`audit`]:
//! what operators did. [`report`]: compares Redis with the ledger.

pub mod api;
pub mod audit;
pub mod books;
pub mod carried;
pub mod compared;
pub mod details;
pub mod event;
mod forgotten;
pub mod issues;
pub mod line;
mod outgoing;
pub mod projector;
pub mod report;
pub mod restore;
pub mod stuck;
pub mod users;

use std::sync::Arc;

use super::known::Registry;
use jackpot_kernel::ledger::kinds::AnyKind;
use jackpot_kernel::store::Store;

/// Registers coupons with the ledger.
pub fn kind(known: &Arc<Registry>, store: &Store) -> Arc<dyn AnyKind> {
    Arc::new(projector::Coupons {
        registry: Arc::clone(known),
        store: store.clone(),
    })
}

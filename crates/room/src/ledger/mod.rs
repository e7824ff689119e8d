//! Rooms in the ledger: what their events say, and what the events rebuild. Pure.
//!
//! [`event`]: an event as the scripts write it. [`books`]: a room at an event, each event checked against the books
//! before it. [`audit`]: what operators did. [`report`]: compares Redis with the ledger. Tickets are not in the
//! ledger.

pub mod audit;
pub mod books;
pub mod carried;
pub mod compared;
pub mod event;
mod outgoing;
pub mod projector;
pub mod report;
pub mod restore;
pub mod stuck;

use std::sync::Arc;

use jackpot_core::secret::MasterSecret;

use super::known::Registry;
use jackpot_kernel::ledger::kinds::AnyKind;
use jackpot_kernel::store::Store;

/// Registers rooms with the ledger.
pub fn kind(known: &Arc<Registry>, store: &Store, secret: MasterSecret) -> Arc<dyn AnyKind> {
    Arc::new(projector::Rooms {
        registry: Arc::clone(known),
        store: store.clone(),
        secret,
    })
}

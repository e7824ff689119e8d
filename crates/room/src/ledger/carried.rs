//! What a skip carries on from a room's event (`jackpot_kernel::ledger::skipped`). Pure.

use serde::{Deserialize, Serialize};

use super::books::Books;

/// What is carried on from a room's event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CarriedRoom {
    /// The books after it.
    pub books: Books,
}

//! The part of a jackpot that only the ledger's books know. The ledger knows jackpots, so `app` passes it in.

use std::fmt::Debug;

use futures_util::future::LocalBoxFuture;
use jackpot_core::ids::Id;

use crate::http::problem::Problem;
use crate::jackpot::kept::Taken;
use crate::jackpot::operate::Operate;

/// The books, as the routes ask them.
pub trait Books: Debug + Send + Sync {
    /// An entry, from the event that took it.
    fn taken<'a>(
        &'a self,
        jackpot: &'a Id,
        entry_id: &'a str,
        sequence: u64,
    ) -> LocalBoxFuture<'a, Result<Taken, Problem>>;

    /// Compares Redis with the ledger at a new checkpoint; a problem unless they agree.
    fn agree<'a>(&'a self, operate: &'a Operate, jackpot: &'a Id) -> LocalBoxFuture<'a, Result<(), Problem>>;
}

//! Rooms: their books. Rooms have no tables of their own.

mod batch;

use std::sync::Arc;

use jackpot_core::ids::Id;
use jackpot_core::secret::MasterSecret;

use super::books::Books;
use super::event::Checkpoint;
use super::report;
use super::restore;
use crate::known::{Known, Registry};
use crate::scripts::Snapshot;
use jackpot_kernel::ledger::kind::{Compares, Folds, Kind, Look, Subjects};
use jackpot_kernel::ledger::projector::batch::{Batch, Start, Stop};
use jackpot_kernel::ledger::projector::rows::Raw;
use jackpot_kernel::ledger::reconcile::report::Report;
use jackpot_kernel::ledger::restore::{Replace, RestoreError, Restored, Restorer};
use jackpot_kernel::operator::Operator;
use jackpot_kernel::store::Store;
use jackpot_kernel::subject::ScriptError;
use jackpot_kernel::subject::kinds::{KindName, ROOM};

/// The rooms that this instance knows.
#[derive(Debug, Clone)]
pub struct Rooms {
    /// What is remembered of each.
    pub registry: Arc<Registry>,
    pub store: Store,
    /// Secret for the new order of a room that is restored before its opening.
    pub secret: MasterSecret,
}

impl Subjects for Rooms {
    const NAME: KindName = ROOM;
    type Known = Known;
    type Error = ScriptError;
    type Engine = Registry;

    fn engine(&self) -> &Registry {
        &self.registry
    }
}

impl Folds for Rooms {
    type Books = Books;
    type Tables = ();

    fn take(batch: &mut Batch<Self>, start: &Start<'_, Self>, raw: &Raw) -> Result<(), Stop> {
        batch::take(batch, start, raw)
    }
}

impl Compares for Rooms {
    type Side = Checkpoint;

    fn side(redis: &Snapshot) -> Result<Look<Checkpoint>, ScriptError> {
        Ok(Look {
            mark: redis.mark,
            now_ms: redis.now_ms,
            side: Checkpoint::parse(&redis.decides)?,
        })
    }

    fn compare(redis: &Checkpoint, books: &Books) -> Report {
        report::compare(redis, books)
    }
}

impl Kind for Rooms {
    type Upkeep = ();

    async fn restore(
        &self,
        restorer: &Restorer,
        id: &Id,
        replace: Replace,
        by: &Operator,
        reason: &str,
    ) -> Result<Restored, RestoreError> {
        let known = self.registry.known(id);
        let newest = restore::Newest {
            passes_until_ms: known.passes_until_ms(),
            shown_ms: known.shown_ms(),
        };
        restore::restore(restorer, &self.secret, id, replace, newest, by, reason).await
    }
}

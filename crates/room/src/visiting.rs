//! Combines visits of one room into one call of `visit`, and gives each its own answer.

use std::sync::Arc;
use std::time::Duration;

use jackpot_core::ids::Id;

use super::board::Boards;
use super::known::{Known, Registry};
use super::scripts::{self, MAX_VISITS, Visit, VisitReply, Visited};
use jackpot_kernel::combiner::{Batch, Batchable, MAX_BATCH, Waiter, is_damage};
use jackpot_kernel::store::{Store, StoreError};
use jackpot_kernel::subject::ScriptError;
use jackpot_kernel::telemetry::Metrics;

const _: () = assert!(MAX_BATCH <= MAX_VISITS);

pub(super) struct Visiting {
    pub(super) store: Store,
    pub(super) registry: Arc<Registry>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) boards: Arc<Boards>,
    pub(super) id: Id,
    pub(super) known: Arc<Known>,
    pub(super) retention_ms: u64,
}

/// The result of one visit, and the call's other reply about the room.
pub(super) type VisitAnswer = (VisitReply, Arc<Visited>);

impl Visiting {
    /// Makes one call, and remembers what its reply says of the room.
    async fn visit(&self, visits: &[Visit]) -> Result<Visited, ScriptError> {
        let visited = scripts::visit_here(&self.store, &self.known, self.retention_ms, visits).await;
        let visited = self.registry.observe_reply(&self.known, visited)?;
        self.boards.observe(&self.id, &visited, &self.metrics);
        Ok(visited)
    }

    /// Makes one call for all visits. If damage fails it, makes calls for smaller and smaller parts, so that it fails
    /// for the damaged visit alone. Results are in order.
    async fn visit_all(&self, visits: &[Visit]) -> Result<Vec<Result<VisitAnswer, ScriptError>>, ScriptError> {
        let mut all = Vec::with_capacity(visits.len());
        let mut left = vec![(0, visits.len())];
        while let Some((start, end)) = left.pop() {
            match self.visit(&visits[start..end]).await {
                Ok(mut visited) => {
                    let replies = std::mem::take(&mut visited.replies);
                    let room = Arc::new(visited);
                    all.extend(replies.into_iter().map(|reply| Ok((reply, Arc::clone(&room)))));
                }
                Err(error) if is_damage(&error) && end - start > 1 => {
                    if end - start == visits.len() {
                        // If no visit is at fault, the room is: then the error is for all of them.
                        self.visit(&[]).await?;
                    }
                    let middle = start.midpoint(end);
                    left.push((middle, end));
                    left.push((start, middle));
                }
                Err(error) if is_damage(&error) => all.push(Err(error)),
                Err(error) => return Err(error),
            }
        }
        Ok(all)
    }

    /// Makes the visits without joins when memory is too full for joins, so that users can still stay or leave.
    async fn visit_without_joins(
        &self,
        visits: &[Visit],
    ) -> Result<Vec<Result<VisitAnswer, ScriptError>>, ScriptError> {
        let stay = visits
            .iter()
            .filter(|visit| !is_join(visit))
            .cloned()
            .collect::<Vec<_>>();
        let mut answers = self.visit_all(&stay).await?.into_iter();
        let refused = || Err(ScriptError::Store(StoreError::OutOfMemory));
        let each = visits.iter().map(|visit| {
            if is_join(visit) {
                refused()
            } else {
                answers.next().unwrap_or_else(refused)
            }
        });
        Ok(each.collect())
    }
}

fn is_join(visit: &Visit) -> bool {
    matches!(visit, Visit::Join { .. })
}

impl Batchable for Visiting {
    type Under = ();
    type Request = Visit;
    type Reply = Vec<Result<VisitAnswer, ScriptError>>;
    type Answer = VisitAnswer;

    const WHAT: &'static str = "room_visit";

    fn is_same((): &(), (): &()) -> bool {
        true
    }

    fn limit(&self) -> Duration {
        self.store.total_limit()
    }

    async fn call(&self, (): &(), visits: &[Visit]) -> Result<Self::Reply, ScriptError> {
        self.metrics.rooms.combined(visits.len());
        match self.visit_all(visits).await {
            Err(ScriptError::Store(StoreError::OutOfMemory)) if !visits.iter().all(is_join) => {
                self.visit_without_joins(visits).await
            }
            other => other,
        }
    }

    /// A visit that is not done has an answer too.
    fn all_tried(_: &Self::Reply) -> bool {
        true
    }

    fn share(batch: Batch<Self>, answers: Self::Reply) -> Vec<(Visit, Waiter<Self>)> {
        for ((visit, waiter), answer) in batch.requests.into_iter().zip(batch.waiters).zip(answers) {
            waiter.answer(answer.map(|answer| (visit, answer)));
        }
        Vec::new()
    }
}

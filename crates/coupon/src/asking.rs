//! Combines requests for one coupon into one call of `issue`, and gives each its own answer.

use std::sync::Arc;
use std::time::Duration;

use super::known::{Known, Registry};
use super::scripts::{self, Ask, AskReply, Asked, MAX_REQUESTS, Refusal};
use jackpot_kernel::combiner::{Batch, Batchable, MAX_BATCH, Waiter, is_damage};
use jackpot_kernel::store::Store;
use jackpot_kernel::subject::ScriptError;
use jackpot_kernel::telemetry::Metrics;

const _: () = assert!(MAX_BATCH <= MAX_REQUESTS);

/// Why a request is made. One call has requests of one cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// A client's request.
    New,
    /// A draw owes it. It finishes a pending entry, so it also runs when memory is full.
    Owed,
}

pub(super) struct Asking {
    pub(super) store: Store,
    pub(super) registry: Arc<Registry>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) known: Arc<Known>,
}

/// The reply to one request, and why it was not taken, if it was not.
pub(super) type AskAnswer = (AskReply, Option<Refusal>);

impl Asking {
    /// Makes one call, and remembers the mark of its reply.
    pub(super) async fn ask(&self, cause: Cause, asks: &[Ask]) -> Result<Asked, ScriptError> {
        let (store, known) = (&self.store, &self.known);
        let mark = known.mark();
        let asked = match cause {
            Cause::New => scripts::issue_here(store, &known.keys, mark, asks).await,
            Cause::Owed => scripts::issue_owed(store, &known.keys, mark, asks).await,
        };
        self.registry.observe_reply(known, asked)
    }

    /// Makes one call for all requests. If damage fails it, makes calls for smaller and smaller parts, so that it fails
    /// for the damaged request alone. Results are in order.
    pub(super) async fn ask_all(
        &self,
        cause: Cause,
        asks: &[Ask],
    ) -> Result<Vec<Result<AskAnswer, ScriptError>>, ScriptError> {
        let mut all = Vec::with_capacity(asks.len());
        let mut left = vec![(0, asks.len())];
        while let Some((start, end)) = left.pop() {
            match self.ask(cause, &asks[start..end]).await {
                Ok(Asked { answers, refusal, .. }) => {
                    all.extend(answers.into_iter().map(|answer| Ok((answer, refusal))));
                }
                Err(error) if is_damage(&error) && end - start > 1 => {
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
}

impl Batchable for Asking {
    type Under = Cause;
    type Request = Ask;
    type Reply = Vec<Result<AskAnswer, ScriptError>>;
    type Answer = AskAnswer;

    const WHAT: &'static str = "coupon_issue";

    fn is_same(one: &Cause, other: &Cause) -> bool {
        one == other
    }

    fn limit(&self) -> Duration {
        self.store.total_limit()
    }

    async fn call(&self, cause: &Cause, asks: &[Ask]) -> Result<Self::Reply, ScriptError> {
        self.metrics.coupons.combined(asks.len());
        self.ask_all(*cause, asks).await
    }

    /// A request that is not taken has an answer too.
    fn all_tried(_: &Self::Reply) -> bool {
        true
    }

    fn share(batch: Batch<Self>, answers: Self::Reply) -> Vec<(Ask, Waiter<Self>)> {
        for ((ask, waiter), answer) in batch.requests.into_iter().zip(batch.waiters).zip(answers) {
            waiter.answer(answer.map(|answer| (ask, answer)));
        }
        Vec::new()
    }
}

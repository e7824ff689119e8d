//! Combines entries of one jackpot into one call of `enter`, and gives each its own answer.

use std::sync::Arc;
use std::time::Duration;

use jackpot_core::jackpot::record::Record;

use super::error::PlayError;
use super::expected::Expected;
use super::known::Known;
use super::metrics::PlayMetrics;
use super::scripts::{self, EnterEntry, Entered, EntryReply, MAX_ENTRIES, Refusal, ScriptError};
use super::view::View;
use jackpot_kernel::combiner::{Batch, Batchable, CombineError, MAX_BATCH, Waiter};
use jackpot_kernel::store::Store;
use jackpot_kernel::subject::Subject;

const _: () = assert!(MAX_BATCH <= MAX_ENTRIES);

/// The result of an entry.
#[derive(Debug)]
pub(super) enum Outcome {
    /// Taken by this call.
    Taken(Record),
    /// Seen before.
    Seen(Record),
    /// Reversals of its id came before it: their record.
    Cancelled(String),
    /// Not taken; the script wrote nothing for it.
    Refused(Refusal),
}

/// Sends entries, combined with others if there are any.
#[derive(Debug, Clone)]
pub(super) struct Entering {
    store: Store,
    metrics: PlayMetrics,
}

impl Entering {
    pub(super) fn new(store: Store, metrics: PlayMetrics) -> Self {
        Self { store, metrics }
    }

    /// Enters an entry that was drawn under this view, and waits for its answer.
    pub(super) async fn enter(
        &self,
        known: &Arc<Known>,
        view: &Arc<View>,
        entry: EnterEntry,
    ) -> Result<(EnterEntry, Outcome), PlayError> {
        let make = || Entries {
            sender: self.clone(),
            known: Arc::clone(known),
        };
        known.queues.join(make, view, entry).await.map_err(|error| match error {
            CombineError::Crowded { waiting } => PlayError::Crowded { waiting },
            CombineError::Script(error) => error.into(),
        })
    }
}

impl Entering {
    /// Enters an entry whose id reversals name that are not for its source. It is rare, so it is a call of its own.
    pub(super) async fn enter_despite(
        &self,
        known: &Known,
        view: &View,
        entry: EnterEntry,
        cancels: &str,
    ) -> Result<(EnterEntry, Outcome), PlayError> {
        let (fence, definition) = (known.fence(view), &view.definition);
        let entered = scripts::enter_despite(&self.store, &known.keys, &fence, definition, &entry, cancels).await;
        let entered = known.observe_loss(entered)?;
        known.observe(entered.mark);
        let refusal = entered.refusal;
        let outcome = match (entered.replies.into_iter().next(), refusal) {
            (Some(EntryReply::Taken(record)), _) => Outcome::Taken(record),
            (Some(EntryReply::Seen(record)), _) => Outcome::Seen(record),
            (Some(EntryReply::Cancelled(cancels)), _) => Outcome::Cancelled(cancels),
            (Some(EntryReply::Damaged(unreadable)), _) => return Err(ScriptError::from(unreadable).into()),
            (Some(EntryReply::NotTaken), Some(refusal)) => Outcome::Refused(refusal),
            (Some(EntryReply::NotTaken) | None, _) => return Err(PlayError::Unsettled),
        };
        Ok((entry, outcome))
    }
}

/// The calls of one jackpot.
pub(super) struct Entries {
    sender: Entering,
    known: Arc<Known>,
}

impl Entries {
    /// Takes the entries as they are expected to go; `None` when the state was another one, or nothing is expected.
    async fn enter_expected(&self, view: &View, entries: &[EnterEntry]) -> Result<Option<Entered>, ScriptError> {
        let Some((lent, call)) = self.known.expectation.lend(view, entries) else {
            return Ok(None);
        };
        let (store, keys) = (&self.sender.store, &self.known.keys);
        if scripts::enter_expected(store, keys, &view.definition, &call).await? {
            return Ok(Some(lent.hit()));
        }
        lent.missed();
        Ok(None)
    }
}

impl Batchable for Entries {
    type Under = Arc<View>;
    type Request = EnterEntry;
    type Reply = Entered;
    type Answer = Outcome;

    const WHAT: &'static str = "enter";

    /// Whether two views draw alike, so that one call can take entries of both.
    fn is_same(one: &Arc<View>, other: &Arc<View>) -> bool {
        Arc::ptr_eq(one, other)
            || (one.epoch == other.epoch && one.stamp == other.stamp && one.commitment == other.commitment)
    }

    fn limit(&self) -> Duration {
        self.sender.store.total_limit()
    }

    async fn call(&self, view: &Arc<View>, entries: &[EnterEntry]) -> Result<Entered, ScriptError> {
        let (Entering { store, metrics }, known) = (&self.sender, &self.known);
        metrics.combined(entries.len());
        if let Some(entered) = self.enter_expected(view, entries).await? {
            known.observe(entered.mark);
            return Ok(entered);
        }
        let (fence, asks) = (known.fence(view), known.expectation.asks());
        let entering = scripts::enter_here(store, &known.keys, &fence, &view.definition, entries, asks);
        let mut entered = known.observe_loss(entering.await)?;
        known.observe(entered.mark);
        let told = entered.told.take();
        if let Some(expected) = told.and_then(|told| Expected::read(entered.mark, told, view)) {
            known.expectation.tell(expected);
        }
        Ok(entered)
    }

    fn all_tried(entered: &Entered) -> bool {
        entered.refusal.is_none()
    }

    fn share(batch: Batch<Self>, entered: Entered) -> Vec<(EnterEntry, Waiter<Self>)> {
        let mut untried = Vec::new();
        let mut first_refused = true;
        let each = batch.requests.into_iter().zip(batch.waiters).zip(entered.replies);
        for ((entry, waiter), reply) in each {
            match (reply, entered.refusal) {
                (EntryReply::Taken(record), _) => waiter.answer(Ok((entry, Outcome::Taken(record)))),
                (EntryReply::Seen(record), _) => waiter.answer(Ok((entry, Outcome::Seen(record)))),
                (EntryReply::Cancelled(cancels), _) => waiter.answer(Ok((entry, Outcome::Cancelled(cancels)))),
                (EntryReply::Damaged(unreadable), _) => waiter.answer(Err(unreadable.into())),
                // Its own amount is too large for a meter; the others' may fit.
                (EntryReply::NotTaken, Some(Refusal::TooLarge)) if !first_refused => untried.push((entry, waiter)),
                (EntryReply::NotTaken, Some(refusal)) => {
                    first_refused = false;
                    waiter.answer(Ok((entry, Outcome::Refused(refusal))));
                }
                (EntryReply::NotTaken, None) => waiter.answer(Err(ScriptError::Reply {
                    script: Self::WHAT,
                    reply: format!("nothing for {}", entry.entry_id),
                })),
            }
        }
        untried
    }
}

//! One call's reply, shared out: each entry its own answer, and those that were not tried for the next call.

use std::sync::Arc;
use std::time::Instant;

use tokio::sync::oneshot;

use super::{Answer, Outcome};
use crate::jackpot::scripts::{EnterEntry, Entered, EntryReply, Refusal, ScriptError};
use crate::jackpot::view::View;

/// Who waits for an answer.
#[derive(Debug)]
pub(super) struct Waiter {
    pub(super) since: Instant,
    pub(super) answer: oneshot::Sender<Answer>,
}

impl Waiter {
    /// Answers, unless whoever asked has gone away.
    pub(super) fn tell(self, answer: Answer) {
        drop(self.answer.send(answer));
    }
}

/// Entries of one call, all drawn under one view.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) view: Arc<View>,
    pub(super) entries: Vec<EnterEntry>,
    /// Of each entry.
    pub(super) waiters: Vec<Waiter>,
}

impl Batch {
    /// Gives each its answer. What is left was not tried, in its order.
    pub(super) fn share(self, entered: Entered) -> Vec<(EnterEntry, Waiter)> {
        let mut untried = Vec::new();
        let mut first_refused = true;
        let each = self.entries.into_iter().zip(self.waiters).zip(entered.replies);
        for ((entry, waiter), reply) in each {
            match (reply, entered.refusal) {
                (EntryReply::Taken(record), _) => waiter.tell(Ok((entry, Outcome::Taken(record)))),
                (EntryReply::Seen(record), _) => waiter.tell(Ok((entry, Outcome::Seen(record)))),
                (EntryReply::Damaged(unreadable), _) => waiter.tell(Err(unreadable.into())),
                // Its own amount is too large for a meter; the others' may fit.
                (EntryReply::NotTaken, Some(Refusal::TooLarge)) if !first_refused => untried.push((entry, waiter)),
                (EntryReply::NotTaken, Some(refusal)) => {
                    first_refused = false;
                    waiter.tell(Ok((entry, Outcome::Refused(refusal))));
                }
                (EntryReply::NotTaken, None) => waiter.tell(Err(ScriptError::Reply {
                    script: "enter",
                    reply: format!("nothing for {}", entry.entry_id),
                })),
            }
        }
        untried
    }

    /// Tells everyone the same error.
    pub(super) fn fail(self, error: &ScriptError) {
        for waiter in self.waiters {
            waiter.tell(Err(error.clone()));
        }
    }
}

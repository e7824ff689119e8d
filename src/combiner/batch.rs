//! The requests of one call, and the callers that wait for their answers.

use std::time::Instant;

use tokio::sync::oneshot;

use super::{Joint, Told};
use crate::stream::ScriptError;

/// A caller that waits for an answer.
pub struct Waiter<J: Joint> {
    pub(super) since: Instant,
    pub(super) answer: oneshot::Sender<Told<J>>,
}

impl<J: Joint> Waiter<J> {
    /// Sends the answer, unless the caller has gone away.
    pub fn tell(self, told: Told<J>) {
        drop(self.answer.send(told));
    }
}

pub struct Batch<J: Joint> {
    /// Their common part.
    pub under: J::Under,
    /// In order of arrival.
    pub requests: Vec<J::Request>,
    /// One for each request.
    pub waiters: Vec<Waiter<J>>,
}

impl<J: Joint> Batch<J> {
    /// Sends the same error to all callers.
    pub(super) fn fail(self, error: &ScriptError) {
        for waiter in self.waiters {
            waiter.tell(Err(error.clone()));
        }
    }
}

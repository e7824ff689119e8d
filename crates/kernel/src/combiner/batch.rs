//! The requests of one call, and the callers that wait for their answers.

use std::time::Instant;

use tokio::sync::oneshot;

use super::{Answered, Batchable};
use crate::subject::ScriptError;

/// A caller that waits for an answer.
pub struct Waiter<J: Batchable> {
    pub(super) since: Instant,
    pub(super) caller: oneshot::Sender<Answered<J>>,
}

impl<J: Batchable> Waiter<J> {
    /// Sends the answer, unless the caller has gone away.
    pub fn answer(self, answer: Answered<J>) {
        drop(self.caller.send(answer));
    }
}

pub struct Batch<J: Batchable> {
    /// The part that all requests share.
    pub under: J::Under,
    /// Requests in order of arrival.
    pub requests: Vec<J::Request>,
    /// One waiter for each request.
    pub waiters: Vec<Waiter<J>>,
}

impl<J: Batchable> Batch<J> {
    /// Sends the same error to all callers.
    pub(super) fn fail(self, error: &ScriptError) {
        for waiter in self.waiters {
            waiter.answer(Err(error.clone()));
        }
    }
}

//! The requests of one call, and who waits for their answers.

use std::time::Instant;

use tokio::sync::oneshot;

use super::{Joint, Told};
use crate::stream::ScriptError;

/// Who waits for an answer.
pub struct Waiter<J: Joint> {
    pub(super) since: Instant,
    pub(super) answer: oneshot::Sender<Told<J>>,
}

impl<J: Joint> Waiter<J> {
    /// Answers, unless whoever asked has gone away.
    pub fn tell(self, told: Told<J>) {
        drop(self.answer.send(told));
    }
}

/// Requests of one call.
pub struct Batch<J: Joint> {
    /// What they have in common.
    pub under: J::Under,
    /// In the order of their arrival.
    pub requests: Vec<J::Request>,
    /// Of each request.
    pub waiters: Vec<Waiter<J>>,
}

impl<J: Joint> Batch<J> {
    /// Tells everyone the same error.
    pub(super) fn fail(self, error: &ScriptError) {
        for waiter in self.waiters {
            waiter.tell(Err(error.clone()));
        }
    }
}

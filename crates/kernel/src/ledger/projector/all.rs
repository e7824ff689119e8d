//! The projectors of an instance: one for each kind of streams, concurrently on one thread. The database's writer
//! serves them in the order of their requests: none waits for more than one commit of each other one.

use futures_util::future::{LocalBoxFuture, join_all};

use super::Projector;
use crate::ledger::kind::Kind;
use crate::ledger::kinds::{Kinds, Projecting};
use crate::stopping::Stopping;

/// A projector without the types of its kind.
pub trait AnyProjector: Send {
    /// [`Projector::run`].
    fn run(self: Box<Self>, stopping: Stopping) -> LocalBoxFuture<'static, ()>;
    /// [`Projector::catch_up`].
    fn catch_up(&mut self) -> LocalBoxFuture<'_, ()>;
    /// [`Projector::finish`].
    fn finish(self: Box<Self>) -> LocalBoxFuture<'static, ()>;
}

impl<K: Kind> AnyProjector for Projector<K> {
    fn run(self: Box<Self>, stopping: Stopping) -> LocalBoxFuture<'static, ()> {
        Box::pin(Projector::run(*self, stopping))
    }

    fn catch_up(&mut self) -> LocalBoxFuture<'_, ()> {
        Box::pin(Projector::catch_up(self))
    }

    fn finish(self: Box<Self>) -> LocalBoxFuture<'static, ()> {
        Box::pin(Projector::finish(*self))
    }
}

/// One for each kind.
pub struct Projectors(Vec<Box<dyn AnyProjector>>);

impl Projectors {
    /// Projectors that hold no stream yet.
    pub fn new(kinds: &Kinds, from: &Projecting<'_>) -> Self {
        Self(kinds.iter().map(|kind| kind.projector(from)).collect())
    }

    /// [`Projector::run`] of all.
    pub async fn run(self, stopping: Stopping) {
        join_all(self.0.into_iter().map(|projector| projector.run(stopping.clone()))).await;
    }

    /// [`Projector::catch_up`] of all.
    pub async fn catch_up(&mut self) {
        join_all(self.0.iter_mut().map(|projector| projector.catch_up())).await;
    }

    /// [`Projector::finish`] of all.
    pub async fn finish(self) {
        join_all(self.0.into_iter().map(AnyProjector::finish)).await;
    }
}

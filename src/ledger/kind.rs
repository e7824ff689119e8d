//! A kind of subjects, as the ledger sees it: what a capability gives the ledger. Everything else is the same for
//! every kind.

use std::fmt::{Debug, Display};
use std::future::{self, Future};

use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::forgotten::Forgotten;
use super::projector::Projector;
use super::projector::batch::{Batch, Start, Stop};
use super::projector::load::{LoadError, Loaded};
use super::projector::rows::{Cursor, DefinitionRow, Raw};
use super::projector::stream::Stream;
use super::projector::write::WriteError;
use crate::ledger::reconcile::report::Report;
use crate::ledger::restore::{Replace, RestoreError, Restored, Restorer};
use crate::operator::Operator;
use crate::sql::{Sql, Tx};
use crate::subject::engine::{self, Engine, Operated};
use crate::subject::kinds::KindName;
use crate::subject::operate::SetStatus;
use crate::subject::{MaybeScript, Registry, ScriptError};

/// The state that the events of one stream give, up to one of them.
pub trait Folded: Clone + Debug + Default + Serialize + DeserializeOwned + Send + Sync {
    /// Number of the last event.
    fn n(&self) -> u64;
    /// How often Redis was rebuilt from the ledger.
    fn restores(&self) -> u64;
    /// When the last event happened, ms of Redis' clock.
    fn at_ms(&self) -> i64;
    /// Number of entries or issues so far.
    fn sequence(&self) -> u64;
    /// Whether it takes nothing because it was stopped.
    fn is_stopped(&self) -> bool;
    /// Whether it is suspended.
    fn is_suspended(&self) -> bool;
    /// The status, as answers name it; empty before it was created.
    fn status(&self) -> &'static str;
}

/// What all subjects of a kind have in common.
#[derive(Debug, Clone, Copy)]
pub struct About {
    /// Whether a backlog of events refuses its subjects.
    pub limits_backlog: bool,
    /// Whether an instance is not ready while it refuses some subjects and can serve none.
    pub gates_readiness: bool,
    /// What a restore remembers of each subject, such as "entries"; empty for nothing.
    pub remembers: &'static str,
    /// What follows a restore that discarded events.
    pub after_discard: &'static str,
    /// Names for what a discarded event asked for and won, such as "entries" and "payouts"; `None` where nothing is
    /// counted.
    pub counted: Option<(&'static str, &'static str)>,
    /// Whether a comparison is complete only with what [`Kind::count`] adds after the commit of its event.
    pub counts: bool,
}

/// What Redis holds of a subject, at a mark.
#[derive(Debug)]
pub struct Look<S> {
    pub mark: Mark,
    /// Redis' clock, ms.
    pub now_ms: i64,
    /// What is compared.
    pub side: S,
}

/// What follows from a comparison of Redis with the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing.
    Stays,
    /// They agree again, and the subject was suspended because they did not: the service opens it.
    Opens,
}

/// A kind of streams. A value of it is what this instance knows of all of them.
pub trait Kind: Clone + Debug + Send + Sync + Sized + 'static {
    const NAME: KindName;
    /// What all its subjects have in common.
    const ABOUT: About;
    /// What this instance remembers of one subject.
    type Known: Operated;
    /// The state that its events give.
    type Books: Folded;
    /// What a stream keeps beside its books.
    type Along: Debug + Default + Send + Sync;
    /// What a batch writes beside events, audit and report.
    type Rows: Debug + Default + Send + Sync;
    /// What a batch needs beside the books.
    type With<'a>;
    /// What Redis holds, for a comparison.
    type Side: Send;
    /// Why Redis did not do something.
    type Error: From<ScriptError> + MaybeScript + Display + Send;
    /// The engine for the ledger's requests.
    type Engine: Engine<Known = Self::Known, Error = Self::Error>;

    fn engine(&self) -> &Self::Engine;

    /// What this instance remembers of all subjects.
    fn registry(&self) -> &Registry<Self::Known> {
        self.engine().registry()
    }

    /// The part of a snapshot that is compared.
    fn side(snapshot: &<Self::Known as Operated>::Snapshot) -> Result<Look<Self::Side>, ScriptError>;

    /// Reads what is compared.
    fn look(&self, id: &Id) -> impl Future<Output = Result<Look<Self::Side>, Self::Error>> {
        async { Ok(Self::side(&self.registry().snapshot(id).await?)?) }
    }
    /// Appends a checkpoint to the stream.
    fn checkpoint(&self, id: &Id) -> impl Future<Output = Result<Mark, Self::Error>> {
        engine::checkpoint(self.engine(), id)
    }
    /// Suspends a subject because Redis and the ledger do not agree.
    fn suspend(&self, id: &Id, reason: String, by: &Operator) -> impl Future<Output = Result<(), Self::Error>> {
        let wish = SetStatus::new(Self::Known::SUSPENDED, reason, by);
        async move { engine::set_status(self.engine(), id, &wish).await.map(drop) }
    }
    /// Opens a subject again, where no operator does, because Redis and the ledger agree.
    fn open(&self, id: &Id, reason: String, by: &Operator) -> impl Future<Output = Result<(), Self::Error>> {
        let wish = SetStatus {
            reconciled: true,
            ..SetStatus::new(Self::Known::OPEN, reason, by)
        };
        async move { engine::set_status(self.engine(), id, &wish).await.map(drop) }
    }
    /// Rebuilds one subject in Redis. The caller holds the lease of its stream.
    fn restore(
        &self,
        restorer: &Restorer,
        id: &Id,
        replace: Replace,
        by: &Operator,
        reason: &str,
    ) -> impl Future<Output = Result<Restored, RestoreError>>;

    /// Reads what a stream with events keeps beside its books; by default nothing.
    fn along(_: &Sql, _: &Id, _: &Cursor, _: &Self::Books) -> impl Future<Output = Result<Self::Along, LoadError>> {
        future::ready(Ok(Self::Along::default()))
    }
    /// Completes what is written after the events of a stream that was taken over; by default nothing.
    fn taken_over(
        _: &Projector<Self>,
        _: &Id,
        _: i64,
        _: &mut Loaded<Self>,
    ) -> impl Future<Output = Result<(), LoadError>> {
        future::ready(Ok(()))
    }
    /// Writes what follows the events, when it is time or at once (`true`); by default nothing.
    fn follow(_: &mut Projector<Self>, _: bool) -> impl Future<Output = Result<(), sqlx::Error>> {
        future::ready(Ok(()))
    }
    /// Drops expired data; by default nothing.
    fn expire(_: &mut Projector<Self>) -> impl Future<Output = Result<(), sqlx::Error>> {
        future::ready(Ok(()))
    }

    /// Makes a batch of events.
    fn batch(projector: &Projector<Self>, stream: &Stream<Self>, events: &[Raw]) -> Batch<Self>;
    /// The rows of an empty batch.
    fn begin(start: &Start<'_, Self>) -> Self::Rows;
    /// Reads the next event, applies it to the books of the batch and adds its rows.
    fn take(batch: &mut Batch<Self>, start: &Start<'_, Self>, raw: &Raw) -> Result<(), Stop>;
    /// Ends a batch after all its events were taken.
    fn end(_: &mut Batch<Self>, _: &Start<'_, Self>) {}
    /// The second cursor before and after a batch, where there is one.
    fn behind(_: &Self::Rows) -> (u64, u64) {
        (0, 0)
    }
    /// Writes the rows of batches that only this kind has.
    fn write(tx: &mut Tx<'static>, batches: &[&Batch<Self>]) -> impl Future<Output = Result<(), WriteError>>;
    /// Moves on after the batch was committed.
    fn advance(_: &mut Self::Along, _: Self::Rows, _: Vec<DefinitionRow>) {}

    /// Compares what Redis holds with the books at the same event.
    fn compare(side: &Self::Side, books: &Self::Books) -> Report;
    /// Adds to a report what only the ledger's rows show at that event, where [`About::counts`] is set.
    fn count(_: &Sql, _: &Id, _: u64, report: Report) -> impl Future<Output = Result<Report, sqlx::Error>> {
        future::ready(Ok(report))
    }
    /// What follows from a comparison without a difference. By default only the service suspends, so it opens the
    /// subject again.
    fn verdict(books: &Self::Books) -> Verdict {
        if books.is_suspended() {
            Verdict::Opens
        } else {
            Verdict::Stays
        }
    }

    /// Counts what an event did and a restore would forget. Returns whether the event can be read.
    fn forget(_: &mut Forgotten, _: &Id, _: &Raw) -> bool {
        true
    }
}

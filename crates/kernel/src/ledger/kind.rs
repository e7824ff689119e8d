//! A kind of subjects, as the ledger sees it: what a capability gives the ledger. Everything else is the same for
//! every kind. One trait for each use:
//!
//! | trait | what it says | who asks |
//! | --- | --- | --- |
//! | [`Subjects`] | names, and the subjects in Redis | everyone |
//! | [`Folds`] with [`Tables`] | what events mean: the books, and the rows of the kind's own tables | batches, streams, `stuck` |
//! | [`Compares`] | how Redis and the books are compared | the projector, `reconcile` |
//! | [`Upkeep`] | work that follows the commits | the projector |
//! | [`Tells`] | what events tell other systems | `jackpot_outside::events` |
//! | [`Kind`] | all of them, and the restore | the projector, `restore` |

use std::fmt::{Debug, Display};
use std::future::{self, Future};

use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::forgotten::Forgotten;
use super::outgoing::Tells;
use super::projector::Projector;
use super::projector::batch::{Batch, Start, Stop, With};
use super::projector::load::{LoadError, Loaded};
use super::projector::rows::{Cursor, Raw};
use super::projector::write::WriteError;
use crate::ledger::reconcile::report::Report;
use crate::ledger::restore::{Replace, RestoreError, Restored, Restorer};
use crate::operator::Operator;
use crate::sql::{Sql, Tx};
use crate::subject::emergency::Obeys;
use crate::subject::engine::{self, Engine, Operated};
use crate::subject::kinds::KindName;
use crate::subject::operate::SetStatus;
use crate::subject::{MaybeScript, Registry, ScriptError};
use crate::telemetry::Metrics;

/// Where books stand.
#[derive(Debug, Clone, Copy)]
pub struct Standing {
    /// Number of the last event.
    pub n: u64,
    /// How often Redis was rebuilt from the ledger.
    pub restores: u64,
    /// When the last event happened, ms of Redis' clock.
    pub at_ms: i64,
    /// Number of entries or issues so far.
    pub sequence: u64,
    /// The status, as answers name it; empty before it was created.
    pub status: &'static str,
    /// Whether it is suspended.
    pub is_suspended: bool,
    /// Whether it takes nothing because it was stopped, suspended ones included.
    pub is_stopped: bool,
}

/// The state that the events of one stream give, up to one of them.
pub trait Folded: Clone + Debug + Default + Serialize + DeserializeOwned + Send + Sync {
    fn standing(&self) -> Standing;

    fn n(&self) -> u64 {
        self.standing().n
    }

    fn restores(&self) -> u64 {
        self.standing().restores
    }

    fn at_ms(&self) -> i64 {
        self.standing().at_ms
    }

    fn sequence(&self) -> u64 {
        self.standing().sequence
    }

    fn status(&self) -> &'static str {
        self.standing().status
    }

    fn is_suspended(&self) -> bool {
        self.standing().is_suspended
    }

    fn is_stopped(&self) -> bool {
        self.standing().is_stopped
    }
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
}

impl About {
    /// A kind that needs nothing special.
    pub const PLAIN: Self = Self {
        limits_backlog: false,
        gates_readiness: false,
        remembers: "",
        after_discard: "it is suspended until Redis and the ledger are compared",
        counted: None,
    };
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

/// The subjects of a kind, in Redis. A value of it is what this instance knows of all of them.
pub trait Subjects: Clone + Debug + Send + Sync + Sized + 'static {
    const NAME: KindName;
    /// What all its subjects have in common.
    const ABOUT: About = About::PLAIN;
    /// What this instance remembers of one subject.
    type Known: Operated;
    /// Why Redis did not do something.
    type Error: From<ScriptError> + MaybeScript + Display + Send;
    /// The engine for the ledger's requests.
    type Engine: Engine<Known = Self::Known, Error = Self::Error>;

    fn engine(&self) -> &Self::Engine;

    /// What this instance remembers of all subjects.
    fn registry(&self) -> &Registry<Self::Known> {
        self.engine().registry()
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
}

/// What the events of a kind mean.
pub trait Folds: Subjects {
    /// The state that they give.
    type Books: Folded;
    /// The tables that only this kind has; `()` for none.
    type Tables: Tables<Self>;

    /// Reads the next event, applies it to the books of the batch and adds its rows.
    fn take(batch: &mut Batch<Self>, start: &Start<'_, Self>, raw: &Raw) -> Result<(), Stop>;

    /// Counts what an event did and a restore would forget. Returns whether the event can be read.
    fn forget(_: &mut Forgotten, _: &Id, _: &Raw) -> bool {
        true
    }
}

/// The tables that only one kind has. A value is what a stream keeps in memory for them, as of its cursor.
pub trait Tables<K: Folds>: Debug + Default + Send + Sync {
    /// What a batch writes into them.
    type Rows: Debug + Default + Send + Sync;

    /// Reads what streams keep in memory, in their order.
    fn load(
        _: &Sql,
        of: &[(&Id, &Cursor, &K::Books)],
    ) -> impl Future<Output = Result<Vec<Result<Self, LoadError>>, sqlx::Error>> {
        future::ready(Ok(of.iter().map(|_| Ok(Self::default())).collect()))
    }
    /// The rows of an empty batch.
    fn rows(&self, _: &With<'_>) -> Self::Rows {
        Self::Rows::default()
    }
    /// Where a table is written later than its events: its own cursor before and after a batch.
    fn cursor(_: &Batch<K>) -> Option<(u64, u64)> {
        None
    }
    /// Writes the rows of batches, in the transaction of their events.
    fn write(_: &mut Tx<'static>, _: &[&Batch<K>]) -> impl Future<Output = Result<(), WriteError>> {
        future::ready(Ok(()))
    }
    /// Moves on after the batch was committed. It may take the rows and definitions out of the batch.
    fn advance(&mut self, _: &mut Batch<K>) {}
}

impl<K: Folds> Tables<K> for () {
    type Rows = ();
}

/// What a batch writes into the tables that only its kind has.
pub type RowsOf<K> = <<K as Folds>::Tables as Tables<K>>::Rows;

/// How Redis and the books are compared.
pub trait Compares: Folds {
    /// What Redis holds, as far as it is compared.
    type Side: Send;
    /// Whether a comparison is complete only with what [`count`](Self::count) adds after the commit of its event.
    const COUNTS: bool = false;

    /// The part of a snapshot that is compared.
    fn side(snapshot: &<Self::Known as Operated>::Snapshot) -> Result<Look<Self::Side>, ScriptError>;
    /// Compares what Redis holds with the books at the same event.
    fn compare(side: &Self::Side, books: &Self::Books) -> Report;

    /// Reads what is compared.
    fn look(&self, id: &Id) -> impl Future<Output = Result<Look<Self::Side>, Self::Error>> {
        async { Ok(Self::side(&self.registry().snapshot(id).await?)?) }
    }
    /// Adds to a report what only the ledger's rows show at that event, where [`Self::COUNTS`] is set.
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
}

/// Work that follows the commits of a kind's events, in transactions of its own. A value is what the projector keeps for
/// it.
pub trait Upkeep<K: Kind>: Default + Send {
    /// Completes what is missing of a stream that was taken over.
    fn taken_over(_: &Projector<K>, _: &Id, _: i64, _: &mut Loaded<K>) -> impl Future<Output = Result<(), LoadError>> {
        future::ready(Ok(()))
    }
    /// Does what is due after a round, or what a stop must not leave (`at_once`). Returns whether there is more to do at
    /// once.
    fn follow(_: &mut Projector<K>, _: bool) -> impl Future<Output = Result<bool, sqlx::Error>> {
        future::ready(Ok(false))
    }
}

impl<K: Kind> Upkeep<K> for () {}

/// A kind whose streams the projector reads.
pub trait Kind: Compares + Tells {
    /// Work that follows the commits; `()` for none.
    type Upkeep: Upkeep<Self>;

    /// Shows the books of a stream that this instance projects; `None`: another one projects it from now on.
    fn show(_: &Metrics, _: &Id, _: Option<&Self::Books>) {}

    /// Its subjects, for decisions about the emergency stop.
    fn obeys(&self) -> &dyn Obeys {
        self.registry()
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
}

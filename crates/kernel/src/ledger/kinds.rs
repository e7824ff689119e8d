//! All kinds of subjects of an instance, by name: what the service and the commands do with every kind.

use std::fmt::Debug;
use std::sync::Arc;

use futures_util::future::{BoxFuture, LocalBoxFuture};
use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;

use super::Ledger;
use super::forgotten::Forgotten;
use super::kind::{About, Kind};
use super::outgoing::{TellError, Told, Wants};
use super::projector::lease::{Leases, Place};
use super::projector::{AnyProjector, Projector};
use super::reconcile::now::Reconciled;
use super::restore::{Replace, RestoreError, Restored, Restorer};
use super::stored::Stored;
use super::stuck::{self, Outcome, Skips, StuckError};
use crate::operator::Operator;
use crate::settings;
use crate::sql::AtHome;
use crate::store::Store;
use crate::subject::emergency::Obeys;
use crate::subject::kinds::KindName;
use crate::subject::{Observed, ScriptError};
use crate::telemetry::Metrics;

/// A kind without its types. Every [`Kind`] whose stuck events can be skipped is one.
pub trait AnyKind: Debug + Send + Sync {
    fn name(&self) -> KindName;
    /// What all its subjects have in common.
    fn about(&self) -> About;
    /// Passes on what this instance remembers of each.
    fn each(&self, look: &mut dyn FnMut(&Observed));
    /// Whether this instance has used a subject.
    fn is_used(&self, id: &Id) -> bool;
    /// Its subjects, for decisions about the emergency stop.
    fn obeys(&self) -> &dyn Obeys;
    /// Events that Redis has and the ledger lacks; `None` while unknown.
    fn lag(&self, id: &Id) -> Option<u64>;
    /// The ledger's last event, as far as this instance knows.
    fn ledger_n(&self, id: &Id) -> Option<u64>;
    /// Whether Redis' clock shows this time or a later one, and Redis has no event after event `n`.
    fn is_past<'a>(&'a self, id: &'a Id, at_ms: i64, n: u64) -> LocalBoxFuture<'a, bool>;
    /// Takes over what the ledger knows of a subject: a Redis that lacks the subject is behind, not new.
    fn teach(&self, place: Place);
    /// A projector of its streams.
    fn projector(&self, from: &Projecting<'_>) -> Box<dyn AnyProjector>;
    /// Adds a name to the index.
    fn add_to_index<'a>(&'a self, id: &'a Id) -> LocalBoxFuture<'a, Result<(), ScriptError>>;
    /// Rebuilds one subject in Redis. The caller holds the lease of its stream.
    fn restore<'a>(
        &'a self,
        restorer: &'a Restorer,
        id: &'a Id,
        replace: Replace,
        by: &'a Operator,
        reason: &'a str,
    ) -> LocalBoxFuture<'a, Result<Restored, RestoreError>>;
    /// Compares Redis with the ledger at a new checkpoint; the error is for people.
    fn reconcile<'a>(&'a self, ledger: &'a Ledger, id: &'a Id) -> LocalBoxFuture<'a, Result<Reconciled, String>>;
    /// What a restore that discards events would forget, one line each; `n` is the ledger's last event.
    fn forgotten<'a>(
        &'a self,
        store: &'a Store,
        id: &'a Id,
        n: u64,
    ) -> LocalBoxFuture<'a, Result<Vec<String>, ScriptError>>;
    /// Shows the event that stops a stream, or skips it.
    fn stuck<'a>(&'a self, at: stuck::At<'a>) -> LocalBoxFuture<'a, Result<Outcome, StuckError>>;
    /// The types of what its events tell other systems, besides `stream.step`.
    fn types(&self) -> &'static [&'static str];
    /// What events of one stream tell.
    fn tell<'a>(
        &'a self,
        sql: &'a AtHome,
        id: &'a Id,
        rows: &'a [Stored],
        wants: Wants<'a>,
    ) -> BoxFuture<'a, Result<Vec<Told>, TellError>>;
}

/// What the projectors of all kinds share.
#[derive(Clone, Copy)]
pub struct Projecting<'a> {
    pub ledger: &'a Ledger,
    pub store: &'a Store,
    pub metrics: &'a Arc<Metrics>,
    pub settings: &'a settings::Ledger,
    /// A name that no other start of the service has.
    pub instance: &'a str,
    /// Whether lost subjects are rebuilt without an operator.
    pub auto_restore: bool,
}

impl<K: Skips> AnyKind for K {
    fn name(&self) -> KindName {
        K::NAME
    }

    fn about(&self) -> About {
        K::ABOUT
    }

    fn each(&self, look: &mut dyn FnMut(&Observed)) {
        for known in self.registry().each() {
            look(&known);
        }
    }

    fn is_used(&self, id: &Id) -> bool {
        self.registry().is_used(id)
    }

    fn obeys(&self) -> &dyn Obeys {
        Kind::obeys(self)
    }

    fn lag(&self, id: &Id) -> Option<u64> {
        let known = self.registry().known(id);
        known.ledger_n().map(|_| known.lag())
    }

    fn ledger_n(&self, id: &Id) -> Option<u64> {
        self.registry().known(id).ledger_n()
    }

    fn is_past<'a>(&'a self, id: &'a Id, at_ms: i64, n: u64) -> LocalBoxFuture<'a, bool> {
        Box::pin(async move {
            let look = self.look(id).await;
            look.is_ok_and(|look| look.now_ms >= at_ms && look.mark.n() <= n)
        })
    }

    fn teach(&self, place: Place) {
        let mark = Mark::new(place.restores, place.n).filter(|mark| mark.n() > 0);
        if let Some(mark) = mark {
            let known = self.registry().observe(&place.id, mark);
            known.set_ledger_n(Some(mark.n()));
            known.set_ledger_view(place.view);
        }
    }

    fn projector(&self, from: &Projecting<'_>) -> Box<dyn AnyProjector> {
        Box::new(Projector::of(self.clone(), from))
    }

    fn add_to_index<'a>(&'a self, id: &'a Id) -> LocalBoxFuture<'a, Result<(), ScriptError>> {
        Box::pin(self.registry().add_to_index(std::slice::from_ref(id)))
    }

    fn restore<'a>(
        &'a self,
        restorer: &'a Restorer,
        id: &'a Id,
        replace: Replace,
        by: &'a Operator,
        reason: &'a str,
    ) -> LocalBoxFuture<'a, Result<Restored, RestoreError>> {
        Box::pin(Kind::restore(self, restorer, id, replace, by, reason))
    }

    fn reconcile<'a>(&'a self, ledger: &'a Ledger, id: &'a Id) -> LocalBoxFuture<'a, Result<Reconciled, String>> {
        Box::pin(async move { ledger.reconcile(self, id).await.map_err(|error| error.to_string()) })
    }

    fn forgotten<'a>(
        &'a self,
        store: &'a Store,
        id: &'a Id,
        n: u64,
    ) -> LocalBoxFuture<'a, Result<Vec<String>, ScriptError>> {
        Box::pin(async move { Ok(Forgotten::read(self, store, id, n).await?.lines(K::ABOUT.counted)) })
    }

    fn stuck<'a>(&'a self, at: stuck::At<'a>) -> LocalBoxFuture<'a, Result<Outcome, StuckError>> {
        Box::pin(stuck::work(self, at))
    }

    fn types(&self) -> &'static [&'static str] {
        K::TYPES
    }

    fn tell<'a>(
        &'a self,
        sql: &'a AtHome,
        id: &'a Id,
        rows: &'a [Stored],
        wants: Wants<'a>,
    ) -> BoxFuture<'a, Result<Vec<Told>, TellError>> {
        Box::pin(K::tell(sql, id, rows, wants))
    }
}

/// The kinds of an instance, in the order in which they are shown.
#[derive(Debug, Clone)]
pub struct Kinds(Arc<[Arc<dyn AnyKind>]>);

impl Kinds {
    pub fn new(kinds: impl IntoIterator<Item = Arc<dyn AnyKind>>) -> Self {
        Self(kinds.into_iter().collect())
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn AnyKind>> {
        self.0.iter()
    }

    pub fn named(&self, name: KindName) -> Option<&Arc<dyn AnyKind>> {
        self.iter().find(|kind| kind.name() == name)
    }

    /// Takes over what the ledger knows of every subject.
    pub async fn teach(&self, ledger: &Ledger) -> Result<(), sqlx::Error> {
        for kind in self.iter() {
            // These leases are only read, so they need no name of a holder and no duration.
            let leases = Leases::of(kind.name(), ledger.sql.clone(), String::new(), 0);
            for place in leases.places().await? {
                kind.teach(place);
            }
        }
        Ok(())
    }
}

//! A look at what this instance does not write itself: subjects that others made, and streams that nobody reads any more.
//!
//! The first sweep reads the rows of all streams. A later one reads those of [`PLACES`] streams, of streams that nobody
//! reads, and of streams in which this instance saw events that the ledger lacks. So its cost does not grow with the number of subjects.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;
use tracing::debug;

use super::lease::Place;
use super::load::{self, LoadError, Loaded};
use super::stream::Stream;
use super::{DAMAGED, Projector};
use crate::ledger::kind::{Kind, Upkeep};
use crate::sql::is_unavailable;

/// Rows of streams that a sweep reads in turn. With more streams than that, each has its turn every few sweeps.
const PLACES: usize = 100;
/// Streams that are taken over by queries of their own, each with the whole tail of its chain. The tails of more than
/// that are checked later.
const FEW: usize = 16;
/// Streams taken over at a time.
const TAKEN_AT_ONCE: usize = 100;
/// How long a sweep checks tails that were left. It checks at least one.
const CHECKS: Duration = Duration::from_millis(5);

impl<K: Kind> Projector<K> {
    /// Finds all subjects, records how far the ledger is with each, and takes over streams that no instance reads.
    pub(super) async fn sweep(&mut self) -> Result<(), sqlx::Error> {
        let mut places = match self.swept_at {
            None => self.leases.places().await?,
            Some(_) => self.places_in_turn().await?,
        };
        self.added.extend(places.iter().map(|place| place.id.clone()));
        let all = self.kind.registry().all(false).await;
        if !Arc::ptr_eq(&all, &self.listed) {
            let fresh: Vec<Id> = all.difference(&self.added).cloned().collect();
            self.leases.add(&fresh).await?;
            places.extend(self.leases.places_of(&fresh).await?);
            self.added.extend(fresh);
            self.listed = all;
        }
        let mut free = Vec::new();
        for place in places {
            self.know(&place);
            self.look_again(&place.id).await;
            let held = self.streams.get(&place.id);
            // The number differs: a database was put back, or the answer of a commit was lost. Events that SQL lacks
            // must not be dropped from Redis.
            if held.is_some_and(|stream| stream.token != place.token || stream.cursor.n != place.n) {
                self.drop_stream(&place.id);
            } else if held.is_none()
                && place.free
                && self.damaged.get(&place.id).is_none_or(|at| at.elapsed() >= DAMAGED)
            {
                free.push((place.id, place.token));
            }
        }
        for found in free.chunks(TAKEN_AT_ONCE) {
            let taken = self.leases.take_free(found).await?;
            self.take_over(taken).await?;
            self.keep_leases().await?;
        }
        self.check_some().await
    }

    /// The rows of the streams whose turn it is, of those that nobody reads any more, and of those in use that another
    /// instance reads: their backlog bounds what this instance takes.
    async fn places_in_turn(&mut self) -> Result<Vec<Place>, sqlx::Error> {
        let from = self.placed_to.take();
        let mut places = self.leases.places_after(from.as_ref(), PLACES).await?;
        self.placed_to = places
            .last()
            .map(|place| place.id.clone())
            .filter(|_| places.len() == PLACES);
        places.extend(self.leases.places_left(PLACES).await?);
        let read: BTreeSet<&Id> = places.iter().map(|place| &place.id).collect();
        let lags = |known: &K::Known| known.lag() > 0 || known.ledger_n().is_none() || known.is_lost();
        let others = self.kind.registry().each().into_iter().filter(|known| {
            let id = known.id();
            lags(known) && !self.streams.contains_key(id) && !read.contains(id)
        });
        let others: Vec<Id> = others.map(|known| known.id().clone()).collect();
        places.extend(self.leases.places_of(&others).await?);
        Ok(places)
    }

    /// Remembers how far the ledger is.
    fn know(&self, place: &Place) {
        let registry = self.kind.registry();
        if place.n > 0 {
            let mark = Mark::new(place.restores, place.n).unwrap_or_default();
            let known = registry.observe(&place.id, mark);
            known.set_ledger_n(Some(place.n));
            known.set_ledger_view(place.view.clone());
        } else if registry.is_used(&place.id) {
            let known = registry.known(&place.id);
            // Otherwise nothing would bound the backlog while SQL is away.
            known.set_ledger_n(Some(0));
            known.set_ledger_view(place.view.clone());
        }
    }

    /// Reads the streams whose leases were taken, with their new tokens.
    async fn take_over(&mut self, taken: Vec<(Id, i64)>) -> Result<(), sqlx::Error> {
        if taken.len() <= FEW {
            for (id, token) in taken {
                let loaded = load::load(&self.ledger.sql, &id).await;
                self.begin(id, token, loaded).await?;
            }
            return Ok(());
        }
        let ids: Vec<Id> = taken.iter().map(|(id, _)| id.clone()).collect();
        let by_id: BTreeMap<Id, i64> = taken.into_iter().collect();
        for (id, loaded) in load::load_many(&self.ledger.sql, &ids).await? {
            let Some(lease) = by_id.get(&id) else {
                continue;
            };
            let is_long = loaded.as_ref().is_ok_and(|loaded: &Loaded<K>| loaded.cursor.n > 2);
            self.begin(id.clone(), *lease, loaded).await?;
            if is_long && self.streams.contains_key(&id) {
                self.unchecked.insert(id);
            }
        }
        Ok(())
    }

    /// Begins to read a stream, or stops it when its own rows are damaged.
    async fn begin(&mut self, id: Id, token: i64, loaded: Result<Loaded<K>, LoadError>) -> Result<(), sqlx::Error> {
        let whole = match loaded {
            Ok(mut loaded) => {
                let taken_over = K::Upkeep::taken_over(self, &id, token, &mut loaded).await;
                taken_over.map(|()| loaded)
            }
            Err(error) => Err(error),
        };
        match whole {
            Ok(loaded) => {
                debug!(what = K::NAME.as_str(), %id, n = loaded.cursor.n, "reading its events");
                K::show(&self.metrics, &id, Some(&loaded.books));
                self.streams.insert(id.clone(), Stream::new(id, token, loaded));
                Ok(())
            }
            Err(error) => self.not_whole(id, token, error).await,
        }
    }

    async fn not_whole(&mut self, id: Id, token: i64, error: LoadError) -> Result<(), sqlx::Error> {
        let reason = match error {
            LoadError::Sql(error) if is_unavailable(&error) => return Err(error),
            // The next sweep sees the new holder.
            LoadError::Moved(_) => return Ok(()),
            LoadError::Sql(error) => format!("the ledger of {} '{id}' is damaged: {error}", K::NAME.as_str()),
            error @ LoadError::Damaged(_) => error.to_string(),
        };
        // Nothing is written on top of damaged rows, and unreadable rows must not hold up other streams.
        self.tell_stopped(&id, &reason, token, true).await?;
        self.streams.remove(&id);
        self.unchecked.remove(&id);
        self.damaged.insert(id, Instant::now());
        Ok(())
    }

    /// Checks the tail of a stream that was taken over with many others, before anything is written behind it. Returns
    /// whether it is whole.
    pub(super) async fn is_whole(&mut self, id: &Id) -> Result<bool, sqlx::Error> {
        if !self.unchecked.contains(id) {
            return Ok(true);
        }
        let Some(stream) = self.streams.get(id) else {
            return Ok(false);
        };
        let (sql, token, cursor) = (&self.ledger.sql, stream.token, stream.cursor.clone());
        let checked = sql.reading(load::check_tail::<K>(sql, id, &cursor)).await;
        match checked {
            Ok(()) => {
                self.unchecked.remove(id);
                Ok(true)
            }
            Err(error) => {
                self.not_whole(id.clone(), token, error).await?;
                Ok(false)
            }
        }
    }

    /// Checks some of the tails that are left.
    async fn check_some(&mut self) -> Result<(), sqlx::Error> {
        let begun = Instant::now();
        while let Some(id) = self.unchecked.first().cloned() {
            if !self.is_whole(&id).await? {
                self.unchecked.remove(&id);
            }
            if begun.elapsed() >= CHECKS {
                break;
            }
        }
        Ok(())
    }
}

//! Toys in the ledger: their events, the books that the events rebuild, and the restore of a lost toy.

use std::collections::HashMap;
use std::sync::Arc;

use jackpot::ledger::Ledger;
use jackpot::ledger::audit::Done;
use jackpot::ledger::events::{
    Envelope, Fields, FoldError, Obeyed, Put, Rebuilt, StatusChange, expect, follows, go_on_in_history,
};
use jackpot::ledger::kind::{Compares, Folded, Folds, Kind, Look, Standing, Subjects};
use jackpot::ledger::outgoing::Tells;
use jackpot::ledger::projector::batch::{Batch, Start, Stop};
use jackpot::ledger::projector::load;
use jackpot::ledger::projector::rows::Raw;
use jackpot::ledger::reconcile::report::{Report, StateRow};
use jackpot::ledger::restore::{Replace, RestoreError, Restored, Restorer, ended};
use jackpot::ledger::stuck::{Found, Plan, Skips, StuckError};
use jackpot::operator::Operator;
use jackpot::store::Store;
use jackpot::subject::kinds::KindName;
use jackpot::subject::{self, Registry, ScriptError, Subject};
use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;
use jackpot_core::wire::declared::EventPart as _;
use jackpot_core::{event_fields, event_types};
use serde::{Deserialize, Serialize};

use super::scripts::{self, Held, Snapshot};
use super::{Definition, Known, Status, TOY};

/// The toys, as an instance knows them.
#[derive(Debug, Clone)]
pub struct Toys {
    pub registry: Arc<Registry<Known>>,
}

/// A toy at an event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Books {
    n: u64,
    restores: u64,
    at_ms: i64,
    history: String,
    status: Option<Status>,
    version: u64,
    /// The definition, JSON as Redis keeps it.
    definition: String,
    limit: u64,
    count: u64,
    puts: String,
}

impl Folded for Books {
    fn standing(&self) -> Standing {
        let is_suspended = self.status == Some(Status::Suspended);
        Standing {
            n: self.n,
            restores: self.restores,
            at_ms: self.at_ms,
            sequence: self.count,
            status: self.status.map_or("", Status::as_str),
            is_suspended,
            is_stopped: is_suspended,
        }
    }
}

event_types! {
    /// A toy counts.
    pub enum Event {
        /// The toy was created, or its definition changed.
        "define" Define(Define),
        /// The toy counted one further.
        "count" Count {
            /// How far it has counted.
            count: u64,
        },
        /// The service suspended the toy, or opened it again.
        "status" Status(StatusChange<Status>),
        /// The toy obeys the emergency stop, or its end.
        "emergency" Emergency(Obeyed),
        /// What Redis held right before the event.
        "checkpoint" Checkpoint {
            /// All of it.
            held as "state": Held = "`status version limit count`" Held::parse,
        },
        /// Redis was rebuilt from the events before this one.
        "restore" Restore(Rebuilt<Status>),
    }
}

event_fields! {
    /// A definition that was put.
    pub struct Define {
        /// As of every PUT.
        put: Put,
        /// The same definition, parsed.
        definition as "json": Definition = "JSON" |json| serde_json::from_str(json).ok(),
    }
}

impl Books {
    fn apply(&mut self, event: &Event, fields: &Fields<'_>) -> Result<(), Stop> {
        let Envelope { n, at_ms, history } = Envelope::read(fields, "")?;
        follows(self.n, n)?;
        let begins = self.status.is_none() || matches!(event, Event::Restore(_));
        go_on_in_history(n, &mut self.history, &history, begins)?;
        (self.n, self.at_ms) = (n, at_ms);
        Ok(self.change(event)?)
    }

    fn change(&mut self, event: &Event) -> Result<(), FoldError> {
        match event {
            Event::Define(Define { put, definition }) => {
                let version = put.version;
                expect(self.n, put.is_new() == self.status.is_none(), "it is created twice")?;
                expect(self.n, version == self.version + 1, "its version is not the next one")?;
                self.puts = put.remember(&self.puts);
                self.status.get_or_insert(Status::Open);
                (self.version, self.limit) = (version, definition.limit);
                self.definition.clone_from(&put.json);
            }
            Event::Count { count } => {
                expect(self.n, *count == self.count + 1, "its count is not the next one")?;
                expect(self.n, *count <= self.limit, "it counts beyond its limit")?;
                self.count = *count;
            }
            Event::Status(change) => {
                expect(
                    self.n,
                    self.status == Some(change.before),
                    "the status before is another one",
                )?;
                self.status = Some(change.after);
            }
            Event::Emergency(_) | Event::Checkpoint { .. } => {}
            Event::Restore(rebuilt) => {
                expect(
                    self.n,
                    rebuilt.restores > self.restores,
                    "its restores are not more than before",
                )?;
                (self.restores, self.status) = (rebuilt.restores, Some(rebuilt.status));
            }
        }
        Ok(())
    }
}

impl Subjects for Toys {
    const NAME: KindName = TOY;
    type Known = Known;
    type Error = ScriptError;
    type Engine = Registry<Known>;

    fn engine(&self) -> &Registry<Known> {
        &self.registry
    }
}

impl Folds for Toys {
    type Books = Books;
    type Tables = ();

    fn take(batch: &mut Batch<Self>, start: &Start<'_, Self>, raw: &Raw) -> Result<(), Stop> {
        let fields = Fields(&raw.fields);
        let event = Event::read(&fields)?;
        let before = batch.books.clone();
        batch.books.apply(&event, &fields)?;
        let (after, at_ms) = (&batch.books, batch.books.at_ms);
        let done = match &event {
            Event::Define(_) => Some(Done::define(
                (before.version, &before.definition),
                (after.version, &after.definition),
            )),
            Event::Status(change) => Some(Done::status(change.before.as_str(), change.after.as_str())),
            Event::Emergency(obeyed) => Some(Done::obeyed(*obeyed)),
            Event::Restore(rebuilt) => Some(Done::restore(rebuilt.from_n, after.n, after.restores)),
            Event::Count { .. } | Event::Checkpoint { .. } => None,
        };
        let action = done.map(|done| (after.n, at_ms, done.action(start.id, &raw.fields)));
        if let Event::Checkpoint { held } = &event {
            batch.report = Some((after.n, at_ms, Self::compare(held, after)));
        }
        batch.actions.extend(action);
        Ok(())
    }
}

impl Compares for Toys {
    type Side = Held;

    fn side(snapshot: &Snapshot) -> Result<Look<Held>, ScriptError> {
        Ok(Look {
            mark: snapshot.mark,
            now_ms: snapshot.now_ms,
            side: snapshot.held.clone(),
        })
    }

    fn compare(held: &Held, books: &Books) -> Report {
        Report::of_state(vec![
            StateRow::of("status", &held.status.as_str(), &books.status()),
            StateRow::of("version", &held.version, &books.version),
            StateRow::of("limit", &held.limit, &books.limit),
            StateRow::of("count", &held.count, &books.count),
        ])
    }
}

/// Its events tell other systems only that there was one.
impl Tells for Toys {}

impl Kind for Toys {
    type Upkeep = ();

    async fn restore(
        &self,
        restorer: &Restorer,
        id: &Id,
        replace: Replace,
        by: &Operator,
        reason: &str,
    ) -> Result<Restored, RestoreError> {
        let books = load::load::<Self>(&restorer.sql, id).await?.books;
        let status = books
            .status
            .ok_or_else(|| RestoreError::Unknown(TOY.as_str(), id.clone()))?;
        let known = Known::new(id);
        let held = scripts::snapshot(&restorer.store, known.stream(), Mark::ZERO).await;
        let held = held.map(|redis| (redis.mark, redis.held.status == Status::Open));
        let ledger = Mark::new(books.restores, books.n).unwrap_or_default();
        let keys = [known.stream().state, known.stream().events];
        let begun = restorer.begin(keys, held, ledger, replace).await?;
        let status = if replace == Replace::Ahead {
            Status::Suspended
        } else {
            status
        };
        let state = [
            ("n", books.n.to_string()),
            ("restores", replace.restores_before(books.restores).to_string()),
            ("status", status.as_str().to_owned()),
            ("history", subject::new_history()?),
            ("version", books.version.to_string()),
            ("json", books.definition),
            ("limit", books.limit.to_string()),
            ("seq", books.count.to_string()),
            ("puts", books.puts),
        ];
        let end = scripts::restore_end(&restorer.store, known.stream(), &begun.token, &state, by, reason).await?;
        Ok(Restored {
            mark: ended(end)?,
            records: 0,
        })
    }
}

/// The command does not skip a toy's event that cannot be applied, so nothing is carried on from it.
impl Skips for Toys {
    type Held = HashMap<String, String>;

    async fn held(_: &Store, _: &Id) -> Result<Self::Held, StuckError> {
        Ok(HashMap::new())
    }

    async fn plan(
        _: &Ledger,
        _: &Id,
        _: &Books,
        _: &Found<Self>,
        _: &Self::Held,
        _: &Store,
    ) -> Result<Plan, StuckError> {
        Err(StuckError::Refused("a toy carries nothing on".to_owned()))
    }
}

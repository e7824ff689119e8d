//! Jackpots: their books, and the tables that only they have.

mod batch;
pub mod index;
pub mod rows;
mod seeds;
mod write;

use std::collections::BTreeSet;

use jackpot_core::ids::Id;
use jackpot_core::receipt::{Receipt, UnsignedReceipt};
use sqlx::Row;

use super::books::Books;
use super::event::Event;
use super::forgotten::forget;
use super::report::MetersAndState;
use super::sides;
use crate::jackpot::error::PlayError;
use crate::jackpot::known::Known;
use crate::jackpot::ledger::report;
use crate::jackpot::operate::Operate;
use crate::jackpot::scripts::{ScriptError, Snapshot};
use crate::jackpot::view::{Status, Views};
use crate::ledger::forgotten::Forgotten;
use crate::ledger::kind::{About, Folded, Kind, Look, Verdict};
use crate::ledger::projector::Projector;
use crate::ledger::projector::batch::{Batch, Start, Stop};
use crate::ledger::projector::load::{LoadError, Loaded, damaged};
use crate::ledger::projector::rows::{Cursor, DefinitionRow, Raw};
use crate::ledger::projector::stream::Stream;
use crate::ledger::projector::write::WriteError;
use crate::ledger::reconcile::report::Report;
use crate::ledger::restore::{Replace, RestoreError, Restored, Restorer};
use crate::operator::Operator;
use crate::sql::{Sql, Tx};
use crate::subject::kinds::{JACKPOT, KindName};
use rows::{IndexRows, Rows};

/// The jackpots that this instance knows.
#[derive(Debug, Clone)]
pub struct Jackpots {
    /// Reads and suspends them.
    pub operate: Operate,
}

/// What the stream of a jackpot keeps beside the books.
#[derive(Debug, Default)]
pub struct Along {
    /// The last definition that was put, JSON.
    pub last_definition: String,
    /// The last event in the index of entries.
    pub indexed_n: u64,
    /// What later events have for the index.
    pub for_index: IndexRows,
    /// Closed epochs whose seed is not published.
    pub unpublished: BTreeSet<u64>,
}

/// What a batch of a jackpot's events needs beside its books.
pub struct With<'a> {
    /// The last definition that was put, JSON.
    pub last_definition: &'a str,
    /// The last event in the index of entries.
    pub indexed_n: u64,
    /// Whether entries are indexed.
    pub index_entries: bool,
    /// Signs receipts.
    pub sign: &'a dyn Fn(UnsignedReceipt) -> Receipt,
}

impl Folded for Books {
    fn n(&self) -> u64 {
        self.n
    }

    fn restores(&self) -> u64 {
        self.restores
    }

    fn at_ms(&self) -> i64 {
        self.at_ms
    }

    fn sequence(&self) -> u64 {
        self.sequence
    }

    fn is_stopped(&self) -> bool {
        matches!(self.status, Some(Status::Suspended | Status::Closed))
    }

    fn is_suspended(&self) -> bool {
        self.status == Some(Status::Suspended)
    }

    fn status(&self) -> &'static str {
        self.status.map_or("", Status::as_str)
    }
}

impl Stream<Jackpots> {
    /// Makes a batch of events.
    pub fn batch(
        &self,
        events: &[Raw],
        index_entries: bool,
        sign: &dyn Fn(UnsignedReceipt) -> Receipt,
    ) -> Batch<Jackpots> {
        let with = With {
            last_definition: &self.along.last_definition,
            indexed_n: self.along.indexed_n,
            index_entries,
            sign,
        };
        Batch::build(&self.start(with), events)
    }
}

impl Projector<Jackpots> {
    /// Whether entries can be found by player.
    fn indexes_entries(&self) -> bool {
        self.settings.entry_index_days > 0
    }
}

impl Kind for Jackpots {
    const NAME: KindName = JACKPOT;
    const ABOUT: About = About {
        limits_backlog: true,
        gates_readiness: true,
        remembers: "entries",
        after_discard: "it is not open: resume it",
        counted: Some(("entries", "payouts")),
        counts: false,
    };
    type Known = Known;
    type Books = Books;
    type Along = Along;
    type Rows = Rows;
    type With<'a> = With<'a>;
    type Side = MetersAndState;
    type Error = PlayError;
    type Engine = Views;

    fn engine(&self) -> &Views {
        &self.operate.views
    }

    fn side(redis: &Snapshot) -> Result<Look<MetersAndState>, ScriptError> {
        Ok(Look {
            mark: redis.mark,
            now_ms: redis.now_ms,
            side: sides::of_snapshot(redis),
        })
    }

    async fn suspend(&self, id: &Id, reason: String, by: &Operator) -> Result<(), PlayError> {
        self.operate.set_status(id, Status::Suspended, reason, by).await
    }

    async fn open(&self, id: &Id, reason: String, by: &Operator) -> Result<(), PlayError> {
        self.operate.resume_suspended(id, reason, by).await
    }

    async fn restore(
        &self,
        restorer: &Restorer,
        id: &Id,
        replace: Replace,
        by: &Operator,
        reason: &str,
    ) -> Result<Restored, RestoreError> {
        let secrets = &self.operate.views.secrets;
        restorer.restore(secrets, id, replace, by, reason).await
    }

    async fn along(sql: &Sql, id: &Id, cursor: &Cursor, books: &Books) -> Result<Along, LoadError> {
        let indexed_n: i64 = sqlx::query("SELECT indexed_n FROM streams WHERE kind = 'jackpot' AND id = $1")
            .bind(id.as_str())
            .fetch_one(sql.reader())
            .await?
            .try_get("indexed_n")?;
        let indexed_n = indexed_n.unsigned_abs();
        if cursor.n == 0 {
            return Ok(Along {
                indexed_n,
                ..Along::default()
            });
        }
        if indexed_n > cursor.n {
            let text = format!(
                "its index of entries is at event {indexed_n}, its cursor at event {}",
                cursor.n
            );
            return Err(damaged::<Self>(id, &text));
        }
        let last_definition =
            sqlx::query_scalar("SELECT json FROM definitions WHERE kind = 'jackpot' AND id = $1 AND version = $2")
                .bind(id.as_str())
                .bind(i64::try_from(books.last_version).unwrap_or_default())
                .fetch_optional(sql.reader())
                .await?
                .unwrap_or_default();
        Ok(Along {
            last_definition,
            indexed_n,
            unpublished: seeds::unpublished(sql, id).await?,
            ..Along::default()
        })
    }

    async fn taken_over(
        projector: &Projector<Self>,
        id: &Id,
        token: i64,
        loaded: &mut Loaded<Self>,
    ) -> Result<(), LoadError> {
        if projector.indexes_entries() {
            index::go_on(&projector.ledger, id, token, loaded).await?;
        }
        Ok(())
    }

    async fn follow(projector: &mut Projector<Self>, at_once: bool) -> Result<(), sqlx::Error> {
        projector.publish_seeds().await?;
        projector.index(at_once).await
    }

    async fn expire(projector: &mut Projector<Self>) -> Result<(), sqlx::Error> {
        projector.expire_index().await
    }

    fn batch(projector: &Projector<Self>, stream: &Stream<Self>, events: &[Raw]) -> Batch<Self> {
        let key = projector.ledger.signing.current();
        stream.batch(events, projector.indexes_entries(), &|unsigned| unsigned.sign(&key))
    }

    fn begin(start: &Start<'_, Self>) -> Rows {
        Rows {
            indexed_n: start.with.indexed_n,
            indexed_to: start.with.indexed_n,
            ..Rows::default()
        }
    }

    fn take(batch: &mut Batch<Self>, start: &Start<'_, Self>, raw: &Raw) -> Result<(), Stop> {
        batch.take(start, raw)
    }

    fn end(batch: &mut Batch<Self>, start: &Start<'_, Self>) {
        batch.end(&start.with);
    }

    fn behind(rows: &Rows) -> (u64, u64) {
        (rows.indexed_n, rows.indexed_to)
    }

    async fn write(tx: &mut Tx<'static>, batches: &[&Batch<Self>]) -> Result<(), WriteError> {
        Ok(write::write(tx, batches).await?)
    }

    fn advance(along: &mut Along, rows: Rows, definitions: Vec<DefinitionRow>) {
        if let Some(row) = definitions.into_iter().next_back() {
            along.last_definition = row.json;
        }
        let closed = rows.closed_epochs.iter().map(|(epoch, _, _)| *epoch);
        along.unpublished.extend(closed);
        along.indexed_n = rows.indexed_to;
        along.for_index.append(rows.index);
    }

    fn forget(forgotten: &mut Forgotten, id: &Id, raw: &Raw) -> bool {
        Event::parse(&raw.fields)
            .map(|event| forget(forgotten, id, event))
            .is_ok()
    }

    fn compare(redis: &MetersAndState, books: &Books) -> Report {
        report::compare(redis, &sides::joined(books))
    }

    /// Only an operator resumes a jackpot, after a comparison that the operator asks for.
    fn verdict(_: &Books) -> Verdict {
        Verdict::Stays
    }
}

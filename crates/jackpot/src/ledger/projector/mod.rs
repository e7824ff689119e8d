//! Jackpots: their books, and the tables that only they have.

mod batch;
pub mod cycles;
pub mod daily;
pub mod index;

mod moves;
pub mod rows;
mod seeds;
mod settlement;
mod sources;
mod steps;
mod tables;
mod transfers;
mod write;

pub use sources::ALL_TIERS;

use std::collections::BTreeSet;
use std::time::Instant;

use jackpot_core::ids::Id;

use super::books::Books;
use super::event::Event;
use super::forgotten::forget;
use super::report::MetersAndState;
use super::restore;
use super::sides;
use crate::error::PlayError;
use crate::known::Known;
use crate::ledger::report;
use crate::operate::Operate;
use crate::scripts::{ScriptError, Snapshot};
use crate::view::Views;
use jackpot_api::jackpot::Status;
use jackpot_kernel::ledger::forgotten::Forgotten;
use jackpot_kernel::ledger::kind::{
    About, Compares, Folded, Folds, Kind, Look, Standing, Subjects, Tables, Upkeep, Verdict,
};
use jackpot_kernel::ledger::projector::Projector;
use jackpot_kernel::ledger::projector::batch::{Batch, Start, Stop, With};
use jackpot_kernel::ledger::projector::load::{LoadError, Loaded, damaged};
use jackpot_kernel::ledger::projector::rows::{Cursor, Raw};
use jackpot_kernel::ledger::projector::write::WriteError;
use jackpot_kernel::ledger::reconcile::report::Report;
use jackpot_kernel::ledger::restore::{Replace, RestoreError, Restored, Restorer};
use jackpot_kernel::operator::Operator;
use jackpot_kernel::sql::{Sql, Tx};
use jackpot_kernel::subject::emergency::Obeys;
use jackpot_kernel::subject::kinds::{JACKPOT, KindName};
use jackpot_kernel::telemetry::{Metrics, TierShown};
use rows::{IndexRows, Rows};

/// The jackpots that this instance knows.
#[derive(Debug, Clone)]
pub struct Jackpots {
    /// Reads and suspends them.
    pub operate: Operate,
}

/// What the stream of a jackpot keeps in memory for the tables that only jackpots have.
#[derive(Debug, Default)]
pub struct JackpotTables {
    /// The last definition that was put, JSON.
    pub last_definition: String,
    /// The last event in the index of entries.
    pub indexed_n: u64,
    /// What later events have for the index.
    pub for_index: IndexRows,
    /// Closed epochs whose seed is not published.
    pub unpublished: BTreeSet<u64>,
    /// Whether cycles may have ended whose seed is not published.
    pub has_unpublished_cycles: bool,
    /// How far the history of the meter is.
    pub history: steps::History,
    /// How far the figures of daily reports are.
    pub daily: daily::Daily,
}

impl Folded for Books {
    fn standing(&self) -> Standing {
        let is_suspended = self.status == Some(Status::Suspended);
        Standing {
            n: self.n,
            restores: self.restores,
            at_ms: self.at_ms,
            sequence: self.sequence,
            status: self.status.map_or("", Status::as_str),
            is_suspended,
            is_stopped: is_suspended || self.status == Some(Status::Closed),
        }
    }
}

/// Whether entries can be found by player.
fn indexes_entries(projector: &Projector<Jackpots>) -> bool {
    projector.settings.entry_index_days > 0
}

impl Subjects for Jackpots {
    const NAME: KindName = JACKPOT;
    const ABOUT: About = About {
        limits_backlog: true,
        gates_readiness: true,
        remembers: "entries",
        after_discard: "it is not open: resume it",
        counted: Some(("entries", "payouts")),
    };
    type Known = Known;
    type Error = PlayError;
    type Engine = Views;

    fn engine(&self) -> &Views {
        &self.operate.views
    }

    async fn suspend(&self, id: &Id, reason: String, by: &Operator) -> Result<(), PlayError> {
        self.operate.set_status(id, Status::Suspended, reason, by).await
    }

    async fn open(&self, id: &Id, reason: String, by: &Operator) -> Result<(), PlayError> {
        self.operate.resume_suspended(id, reason, by).await
    }
}

impl Folds for Jackpots {
    type Books = Books;
    type Tables = JackpotTables;

    fn take(batch: &mut Batch<Self>, start: &Start<'_, Self>, raw: &Raw) -> Result<(), Stop> {
        batch::take(batch, start, raw)
    }

    fn forget(forgotten: &mut Forgotten, id: &Id, raw: &Raw) -> bool {
        Event::parse(&raw.fields)
            .map(|event| forget(forgotten, id, event))
            .is_ok()
    }
}

/// Refuses an index of entries that is ahead of the events.
fn check_index(id: &Id, indexed_n: u64, cursor: &Cursor) -> Result<(), LoadError> {
    if indexed_n <= cursor.n {
        return Ok(());
    }
    let text = format!(
        "its index of entries is at event {indexed_n}, its cursor at event {}",
        cursor.n
    );
    Err(damaged::<Jackpots>(id, &text))
}

impl Tables<Jackpots> for JackpotTables {
    type Rows = Rows;

    async fn load(sql: &Sql, of: &[(&Id, &Cursor, &Books)]) -> Result<Vec<Result<Self, LoadError>>, sqlx::Error> {
        tables::load(sql, of).await
    }

    fn rows(&self, with: &With<'_>) -> Rows {
        Rows {
            indexed_n: self.indexed_n,
            index_entries: with.index_entries,
            in_step: self.history.is_in_step(),
            daily: self.daily.runs(),
            ..Rows::default()
        }
    }

    fn cursor(batch: &Batch<Jackpots>) -> Option<(u64, u64)> {
        Some((batch.rows.indexed_n, batch::indexed_to(batch)))
    }

    async fn write(tx: &mut Tx<'static>, batches: &[&Batch<Jackpots>]) -> Result<(), WriteError> {
        write::write(tx, batches).await?;
        settlement::write(tx, batches).await
    }

    fn advance(&mut self, batch: &mut Batch<Jackpots>) {
        self.indexed_n = batch::indexed_to(batch);
        self.history.advance(&batch.rows.steps);
        self.daily.advance(batch.rows.daily.take());
        self.for_index.append(std::mem::take(&mut batch.rows.index));
        if let Some(row) = batch.definitions.pop() {
            self.last_definition = row.json;
        }
        let closed = batch.rows.closed_epochs.iter().map(|(epoch, _, _)| *epoch);
        self.unpublished.extend(closed);
        self.has_unpublished_cycles |= batch.rows.cycles.has_ends();
    }
}

impl Compares for Jackpots {
    type Side = MetersAndState;

    fn side(redis: &Snapshot) -> Result<Look<MetersAndState>, ScriptError> {
        Ok(Look {
            mark: redis.mark,
            now_ms: redis.now_ms,
            side: sides::of_snapshot(redis),
        })
    }

    fn compare(redis: &MetersAndState, books: &Books) -> Report {
        report::compare(redis, &sides::of_books(books))
    }

    /// Only an operator resumes a jackpot, after a comparison that the operator asks for.
    fn verdict(_: &Books) -> Verdict {
        Verdict::Stays
    }
}

/// The seeds of closed epochs, the index of entries and missing steps of meters, which are written after the events.
#[derive(Debug, Default)]
pub struct AfterCommits {
    /// The last write of the index.
    indexed_at: Option<Instant>,
    /// The last look for expired days of the index.
    expired_at: Option<Instant>,
}

impl Upkeep<Jackpots> for AfterCommits {
    async fn taken_over(
        projector: &Projector<Jackpots>,
        id: &Id,
        token: i64,
        loaded: &mut Loaded<Jackpots>,
    ) -> Result<(), LoadError> {
        if indexes_entries(projector) {
            index::go_on(&projector.ledger, id, token, loaded).await?;
        }
        Ok(())
    }

    async fn follow(projector: &mut Projector<Jackpots>, at_once: bool) -> Result<bool, sqlx::Error> {
        seeds::publish_seeds(projector).await?;
        cycles::publish_cycles(projector).await?;
        index::index(projector, at_once).await?;
        index::expire_index(projector).await?;
        // A stop does not wait for a history or a report: the next holder goes on.
        if at_once {
            return Ok(false);
        }
        let is_behind = steps::follow_meters(projector).await?;
        Ok(daily::follow_days(projector).await? || is_behind)
    }
}

impl Kind for Jackpots {
    type Upkeep = AfterCommits;

    fn show(metrics: &Metrics, id: &Id, books: Option<&Books>) {
        let Some(books) = books else {
            metrics.pools.hide(id);
            return;
        };
        let Some(currency) = books.currency else {
            return;
        };
        let tiers = books.meters.iter().map(|(tier, meters)| TierShown {
            tier,
            currency,
            pool: meters.pool,
            paid: meters.paid,
            payouts: meters.wins,
            reversed: meters.reversed,
        });
        metrics.pools.show(id, tiers);
    }

    fn obeys(&self) -> &dyn Obeys {
        &*self.operate.views
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
        restore::restore(restorer, secrets, id, replace, by, reason).await
    }
}

//! Writes the export of a jackpot's ledger, line by line, as [`super::verify`] reads it. docs/reference/formats.md has the format.
//!
//! Pages are read by key, each in a transaction of its own, and the export is consistent all the same. The head is
//! read first, and everything after its event is left out.

use std::collections::VecDeque;

use async_stream::try_stream;
use bytes::Bytes;
use futures_util::Stream;
use jackpot_core::chain::ChainHash;
use jackpot_core::clock::rfc3339;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::epoch::Epoch;
use jackpot_core::receipt::{Head, Receipt};
use jackpot_core::secret::Secrets;
use jackpot_core::signing::{Jwks, KeyPair};
use sqlx::Row;
use thiserror::Error;

use super::format::{CycleLine, EpochLine, EventLine, FORMAT, Heading, Line};
use crate::jackpot::kept::{self, KeptCycle};
use crate::jackpot::ledger::books::Books;
use crate::jackpot::ledger::queries::payouts;
use crate::ledger::stored::{self, PageSize, Stored};
use crate::signing::published;
use crate::sql::{Sql, int};
use crate::subject::kinds::JACKPOT;

/// Receipts or epochs of one page: some hundred bytes each.
const ROWS_PAGE: i64 = 1_000;

/// Why there is no export.
#[derive(Debug, Error)]
pub enum ExportError {
    /// The database refused.
    #[error("{0}")] // not transparent: a check for a database that is down looks for it among the sources
    Sql(#[from] sqlx::Error),
    /// The ledger has no such jackpot.
    #[error("the ledger has no jackpot '{0}'")]
    NoJackpot(Id),
    /// A row holds what the projector does not write.
    #[error("{place} can't be read: {what}")]
    Damaged {
        place: String,
        /// What is wrong with it.
        what: String,
    },
}

/// An export that was begun: it ends with the head that it began with.
#[derive(Debug)]
pub struct Export {
    sql: Sql,
    head: Head,
    keys: Jwks,
    books: Books,
}

/// Whether the seed of an epoch may be known outside: the epoch is closed, and no pending entry was drawn in it.
pub fn may_be_published(epoch: &Epoch, books: &Books) -> bool {
    epoch.closed_ms.is_some() && books.pending.values().all(|pending| pending.epoch != epoch.epoch)
}

/// The seed of an epoch in hexadecimal. One that does not match the commitment comes from another master secret and proves
/// nothing.
fn epoch_seed(secrets: &Secrets, id: &Id, epoch: &Epoch) -> Option<String> {
    let seed = epoch.opening.seed(secrets, id, epoch.epoch)?;
    (seed.commitment() == epoch.opening.commitment).then(|| seed.reveal())
}

impl Export {
    /// Reads and signs the head; everything else is as of its event.
    pub async fn begin(sql: Sql, id: Id, key: &KeyPair) -> Result<Self, ExportError> {
        let statement = format!(
            "SELECT n, hash, books, {} FROM streams WHERE kind = 'jackpot' AND id = $1",
            sql.now_ms()
        );
        let select = sqlx::query_as(sqlx::AssertSqlSafe(statement)).bind(id.as_str());
        let row: Option<(i64, String, String, i64)> = sql.reading(select.fetch_optional(sql.reader())).await?;
        let (n, hash, books, now_ms) = row.ok_or_else(|| ExportError::NoJackpot(id.clone()))?;
        let place = || format!("jackpot '{id}'");
        let hash = ChainHash::parse(&hash).ok_or_else(|| damaged(place(), &"its hash"))?;
        let books = serde_json::from_str(&books).map_err(|error| damaged(place(), &error))?;
        let n = number(n, &place())?;
        let keys = published(&sql).await?.into_iter().chain([key.public().clone()]);
        let head = Head::sign(id, sql.ledger_id(), n, hash, now_ms, key);
        Ok(Self {
            head,
            keys: Jwks::new(keys),
            books,
            sql,
        })
    }

    /// The lines, each with its line end. A seed that the ledger has not published yet is derived: of a cycle that ended, and
    /// of an epoch if `shown` says that the export's reader may know it ([`may_be_published`]).
    pub fn lines(
        self,
        secrets: Secrets,
        shown: impl Fn(&Epoch, &Books) -> bool,
    ) -> impl Stream<Item = Result<Bytes, ExportError>> {
        try_stream! {
            let id = self.head.jackpot_id.clone();
            yield line(&Line::JackpotLedger(Heading {
                format: FORMAT,
                jackpot_id: id.clone(),
                ledger_id: self.sql.ledger_id().to_owned(),
                keys: self.keys.clone(),
            }));
            let mut after = Some(0);
            while let Some(from) = after {
                let epochs = self.epochs(&id, from).await?;
                after = epochs.1;
                for (epoch, published) in epochs.0 {
                    let derive = || shown(&epoch, &self.books).then(|| epoch_seed(&secrets, &id, &epoch))?;
                    let seed = published.or_else(derive);
                    yield line(&Line::Epoch(epoch_line(&epoch, seed)));
                }
            }
            let mut after: Option<(u64, String, u64)> = None;
            loop {
                let key = after.as_ref().map(|(n, tier, cycle)| (*n, tier.as_str(), *cycle));
                let page = kept::cycles(&self.sql, &id, key, self.head.n, ROWS_PAGE).await?;
                let Some(last) = page.last() else { break };
                after = Some((last.began_n, last.row.tier.to_string(), last.row.cycle));
                for cycle in page {
                    yield line(&Line::Cycle(cycle_line(&secrets, &id, cycle, self.head.n)));
                }
            }
            let mut receipts = Receipts::default();
            let mut last = 0;
            while last < self.head.n {
                for event in self.events(&id, last).await? {
                    last = event.n;
                    yield line(&Line::Event(event));
                    while let Some(receipt) = receipts.next(&self.sql, &id, last).await? {
                        yield line(&Line::Receipt(receipt));
                    }
                }
            }
            yield line(&Line::Head(self.head));
        }
    }

    /// Epochs after this one, up to the one that was open at the head, with their published seeds. Also the epoch
    /// after which to continue.
    async fn epochs(&self, id: &Id, after: i64) -> Result<(Vec<(Epoch, Option<String>)>, Option<i64>), ExportError> {
        let select = sqlx::query(
            "SELECT epoch, commitment, nonce, secret_id, seed, opened_ms, closed_ms, closed_n FROM epochs \
             WHERE jackpot_id = $1 AND epoch > $2 ORDER BY epoch LIMIT $3",
        )
        .bind(id.as_str())
        .bind(after)
        .bind(ROWS_PAGE)
        .fetch_all(self.sql.reader());
        let rows = self.sql.reading(select).await?;
        let mut epochs = Vec::new();
        let mut next = None;
        for row in &rows {
            let (closed_n, mut epoch): (i64, Epoch) = (row.try_get("closed_n")?, kept::epoch(row)?);
            let closed = closed_n > 0 && u64::try_from(closed_n).is_ok_and(|n| n <= self.head.n);
            epoch.closed_ms = epoch.closed_ms.filter(|_| closed);
            next = closed.then_some(int(epoch.epoch));
            let published: String = row.try_get("seed")?;
            epochs.push((epoch, Some(published).filter(|seed| closed && !seed.is_empty())));
            if !closed {
                break;
            }
        }
        Ok((epochs, next))
    }

    async fn events(&self, id: &Id, after: u64) -> Result<Vec<EventLine>, ExportError> {
        let rows = stored::page(&self.sql, JACKPOT, id, after, self.head.n, PageSize::REPLAY).await?;
        if rows.is_empty() {
            let what = format!("the ledger ends at event {}", self.head.n);
            return Err(damaged(format!("event {} of jackpot '{id}'", after + 1), &what));
        }
        let event = |Stored { n, hash, body, .. }| EventLine { n, hash, body };
        Ok(rows.into_iter().map(event).collect())
    }
}

/// Receipts in the order of their claims, which is the order of their events.
#[derive(Default)]
struct Receipts {
    page: VecDeque<(u64, Receipt)>,
    last: u64,
    done: bool,
}

impl Receipts {
    /// The next receipt, if it belongs to this event or an earlier one.
    async fn next(&mut self, sql: &Sql, id: &Id, n: u64) -> Result<Option<Receipt>, ExportError> {
        if self.page.is_empty() && !self.done {
            let page = payouts::receipts_after(sql, id, self.last, ROWS_PAGE).await?;
            // The receipts of all events up to the head were there before the export began.
            self.done = page.is_empty();
            self.last = page.last().map_or(self.last, |(_, receipt)| receipt.claim_order);
            self.page.extend(page);
        }
        if self.page.front().is_some_and(|(of, _)| *of > n) {
            return Ok(None);
        }
        Ok(self.page.pop_front().map(|(_, receipt)| receipt))
    }
}

/// The seed of a cycle that ended after the head is left out.
fn cycle_line(secrets: &Secrets, id: &Id, cycle: KeptCycle, head_n: u64) -> CycleLine {
    let is_ended = (1..=head_n).contains(&cycle.ended_n);
    let derive = || cycle.row.seed(secrets, id);
    let seed = is_ended.then(|| cycle.seed.or_else(derive)).flatten();
    CycleLine {
        tier: cycle.row.tier,
        cycle: cycle.row.cycle,
        nonce: cycle.row.nonce,
        secret_id: cycle.row.secret,
        commitment: cycle.row.commitment.0.unwrap_or_default(),
        seed: seed.map(|seed| seed.reveal()),
    }
}

fn epoch_line(epoch: &Epoch, seed: Option<String>) -> EpochLine {
    EpochLine {
        epoch: epoch.epoch,
        nonce: epoch.opening.nonce.clone(),
        secret_id: epoch.opening.secret_id.clone(),
        commitment: epoch.opening.commitment.clone(),
        opened_at: rfc3339(epoch.opened_ms),
        closed_at: epoch.closed_ms.map(rfc3339),
        seed,
    }
}

fn line(line: &Line) -> Bytes {
    let mut text = serde_json::to_vec(line).expect("plain data is JSON");
    text.push(b'\n');
    text.into()
}

fn number(value: i64, place: &str) -> Result<u64, ExportError> {
    u64::try_from(value).map_err(|_| damaged(place, &format!("{value} is below zero")))
}

fn damaged(place: impl Into<String>, what: &dyn std::fmt::Display) -> ExportError {
    ExportError::Damaged {
        place: place.into(),
        what: what.to_string(),
    }
}

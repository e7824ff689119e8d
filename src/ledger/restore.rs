//! Rebuilds a jackpot, a coupon or a room in Redis from the ledger.
//!
//! States of Redis: what is there (nothing, less than the ledger has, or something else) → `restoring`, in which every
//! other script refuses → all of it as of the ledger's last event, followed by the event `restore`. A restore that
//! died in between is begun again by whoever comes next: beginning takes everything away first. The stream's lease
//! keeps it to one at a time, and the token of each restore keeps a stalled one from writing into the next.

mod coupon;
mod room;
mod writer;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jackpot_core::ids::Id;
use jackpot_core::jackpot::definition::Definition;
use jackpot_core::jackpot::epoch::Opening;
use jackpot_core::mark::Mark;
use jackpot_core::secret::Secrets;
use sqlx::{Row, query};
use thiserror::Error;

use super::books::{Books, FoldError};
use super::event::{Event, Unreadable};
use super::event_page;
use super::projector::jackpots::Jackpots;
use super::projector::load::{self, LoadError};
use super::projector::stream::is_damage;
use super::records::Records;
use crate::jackpot::error::PlayError;
use crate::jackpot::kept;
use crate::jackpot::scripts::{
    self, Begins, EPOCH_GAP, Part, RestoreBegun, RestoreEnded, RestoredState, ScriptError, Stamped,
};
use crate::jackpot::view::{Status, parse_definition};
use crate::operator::Operator;
use crate::random::{self, RandomError};
use crate::sql::Sql;
use crate::store::Store;
use crate::store::keys::JackpotKeys;
use crate::stream;
use crate::stream::kinds::JACKPOTS;
use writer::Writer;

/// Longest wait for the second that numbers the new epoch to pass: it began before the restore did.
const LONGEST_WAIT_MS: u64 = 2_000;

/// Why it was not rebuilt.
#[derive(Debug, Error)]
pub enum RestoreError {
    /// The database.
    #[error("the ledger: {0}")]
    Sql(#[from] sqlx::Error),
    /// The ledger's rows do not fit together.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// An event can't be read.
    #[error(transparent)]
    Event(#[from] Unreadable),
    /// An event does not follow.
    #[error(transparent)]
    Fold(#[from] FoldError),
    /// A definition can't be read.
    #[error(transparent)]
    Definition(Box<PlayError>),
    /// Redis.
    #[error("Redis: {0}")]
    Script(#[from] ScriptError),
    /// The system has no randomness.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// The ledger has nothing of it.
    #[error("the ledger has no event of {0} '{1}'")]
    Unknown(&'static str, Id),
    /// Redis has events that the ledger lacks.
    #[error(
        "Redis is at {redis}, ahead of the ledger's {ledger}: let the ledger catch up first, or discard those events \
         with --discard"
    )]
    Ahead {
        /// Redis' mark.
        redis: Mark,
        /// The ledger's.
        ledger: Mark,
    },
    /// It is open, and nothing is lost.
    #[error(
        "Redis has all its events and it is open: what Redis has is replaced only of a jackpot that is paused, or of a \
         coupon or room that is suspended"
    )]
    NotLost,
    /// Another restore or another change came in between.
    #[error("Redis changed meanwhile; try again")]
    Changed,
}

/// What was rebuilt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restored {
    /// Its mark now, with the event `restore`.
    pub mark: Mark,
    /// Records that were written.
    pub records: u64,
}

/// What a restore may replace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replace {
    /// Only a Redis that has less than the ledger, or nothing.
    Lost,
    /// The same, and one that has less than this, which somebody has seen in it.
    Seen(Mark),
    /// Also one that has all, when it is not open.
    Stopped,
    /// Also one that has events that the ledger lacks: they are given up. It is left paused, or suspended where there is no
    /// pause, because what clients were answered is not what it holds any more.
    Ahead,
}

/// Rebuilds jackpots, coupons and rooms.
#[derive(Debug, Clone)]
pub struct Restorer {
    sql: Sql,
    store: Store,
}

impl Restorer {
    /// From this ledger into this Redis.
    #[must_use]
    pub fn new(sql: Sql, store: Store) -> Self {
        Self { sql, store }
    }

    /// Rebuilds one jackpot, and opens an epoch of its own under the current secret: what was open may have been published
    /// since the ledger's last event. The caller holds the lease of its stream.
    pub async fn restore(
        &self,
        secrets: &Secrets,
        jackpot: &Id,
        replace: Replace,
        by: &Operator,
        reason: &str,
    ) -> Result<Restored, RestoreError> {
        let keys = JackpotKeys::new(jackpot);
        let loaded = load::load::<Jackpots>(&self.sql, jackpot).await?;
        let books = loaded.books;
        if books.n == 0 {
            return Err(RestoreError::Unknown(JACKPOTS.what, jackpot.clone()));
        }
        let held = scripts::snapshot(&self.store, &keys, Mark::ZERO).await;
        let held = held.map(|redis| (redis.mark, redis.status == Status::Open));
        let ledger = Mark::new(books.restores, books.n).unwrap_or_default();
        let expected = self.replaceable(&keys.state, held, ledger, replace).await?;
        let token = hex::encode(random::bytes::<16>()?);
        let tiers: BTreeSet<Id> = books.meters.keys().cloned().chain(self.tiers(jackpot).await?).collect();
        let at_ms = match scripts::restore_begin(&self.store, &keys, &tiers, &token, expected).await? {
            RestoreBegun::Begun { at_ms } => at_ms,
            RestoreBegun::Changed(_) => return Err(RestoreError::Changed),
        };
        let mut writer: Writer<'_, Part> = Writer::new(&self.store, &keys, &token);
        let last_epoch = self.write_tables(jackpot, &mut writer).await?;
        let records = self.write_records(jackpot, &books, &mut writer).await?;
        for (sequence, pending) in &books.pending {
            writer
                .add(Part::Pending, pending.entry_id.clone(), sequence.to_string())
                .await?;
        }
        let written = writer.finish().await?;
        let mut state = self.state(jackpot, &books, written).await?;
        if replace == Replace::Ahead && state.status == Status::Open {
            state.status = Status::Paused;
        }
        if let Replace::Seen(seen) = replace {
            // Or those who have seen it would take what is restored now for what they know to be lost.
            state.restores = state.restores.max(seen.restores());
        }
        let epoch = unsigned(at_ms / 1_000).max(last_epoch + EPOCH_GAP);
        let begins = Begins {
            history: stream::new_history()?,
            epoch,
            opening: Opening::make(secrets, jackpot, epoch, random::bytes()?),
        };
        loop {
            match scripts::restore_end(&self.store, &keys, &token, &state, &begins, (by, reason)).await? {
                RestoreEnded::Done(mark) => return Ok(Restored { mark, records }),
                RestoreEnded::Early(ms) if ms <= LONGEST_WAIT_MS => tokio::time::sleep(Duration::from_millis(ms)).await,
                // Redis' clock was put back meanwhile, or another restore has taken over.
                RestoreEnded::Early(_) | RestoreEnded::Other | RestoreEnded::Incomplete => {
                    return Err(RestoreError::Changed);
                }
            }
        }
    }

    /// Redis' mark, if what it holds may be replaced. `held`: its mark, and whether it is open.
    async fn replaceable(
        &self,
        state: &str,
        held: Result<(Mark, bool), ScriptError>,
        ledger: Mark,
        replace: Replace,
    ) -> Result<Option<Mark>, RestoreError> {
        let (redis, open) = match held {
            Ok(held) => held,
            // A restore that died in between may be taken over at any mark.
            Err(ScriptError::Unknown | ScriptError::Restoring) => return Ok(None),
            // What no script can read takes no entries.
            Err(error) if is_damage(&error) => (self.damaged_mark(state).await?, false),
            Err(error) => return Err(error.into()),
        };
        if redis > ledger && replace != Replace::Ahead {
            return Err(RestoreError::Ahead { redis, ledger });
        }
        let allowed = match replace {
            Replace::Lost => redis < ledger,
            Replace::Seen(seen) => redis < ledger || redis < seen,
            Replace::Stopped => redis < ledger || !open,
            Replace::Ahead => true,
        };
        if !allowed {
            return Err(RestoreError::NotLost);
        }
        Ok(Some(redis))
    }

    /// The mark of a state of which other parts can't be read, as `lua/stream/restore_begin.lua` sees it.
    async fn damaged_mark(&self, state: &str) -> Result<Mark, RestoreError> {
        let parts = redis::cmd("HMGET").arg(state).arg("n").arg("restores").to_owned();
        let parts = self.store.run(&parts).await.map_err(ScriptError::from)?;
        let parts: [Option<String>; 2] = redis::from_redis_value(parts).unwrap_or_default();
        let [n, restores] = parts.map(|part| part.and_then(|part| part.parse().ok()).unwrap_or_default());
        Ok(Mark::new(restores, n).unwrap_or_default())
    }

    /// The tiers of all definitions there ever were: a pool that is left behind would be taken for damage later.
    async fn tiers(&self, jackpot: &Id) -> Result<BTreeSet<Id>, RestoreError> {
        let mut tiers = BTreeSet::new();
        for (_, json) in self.definitions(jackpot, 0).await? {
            let definition =
                parse_definition(jackpot, &json).map_err(|error| RestoreError::Definition(error.into()))?;
            tiers.extend(definition.tiers().iter().map(|tier| tier.tier.clone()));
        }
        Ok(tiers)
    }

    /// Those that Redis keeps (`kept` is 1), or all (0).
    async fn definitions(&self, jackpot: &Id, kept: i64) -> Result<BTreeMap<u64, String>, RestoreError> {
        let rows = query("SELECT version, json FROM definitions WHERE kind = 'jackpot' AND id = $1 AND kept >= $2")
            .bind(jackpot.as_str())
            .bind(kept)
            .fetch_all(self.sql.reader());
        let rows = self.sql.reading(rows).await?;
        let one = |row: &sqlx::any::AnyRow| Ok((unsigned(row.try_get("version")?), row.try_get("json")?));
        Ok(rows.iter().map(one).collect::<Result<_, sqlx::Error>>()?)
    }

    /// Definitions, epochs and adjustments. The highest number of an epoch.
    async fn write_tables(&self, jackpot: &Id, writer: &mut Writer<'_, Part>) -> Result<u64, RestoreError> {
        for (version, json) in self.definitions(jackpot, 1).await? {
            writer.add(Part::Definitions, version.to_string(), json).await?;
        }
        let text = "SELECT epoch, commitment, nonce, secret_id, opened_ms, closed_ms FROM epochs WHERE jackpot_id = $1";
        let epochs = query(text).bind(jackpot.as_str()).fetch_all(self.sql.reader());
        let mut last_epoch = 0;
        for row in self.sql.reading(epochs).await? {
            let epoch = kept::epoch(&row)?;
            last_epoch = last_epoch.max(epoch.epoch);
            let text = epoch.to_text();
            writer.add(Part::Epochs, epoch.epoch.to_string(), text).await?;
        }
        let adjustments = query("SELECT adjustment_id, digest, at_ms FROM adjustments WHERE jackpot_id = $1")
            .bind(jackpot.as_str())
            .fetch_all(self.sql.reader());
        for row in self.sql.reading(adjustments).await? {
            let (id, digest, at_ms): (String, String, i64) = (
                row.try_get("adjustment_id")?,
                row.try_get("digest")?,
                row.try_get("at_ms")?,
            );
            writer.add(Part::Adjustments, id, format!("{digest} {at_ms}")).await?;
        }
        Ok(last_epoch)
    }

    /// The idempotency records of both generations, replayed from the events that made them.
    async fn write_records(
        &self,
        jackpot: &Id,
        books: &Books,
        writer: &mut Writer<'_, Part>,
    ) -> Result<u64, RestoreError> {
        let newer = if books.generation.letter == "b" {
            Part::SeenB
        } else {
            Part::SeenA
        };
        let older = if newer == Part::SeenA { Part::SeenB } else { Part::SeenA };
        let (mut records, mut after) = (Records::default(), books.older_n);
        loop {
            let events = self.events(jackpot, after, books.n).await?;
            let Some(last) = events.last() else { break };
            after = last.n;
            let mut changed = Vec::new();
            for event in &events {
                records.apply(event, &mut |written| {
                    let part = if written.entered_n > books.generation.n {
                        newer
                    } else {
                        older
                    };
                    if written.first {
                        *writer.written.entry(part).or_default() += 1;
                    }
                    changed.push((part, written.entry_id.to_owned(), written.text));
                })?;
            }
            for (part, entry_id, text) in changed {
                writer.put(part, entry_id, text).await?;
            }
        }
        Ok(writer.count(Part::SeenA) + writer.count(Part::SeenB))
    }

    async fn events(&self, jackpot: &Id, after: u64, last: u64) -> Result<Vec<Event>, RestoreError> {
        let Some(end) = event_page::end(&self.sql, jackpot, signed(after), signed(last)).await? else {
            return Ok(Vec::new());
        };
        let rows =
            query("SELECT body FROM events WHERE kind = 'jackpot' AND id = $1 AND n > $2 AND n <= $3 ORDER BY n")
                .bind(jackpot.as_str())
                .bind(signed(after))
                .bind(end)
                .fetch_all(self.sql.reader());
        let rows = self.sql.reading(rows).await?;
        let mut events = Vec::with_capacity(rows.len());
        for row in rows {
            let fields = serde_json::from_str(row.try_get("body")?).map_err(|_| Unreadable {
                n: format!("behind {after}"),
                field: "body",
            })?;
            events.push(Event::parse(&fields)?);
        }
        Ok(events)
    }

    async fn state(
        &self,
        jackpot: &Id,
        books: &Books,
        written: BTreeMap<Part, u64>,
    ) -> Result<RestoredState, RestoreError> {
        let definitions = self.definitions(jackpot, 1).await?;
        let stamped = |version: u64| {
            let json = definitions.get(&version).ok_or_else(|| {
                LoadError::Damaged(format!(
                    "definition {version} of jackpot '{jackpot}' is not in the ledger"
                ))
            })?;
            let definition: Definition =
                parse_definition(jackpot, json).map_err(|error| RestoreError::Definition(error.into()))?;
            Ok::<_, RestoreError>(Stamped::new(version, &definition))
        };
        let status = books
            .status
            .ok_or_else(|| RestoreError::Unknown(JACKPOTS.what, jackpot.clone()))?;
        Ok(RestoredState {
            n: books.n,
            restores: books.restores,
            status,
            in_force: stamped(books.version)?,
            waiting: books.waiting.map(stamped).transpose()?,
            last_version: books.last_version,
            currency: books.currency.clone(),
            sequence: books.sequence,
            claim_order: books.claim_order,
            epoch: books.epoch,
            opening: books.opening.clone(),
            generation: if books.generation.letter == "b" { 'b' } else { 'a' },
            generation_start: books.generation.start,
            generation_opened_ms: books.generation.opened_ms,
            generation_version: books.generation.version,
            retention_s: books.retention_s,
            puts: books.puts.clone(),
            meters: super::reconcile::sides::of_books(books).meters,
            written,
        })
    }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn unsigned(number: i64) -> u64 {
    number.unsigned_abs()
}

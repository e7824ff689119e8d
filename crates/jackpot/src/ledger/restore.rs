//! Rebuilds a jackpot: its whole state as of the ledger's last event, and a new epoch.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jackpot_core::ids::Id;
use jackpot_core::jackpot::adjustment_record::AdjustmentRecord;
use jackpot_core::jackpot::cycle::{Preparing, Renews};
use jackpot_core::jackpot::definition::Definition;
use jackpot_core::jackpot::epoch::Opening;
use jackpot_core::mark::Mark;
use jackpot_core::secret::Secrets;
use sqlx::{Row, query};

use crate::kept;
use crate::ledger::books::Books;
use crate::ledger::event::Event;
use crate::ledger::projector::Jackpots;
use crate::ledger::records::Records;
use crate::ledger::takes::Takes;
use crate::scripts::{self, Begins, EPOCH_GAP, Part, RestoreEnded, RestoredState, Stamped};
use crate::view::parse_definition;
use jackpot_api::jackpot::Status;
use jackpot_kernel::ledger::events::Unreadable;
use jackpot_kernel::ledger::projector::load::{self, LoadError};
use jackpot_kernel::ledger::restore::writer::{self, Writer};
use jackpot_kernel::ledger::restore::{Begun, Replace, RestoreError, Restored, Restorer, ended, unsigned};
use jackpot_kernel::ledger::stored::{self, PageSize};
use jackpot_kernel::operator::Operator;
use jackpot_kernel::random;
use jackpot_kernel::store::keys::JackpotKeys;
use jackpot_kernel::subject;
use jackpot_kernel::subject::kinds::JACKPOT;

/// Longest wait for the second that numbers the new epoch to pass. That second began before the restore did.
const LONGEST_WAIT_MS: u64 = 2_000;

/// Rebuilds one jackpot, and opens a new epoch under the current secret. The seed of the epoch that was open may
/// have been published since the ledger's last event. The caller holds the lease of its stream.
pub async fn restore(
    restorer: &Restorer,
    secrets: &Secrets,
    jackpot: &Id,
    replace: Replace,
    by: &Operator,
    reason: &str,
) -> Result<Restored, RestoreError> {
    let keys = JackpotKeys::new(jackpot);
    let loaded = load::load::<Jackpots>(&restorer.sql, jackpot).await?;
    let books = loaded.books;
    if books.n == 0 {
        return Err(RestoreError::Unknown(JACKPOT.as_str(), jackpot.clone()));
    }
    let held = scripts::snapshot(&restorer.store, &keys, Mark::ZERO).await;
    let held = held.map(|redis| (redis.mark, redis.status == Status::Open));
    let ledger = Mark::new(books.restores, books.n).unwrap_or_default();
    let tiers: BTreeSet<Id> = books
        .meters
        .keys()
        .cloned()
        .chain(tiers(restorer, jackpot).await?)
        .collect();
    let all = scripts::restored_keys(&keys, &tiers);
    let begun = restorer
        .begin(all.iter().map(String::as_str), held, ledger, replace)
        .await?;
    let Begun { token, at_ms } = begun;
    let mut writer: Writer<'_, Part> = Writer::new(&restorer.store, &keys, &token);
    let last_epoch = write_tables(restorer, jackpot, &mut writer).await?;
    let mut took = takes(restorer, jackpot).await?;
    let records = write_records(restorer, jackpot, &books, &mut took, &mut writer).await?;
    for (sequence, pending) in &books.pending {
        writer
            .add(Part::Pending, pending.entry_id.clone(), sequence.to_string())
            .await?;
    }
    let written = writer.finish().await?;
    let mut state = state(restorer, jackpot, &books, written).await?;
    state.moved = took.moved(&books);
    if replace == Replace::Ahead && state.status == Status::Open {
        state.status = Status::Paused;
    }
    state.restores = replace.restores_before(state.restores);
    let epoch = unsigned(at_ms / 1_000).max(last_epoch + EPOCH_GAP);
    let begins = Begins {
        history: subject::new_history()?,
        epoch,
        opening: Opening::make(secrets, jackpot, epoch, random::bytes()?),
        prepared: state.cycles.prepared(&Preparing {
            jackpot,
            secrets,
            nonce: random::bytes()?,
            renews: Some(Renews::AtLeast {
                second: unsigned(at_ms / 1_000),
            }),
            following: 1,
            now: at_ms / 1_000,
        }),
    };
    loop {
        match scripts::restore_end(&restorer.store, &keys, &token, &state, &begins, by, reason).await? {
            RestoreEnded::Early(ms) if ms <= LONGEST_WAIT_MS => tokio::time::sleep(Duration::from_millis(ms)).await,
            end => {
                return Ok(Restored {
                    mark: ended(end)?,
                    records,
                });
            }
        }
    }
}

/// The tiers of all definitions that ever existed: a pool that is left over would look like damage later.
async fn tiers(restorer: &Restorer, jackpot: &Id) -> Result<BTreeSet<Id>, RestoreError> {
    let mut tiers = BTreeSet::new();
    for (_, json) in definitions(restorer, jackpot, 0).await? {
        let definition = parse_definition(jackpot, &json).map_err(|error| RestoreError::Definition(error.into()))?;
        tiers.extend(definition.tiers().iter().map(|tier| tier.tier.clone()));
    }
    Ok(tiers)
}

/// The definitions that Redis keeps (`kept` is 1), or all (0).
async fn definitions(restorer: &Restorer, jackpot: &Id, kept: i64) -> Result<BTreeMap<u64, String>, RestoreError> {
    let rows = query("SELECT version, json FROM definitions WHERE kind = 'jackpot' AND id = $1 AND kept >= $2")
        .bind(jackpot.as_str())
        .bind(kept)
        .fetch_all(restorer.sql.reader());
    let rows = restorer.sql.reading(rows).await?;
    let one = |row: &sqlx::any::AnyRow| Ok((unsigned(row.try_get("version")?), row.try_get("json")?));
    Ok(rows.iter().map(one).collect::<Result<_, sqlx::Error>>()?)
}

/// Writes definitions, epochs and adjustments. Returns the highest number of an epoch.
async fn write_tables(restorer: &Restorer, jackpot: &Id, writer: &mut Writer<'_, Part>) -> Result<u64, RestoreError> {
    for (version, json) in definitions(restorer, jackpot, 1).await? {
        writer.add(Part::Definitions, version.to_string(), json).await?;
    }
    let text = "SELECT epoch, commitment, nonce, secret_id, opened_ms, closed_ms FROM epochs WHERE jackpot_id = $1";
    let epochs = query(text).bind(jackpot.as_str()).fetch_all(restorer.sql.reader());
    let mut last_epoch = 0;
    for row in restorer.sql.reading(epochs).await? {
        let epoch = kept::epoch(&row)?;
        last_epoch = last_epoch.max(epoch.epoch);
        let text = epoch.to_text();
        writer.add(Part::Epochs, epoch.epoch.to_string(), text).await?;
    }
    let adjustments = query("SELECT adjustment_id, digest, at_ms FROM adjustments WHERE jackpot_id = $1")
        .bind(jackpot.as_str())
        .fetch_all(restorer.sql.reader());
    for row in restorer.sql.reading(adjustments).await? {
        let id: String = row.try_get("adjustment_id")?;
        let record = AdjustmentRecord {
            digest: row.try_get("digest")?,
            at_ms: row.try_get("at_ms")?,
        };
        writer.add(Part::Adjustments, id, record.to_string()).await?;
    }
    Ok(last_epoch)
}

/// Writes the idempotency records of both generations, replayed from the events that made them.
async fn write_records(
    restorer: &Restorer,
    jackpot: &Id,
    books: &Books,
    took: &mut Takes,
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
        let events = events(restorer, jackpot, after, books.n).await?;
        let Some(last) = events.last() else { break };
        after = last.n;
        let mut changed = Vec::new();
        for event in &events {
            took.follow(event);
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

async fn events(restorer: &Restorer, jackpot: &Id, after: u64, last: u64) -> Result<Vec<Event>, RestoreError> {
    let page = stored::page(&restorer.sql, JACKPOT, jackpot, after, last, PageSize::REPLAY).await?;
    let events = page.iter().map(|row| Event::parse(&row.fields()?));
    Ok(events.collect::<Result<_, Unreadable>>()?)
}

async fn state(
    restorer: &Restorer,
    jackpot: &Id,
    books: &Books,
    written: BTreeMap<Part, u64>,
) -> Result<RestoredState, RestoreError> {
    let definitions = definitions(restorer, jackpot, 1).await?;
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
    let (Some(status), Some(currency)) = (books.status, books.currency) else {
        return Err(RestoreError::Unknown(JACKPOT.as_str(), jackpot.clone()));
    };
    Ok(RestoredState {
        n: books.n,
        restores: books.restores,
        status,
        in_force: stamped(books.version)?,
        waiting: books.waiting.map(stamped).transpose()?,
        last_version: books.last_version,
        currency,
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
        meters: crate::ledger::sides::of_books(books).meters,
        written,
        moved: Vec::new(),
        cycles: books.held_cycles(),
        used: books.used().collect(),
    })
}

async fn takes(restorer: &Restorer, jackpot: &Id) -> Result<Takes, RestoreError> {
    let mut kept = BTreeMap::new();
    for (version, json) in definitions(restorer, jackpot, 1).await? {
        let definition: Definition =
            parse_definition(jackpot, &json).map_err(|error| RestoreError::Definition(error.into()))?;
        kept.insert(version, definition);
    }
    Ok(Takes::new(kept))
}

impl writer::Part for Part {
    type Keys = JackpotKeys;

    fn state(keys: &JackpotKeys) -> &str {
        &keys.state
    }

    fn key(self, keys: &JackpotKeys) -> &str {
        self.key(keys)
    }

    fn is_sorted(self) -> bool {
        self.is_sorted()
    }
}

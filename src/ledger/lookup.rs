//! Single facts that play asks of the ledger: what Redis no longer has, or never may decide alone.

use std::collections::BTreeMap;

use sqlx::Row;

use super::Ledger;
use super::event::{Event, Kind};
use super::queries::LedgerError;
use super::skipped::Carried;
use super::streams::Tables;
use crate::ids::Id;
use crate::jackpot::epoch::{Epoch, Opening};
use crate::jackpot::record::{Record, Sent, State};
use crate::stream::Mark;

/// What the ledger knows of a jackpot's epochs.
#[derive(Debug, Default)]
pub struct Epochs {
    /// All of them, the oldest first.
    pub all: Vec<Epoch>,
    seeds: BTreeMap<u64, String>,
}

impl Epochs {
    /// The seed of an epoch in hexadecimal, if it is published: its closing is in the ledger, and nothing pending needs it.
    #[must_use]
    pub fn seed(&self, epoch: u64) -> Option<&str> {
        self.seeds.get(&epoch).map(String::as_str)
    }
}

/// An entry as it was taken.
#[derive(Debug, PartialEq, Eq)]
pub struct Taken {
    /// When, ms of Redis' clock.
    pub at_ms: i64,
    /// What was sent.
    pub sent: Sent,
    /// Its record if it drew no prize.
    pub record: Record,
}

impl Ledger {
    /// How far the ledger is with one of a kind; `None` when it has never seen an event of it.
    pub async fn mark(&self, of: Tables, id: &Id) -> Result<Option<Mark>, LedgerError> {
        let row = sqlx::query("SELECT n, restores FROM streams WHERE kind = $1 AND id = $2 AND n > 0")
            .bind(of.what)
            .bind(id.as_str());
        let row = row.fetch_optional(self.sql.reader());
        let Some(row) = self.sql.reading(row).await? else {
            return Ok(None);
        };
        let number = |name: &str| row.try_get::<i64, _>(name).map(i64::unsigned_abs);
        Ok(Mark::new(number("restores")?, number("n")?))
    }

    /// A version of a jackpot's definition as JSON, as its event has it.
    pub async fn definition(&self, jackpot: &Id, version: u64) -> Result<Option<String>, LedgerError> {
        let Ok(version) = i64::try_from(version) else {
            return Ok(None);
        };
        let json =
            sqlx::query_scalar("SELECT json FROM definitions WHERE kind = 'jackpot' AND id = $1 AND version = $2")
                .bind(jackpot.as_str())
                .bind(version)
                .fetch_optional(self.sql.reader());
        Ok(self.sql.reading(json).await?)
    }

    /// The reason of the last action that gave a jackpot another status, if that was this one.
    pub async fn stopped_because(&self, jackpot: &Id, status: &str) -> Result<Option<String>, LedgerError> {
        let text = "SELECT after, reason FROM audit WHERE subject = $1 AND action IN ('pause', 'resume', 'suspend', 'close') \
                    ORDER BY at_ms DESC, n DESC LIMIT 1";
        let row = sqlx::query(text)
            .bind(jackpot.as_str())
            .fetch_optional(self.sql.reader());
        let Some(row) = self.sql.reading(row).await? else {
            return Ok(None);
        };
        let after: String = row.try_get("after")?;
        let reason = row.try_get("reason")?;
        Ok((after.trim_matches('"') == status).then_some(reason))
    }

    /// An entry as it was taken, from the event that took it.
    pub async fn taken(&self, jackpot: &Id, entry_id: &str, sequence: u64) -> Result<Taken, LedgerError> {
        let text = "SELECT body FROM events WHERE kind = 'jackpot' AND id = $1 AND type = 'enter' AND last_sequence >= $2 \
                    ORDER BY last_sequence LIMIT 1";
        let row = sqlx::query(text)
            .bind(jackpot.as_str())
            .bind(i64::try_from(sequence).unwrap_or(i64::MAX))
            .fetch_optional(self.sql.reader());
        let missing = || LedgerError::Missing(format!("readable event of entry '{entry_id}'"));
        if let Some(row) = self.sql.reading(row).await? {
            let event = read(row.try_get("body")?).ok_or_else(missing)?;
            if let Some(taken) = taken(event, entry_id, sequence) {
                return Ok(taken);
            }
        }
        self.taken_and_skipped(jackpot, entry_id, sequence).await
    }

    /// The same of one whose event was skipped.
    async fn taken_and_skipped(&self, jackpot: &Id, entry_id: &str, sequence: u64) -> Result<Taken, LedgerError> {
        let text = "SELECT body FROM events WHERE kind = 'jackpot' AND id = $1 AND type = 'skipped' AND last_sequence >= $2 \
                    ORDER BY n LIMIT 1";
        let row = sqlx::query(text)
            .bind(jackpot.as_str())
            .bind(i64::try_from(sequence).unwrap_or(i64::MAX))
            .fetch_optional(self.sql.reader());
        let missing = || LedgerError::Missing(format!("readable event of entry '{entry_id}'"));
        let row = self.sql.reading(row).await?.ok_or_else(missing)?;
        let event = read(row.try_get("body")?).ok_or_else(missing)?;
        let Kind::Skipped(skipped) = event.kind else {
            return Err(missing());
        };
        carried(&skipped.carried, event.at_ms, sequence).ok_or_else(|| LedgerError::Skipped(entry_id.to_owned()))
    }

    /// The epochs of a jackpot; none when the ledger has never seen an event of it.
    pub async fn epochs(&self, jackpot: &Id) -> Result<Epochs, LedgerError> {
        Ok(self.sql.reading(self.epochs_within(jackpot)).await?)
    }

    /// The seed of an epoch in hexadecimal, if it is published.
    pub async fn published_seed(&self, jackpot: &Id, epoch: u64) -> Result<Option<String>, sqlx::Error> {
        let select = sqlx::query_scalar("SELECT seed FROM epochs WHERE jackpot_id = $1 AND epoch = $2")
            .bind(jackpot.as_str())
            .bind(i64::try_from(epoch).unwrap_or(i64::MAX))
            .fetch_optional(self.sql.reader());
        let seed: Option<String> = self.sql.reading(select).await?;
        Ok(seed.filter(|seed| !seed.is_empty()))
    }

    /// The secrets that seeds must still be derived from, of epochs that are open or not published yet, each with a
    /// jackpot that needs it.
    pub async fn needed_secrets(&self) -> Result<Vec<(Id, String)>, sqlx::Error> {
        let rows = sqlx::query("SELECT DISTINCT jackpot_id, secret_id FROM epochs WHERE seed = ''");
        let rows = self.sql.reading(rows.fetch_all(self.sql.reader())).await?;
        let one = |row: &sqlx::any::AnyRow| {
            Ok::<(String, String), sqlx::Error>((row.try_get("jackpot_id")?, row.try_get("secret_id")?))
        };
        let rows = rows.iter().map(one).collect::<Result<Vec<_>, _>>()?;
        let parsed = |(id, secret_id): (String, String)| Some((Id::parse(&id).ok()?, secret_id));
        Ok(rows.into_iter().filter_map(parsed).collect())
    }

    async fn epochs_within(&self, jackpot: &Id) -> Result<Epochs, sqlx::Error> {
        let text = "SELECT epoch, commitment, nonce, secret_id, seed, opened_ms, closed_ms FROM epochs \
                    WHERE jackpot_id = $1 ORDER BY epoch";
        let rows = sqlx::query(text)
            .bind(jackpot.as_str())
            .fetch_all(self.sql.reader())
            .await?;
        let (mut all, mut seeds) = (Vec::with_capacity(rows.len()), BTreeMap::new());
        for row in &rows {
            let (epoch, seed): (Epoch, String) = (epoch(row)?, row.try_get("seed")?);
            if !seed.is_empty() {
                seeds.insert(epoch.epoch, seed);
            }
            all.push(epoch);
        }
        Ok(Epochs { all, seeds })
    }
}

/// A row of the table of epochs.
pub(in crate::ledger) fn epoch(row: &sqlx::any::AnyRow) -> Result<Epoch, sqlx::Error> {
    let closed_ms: i64 = row.try_get("closed_ms")?;
    Ok(Epoch {
        epoch: row.try_get::<i64, _>("epoch")?.unsigned_abs(),
        opening: Opening {
            commitment: row.try_get("commitment")?,
            nonce: row.try_get("nonce")?,
            secret_id: row.try_get("secret_id")?,
        },
        opened_ms: row.try_get("opened_ms")?,
        closed_ms: (closed_ms != 0).then_some(closed_ms),
    })
}

fn read(body: &str) -> Option<Event> {
    Event::parse(&serde_json::from_str(body).ok()?).ok()
}

fn carried(carried: &Carried, at_ms: i64, sequence: u64) -> Option<Taken> {
    let entry = carried.entries.iter().find(|entry| entry.sequence == sequence)?;
    let sent = Sent::parse(&entry.sent)?;
    let record = carried.records.iter().find(|record| record.id == entry.entry_id);
    let record = record.and_then(|record| Record::parse(&record.text).ok());
    Some(Taken {
        at_ms,
        record: record.unwrap_or_else(|| Record {
            sequence,
            epoch: carried.books.epoch,
            version: carried.books.version,
            fingerprint: sent.fingerprint(),
            contributions: Vec::new(),
            state: State::Lost,
        }),
        sent,
    })
}

fn taken(event: Event, entry_id: &str, sequence: u64) -> Option<Taken> {
    let at_ms = event.at_ms;
    let Kind::Enter {
        epoch,
        version,
        first,
        entries,
        ..
    } = event.kind
    else {
        return None;
    };
    let place = usize::try_from(sequence.checked_sub(first)?).ok()?;
    let entry = entries.into_iter().nth(place)?;
    (entry.entry_id == entry_id).then(|| Taken {
        at_ms,
        record: Record {
            sequence,
            epoch,
            version,
            fingerprint: entry.sent.fingerprint(),
            contributions: entry.contributions,
            state: State::Lost,
        },
        sent: entry.sent,
    })
}

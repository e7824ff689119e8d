//! Facts of a jackpot that Redis no longer has, or must not decide alone, from the ledger's tables.

use std::collections::BTreeMap;

use jackpot_core::ids::Id;
use jackpot_core::jackpot::epoch::{Epoch, Opening};
use jackpot_core::jackpot::record::{Record, Sent};
use sqlx::Row;
use sqlx::any::AnyRow;

use crate::sql::Sql;

/// The ledger's view of a jackpot's epochs.
#[derive(Debug, Default)]
pub struct Epochs {
    /// All epochs, oldest first.
    pub all: Vec<Epoch>,
    seeds: BTreeMap<u64, String>,
}

impl Epochs {
    /// The seed of an epoch in hexadecimal, if it is published: the ledger has its closing, and no pending entry needs
    /// it.
    #[must_use]
    pub fn seed(&self, epoch: u64) -> Option<&str> {
        self.seeds.get(&epoch).map(String::as_str)
    }
}

/// An entry, from the event that took it.
#[derive(Debug, PartialEq, Eq)]
pub struct Taken {
    /// Time of the event, ms of Redis' clock.
    pub at_ms: i64,
    /// The request.
    pub sent: Sent,
    /// Its record if it drew no prize.
    pub record: Record,
}

/// A version of a jackpot's definition as JSON, from its event.
pub async fn definition(sql: &Sql, jackpot: &Id, version: u64) -> Result<Option<String>, sqlx::Error> {
    let Ok(version) = i64::try_from(version) else {
        return Ok(None);
    };
    let json = sqlx::query_scalar("SELECT json FROM definitions WHERE kind = 'jackpot' AND id = $1 AND version = $2")
        .bind(jackpot.as_str())
        .bind(version)
        .fetch_optional(sql.reader());
    sql.reading(json).await
}

/// The reason of the last action that changed a jackpot's status, if it led to this status.
pub async fn stopped_because(sql: &Sql, jackpot: &Id, status: &str) -> Result<Option<String>, sqlx::Error> {
    let text = "SELECT after, reason FROM audit WHERE subject = $1 AND action IN ('pause', 'resume', 'suspend', 'close') \
                ORDER BY at_ms DESC, n DESC LIMIT 1";
    let row = sqlx::query(text).bind(jackpot.as_str()).fetch_optional(sql.reader());
    let Some(row) = sql.reading(row).await? else {
        return Ok(None);
    };
    let after: String = row.try_get("after")?;
    let reason = row.try_get("reason")?;
    Ok((after.trim_matches('"') == status).then_some(reason))
}

/// The epochs of a jackpot; none if the ledger has no event of it.
pub async fn epochs(sql: &Sql, jackpot: &Id) -> Result<Epochs, sqlx::Error> {
    sql.reading(epochs_within(sql, jackpot)).await
}

/// The seed of an epoch in hexadecimal, if it is published.
pub async fn published_seed(sql: &Sql, jackpot: &Id, epoch: u64) -> Result<Option<String>, sqlx::Error> {
    let select = sqlx::query_scalar("SELECT seed FROM epochs WHERE jackpot_id = $1 AND epoch = $2")
        .bind(jackpot.as_str())
        .bind(i64::try_from(epoch).unwrap_or(i64::MAX))
        .fetch_optional(sql.reader());
    let seed: Option<String> = sql.reading(select).await?;
    Ok(seed.filter(|seed| !seed.is_empty()))
}

async fn epochs_within(sql: &Sql, jackpot: &Id) -> Result<Epochs, sqlx::Error> {
    let text = "SELECT epoch, commitment, nonce, secret_id, seed, opened_ms, closed_ms FROM epochs \
                WHERE jackpot_id = $1 ORDER BY epoch";
    let rows = sqlx::query(text).bind(jackpot.as_str()).fetch_all(sql.reader()).await?;
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

/// A row of the table of epochs.
///
/// # Errors
/// A column is missing or has another type.
pub fn epoch(row: &AnyRow) -> Result<Epoch, sqlx::Error> {
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

//! Facts of a jackpot that Redis no longer has, or must not decide alone, from the ledger's tables.

use std::collections::BTreeMap;

use jackpot_core::ids::Id;
use jackpot_core::jackpot::cycle::{CycleRow, CycleSeed, EndedBy, Pinned};
use jackpot_core::jackpot::epoch::{Epoch, Opening};
use jackpot_core::jackpot::record::{Record, Sent};
use jackpot_core::wire::OrDash;
use serde_json::Value;
use sqlx::Row;
use sqlx::any::AnyRow;

use jackpot_kernel::sql::Sql;

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
    let after: Value = serde_json::from_str(&after).unwrap_or_default();
    // An object where a version came into force with it.
    let is_it = after.get("status").unwrap_or(&after) == status;
    Ok(is_it.then_some(reason))
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

/// A cycle in the ledger.
#[derive(Debug, Clone)]
pub struct KeptCycle {
    /// As it began; what was reversed in it, its cap and its `min_payout` are not known here.
    pub row: CycleRow,
    /// Version of the definition that it began under; `None` if an earlier version of the service began it.
    pub version: Option<u64>,
    /// Event that began it.
    pub began_n: u64,
    /// Event that ended it, 0 while it is open.
    pub ended_n: u64,
    /// When it ended, ms, and by what.
    pub ended: Option<(i64, EndedBy)>,
    /// Its seed, if it is published.
    pub seed: Option<CycleSeed>,
}

/// Cycles that began in an event up to `last_n`, oldest first, at most `limit`: those after this key (event, tier,
/// number).
pub async fn cycles(
    sql: &Sql,
    jackpot: &Id,
    after: Option<(u64, &str, u64)>,
    last_n: u64,
    limit: i64,
) -> Result<Vec<KeptCycle>, sqlx::Error> {
    let text = "SELECT tier, cycle, nonce, secret_id, commitment, low, high, after_s, deadline_s, began_ms, began_n, \
                ended_ms, ended_n, ended_by, seed, (SELECT version FROM cycle_versions v WHERE v.jackpot_id = cycles.jackpot_id \
                AND v.tier = cycles.tier AND v.cycle = cycles.cycle) AS version FROM cycles \
                WHERE jackpot_id = $1 AND (began_n, tier, cycle) > ($2, $3, $4) AND began_n <= $5 \
                ORDER BY began_n, tier, cycle LIMIT $6";
    let int = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let (n, tier, cycle) = after.map_or((0, "", -1), |(n, tier, cycle)| (int(n), tier, int(cycle)));
    let select = sqlx::query(text).bind(jackpot.as_str()).bind(n).bind(tier).bind(cycle);
    let select = select.bind(int(last_n)).bind(limit).fetch_all(sql.reader());
    sql.reading(select).await?.iter().map(kept_cycle).collect()
}

/// Whether the ledger has a cycle of this tier with this number or a later one.
pub async fn has_cycle(sql: &Sql, jackpot: &Id, tier: &Id, cycle: u64) -> Result<bool, sqlx::Error> {
    let text = "SELECT cycle FROM cycles WHERE jackpot_id = $1 AND tier = $2 AND cycle >= $3 LIMIT 1";
    let select = sqlx::query_scalar::<_, i64>(text)
        .bind(jackpot.as_str())
        .bind(tier.as_str())
        .bind(i64::try_from(cycle).unwrap_or(i64::MAX))
        .fetch_optional(sql.reader());
    Ok(sql.reading(select).await?.is_some())
}

fn ended_by(row: &AnyRow) -> Result<EndedBy, sqlx::Error> {
    let text: String = row.try_get("ended_by")?;
    EndedBy::parse(&text).ok_or_else(|| sqlx::Error::Decode(format!("a cycle ended by '{text}'").into()))
}

fn kept_cycle(row: &AnyRow) -> Result<KeptCycle, sqlx::Error> {
    let tier: String = row.try_get("tier")?;
    let number = |name: &str| Ok::<_, sqlx::Error>(row.try_get::<Option<i64>, _>(name)?.map(i64::unsigned_abs));
    let (ended_ms, seed): (i64, String) = (row.try_get("ended_ms")?, row.try_get("seed")?);
    Ok(KeptCycle {
        row: CycleRow {
            tier: Id::parse(&tier).map_err(|_| sqlx::Error::Decode("a tier that is no id".into()))?,
            cycle: row.try_get::<i64, _>("cycle")?.unsigned_abs(),
            nonce: row.try_get("nonce")?,
            secret: row.try_get("secret_id")?,
            commitment: OrDash(Some(row.try_get("commitment")?)),
            began: row.try_get("began_ms")?,
            min: 0,
            low: OrDash(number("low")?),
            high: OrDash(number("high")?),
            after: OrDash(number("after_s")?),
            deadline: OrDash(row.try_get("deadline_s")?),
            reversed: 0,
            pins: Pinned(None),
        },
        version: number("version")?,
        began_n: row.try_get::<i64, _>("began_n")?.unsigned_abs(),
        ended_n: row.try_get::<i64, _>("ended_n")?.unsigned_abs(),
        ended: if ended_ms == 0 {
            None
        } else {
            Some((ended_ms, ended_by(row)?))
        },
        seed: CycleSeed::published(&seed),
    })
}

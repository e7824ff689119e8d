//! The rows of cycles: each from its begin on, with its end, and the seed once the end is in the ledger.

use jackpot_core::ids::Id;
use jackpot_core::jackpot::cycle::{CycleChange, CycleRow, CycleSeed, EndedBy};
use sqlx::{Row, query};
use tracing::error;

use super::Jackpots;
use super::write::all;
use jackpot_kernel::ledger::projector::Projector;
use jackpot_kernel::ledger::projector::batch::Batch;
use jackpot_kernel::ledger::projector::write::{insert, int};
use jackpot_kernel::sql::{Tx, Value, update_rows};

/// Seeds that one transaction publishes, each 64 characters.
const PUBLISHED_AT_ONCE: i64 = 1_000;

/// When and by what a cycle ended.
#[derive(Debug, Clone, Copy)]
pub struct End {
    /// Event that ended it, and its time.
    n: u64,
    at_ms: i64,
    by: EndedBy,
}

/// What the events of a batch did with cycles.
#[derive(Debug, Default)]
pub struct Rows {
    /// Cycles that began, with the event.
    began: Vec<(CycleRow, u64, Option<End>)>,
    /// Cycles of earlier batches that ended.
    ended: Vec<(Id, u64, End)>,
}

impl Rows {
    /// Takes the changes of an event.
    pub fn follow(&mut self, n: u64, at_ms: i64, changes: &[CycleChange]) {
        for change in changes {
            match change {
                CycleChange::Began(row) => self.began.push((row.clone(), n, None)),
                CycleChange::Ended { tier, cycle, by } => {
                    let end = End { n, at_ms, by: *by };
                    // Cycles of a tier follow one another, so the last one of the tier is the open one.
                    let own = self.began.iter_mut().rev().find(|(row, ..)| row.tier == *tier);
                    match own {
                        Some((row, _, ended)) if row.cycle == *cycle => *ended = Some(end),
                        _ => self.ended.push((tier.clone(), *cycle, end)),
                    }
                }
            }
        }
    }

    /// Whether a cycle ended, so that its seed is due.
    pub fn has_ends(&self) -> bool {
        !self.ended.is_empty() || self.began.iter().any(|(.., end)| end.is_some())
    }
}

const COLUMNS: [&str; 16] = [
    "jackpot_id",
    "tier",
    "cycle",
    "nonce",
    "secret_id",
    "commitment",
    "low",
    "high",
    "after_s",
    "deadline_s",
    "began_ms",
    "began_n",
    "ended_ms",
    "ended_n",
    "ended_by",
    "seed",
];

fn or_none(value: Option<u64>) -> Value<'static> {
    value.map_or(Value::NoInt, |value| Value::Int(int(value)))
}

pub(super) async fn write(tx: &mut Tx<'_>, batches: &[&Batch<Jackpots>]) -> Result<(), sqlx::Error> {
    let rows = all(batches, |rows| &rows.cycles.began).map(|(jackpot, (row, n, end))| {
        [
            jackpot,
            Value::Text(row.tier.as_str()),
            Value::Int(int(row.cycle)),
            Value::Text(&row.nonce),
            Value::Text(&row.secret),
            Value::Text(row.commitment.0.as_deref().unwrap_or_default()),
            or_none(row.low.0),
            or_none(row.high.0),
            or_none(row.after.0),
            row.deadline.0.map_or(Value::NoInt, Value::Int),
            Value::Int(row.began),
            Value::Int(int(*n)),
            Value::Int(end.map_or(0, |end| end.at_ms)),
            Value::Int(end.map_or(0, |end| int(end.n))),
            Value::Text(end.map_or("", |end| end.by.as_str())),
            Value::Text(""),
        ]
    });
    insert(tx, "cycles", &COLUMNS, rows).await?;
    let versions = all(batches, |rows| &rows.cycles.began).filter_map(|(jackpot, (row, ..))| {
        let version = row.pins.0?.version;
        Some([
            jackpot,
            Value::Text(row.tier.as_str()),
            Value::Int(int(row.cycle)),
            Value::Int(int(version)),
        ])
    });
    let columns = ["jackpot_id", "tier", "cycle", "version"];
    insert(tx, "cycle_versions", &columns, versions).await?;
    let ended = all(batches, |rows| &rows.cycles.ended).flat_map(|(jackpot, (tier, cycle, end))| {
        [
            jackpot,
            Value::Text(tier.as_str()),
            Value::Int(int(*cycle)),
            Value::Int(end.at_ms),
            Value::Int(int(end.n)),
            Value::Text(end.by.as_str()),
        ]
    });
    let set = "ended_ms = given.at_ms, ended_n = given.n, ended_by = given.by";
    let which = "cycles.jackpot_id = given.jackpot_id AND cycles.tier = given.tier AND cycles.cycle = given.cycle";
    let given = ["jackpot_id", "tier", "cycle", "at_ms", "n", "by"];
    update_rows(tx, "cycles", set, which, &given, &ended.collect::<Vec<_>>()).await?;
    Ok(())
}

/// Publishes the seed of every cycle whose end is in the ledger. A repeat changes nothing: a cycle has one seed.
pub(super) async fn publish_cycles(projector: &mut Projector<Jackpots>) -> Result<(), sqlx::Error> {
    let due = projector
        .streams
        .iter()
        .filter(|(_, stream)| stream.tables.has_unpublished_cycles);
    let due = due.map(|(id, _)| id.clone()).collect::<Vec<_>>();
    for id in due {
        let is_done = publish_cycles_of(projector, &id).await?;
        if let Some(stream) = projector.streams.get_mut(&id) {
            stream.tables.has_unpublished_cycles = !is_done;
        }
    }
    Ok(())
}

/// Returns whether no more are due that this instance can publish.
async fn publish_cycles_of(projector: &Projector<Jackpots>, id: &Id) -> Result<bool, sqlx::Error> {
    let sql = &projector.ledger.sql;
    let secrets = &projector.kind.operate.views.secrets;
    let text = "SELECT tier, cycle, nonce, secret_id, commitment FROM cycles \
                WHERE jackpot_id = $1 AND seed = '' AND ended_n > 0 LIMIT $2";
    let select = query(text).bind(id.as_str()).bind(PUBLISHED_AT_ONCE);
    let rows = sql.reading(select.fetch_all(sql.reader())).await?;
    let mut seeds = Vec::with_capacity(rows.len());
    for row in &rows {
        let (tier, cycle): (String, i64) = (row.try_get("tier")?, row.try_get("cycle")?);
        let (nonce, secret_id): (String, String) = (row.try_get("nonce")?, row.try_get("secret_id")?);
        let commitment: String = row.try_get("commitment")?;
        let seed = Id::parse(&tier)
            .ok()
            .zip(secrets.get(&secret_id))
            .map(|(tier, secret)| CycleSeed::derive(secret, id, &tier, cycle.unsigned_abs(), &nonce));
        match seed.filter(|seed| seed.commitment() == commitment) {
            Some(seed) => seeds.push((tier, cycle, seed.reveal())),
            None => {
                error!(jackpot_id = %id, tier, cycle, secret_id, "the seed of this cycle can't be published: its draw \
                           secret is not among fairness.master_secret and fairness.previous_secrets");
            }
        }
    }
    let values = seeds.iter().flat_map(|(tier, cycle, seed)| {
        [
            Value::Text(id.as_str()),
            Value::Text(tier),
            Value::Int(*cycle),
            Value::Text(seed),
        ]
    });
    let which = "cycles.jackpot_id = given.jackpot_id AND cycles.tier = given.tier AND cycles.cycle = given.cycle";
    let given = ["jackpot_id", "tier", "cycle", "seed"];
    let mut tx = sql.begin().await?;
    let values = values.collect::<Vec<_>>();
    update_rows(&mut tx, "cycles", "seed = given.seed", which, &given, &values).await?;
    tx.commit().await?;
    let may_be_more = rows.len() == usize::try_from(PUBLISHED_AT_ONCE).unwrap_or_default();
    Ok(!may_be_more || seeds.is_empty())
}

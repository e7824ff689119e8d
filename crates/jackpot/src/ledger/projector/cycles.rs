//! The rows of cycles: each from its begin on, with its end, and the seed once the end is in the ledger.

use jackpot_core::ids::Id;
use jackpot_core::jackpot::cycle::{CycleChange, CycleRow, CycleSeed, EndedBy};
use sqlx::{Row, query};
use tracing::error;

use super::Jackpots;
use super::write::all;
use jackpot_kernel::ledger::projector::Projector;
use jackpot_kernel::ledger::projector::batch::Batch;
use jackpot_kernel::sql::{Tx, cells, insert, update};

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

/// Whether a row of the table is that of a given one.
const SAME_CYCLE: &str =
    "cycles.jackpot_id = given.jackpot_id AND cycles.tier = given.tier AND cycles.cycle = given.cycle";

pub(super) async fn write(tx: &mut Tx<'_>, batches: &[&Batch<Jackpots>]) -> Result<(), sqlx::Error> {
    let rows = all(batches, |rows| &rows.cycles.began).map(|(jackpot, (row, n, end))| {
        cells! {
            jackpot_id: jackpot,
            tier: &row.tier,
            cycle: row.cycle,
            nonce: &row.nonce,
            secret_id: &row.secret,
            commitment: row.commitment.0.as_deref().unwrap_or_default(),
            low: row.low.0,
            high: row.high.0,
            after_s: row.after.0,
            deadline_s: row.deadline.0,
            began_ms: row.began,
            began_n: *n,
            ended_ms: end.map_or(0, |end| end.at_ms),
            ended_n: end.map_or(0, |end| end.n),
            ended_by: end.map_or("", |end| end.by.as_str()),
            seed: "",
        }
    });
    insert(tx, "cycles", rows).await?;
    let versions = all(batches, |rows| &rows.cycles.began).filter_map(|(jackpot, (row, ..))| {
        let version = row.pins.0?.version;
        Some(cells! { jackpot_id: jackpot, tier: &row.tier, cycle: row.cycle, version: version })
    });
    insert(tx, "cycle_versions", versions).await?;
    let ended = all(batches, |rows| &rows.cycles.ended).map(|(jackpot, (tier, cycle, end))| {
        let by = end.by.as_str();
        cells! { jackpot_id: jackpot, tier: tier, cycle: *cycle, at_ms: end.at_ms, n: end.n, by: by }
    });
    let set = "ended_ms = given.at_ms, ended_n = given.n, ended_by = given.by";
    update(tx, "cycles", set, SAME_CYCLE, ended).await.map(drop)
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
    let given = seeds
        .iter()
        .map(|(tier, cycle, seed)| cells! { jackpot_id: id, tier: tier, cycle: *cycle, seed: seed });
    let mut tx = sql.begin().await?;
    update(&mut tx, "cycles", "seed = given.seed", SAME_CYCLE, given).await?;
    tx.commit().await?;
    let may_be_more = rows.len() == usize::try_from(PUBLISHED_AT_ONCE).unwrap_or_default();
    Ok(!may_be_more || seeds.is_empty())
}

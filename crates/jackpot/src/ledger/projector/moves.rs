//! Writes the table of adjustments, and of what waits for a second owner.

use jackpot_core::fields::EventFields;
use jackpot_core::jackpot::leaving::{HeldRecord, Leaving};
use jackpot_core::jackpot::transfer;

use super::Jackpots;
use super::write::all;
use crate::ledger::event::{Event, Kind};
use jackpot_kernel::ledger::projector::batch::Batch;
use jackpot_kernel::sql::{Tx, cells, insert};

/// A request that an event made or let wait.
#[derive(Debug)]
pub struct MoveRow {
    of: Leaving,
    n: u64,
    place: u64,
    at_ms: i64,
    owner: String,
    who: String,
    reason: String,
    amount: u64,
    tier: String,
    from_meter: String,
    to_meter: String,
    to_id: String,
    parts: String,
    state: &'static str,
}

/// The end of a request that waited.
#[derive(Debug)]
pub struct MoveEnd {
    of: Leaving,
    state: &'static str,
    by: String,
    at_ms: i64,
}

/// What the events of a batch add.
#[derive(Debug, Default)]
pub struct Rows {
    rows: Vec<MoveRow>,
    ends: Vec<MoveEnd>,
}

impl Rows {
    /// Adds what an event says. `fields`: of the same event.
    pub fn follow(&mut self, event: &Event, fields: &EventFields) {
        let text = |name: &str| fields.get(name).unwrap_or_default().to_owned();
        let (n, at_ms) = (event.n, event.at_ms);
        match &event.kind {
            Kind::Adjust(adjust) => {
                let of = Leaving::Adjustment(adjust.adjustment_id.clone());
                if adjust.asked.is_some() {
                    return self.end(of, "done", text("who"), at_ms);
                }
                self.rows.push(MoveRow {
                    of,
                    n,
                    place: 0,
                    at_ms,
                    owner: adjust.owner.clone().unwrap_or_default(),
                    who: text("who"),
                    reason: text("reason"),
                    amount: adjust.amount,
                    tier: adjust.tier.to_string(),
                    from_meter: adjust.from.clone(),
                    to_meter: adjust.to.clone(),
                    to_id: String::new(),
                    parts: String::new(),
                    state: "done",
                });
            }
            Kind::Ask(ask) => {
                let row = held(ask.leaving(), ask.record(), n, 0, at_ms);
                self.rows.push(MoveRow {
                    who: text("who"),
                    reason: text("reason"),
                    ..row
                });
            }
            Kind::Give(give) if give.asked.is_some() => {
                let of = Leaving::Transfer(give.transfer_id.clone());
                self.end(of, "done", text("who"), at_ms);
            }
            Kind::Withdraw(ends) => self.end(ends.leaving(), "withdrawn", text("who"), at_ms),
            Kind::Skipped(skipped) => self.carried(n, &skipped.carried.adjustments),
            _ => {}
        }
    }

    fn end(&mut self, of: Leaving, state: &'static str, by: String, at_ms: i64) {
        self.ends.push(MoveEnd { of, state, by, at_ms });
    }

    /// Records that a skipped event left in Redis do not say who asked and why.
    fn carried(&mut self, n: u64, records: &[(String, String, i64)]) {
        let mut place = 0;
        for (name, content, at_ms) in records {
            if let (Some(of), Ok(record)) = (Leaving::of_held(name), HeldRecord::parse(content)) {
                self.rows.push(held(of, record, n, place, *at_ms));
                place += 1;
            }
        }
        for (name, _, at_ms) in records {
            let of_id = |name: &str| jackpot_core::ids::Id::parse(name).ok();
            let given = name.strip_prefix(transfer::OUT).and_then(of_id).map(Leaving::Transfer);
            let done = given.or_else(|| of_id(name).map(Leaving::Adjustment));
            if let Some(of) = Leaving::of_withdrawn(name) {
                self.end(of, "withdrawn", String::new(), *at_ms);
            } else if let Some(of) = done {
                self.end(of, "done", String::new(), *at_ms);
            }
        }
    }
}

fn held(of: Leaving, record: HeldRecord, n: u64, place: u64, at_ms: i64) -> MoveRow {
    let is_transfer = matches!(of, Leaving::Transfer(_));
    let (tier, from_meter) = record.what.split_once(',').filter(|_| !is_transfer).unwrap_or_default();
    MoveRow {
        of,
        n,
        place,
        at_ms,
        owner: record.owner,
        who: String::new(),
        reason: String::new(),
        amount: record.amount,
        tier: tier.to_owned(),
        from_meter: from_meter.to_owned(),
        to_meter: String::new(),
        to_id: if is_transfer { record.to } else { String::new() },
        parts: if is_transfer {
            record.what.clone()
        } else {
            String::new()
        },
        state: "held",
    }
}

/// Writes the rows of these batches, and then the ends of what waited.
pub(super) async fn write(tx: &mut Tx<'_>, batches: &[&Batch<Jackpots>]) -> Result<(), sqlx::Error> {
    let rows = all(batches, |rows| &rows.moves.rows).map(|(jackpot, row)| {
        cells! {
            jackpot_id: jackpot,
            kind: row.of.kind(),
            move_id: row.of.id(),
            n: row.n,
            place: row.place,
            at_ms: row.at_ms,
            owner: &row.owner,
            who: &row.who,
            reason: &row.reason,
            amount: row.amount,
            tier: &row.tier,
            from_meter: &row.from_meter,
            to_meter: &row.to_meter,
            to_id: &row.to_id,
            parts: &row.parts,
            state: row.state,
            decided_by: "",
            decided_ms: 0,
        }
    });
    insert(tx, "operator_moves", rows).await?;
    for batch in batches {
        for end in &batch.rows.moves.ends {
            let set = "UPDATE operator_moves SET state = $1, decided_by = $2, decided_ms = $3 \
                       WHERE jackpot_id = $4 AND kind = $5 AND move_id = $6 AND state = 'held'";
            sqlx::query(set)
                .bind(end.state)
                .bind(&*end.by)
                .bind(end.at_ms)
                .bind(batch.id.as_str())
                .bind(end.of.kind())
                .bind(end.of.id().as_str())
                .execute(&mut **tx)
                .await?;
        }
    }
    Ok(())
}

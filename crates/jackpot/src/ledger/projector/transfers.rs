//! Writes the table of transfers: the jackpot that gives makes a row, the one that receives ends it.

use jackpot_core::wire::Field;

use super::Jackpots;
use super::write::all;
use jackpot_kernel::ledger::projector::batch::Batch;
use jackpot_kernel::sql::{Tx, cells, insert};

/// Writes the rows of these batches. A jackpot receives only what the table has, so each row is there before its end,
/// perhaps since this very transaction.
pub(super) async fn write(tx: &mut Tx<'_>, batches: &[&Batch<Jackpots>]) -> Result<(), sqlx::Error> {
    let given: Vec<_> = all(batches, |rows| &rows.given)
        .map(|(jackpot, (n, place, at_ms, give))| (jackpot, (*n, *place, *at_ms), give, give.parts.text()))
        .collect();
    let rows = given.iter().map(|(jackpot, (n, place, at_ms), give, parts)| {
        cells! {
            jackpot_id: *jackpot,
            transfer_id: &give.transfer_id,
            n: *n,
            place: *place,
            at_ms: *at_ms,
            to_id: &give.to,
            parts: parts,
            done_ms: 0,
        }
    });
    insert(tx, "transfers", rows).await?;
    for batch in batches {
        for (at_ms, from, transfer_id) in &batch.rows.received {
            sqlx::query("UPDATE transfers SET done_ms = $1 WHERE jackpot_id = $2 AND transfer_id = $3")
                .bind(*at_ms)
                .bind(from.as_str())
                .bind(transfer_id.as_str())
                .execute(&mut **tx)
                .await?;
        }
    }
    rooms(tx, batches).await
}

/// Rooms follow from the records beside those of adjustments, also where a skipped event left them.
async fn rooms(tx: &mut Tx<'_>, batches: &[&Batch<Jackpots>]) -> Result<(), sqlx::Error> {
    let made = all(batches, |rows| &rows.adjustments).filter(|(_, (name, ..))| name.starts_with("!room!"));
    let rows = made
        .map(|(jackpot, (name, _, at_ms, _))| cells! { jackpot_id: jackpot, name: name, at_ms: *at_ms, freed_ms: 0 });
    insert(tx, "transfer_rooms", rows).await?;
    for batch in batches {
        for (name, _, at_ms, _) in &batch.rows.adjustments {
            let Some(room) = name.strip_prefix("!free!") else {
                continue;
            };
            sqlx::query("UPDATE transfer_rooms SET freed_ms = $1 WHERE jackpot_id = $2 AND name = $3")
                .bind(*at_ms)
                .bind(batch.id.as_str())
                .bind(format!("!room!{room}"))
                .execute(&mut **tx)
                .await?;
        }
    }
    Ok(())
}

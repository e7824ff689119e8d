//! Publishes the seeds of closed epochs in SQL, from where every answer has them. After that nobody needs the secret
//! that a seed was derived from, and a retired secret can be removed from the settings.

use std::collections::BTreeSet;

use jackpot_core::ids::Id;
use sqlx::query;
use tracing::error;

use super::Jackpots;
use crate::kept;
use jackpot_kernel::ledger::projector::Projector;

/// Publishes the seed of every epoch whose closing is in the ledger and that no pending entry needs. A repeat
/// changes nothing: an epoch has one seed.
pub(super) async fn publish_seeds(projector: &mut Projector<Jackpots>) -> Result<(), sqlx::Error> {
    let closed = projector
        .streams
        .iter()
        .filter(|(_, stream)| !stream.tables.unpublished.is_empty());
    let due = closed.filter_map(|(id, stream)| {
        let pending = stream.books.pending.values().map(|pending| pending.epoch);
        let needed = pending.collect::<BTreeSet<_>>();
        let free = stream.tables.unpublished.difference(&needed).copied();
        let free = free.collect::<Vec<_>>();
        (!free.is_empty()).then(|| (id.clone(), free))
    });
    let due = due.collect::<Vec<_>>();
    for (id, epochs) in due {
        for epoch in epochs {
            publish_seed(projector, &id, epoch).await?;
            // An epoch whose secret this instance lacks waits until an instance that has the secret reads the
            // stream.
            if let Some(stream) = projector.streams.get_mut(&id) {
                stream.tables.unpublished.remove(&epoch);
            }
        }
    }
    Ok(())
}

async fn publish_seed(projector: &Projector<Jackpots>, id: &Id, number: u64) -> Result<(), sqlx::Error> {
    let sql = &projector.ledger.sql;
    let text = "SELECT epoch, commitment, nonce, secret_id, opened_ms, closed_ms FROM epochs \
                WHERE jackpot_id = $1 AND epoch = $2 AND closed_n > 0 AND seed = ''";
    let number = i64::try_from(number).unwrap_or(i64::MAX);
    let select = query(text).bind(id.as_str()).bind(number);
    let Some(row) = sql.reading(select.fetch_optional(sql.reader())).await? else {
        return Ok(());
    };
    let epoch = kept::epoch(&row)?;
    let secrets = &projector.kind.operate.views.secrets;
    let seed = epoch.opening.seed(secrets, id, epoch.epoch);
    let Some(seed) = seed.filter(|seed| seed.commitment() == epoch.opening.commitment) else {
        let (epoch, secret_id) = (epoch.epoch, &epoch.opening.secret_id);
        error!(jackpot_id = %id, epoch, secret_id, "the seed of this epoch can't be published: its draw secret is not \
               among fairness.master_secret and fairness.previous_secrets");
        return Ok(());
    };
    let update = query("UPDATE epochs SET seed = $1 WHERE jackpot_id = $2 AND epoch = $3 AND seed = ''")
        .bind(seed.reveal())
        .bind(id.as_str())
        .bind(number);
    sql.execute(update).await?;
    Ok(())
}

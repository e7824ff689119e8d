//! Ends transfers whose call died: every instance looks at what the ledger has in transit, and lets the targets receive it.
//! Two instances at once do no harm, because a target receives each transfer once.

use std::collections::BTreeSet;
use std::time::Duration;

use jackpot_core::ids::Id;
use jackpot_core::jackpot::transfer;
use sqlx::Row;
use tokio::time::timeout;
use tracing::warn;

use crate::jackpot::metrics::PlayMetrics;
use crate::jackpot::operate::Operate;
use crate::sql::Sql;
use crate::stopping::Stopping;
use crate::subject::MaybeScript as _;
use crate::subject::emergency::Obeys as _;

/// Pause between two looks.
const PAUSE: Duration = Duration::from_secs(1);
/// Transfers that are read at once, the oldest first.
const PAGE: i64 = 100;
/// Looks between two log lines about a transfer that stays in transit.
const LOOKS_PER_LINE: u64 = 60;

/// The worker of an instance.
#[derive(Debug, Clone)]
pub struct Transfers {
    pub operate: Operate,
    pub sql: Sql,
    pub metrics: PlayMetrics,
}

impl Transfers {
    /// Works until the service stops.
    pub async fn run(self, stopping: Stopping) {
        let mut looks = 0_u64;
        while timeout(PAUSE, stopping.wait()).await.is_err() {
            let says = looks.is_multiple_of(LOOKS_PER_LINE);
            if let Err(error) = self.look(says).await
                && says
            {
                warn!(%error, "transfers in transit could not be read");
            }
            looks += 1;
        }
    }

    /// One look: the targets receive what is in transit. `says`: whether it logs what stays so.
    ///
    /// What stays holds up no other transfer: the look goes through all of them, and does not ask a node again that did
    /// not answer.
    pub async fn look(&self, says: bool) -> Result<(), sqlx::Error> {
        let (mut after, mut away) = ((-1_i64, String::new(), String::new()), BTreeSet::new());
        let mut in_transit = 0;
        loop {
            let rows = sqlx::query(
                "SELECT jackpot_id, transfer_id, to_id, parts, at_ms FROM transfers WHERE done_ms = 0 \
                 AND (at_ms, jackpot_id, transfer_id) > ($1, $2, $3) ORDER BY at_ms, jackpot_id, transfer_id LIMIT $4",
            )
            .bind(after.0)
            .bind(after.1.clone())
            .bind(after.2.clone())
            .bind(PAGE)
            .fetch_all(self.sql.reader());
            let rows = self.sql.reading(rows).await?;
            let Some(last) = rows.last() else {
                self.metrics.in_transit(in_transit);
                return Ok(());
            };
            in_transit += rows.len();
            after = (
                last.try_get("at_ms")?,
                last.try_get("jackpot_id")?,
                last.try_get("transfer_id")?,
            );
            for row in &rows {
                let id = |column: &str| Ok::<_, sqlx::Error>(Id::parse(row.try_get(column)?).ok());
                let parts: String = row.try_get("parts")?;
                let (Some(source), Some(transfer_id), Some(to)) = (id("jackpot_id")?, id("transfer_id")?, id("to_id")?)
                else {
                    continue;
                };
                let node = self.operate.views.node_of(&to);
                if away.contains(&node) {
                    continue;
                }
                match self.operate.receive(&to, (&source, &transfer_id), &parts).await {
                    Ok(true) => {}
                    Ok(false) => self.end((&source, &transfer_id), &to).await?,
                    Err(error) => {
                        if error.is_unavailable() {
                            away.insert(node);
                        }
                        if says {
                            warn!(%source, %transfer_id, %to, %error, "a transfer stays in transit");
                        }
                    }
                }
            }
        }
    }

    /// Ends a row whose target has received and is in the ledger. The projector does that, unless it read the target's event
    /// before the source's: where the ledger was put back to an earlier state, or a skip made the row.
    async fn end(&self, (source, transfer_id): (&Id, &Id), to: &Id) -> Result<(), sqlx::Error> {
        let end = "UPDATE transfers SET done_ms = COALESCE((SELECT at_ms FROM adjustments WHERE jackpot_id = $1 AND \
                   adjustment_id = $2), 0) WHERE jackpot_id = $3 AND transfer_id = $4 AND done_ms = 0";
        let end = sqlx::query(end)
            .bind(to.as_str())
            .bind(transfer::came_in(source, transfer_id))
            .bind(source.as_str())
            .bind(transfer_id.as_str());
        self.sql.execute(end).await?;
        Ok(())
    }
}

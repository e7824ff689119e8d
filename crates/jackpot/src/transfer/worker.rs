//! Ends transfers whose call died: every instance looks at what the ledger has in transit, and lets the targets receive it.
//! Two instances at once do no harm, because a target receives each transfer once.

use std::collections::BTreeSet;
use std::time::Duration;

use jackpot_core::ids::Id;
use jackpot_core::jackpot::adjustment_record::AdjustmentRecord;
use jackpot_core::jackpot::transfer::{self, GivenRecord};
use redis::cmd;
use sqlx::Row;
use tokio::time::timeout;
use tracing::warn;

use crate::error::PlayError;
use crate::metrics::PlayMetrics;
use crate::operate::Operate;
use crate::scripts::Released;
use jackpot_kernel::ledger::stuck::StuckError;
use jackpot_kernel::ledger::stuck::held::read;
use jackpot_kernel::sql::Sql;
use jackpot_kernel::stopping::Stopping;
use jackpot_kernel::store::keys::JackpotKeys;
use jackpot_kernel::subject::MaybeScript as _;
use jackpot_kernel::subject::emergency::Obeys as _;

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
            if let Err(error) = self.look_at_rooms().await
                && says
            {
                warn!(%error, "rooms of transfers could not be looked at");
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
                match self.operate.receive(&to, &source, &transfer_id, &parts).await {
                    Ok(true) => {}
                    Ok(false) => self.end(&source, &transfer_id, &to).await?,
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
    async fn end(&self, source: &Id, transfer_id: &Id, to: &Id) -> Result<(), sqlx::Error> {
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

    /// One look: rooms that nobody uses end.
    ///
    /// A room is used within some seconds of when it was made: a source gives on account of it by then or never
    /// (`lua/jackpot/rooms.lua`). So what the source has given, seen after that, decides; the script says whether it is after
    /// that.
    pub async fn look_at_rooms(&self) -> Result<(), RoomsError> {
        let (mut after, mut failed) = ((-1_i64, String::new(), String::new()), None);
        loop {
            let rows = sqlx::query(
                "SELECT jackpot_id, name, at_ms FROM transfer_rooms WHERE freed_ms = 0 \
                 AND (at_ms, jackpot_id, name) > ($1, $2, $3) ORDER BY at_ms, jackpot_id, name LIMIT $4",
            )
            .bind(after.0)
            .bind(after.1.clone())
            .bind(after.2.clone())
            .bind(PAGE)
            .fetch_all(self.sql.reader());
            let rows = self.sql.reading(rows).await?;
            let Some(last) = rows.last() else {
                return failed.map_or(Ok(()), Err);
            };
            after = (
                last.try_get("at_ms")?,
                last.try_get("jackpot_id")?,
                last.try_get("name")?,
            );
            for row in &rows {
                let (to, name): (String, String) = (row.try_get("jackpot_id")?, row.try_get("name")?);
                if let (Ok(to), Some((source, transfer_id, digest))) = (Id::parse(&to), transfer::of_room(&name)) {
                    // One that fails holds up no other.
                    let looked = self.room(&to, &name, &source, &transfer_id, digest).await;
                    failed = looked.err().or(failed);
                }
            }
        }
    }

    async fn room(&self, to: &Id, name: &str, source: &Id, transfer_id: &Id, digest: &str) -> Result<(), RoomsError> {
        if self.is_on_its_way(to, source, transfer_id).await? {
            return Ok(());
        }
        match self.operate.release(to, source, transfer_id, digest).await {
            Ok(Released::Now | Released::Early) => Ok(()),
            // An earlier version took it, and wrote nothing of that.
            Ok(Released::Before) => {
                let end = sqlx::query("UPDATE transfer_rooms SET freed_ms = at_ms WHERE jackpot_id = $1 AND name = $2");
                self.sql.execute(end.bind(to.as_str()).bind(name)).await?;
                Ok(())
            }
            Err(error) => Err(RoomsError::Play(Box::new(error))),
        }
    }

    /// Whether the source has given to this jackpot what has not come in. The source's own record counts: the ledger may
    /// not have it yet. The ledger counts too: Redis may have lost the record.
    async fn is_on_its_way(&self, to: &Id, source: &Id, transfer_id: &Id) -> Result<bool, RoomsError> {
        let keys = JackpotKeys::new(source);
        let given = cmd("HGET")
            .arg(&keys.adjustments)
            .arg(transfer::out(transfer_id))
            .to_owned();
        let given: Option<String> = read(self.operate.views.registry.store(), &given).await?;
        let given = given.and_then(|text| AdjustmentRecord::parse(&text).ok());
        let given = given.and_then(|record| GivenRecord::parse(&record.digest).ok());
        let row = sqlx::query("SELECT to_id, done_ms FROM transfers WHERE jackpot_id = $1 AND transfer_id = $2")
            .bind(source.as_str())
            .bind(transfer_id.as_str())
            .fetch_optional(self.sql.reader());
        let row = self.sql.reading(row).await?;
        let of_ledger = row.map(|row| Ok::<_, sqlx::Error>((row.try_get("to_id")?, row.try_get("done_ms")?)));
        let of_ledger: Option<(String, i64)> = of_ledger.transpose()?;
        Ok(match (given, of_ledger) {
            (_, Some((to_id, done_ms))) => to_id == to.as_str() && done_ms == 0,
            (Some(given), None) => given.to == *to,
            (None, None) => false,
        })
    }
}

/// Why rooms could not be looked at.
#[derive(Debug, thiserror::Error)]
pub enum RoomsError {
    #[error(transparent)]
    Sql(#[from] sqlx::Error),
    #[error(transparent)]
    Redis(#[from] StuckError),
    #[error(transparent)]
    Play(Box<PlayError>),
}

//! MULTI/EXEC around the subtraction: a transaction, but the decision was read before it began.

use super::collision::{Plays, Seen, Take};
use super::server::Player;
use crate::SimulateError;

pub const NAMES: (&str, &str, &str) = (
    "MULTI/EXEC",
    "reads the pool, then subtracts it in a transaction, without WATCH as commonly written",
    "bare calls: 1 call per contribution, 3 per winner; nothing is idempotent, drawn or recorded",
);

pub struct MultiExec(pub Player);

impl Plays for MultiExec {
    async fn contribute(&mut self) -> Result<bool, SimulateError> {
        self.0.add(1).await?;
        Ok(true)
    }

    async fn win(&mut self) -> Result<Take, SimulateError> {
        let player = &mut self.0;
        player.add(1).await?;
        let pool = player.pool().await?;
        if pool < player.min_payout {
            return Ok(Take::Retry);
        }
        let mut transaction = redis::pipe();
        transaction.atomic().cmd("DECRBY").arg(&player.key).arg(pool);
        let (left,): (i64,) = transaction.query_async(&mut player.connection).await?;
        player.note(left);
        Ok(Take::Paid(pool))
    }

    fn seen(&self) -> Seen {
        Seen {
            negative: self.0.saw_negative,
            lost_locks: 0,
        }
    }
}

//! GET, look, DECRBY: two calls, and everybody in between has read the same pool.

use super::collision::{Plays, Seen, Take};
use super::server::Player;
use crate::SimulateError;

pub const NAMES: (&str, &str, &str) = (
    "GET, DECRBY",
    "reads the pool, and if it is enough subtracts what was read",
    "bare calls: 1 call per contribution, 3 per winner; nothing is idempotent, drawn or recorded",
);

pub struct Naive(pub Player);

impl Plays for Naive {
    async fn contribute(&mut self) -> Result<bool, SimulateError> {
        self.0.add(1).await?;
        Ok(true)
    }

    async fn win(&mut self) -> Result<Take, SimulateError> {
        self.0.add(1).await?;
        let pool = self.0.pool().await?;
        if pool < self.0.min_payout {
            return Ok(Take::Retry);
        }
        self.0.take(pool).await?;
        Ok(Take::Paid(pool))
    }

    fn seen(&self) -> Seen {
        Seen {
            negative: self.0.saw_negative,
            lost_locks: 0,
        }
    }
}

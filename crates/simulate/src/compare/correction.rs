//! The naive way with a correction after the fact: whoever finds the pool below zero takes only what was really
//! left and puts the difference back.
//!
//! With two winners this is exact. With three, the second correction starts from a pool that the first has not
//! repaired yet, puts back too much, and the pool is full of money that nobody put in.

use super::collision::{Plays, Seen, Take};
use super::server::Player;
use crate::SimulateError;

pub const NAMES: (&str, &str, &str) = (
    "corrected afterwards",
    "GET, DECRBY; below zero it pays what was left and adds the difference back",
    "bare calls: 1 call per contribution, 3 or 4 per winner; nothing is idempotent, drawn or recorded",
);

pub struct Correction(pub Player);

impl Plays for Correction {
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
        let left = self.0.take(pool).await?;
        if left >= 0 {
            return Ok(Take::Paid(pool));
        }
        self.0.add(-left).await?;
        let rest = pool + left;
        Ok(if rest > 0 { Take::Paid(rest) } else { Take::Retry })
    }

    fn seen(&self) -> Seen {
        Seen {
            negative: self.0.saw_negative,
            lost_locks: 0,
        }
    }
}

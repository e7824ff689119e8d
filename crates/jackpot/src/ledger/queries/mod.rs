//! Lists of what jackpots did, out of the ledger.

pub mod adjustments;
pub mod daily;
mod days;
pub mod entries;
pub mod head;
pub mod history;
pub mod payouts;
pub mod postings;
pub mod sources;
pub mod transfers;
pub mod winners;

use jackpot_kernel::sql::Sql;

/// Runs the queries of operators and auditors about jackpots.
#[derive(Debug, Clone)]
pub struct Queries {
    sql: Sql,
    entry_index_days: u32,
}

impl Queries {
    /// `entry_index_days`: the setting, 0 when entries can't be found by player.
    pub fn new(sql: Sql, entry_index_days: u32) -> Self {
        Self { sql, entry_index_days }
    }
}

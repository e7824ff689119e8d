//! Jackpots: scripts, play, definitions, the promises about money.

pub mod amounts;
pub mod backlog;
pub mod batch;
pub mod by_hand;
pub mod combiner;
pub mod conservation;
pub mod definitions;
pub mod epochs;
pub mod expected;
pub mod fixture;
pub mod ledger;
pub mod model;
mod origins;
pub mod pool_by_hand;
pub mod prize_coupon;
pub mod reversal;
pub mod script_checkpoint;
pub mod script_claim;
pub mod script_coupon;
pub mod script_define;
pub mod script_enter;
pub mod script_enter_batch;
pub mod script_enter_runs;
pub mod script_operate;
pub mod script_restore;
pub mod script_tail;
mod winners;

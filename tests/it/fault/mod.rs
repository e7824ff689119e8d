//! Something is killed, cut off, frozen or full; these tests check what holds then. The faults of coupons and rooms are in
//! their folders.

pub mod behind;
pub mod clocks;
pub mod frozen_node;
pub mod full_disk;
pub mod full_memory;
pub mod graceful_stop;
pub mod kill9_load;
pub mod killed_between;
pub mod ledger_damage;
pub mod ledger_kill9;
pub mod ledger_lost_redis;
pub mod ledger_many;
pub mod ledger_postgres;
pub mod ledger_start;
pub mod ledger_support;
pub mod load;
pub mod lost_reply;
pub mod other_secret;
pub mod redis_down;
pub mod refused;
pub mod script_flush;
pub mod starting;
pub mod stuck;
pub mod support;
pub mod two_stores;

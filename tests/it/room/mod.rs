//! Rooms.

pub mod away;
pub mod clock;
pub mod door;
mod fault;
pub mod fixture;
pub mod full;
pub mod http;
pub mod instances;
pub mod keys;
pub mod ledger;
pub mod model;
pub mod no_replica;
pub mod page;
pub mod property;
pub mod script_define;
pub mod script_limits;
pub mod script_opening;
pub mod script_order;
pub mod script_passes;
pub mod script_visit;
pub mod snippets;
pub mod tokens;
pub mod worker;

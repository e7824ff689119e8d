//! Rooms: a waiting room with exact capacity for a busy draw.
//!
//! Pure: `definition` (the JSON, checked), `ticket` (its id and its order), `record` (Redis' record of one), `status`,
//! `pass` (the form of tokens), `return_to` (where users may be sent), `eta` (the estimate), `revocations` (revoked
//! passes). With Redis: `scripts` (wrappers of `lua/room/`), `known` (what this instance remembers of each), `rooms`
//! (requests of users), `operate` (requests of operators), `visiting` (combines requests into one call), `board` (what
//! this instance last saw of each), `alarm` and `worker` (due work without requests), `quiet` (rooms in which nothing
//! happens), `silent` (rooms whose node does not answer). At the draw: `tokens` (makes and opens them), `checked`, `door` (checks passes without Redis). `api`
//! joins them to HTTP, `page` is the waiting page. Why: `docs/decisions/0016-rooms.md`.

mod alarm;
pub mod api;
mod board;
pub mod capability;
mod checked;
pub mod definition;
pub mod door;
pub mod error;
pub mod eta;
pub mod known;
pub mod ledger;
pub mod operate;
pub mod page;
pub mod pass;
pub mod pre_queue_line;
mod problem;
mod quiet;
pub mod record;
pub mod return_to;
mod revocations;
pub mod rooms;
pub mod scripts;
mod silent;
pub mod ticket;
pub mod tokens;
mod visiting;
pub mod worker;

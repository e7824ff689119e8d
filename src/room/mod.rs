//! Rooms: a waiting room in front of a busy draw, with exact capacity.
//!
//! Pure: `definition` (the JSON, checked), `ticket` (its id and its order), `record` (what Redis keeps of one), `status`,
//! `pass` (the form of tokens), `return_to` (where users may be sent), `eta` (how long it may take), `revocations` (passes taken back). With Redis: `scripts`
//! (wrappers of `lua/room/`), `known` (what this instance remembers of each), `rooms` (what users ask for), `operate`
//! (what operators do), `visiting` (requests that come together, one call), `board` (what this instance last saw of each),
//! `alarm` and `worker` (who is due is let in, though nobody asks), `silent` (rooms whose node does not answer). At the
//! draw: `tokens` (signed and opened), `checked`, `door` (passes checked without Redis). `api` joins them to HTTP, `page` is the waiting page. Why it is as it is:
//! `docs/decisions/0016-rooms.md`.

mod alarm;
pub mod api;
mod board;
mod checked;
pub mod definition;
pub mod door;
pub mod error;
pub mod eta;
pub mod known;
pub mod operate;
pub mod page;
pub mod pass;
pub mod pre_queue_line;
mod problem;
pub mod record;
pub mod return_to;
mod revocations;
pub mod rooms;
pub mod scripts;
mod silent;
pub mod status;
pub mod ticket;
pub mod tokens;
mod visiting;
pub mod worker;

//! Rooms: a waiting room in front of a busy draw, with exact capacity.
//!
//! Pure: `definition` (the JSON, checked), `ticket` (its id and its order), `record` (what Redis keeps of one), `status`.
//! With Redis: `known` (what this instance remembers of each), `scripts`. Why it is as it is: `docs/decisions/0016-rooms.md`.

pub mod definition;
pub mod known;
pub mod record;
pub mod scripts;
pub mod status;
pub mod ticket;

//! The emergency stop: the scripts by which subjects obey ([`scripts`]), what clients and operators see
//! ([`answers`]), and what holds after kills, with a node away, and with two operators ([`faults`]), and what SQL has
//! of a decision that was never written to it ([`kept`]). What every capability promises is in the suite.

mod answers;
mod faults;
mod kept;
mod scripts;

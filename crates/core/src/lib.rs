//! What is pure in Jackpot: text and numbers in, text and numbers out. No I/O, no clock, no HTTP, no Redis, no SQL.

pub mod ids;

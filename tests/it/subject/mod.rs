//! What every capability promises, on jackpots, coupons, rooms and a toy that only these tests have: a fourth capability
//! in a folder of its own ([`toy`]) and a folder of Lua (`lua/`), which registers with one line.

mod cases;
mod process;
mod suite;
mod toy;

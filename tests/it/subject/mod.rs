//! What every capability promises, on jackpots, coupons, rooms and a toy that only these tests have. The toy is a
//! fourth capability in a separate folder ([`toy`]) and a folder of Lua (`lua/`), and registers with one line.

mod cases;
mod emergency;
mod process;
mod refusals;
mod suite;
pub mod toy;

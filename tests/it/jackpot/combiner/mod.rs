//! Entries that arrive while a call is in flight go out together in the next one. Each gets its own answer.

mod fair;
mod faults;
pub mod fixture;
mod joined;
mod refused;

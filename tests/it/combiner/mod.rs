//! Entries that arrive while a call is in flight go out together in the next, and each gets its own answer.

mod faults;
mod fair;
mod joined;
mod kit;
mod refused;

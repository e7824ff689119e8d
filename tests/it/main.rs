//! The integration tests: one binary, a folder per capability.

mod backup;
mod benches;
mod broker;
mod cli;
mod console;
mod coupon;
mod docs;
mod events;
mod fault;
mod house;
mod http;
mod intake;
mod jackpot;
mod keys;
mod ledger;
mod proof;
mod public_page;
mod room;
mod simulate;
mod store;
mod style;
mod subject;
mod support;

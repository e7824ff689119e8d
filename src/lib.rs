//! Jackpot: shared prize pools on Redis with one atomic claim per winner.
//!
//! # The map of the house
//!
//! `crates/core` (`jackpot_core`) is pure: ids, money, the definition of a jackpot, its draw, records, the hash chain, receipts.
//! `crates/simulate` (`jackpot_simulate`) plays against the API from outside and knows none of the code here. Here, a folder is
//! a capability. Data flows one way: `http → jackpot → store → Redis`, and `Redis stream → ledger`.
//!
//! | where | what |
//! | --- | --- |
//! | `main.rs`, [`cli`] | the command line: `serve`, `key`, `simulate`, `migrate`, `reconcile`, `backup`, `restore`, `ledger`, `export`, `verify` |
//! | [`app`] | puts the service together, starts it in order, stops it in reverse |
//! | [`settings`] | `config/default.toml` ← a file ← the environment |
//! | [`http`] | server, problem+json, keys and roles, limits, `OpenAPI`; no business rule |
//! | [`jackpot`] | play (enter → draw → claim → redraw), recovery, operators, their routes |
//! | [`coupon`] | limited stock, first come, first served: definition, codes, records (pure), the line in front of it |
//! | [`room`] | a waiting room with exact capacity: definition, tickets, passes, who is let in and when |
//! | [`store`] | Redis: connection (embedded, standalone, cluster), keys, script calls, health |
//! | [`combiner`] | requests that come together, one call for each thread and jackpot or coupon |
//! | [`stream`] | what jackpots, coupons and rooms share: the mark of events, replies of scripts, the tail of a stream |
//! | [`ledger`] | the SQL system of record of jackpots, coupons and rooms: projector, queries, reconciliation, restore |
//! | [`backup`] | the ledger and every secret in a directory, and an empty machine begun with it |
//! | [`signing`] | Ed25519 keys: who signs receipts and heads, and the public keys at `/v1/keys` |
//! | [`verify`] | an exported ledger checked offline: chain, books, draws, receipts; and the order before a room opens |
//! | [`operator`], [`html`], [`rate`], [`single_flight`] | small things that everyone uses |
//! | [`keys`], [`master_secret`], [`durable_file`], [`secret_file`], [`random`], [`tls`] | secrets, and the files they live in |
//! | [`telemetry`], `signals`, [`stopping`], [`open_files`] | log lines and metrics; the signals to end; the limit on open files |
//! | `lua/jackpot/`, `lua/coupon/`, `lua/room/`, `lua/stream/` | one file per decision, and the parts they share; each has its contract in its header |
//!
//! # The path of an entry
//!
//! [`jackpot::api`] parses and authorises → [`jackpot::play`] draws attempt 0 (`jackpot_core::jackpot::draw`, no Redis) → the [`combiner`] of
//! that worker thread and jackpot sends it at once, or, while a call is in flight, with all that come meanwhile in the next,
//! over the thread's own connection → one call of `enter.lua` ([`jackpot::scripts`]) adds the contributions, numbers the
//! entries and makes their first claims → each its own answer; or, after a refused claim or for a coupon, which
//! [`coupon::coupons`] is asked for, `jackpot_core::jackpot::steps` says what is next, until an outcome stands.

pub mod app;
pub mod backup;
pub mod cli;
pub mod combiner;
pub mod coupon;
pub mod durable_file;
pub mod html;
pub mod http;
pub mod jackpot;
pub mod keys;
pub mod ledger;
pub mod master_secret;
pub mod open_files;
pub mod operator;
pub mod random;
pub mod rate;
pub mod room;
pub mod secret_file;
pub mod settings;
mod signals;
pub mod signing;
pub mod single_flight;
pub mod stopping;
pub mod store;
pub mod stream;
pub mod telemetry;
pub mod tls;
pub mod verify;

pub use jackpot_core::{clock, ids, money, text, violation};

/// For all that links the library, the benchmarks' peers too: a request is many small allocations. Measured in
/// docs/decisions/0012.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

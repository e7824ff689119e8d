//! Jackpot: shared prize pools on Redis with one atomic claim per winner.
//!
//! # The map of the house
//!
//! A room is a folder or a file of `src/`, or a crate of `crates/`. It may use the rooms in its last column, and each room
//! that everyone uses. These arrows form no circle. `tests/it/house.rs` reads the tables and every path in the source, and
//! fails where they differ. docs/decisions/0030 gives the reasons.
//!
//! | room | what | may use |
//! | --- | --- | --- |
//! | `main` | starts the program | `cli` |
//! | [`cli`] | the command line: `serve`, `key`, `simulate`, `migrate`, `reconcile`, `backup`, `restore`, `ledger`, `export`, `verify` | `app`, `backup`, `coupon`, `jackpot`, `keys`, `ledger`, `master_secret`, `room`, `settings`, `signals`, `signing`, `sql`, `store`, `stream`, `telemetry`, `verify`, `crates/simulate` |
//! | [`app`] | puts the service together, starts it in order, stops it in reverse | `backup`, `coupon`, `http`, `jackpot`, `keys`, `ledger`, `master_secret`, `room`, `settings`, `signals`, `signing`, `store`, `stream`, `telemetry` |
//! | [`backup`] | the ledger and every secret in a directory, and an empty machine that begins with it | `keys`, `ledger`, `master_secret`, `settings`, `signing`, `sql`, `store`, `stream` |
//! | [`verify`] | checks an exported ledger offline: chain, books, draws, receipts; and the order before a room opens | `ledger`, `room` |
//! | [`ledger`] | the SQL system of record of jackpots, coupons and rooms: projector, queries, reconciliation, restore | `coupon`, `http`, `jackpot`, `room`, `settings`, `signing`, `sql`, `store`, `stream`, `telemetry` |
//! | [`jackpot`] | play (enter → draw → claim → redraw), recovery, operators, their routes | `combiner`, `coupon`, `http`, `room`, `settings`, `sql`, `store`, `stream`, `telemetry` |
//! | [`coupon`] | limited stock, first come, first served: definition, codes, records (pure), the queue before it | `combiner`, `http`, `settings`, `sql`, `store`, `stream`, `telemetry` |
//! | [`room`] | a waiting room with exact capacity: definition, tickets, passes, who enters and when | `combiner`, `http`, `signing`, `sql`, `store`, `stream`, `telemetry` |
//! | [`signing`] | Ed25519 keys: who signs receipts and heads, and the public keys at `/v1/keys` | `http`, `sql` |
//! | [`http`] | server, problem+json, keys and roles, limits, `OpenAPI`; no business rule | `keys`, `settings`, `stream`, `telemetry` |
//! | [`keys`] | API keys: roles, the subjects that a key is bound to, rates | `settings`, `stream` |
//! | [`sql`] | the database: SQLite or PostgreSQL, schema, transactions, copies | `settings` |
//! | [`combiner`] | joins requests into one call for each thread and jackpot or coupon | `store`, `stream` |
//! | [`stream`] | what jackpots, coupons and rooms share: their kinds, the mark of events, replies of scripts, the tail of a stream | `sql`, `store` |
//! | [`store`] | Redis: connection (embedded, standalone, cluster), keys, script calls, health | `settings` |
//! | [`master_secret`] | the secrets that seeds come from | `settings` |
//! | [`telemetry`] | log lines and metrics | `settings` |
//! | [`settings`] | `config/default.toml` ← a file ← the environment | |
//! | `signals` | the signals that end the program | |
//! | [`durable_file`] | files that are written whole or not at all | everyone uses it |
//! | [`open_files`] | the limit on open files | everyone uses it |
//! | [`operator`] | who asked for what operators do | everyone uses it |
//! | [`random`] | random bytes | everyone uses it |
//! | [`rate`] | limits on requests in time | everyone uses it |
//! | [`secret_file`] | files that hold secrets | everyone uses it |
//! | [`single_flight`] | one reading for all that ask | everyone uses it |
//! | [`stopping`] | the end of the service, as its parts see it | everyone uses it |
//! | [`tls`] | the roots of trust | everyone uses it |
//! | `crates/simulate` | `jackpot_simulate`: plays against the API from outside, and knows none of the code here but ids | `crates/core` |
//! | `crates/core` | `jackpot_core`, which is pure: ids, money, the definition of a jackpot, its draw, records, the hash chain, receipts | everyone uses it |
//!
//! The scripts are in `lua/jackpot/`, `lua/coupon/`, `lua/room/` and `lua/stream/`: one file per decision, with its contract
//! in its header.
//!
//! # Pure files
//!
//! They hold rules and no I/O: they use neither actix, Redis nor SQL. A name stands for a file and the folder of its parts.
//!
//! | room | pure files |
//! | --- | --- |
//! | `crates/core` | `all` |
//! | [`jackpot`] | `batch/drawn`, `batch/entries`, `batch/splits` |
//! | [`coupon`] | `bulk`, `code`, `definition`, `record`, `status` |
//! | [`room`] | `definition`, `eta`, `page/claims`, `page/html`, `page/words`, `pass`, `pre_queue_line`, `record`, `return_to`, `status`, `ticket` |
//! | [`ledger`] | `audit`, `books`, `coupons`, `event`, `export_line`, `fold`, `postings`, `reconcile/report`, `records`, `rooms`, `skipped`, `stuck/jackpot/evidence`, `stuck/jackpot/salvage` |
//! | [`verify`] | `all` |
//! | [`keys`] | `expiry`, `model`, `subjects` |
//! | [`stream`] | `kinds`, `wanted` |
//! | [`operator`], [`rate`] | `all` |
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
pub mod sql;
pub mod stopping;
pub mod store;
pub mod stream;
pub mod telemetry;
pub mod tls;
pub mod verify;

/// For all that links the library, the benchmarks' peers too: a request is many small allocations. Measured in
/// docs/decisions/0012.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

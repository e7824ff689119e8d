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
//! | [`cli`] | the command line: `serve`, `health`, `key`, `simulate`, `migrate`, `reconcile`, `backup`, `restore`, `ledger`, `export`, `verify`, `rng-test`, `doctor`, `completions` | `app`, `backup`, `capability`, `http`, `keys`, `ledger`, `master_secret`, `proof`, `settings`, `signals`, `signing`, `sql`, `store`, `subject`, `telemetry`, `crates/simulate` |
//! | [`app`] | puts the service together, starts it in order, stops it in reverse; `capabilities`: the list of capabilities | `backup`, `capability`, `console`, `coupon`, `events`, `http`, `intake`, `jackpot`, `keys`, `ledger`, `master_secret`, `proof`, `public_page`, `room`, `service_manager`, `settings`, `signals`, `signing`, `store`, `subject`, `telemetry` |
//! | [`events`] | events out: delivers what the ledger's events tell to the webhooks, topics and subjects of subscriptions | `broker`, `http`, `ledger`, `settings`, `sql`, `subject`, `telemetry` |
//! | [`intake`] | takes entries and issues from a topic of a broker, and calls the API in this process for each | `broker`, `http`, `keys`, `settings`, `sql`, `telemetry` |
//! | [`backup`] | copies the ledger and every secret into a directory, and starts an empty machine from it | `keys`, `ledger`, `master_secret`, `settings`, `signing`, `sql`, `store`, `subject` |
//! | [`proof`] | exports the ledger of a jackpot for auditors; `verify` checks an export offline (chain, books, draws, receipts), and the order of a room's pre-queue; `randomness`: seven tests over the draw | `http`, `jackpot`, `ledger`, `room`, `signing`, `sql` |
//! | [`capability`] | what a capability registers: its kind, start-up checks, routes, workers | `ledger`, `settings`, `store`, `telemetry` |
//! | [`ledger`] | the SQL system of record of every kind of subject: projector, queries, reconciliation, restore; it knows a kind only by its registration | `http`, `settings`, `signing`, `sql`, `store`, `subject`, `telemetry` |
//! | [`jackpot`] | play (enter → draw → claim → redraw), recovery, operators, their routes; `ledger`: their events in the books | `capability`, `combiner`, `coupon`, `http`, `ledger`, `room`, `settings`, `sql`, `store`, `subject`, `telemetry` |
//! | [`coupon`] | limited stock, first come, first served: definition, codes, records (pure), the queue before it; `ledger` | `capability`, `combiner`, `http`, `ledger`, `settings`, `sql`, `store`, `subject`, `telemetry` |
//! | [`room`] | a waiting room with exact capacity: definition, tickets, passes, the order and times of admission; `ledger` | `capability`, `combiner`, `http`, `ledger`, `signing`, `sql`, `store`, `subject`, `telemetry` |
//! | [`signing`] | Ed25519 keys that sign receipts and heads, and the public keys at `/v1/keys` | `http`, `sql` |
//! | [`console`] | the operators' pages, which call the API in this process with the key of a session; of keys and instances, which the API does not have, it asks their rooms | `http`, `keys`, `settings`, `sql`, `store`, `subject`, `telemetry` |
//! | [`public_page`] | what players see without a key: a jackpot's page, the check of a draw, the ticker for other sites; calls the public part of the API in this process | `http`, `settings` |
//! | [`http`] | server, problem+json, keys and roles, limits, `OpenAPI`; no business rule | `keys`, `settings`, `subject`, `telemetry` |
//! | [`keys`] | API keys: roles, the subjects that a key is bound to, rates | `settings`, `subject` |
//! | [`sql`] | the database: SQLite or PostgreSQL, schema, transactions, copies | `settings` |
//! | [`combiner`] | joins requests into one call for each thread and jackpot or coupon | `store`, `subject`, `telemetry` |
//! | [`subject`] | what every subject (jackpot, coupon, room) has: its kind, the mark of its events, replies of scripts, the tail of its stream, what an instance remembers, the engine of operators' requests | `sql`, `store` |
//! | [`store`] | Redis: connection (embedded, standalone, sentinel, cluster), keys, script calls, health | `settings` |
//! | [`broker`] | connections to NATS and Kafka, as settings name them; messages go out in order, each durable | `settings` |
//! | [`master_secret`] | the secrets that seeds come from | `settings` |
//! | [`telemetry`] | log lines, metrics and traces | `settings` |
//! | [`settings`] | `config/default.toml` ← a file ← the environment | |
//! | `service_manager` | messages to systemd: starting, ready, stopping, alive | |
//! | `signals` | the signals that end the program | |
//! | [`background`] | a thread for work that may wait | everyone uses it |
//! | [`built`] | the features that this program was built with | everyone uses it |
//! | [`durable_file`] | files that are written whole or not at all | everyone uses it |
//! | [`open_files`] | the limit on open files | everyone uses it |
//! | [`operator`] | the operator of an action, for events and the audit trail | everyone uses it |
//! | [`random`] | random bytes | everyone uses it |
//! | [`rate`] | limits on requests in time | everyone uses it |
//! | [`secret_file`] | files that hold secrets | everyone uses it |
//! | [`single_flight`] | one read shared by all callers that wait for it | everyone uses it |
//! | [`stopping`] | the end of the service, as its parts see it | everyone uses it |
//! | [`tls`] | the roots of trust | everyone uses it |
//! | `crates/simulate` | `jackpot_simulate`: plays against the API from outside, and uses none of the code here but ids | `crates/core` |
//! | `crates/ui` | `jackpot_ui`, which is pure: the stylesheet, texts, numbers, times, plots, rules in words and the frame of every page | `crates/core`; everyone uses it |
//! | `crates/core` | `jackpot_core`, which is pure: ids, money, the definition of a jackpot, its draw, records, the hash chain, receipts | everyone uses it |
//!
//! The scripts are in `lua/jackpot/`, `lua/coupon/`, `lua/room/` and `lua/subject/`: one file per decision, with its contract
//! in its header.
//!
//! # Pure files
//!
//! They hold rules and no I/O: they use neither actix, Redis nor SQL. A name stands for a file and the folder of its parts.
//!
//! | room | pure files |
//! | --- | --- |
//! | `crates/core` | `all` |
//! | [`jackpot`] | `batch/drawn`, `batch/entries`, `expected/advance`, `expected/meters`, `ledger/audit`, `ledger/books`, `ledger/carried`, `ledger/daily`, `ledger/event`, `ledger/fold`, `ledger/forgotten`, `ledger/parts`, `ledger/postings`, `ledger/records`, `ledger/report`, `ledger/sides`, `ledger/sources`, `ledger/steps`, `ledger/stuck/evidence`, `ledger/stuck/salvage`, `ledger/takes`, `segment` |
//! | [`coupon`] | `bulk`, `code`, `definition`, `ledger/audit`, `ledger/books`, `ledger/carried`, `ledger/event`, `ledger/forgotten`, `ledger/line`, `ledger/report`, `ledger/users`, `record`, `status` |
//! | [`room`] | `definition`, `eta`, `ledger/audit`, `ledger/books`, `ledger/carried`, `ledger/event`, `ledger/report`, `page/claims`, `page/html`, `page/words`, `pass`, `pre_queue_line`, `record`, `return_to`, `status`, `ticket` |
//! | [`events`] | `address`, `cloudevent`, `subscription`, `target` |
//! | [`intake`] | `letter`, `message`, `order` |
//! | [`ledger`] | `audit`, `declared`, `events`, `reconcile/report`, `skipped` |
//! | [`proof`] | `format`, `randomness`, `verify` |
//! | [`keys`] | `expiry`, `model`, `subjects` |
//! | [`subject`] | `kinds`, `wanted` |
//! | [`operator`], [`rate`] | `all` |
//!
//! # The path of an entry
//!
//! 1. [`jackpot::api`] parses and authorises.
//! 2. [`jackpot::play`] draws attempt 0 (`jackpot_core::jackpot::draw`, without Redis).
//! 3. The [`combiner`] of that worker thread and jackpot sends the entry at once. While a call is in flight, it
//!    collects entries for the next call. It uses the thread's own connection.
//! 4. One call of `enter.lua` ([`jackpot::scripts`]) adds the contributions, numbers the entries and makes their first
//!    claims. When none of them drew a prize, `jackpot::expected` works out the writes for the state that the last call left,
//!    and `enter_expected.lua` makes them if Redis still holds that state.
//! 5. Each entry gets its own answer. After a refused claim, or for a coupon, which [`coupon::coupons`] issues,
//!    `jackpot_core::jackpot::steps` names the next step, until the outcome is final.

pub mod app;
pub mod background;
pub mod backup;
pub mod broker;
pub mod built;
pub mod capability;
pub mod cli;
pub mod combiner;
pub mod console;
pub mod coupon;
pub mod durable_file;
pub mod events;
pub mod http;
pub mod intake;
pub mod jackpot;
pub mod keys;
pub mod ledger;
pub mod master_secret;
pub mod open_files;
pub mod operator;
pub mod proof;
pub mod public_page;
pub mod random;
pub mod rate;
pub mod room;
pub mod secret_file;
mod service_manager;
pub mod settings;
mod signals;
pub mod signing;
pub mod single_flight;
pub mod sql;
pub mod stopping;
pub mod store;
pub mod subject;
pub mod telemetry;
pub mod tls;

/// The allocator of every program that links the library, the benchmarks' peers included: a request is many small
/// allocations. Measured in docs/decisions/0012. The feature `override` gives it to SQLite too (0043).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

//! Jackpot: shared prize pools on Redis with one atomic claim per winner.
//!
//! # The map of the house
//!
//! The house is eleven crates. Cargo keeps the arrows between them. The folder of a crate says its name: `crates/kernel` is
//! `jackpot_kernel`. This crate passes the rooms of the others on.
//!
//! | crate | what | uses |
//! | --- | --- | --- |
//! | `src` | the service and its command line | `crates/api`, `crates/coupon`, `crates/core`, `crates/jackpot`, `crates/kernel`, `crates/outside`, `crates/pages`, `crates/room`, `crates/simulate` |
//! | `crates/outside` | other systems: events go out, entries come in | `crates/api`, `crates/core`, `crates/kernel` |
//! | `crates/pages` | pages for browsers, which call the API in this process | `crates/api`, `crates/core`, `crates/kernel`, `crates/ui` |
//! | `crates/jackpot` | jackpots, which draw coupons and may require passes of rooms | `crates/api`, `crates/core`, `crates/coupon`, `crates/kernel`, `crates/room`, `crates/ui` |
//! | `crates/coupon` | coupons | `crates/api`, `crates/core`, `crates/kernel` |
//! | `crates/room` | waiting rooms | `crates/api`, `crates/core`, `crates/kernel`, `crates/ui` |
//! | `crates/api` | the answers of the HTTP API that something here reads | `crates/core`, `crates/kernel` |
//! | `crates/kernel` | what every part of the service stands on | `crates/core`, `crates/ui` |
//! | `crates/simulate` | a game that plays against the API, and checks it | `crates/core`, `crates/ui` |
//! | `crates/ui` | what pages share | `crates/core` |
//! | `crates/core` | rules and types, with no I/O | |
//!
//! A room is a crate, or a folder or a file of one. It may use the rooms of its crate in its last column, and each room
//! that everyone uses. These arrows form no circle. `tests/it/house.rs` reads the tables and every path in the source, and
//! fails where they differ. docs/decisions/0030 gives the reasons, and 0066 those of the crates.
//!
//! | room | crate | what | may use |
//! | --- | --- | --- | --- |
//! | `main` | `src` | starts the program | `cli` |
//! | [`cli`] | `src` | the command line: `serve`, `health`, `key`, `simulate`, `migrate`, `reconcile`, `backup`, `restore`, `ledger`, `export`, `verify`, `rng-test`, `doctor`, `completions` | `app`, `backup`, `proof`, `signals` |
//! | [`app`] | `src` | puts the service together, starts it in order, stops it in reverse; `capabilities`: the list of capabilities | `backup`, `proof`, `service_manager`, `signals` |
//! | [`backup`] | `src` | copies the ledger and every secret into a directory, and starts an empty machine from it | |
//! | [`proof`] | `src` | exports the ledger of a jackpot for auditors; `verify` checks an export offline (chain, books, draws, receipts), and the order of a room's pre-queue; `randomness`: seven tests over the draw | |
//! | `service_manager` | `src` | messages to systemd: starting, ready, stopping, alive | |
//! | `signals` | `src` | the signals that end the program | |
//! | [`events`] | `crates/outside` | events out: delivers what the ledger's events tell to the webhooks, topics and subjects of subscriptions | `broker` |
//! | [`intake`] | `crates/outside` | takes entries and issues from a topic of a broker, and calls the API in this process for each | `broker` |
//! | [`broker`] | `crates/outside` | connections to NATS and Kafka, as settings name them; messages go out in order, each durable | |
//! | [`jackpot`] | `crates/jackpot` | play (enter → draw → claim → redraw), recovery, operators, their routes; `ledger`: their events in the books | |
//! | [`coupon`] | `crates/coupon` | limited stock, first come, first served: definition, codes, records (pure), the queue before it; `ledger` | |
//! | [`room`] | `crates/room` | a waiting room with exact capacity: definition, tickets, passes, the order and times of admission; `ledger` | |
//! | [`console`] | `crates/pages` | the operators' pages, which call the API in this process with the key of a session; of keys and instances, which the API does not have, it asks their rooms | |
//! | [`public_page`] | `crates/pages` | what players see without a key: a jackpot's page, the check of a draw, the ticker for other sites; calls the public part of the API in this process | |
//! | [`capability`] | `crates/kernel` | what a capability registers: its kind, start-up checks, routes, workers | `ledger`, `settings`, `store`, `telemetry` |
//! | [`ledger`] | `crates/kernel` | the SQL system of record of every kind of subject: projector, queries, reconciliation, restore; it knows a kind only by its registration | `http`, `settings`, `signing`, `sql`, `store`, `subject`, `telemetry` |
//! | [`signing`] | `crates/kernel` | Ed25519 keys that sign receipts and heads, and the public keys at `/v1/keys` | `http`, `sql` |
//! | [`http`] | `crates/kernel` | server, problem+json, keys and roles, limits, `OpenAPI`; no business rule | `keys`, `settings`, `subject`, `telemetry` |
//! | [`keys`] | `crates/kernel` | API keys: roles, the subjects that a key is bound to, rates | `settings`, `subject` |
//! | [`sql`] | `crates/kernel` | the database: SQLite or PostgreSQL, schema, transactions, copies | `settings` |
//! | [`combiner`] | `crates/kernel` | joins requests into one call for each thread and jackpot or coupon | `store`, `subject`, `telemetry` |
//! | [`subject`] | `crates/kernel` | what every subject (jackpot, coupon, room) has: its kind, the mark of its events, replies of scripts, the tail of its stream, what an instance remembers, the engine of operators' requests | `sql`, `store` |
//! | [`store`] | `crates/kernel` | Redis: connection (embedded, standalone, sentinel, cluster), keys, script calls, health | `settings` |
//! | [`master_secret`] | `crates/kernel` | the secrets that seeds come from | `settings` |
//! | [`telemetry`] | `crates/kernel` | log lines, metrics and traces | `settings` |
//! | [`settings`] | `crates/kernel` | `config/default.toml` ← a file ← the environment | |
//! | [`background`] | `crates/kernel` | a thread for work that may wait | everyone uses it |
//! | [`built`] | `crates/kernel` | the features that this program was built with | everyone uses it |
//! | [`durable_file`] | `crates/kernel` | files that are written whole or not at all | everyone uses it |
//! | [`open_files`] | `crates/kernel` | the limit on open files | everyone uses it |
//! | [`operator`] | `crates/kernel` | the operator of an action, for events and the audit trail | everyone uses it |
//! | [`random`] | `crates/kernel` | random bytes | everyone uses it |
//! | [`rate`] | `crates/kernel` | limits on requests in time | everyone uses it |
//! | [`secret_file`] | `crates/kernel` | files that hold secrets | everyone uses it |
//! | [`single_flight`] | `crates/kernel` | one read shared by all callers that wait for it | everyone uses it |
//! | [`stopping`] | `crates/kernel` | the end of the service, as its parts see it | everyone uses it |
//! | [`tls`] | `crates/kernel` | the roots of trust | everyone uses it |
//! | `simulate` | `crates/simulate` | plays against the API from outside, and uses none of the code here but ids | |
//! | `ui` | `crates/ui` | pure: the stylesheet, texts, numbers, times, plots, rules in words and the frame of every page | everyone uses it |
//! | `api` | `crates/api` | the answers of the HTTP API and the documents of its PUTs, one type each: handlers write them, the console, the public page and tests read them | everyone uses it |
//! | `core` | `crates/core` | pure: ids, money, the definition of a jackpot, its draw, records, the hash chain, receipts, declarations of events | everyone uses it |
//!
//! The scripts are in `lua/jackpot/`, `lua/coupon/`, `lua/room/` and `lua/subject/`: one file per decision, with its contract
//! in its header. What follows from a declaration in Rust (the functions that append events, replies, records) has no
//! file: it is made when the service starts.
//!
//! # Pure files
//!
//! They hold rules and no I/O: they use neither actix, Redis nor SQL. A name stands for a file and the folder of its parts.
//!
//! | room | pure files |
//! | --- | --- |
//! | `core`, `ui` | `all` |
//! | [`jackpot`] | `batch/drawn`, `batch/entries`, `expected/advance`, `expected/meters`, `ledger/audit`, `ledger/books`, `ledger/carried`, `ledger/daily`, `ledger/event`, `ledger/fold`, `ledger/forgotten`, `ledger/parts`, `ledger/postings`, `ledger/records`, `ledger/report`, `ledger/sides`, `ledger/sources`, `ledger/steps`, `ledger/stuck/evidence`, `ledger/stuck/salvage`, `ledger/takes`, `segment` |
//! | [`coupon`] | `bulk`, `code`, `definition`, `ledger/audit`, `ledger/books`, `ledger/carried`, `ledger/event`, `ledger/forgotten`, `ledger/line`, `ledger/report`, `ledger/users`, `record` |
//! | [`room`] | `definition`, `eta`, `ledger/audit`, `ledger/books`, `ledger/carried`, `ledger/event`, `ledger/report`, `page/claims`, `page/html`, `page/words`, `pass`, `pre_queue_line`, `record`, `return_to`, `ticket` |
//! | [`events`] | `address`, `cloudevent`, `subscription`, `target` |
//! | [`intake`] | `letter`, `message`, `order` |
//! | [`ledger`] | `audit`, `events`, `reconcile/report`, `skipped` |
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
pub mod backup;
pub mod cli;
pub mod proof;
mod service_manager;
mod signals;

// The rooms of the other crates have their paths here too: for the program, its tests and its benchmarks the house is one.
pub use jackpot_coupon as coupon;
pub use jackpot_jackpot as jackpot;
pub use jackpot_kernel::{
    background, built, capability, combiner, durable_file, http, keys, ledger, lua_files, master_secret, open_files,
    operator, random, rate, reply, secret_file, settings, signing, single_flight, sql, stopping, store, subject,
    telemetry, tls,
};
pub use jackpot_outside::{broker, events, intake};
pub use jackpot_pages::{console, public_page};
pub use jackpot_room as room;

/// The allocator of every program that links the library, the benchmarks' peers included: a request is many small
/// allocations. Measured in docs/decisions/0012. The feature `override` gives it to SQLite too (0043).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

//! What every part of the service stands on: settings, Redis, SQL, HTTP, keys, telemetry, and the ledger, which knows no
//! kind of subject. The map in `src/lib.rs` of the root package says what each room holds, and which others it may use.

pub mod background;
pub mod built;
pub mod capability;
pub mod combiner;
pub mod durable_file;
pub mod http;
pub mod keys;
pub mod ledger;
pub mod master_secret;
pub mod open_files;
pub mod operator;
pub mod random;
pub mod rate;
pub mod secret_file;
pub mod settings;
pub mod signing;
pub mod single_flight;
pub mod sql;
pub mod stopping;
pub mod store;
pub mod subject;
pub mod telemetry;
pub mod tls;

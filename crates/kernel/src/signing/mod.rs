//! The keys that sign receipts and ledger heads. `jackpot_core::signing` defines keys and signatures.
//!
//! | file | what |
//! | --- | --- |
//! | `file` | `<data_dir>/signing.keys`: created once, rotated, refused when other users can read it |
//! | `store` | the keys of a running service, followed while the file changes |
//! | `published` | the public keys in the ledger, which outlive the file |
//! | `api` | `GET /v1/keys` |
//!
//! A key is in the ledger before it signs. The service calls [`publish`] at start, and [`SigningKeys::follow`]
//! publishes a new key before it uses it.

pub mod api;
mod file;
mod published;
mod store;

pub use file::{SigningFile, SigningKeysError, text_of_all};
pub use published::{Published, all_published, publish, published};
pub use store::SigningKeys;

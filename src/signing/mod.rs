//! The keys that sign receipts and ledger heads. What a key and a signature are is in `jackpot_core::signing`.
//!
//! | file | what |
//! | --- | --- |
//! | `file` | `<data_dir>/signing.keys`: made once, rotated, refused when others can read it |
//! | `store` | the keys of a running service, followed while the file changes |
//! | `published` | the public keys in the ledger, which outlive the file |
//! | `api` | `GET /v1/keys` |
//!
//! A key is in the ledger before it signs: the service calls [`publish`] at start, and [`SigningKeys::follow`] does so
//! with a new key before it uses it.

pub mod api;
mod file;
mod published;
mod store;

pub use file::{SigningFile, SigningKeysError, text_of_all};
pub use published::{Published, all_published, publish, published};
pub use store::SigningKeys;

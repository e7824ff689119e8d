//! API keys: who may call, and as what. Only hashes are kept; a key is shown once, when it is made.

mod file;
mod model;
mod store;

pub use file::{KeyFile, KeysError};
pub use model::{Key, KeyName, RawKey, Role, sha256};
pub use store::{KeyStore, Known, Limits};

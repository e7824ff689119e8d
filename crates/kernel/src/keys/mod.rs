//! API keys: who may call, with which role, on which subjects, and until when. Only hashes are kept. A key is shown
//! once, when it is made.

mod expiry;
mod file;
mod model;
mod store;
mod subjects;

pub use expiry::Expiry;
pub use file::{KeyFile, KeysError, read_operator_key};
pub use model::{Key, KeyName, RawKey, Rights, Role, sha256};
pub use store::{KeyStore, KnownKey, Limits};
pub use subjects::{MAX_SUBJECTS, Subject, Subjects};

//! Ed25519 signatures: receipts and ledger heads are signed here, and checked by anybody with the public keys.
//!
//! | file | what |
//! | --- | --- |
//! | `key` | a key that signs, a key that checks, a key's id |
//! | `file` | `<data_dir>/signing.keys`: made once, rotated, refused when others can read it |
//! | `store` | the keys of a running service, followed while the file changes |
//! | `published` | the public keys in the ledger, which outlive the file |
//! | `jwks` | public keys as a JWK Set |
//! | `document` | the text of a JSON document that its signature is over |
//! | `api` | `GET /v1/keys` |
//!
//! A key is in the ledger before it signs: the service calls [`publish`] at start, and [`SigningKeys::follow`] does so
//! with a new key before it uses it.

pub mod api;
mod document;
mod file;
mod jwks;
mod key;
mod published;
mod store;

pub use document::signed_text;
pub use file::{SigningFile, SigningKeysError, text_of_all};
pub use jwks::{Jwk, JwkSet, Jwks, VerifyError};
pub use key::{BadSignature, KeyPair, NoPublicKey, PublicKey, Signature};
pub use published::{Published, all_published, publish, published};
pub use store::SigningKeys;

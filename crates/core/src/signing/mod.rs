//! Ed25519 signatures: a key that signs, a key that checks, public keys as a JWK Set, and the signed text of a JSON
//! document.

mod document;
mod jwks;
mod key;

pub use document::signed_text;
pub use jwks::{Jwk, JwkSet, Jwks, VerifyError};
pub use key::{BadSignature, KeyPair, NoPublicKey, PublicKey, Seed, Signature};

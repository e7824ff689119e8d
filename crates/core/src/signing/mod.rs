//! Ed25519 signatures: a key that signs, a key that checks, public keys as a JWK Set, and the text of a JSON document that its
//! signature is over.

mod document;
mod jwks;
mod key;

pub use document::signed_text;
pub use jwks::{Jwk, JwkSet, Jwks, VerifyError};
pub use key::{BadSignature, KeyPair, NoPublicKey, PublicKey, Seed, Signature};

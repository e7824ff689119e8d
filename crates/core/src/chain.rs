//! The hash chain of a subject's events. A reader who kept a head notices if the history before it was rewritten.
//!
//! `hash(0) = SHA-256("jackpot-ledger\n{jackpot_id}")` (for a coupon `coupon:{coupon_id}`),
//! `hash(n) = SHA-256(hash(n - 1) || body(n))`, 32 bytes each. The body is the event's fields, all strings, as one JSON
//! object in the form of RFC 8785.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::ids::Id;

/// A hash of the chain, written in hexadecimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainHash([u8; 32]);

impl ChainHash {
    /// The hash before a jackpot's first event.
    #[must_use]
    pub fn first(jackpot: &Id) -> Self {
        Self::of(jackpot.as_str())
    }

    /// The hash before the first event of a subject, by its name among all subjects: a jackpot's id, or `coupon:{id}`.
    #[must_use]
    pub fn of(subject: &str) -> Self {
        Self(Sha256::digest(format!("jackpot-ledger\n{subject}")).into())
    }

    /// The hash of the next event.
    #[must_use]
    pub fn next(self, body: &str) -> Self {
        Self(Sha256::new().chain_update(self.0).chain_update(body).finalize().into())
    }

    /// Parses the hexadecimal form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).ok()?;
        Some(Self(bytes))
    }
}

impl std::fmt::Display for ChainHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

/// The canonical form of an event's fields: RFC 8785, which for strings under ASCII names is sorted JSON without spaces.
///
/// # Panics
/// Never: strings are JSON.
#[must_use]
pub fn body(fields: &BTreeMap<String, String>) -> String {
    serde_json::to_string(fields).expect("strings are JSON")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_body_is_that_of_rfc_8785() {
        let fields = [
            ("type", "enter"),
            ("at", "1"),
            ("reason", "\u{0}\u{1f}\u{7f}\"\\/é\u{2028}😀\n\t\u{8}\u{c}"),
        ];
        let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let reference = serde_json_canonicalizer::to_string(&fields).expect("JSON");
        assert_eq!(body(&fields), reference);
        assert!(reference.starts_with(r#"{"at":"1","reason":"\u0000\u001f"#));
    }

    #[test]
    fn each_hash_holds_all_before_it() {
        let id = Id::parse("spring").expect("an id");
        let first = ChainHash::first(&id);
        assert_eq!(first.to_string(), hex::encode(Sha256::digest("jackpot-ledger\nspring")));
        let second = first.next("{}");
        assert_eq!(second, ChainHash(Sha256::digest([&first.0[..], b"{}"].concat()).into()));
        assert_eq!(ChainHash::parse(&second.to_string()), Some(second));
        assert_ne!(first.next("{ }"), second);
    }
}

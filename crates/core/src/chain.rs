//! The hash chain of a subject's events. A reader who kept a head notices if the history before it was rewritten.
//!
//! `hash(0) = SHA-256("jackpot-ledger\n{jackpot_id}")` (for a coupon `coupon:{coupon_id}`),
//! `hash(n) = SHA-256(hash(n - 1) || body(n))`, 32 bytes each. The body is the event's fields, all strings, as one JSON
//! object in the form of RFC 8785.

use sha2::{Digest, Sha256};

use crate::fields::EventFields;
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
        let mut text = [0; 64];
        hex::encode_to_slice(self.0, &mut text).expect("two digits a byte");
        f.write_str(std::str::from_utf8(&text).expect("digits are text"))
    }
}

/// The canonical form of an event's fields: RFC 8785, which for strings under ASCII names is sorted JSON without spaces.
#[must_use]
pub fn body(fields: &EventFields) -> String {
    fields.json()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn the_body_is_that_of_rfc_8785() {
        let every = (0..=0x7f_u8).map(char::from).collect::<String>();
        let long = format!("{}\"", "x".repeat(40));
        let fields = [
            ("type", "enter"),
            ("at", "1"),
            ("reason", "\u{0}\u{1f}\u{7f}\"\\/é\u{2028}😀\n\t\u{8}\u{c}"),
            ("every", &every),
            ("long", &long),
            ("\"", ""),
        ];
        let reference = serde_json_canonicalizer::to_string(&BTreeMap::from(fields)).expect("JSON");
        assert_eq!(body(&fields.into_iter().collect()), reference);
        assert!(reference.contains(r#""reason":"\u0000\u001f"#));
        assert_eq!(body(&EventFields::default()), "{}");
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

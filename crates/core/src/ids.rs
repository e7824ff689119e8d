//! Identifiers that clients choose.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::de::{Deserializer, Error, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Longest id, in characters: it is part of keys and of every idempotency record.
pub const MAX_ID_LEN: usize = 64;

/// An invalid id. The message states the rule.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("must match [A-Za-z0-9][A-Za-z0-9._-]{{0,63}}")]
pub struct InvalidId;

/// Longest id of a person, in characters.
pub const MAX_PERSON_ID_LEN: usize = 128;

/// An invalid id of a person. The message states the rule.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("must match [A-Za-z0-9][A-Za-z0-9._@|:+=-]{{0,127}}")]
pub struct InvalidPersonId;

macro_rules! id {
    ($(#[doc = $doc:literal])+ $name:ident, $invalid:ident, $longest:ident, $is_byte:ident) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Parses an id that a client sent.
            pub fn parse(text: &str) -> Result<Self, $invalid> {
                Self::check(text).map(|()| Self(text.into()))
            }

            /// Whether this text is an id.
            pub fn check(text: &str) -> Result<(), $invalid> {
                let starts_well = text.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric());
                if starts_well && text.len() <= $longest && text.bytes().all($is_byte) {
                    Ok(())
                } else {
                    Err($invalid)
                }
            }

            /// The id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The id as shared text.
            #[must_use]
            pub fn shared(&self) -> Arc<str> {
                Arc::clone(&self.0)
            }
        }

        impl Deref for $name {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        /// A map by ids is asked with a text too. Both are ordered, hashed and compared alike.
        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        // Written by hand: serde's attributes would make a `String`, and each entry has several ids.
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Text;

                impl Visitor<'_> for Text {
                    type Value = $name;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("a string")
                    }

                    fn visit_str<E: Error>(self, text: &str) -> Result<$name, E> {
                        $name::parse(text).map_err(E::custom)
                    }
                }

                deserializer.deserialize_str(Text)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

id!(
    /// An id of a jackpot, tier or entry: `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`.
    ///
    /// Only ids that the service derives have a `:`, so no client can send one of them.
    Id,
    InvalidId,
    MAX_ID_LEN,
    is_id_byte
);

id!(
    /// The id of a player or user, which an identity provider makes: `[A-Za-z0-9][A-Za-z0-9._@|:+=-]{0,127}`.
    ///
    /// It has none of the characters that end a word or a row in what is stored: space, line end, `,`, `;`, `/`.
    PersonId,
    InvalidPersonId,
    MAX_PERSON_ID_LEN,
    is_person_byte
);

fn is_person_byte(b: u8) -> bool {
    is_id_byte(b) || matches!(b, b'@' | b'|' | b':' | b'+' | b'=')
}

fn is_id_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-')
}

/// Longest id of a batch, in characters. With `:` and an index up to 10,000, the id of an entry has at most 62.
pub const MAX_BATCH_ID_LEN: usize = 56;

/// An invalid batch id. The message states the rule.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("must match [A-Za-z0-9][A-Za-z0-9._-]{{0,55}}")]
pub struct InvalidBatchId;

/// The id of a batch: an [`Id`] of at most [`MAX_BATCH_ID_LEN`] characters.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct BatchId(Id);

impl BatchId {
    /// Parses an id that a client sent.
    pub fn parse(text: &str) -> Result<Self, InvalidBatchId> {
        match Id::parse(text) {
            Ok(id) if text.len() <= MAX_BATCH_ID_LEN => Ok(Self(id)),
            _ => Err(InvalidBatchId),
        }
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The id of the entry at this index, from 1.
    #[must_use]
    pub fn entry_id(&self, index: usize) -> String {
        format!("{}:{index}", self.0)
    }
}

impl TryFrom<String> for BatchId {
    type Error = InvalidBatchId;

    fn try_from(text: String) -> Result<Self, InvalidBatchId> {
        Self::parse(&text)
    }
}

/// The id of an entry to look up: chosen by a client, or `{batch_id}:{i}`, which the service derived.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct EntryRef(String);

impl EntryRef {
    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for EntryRef {
    type Error = InvalidId;

    fn try_from(text: String) -> Result<Self, InvalidId> {
        let chosen = match text.split_once(':') {
            Some((batch, index)) if !index.is_empty() && index.bytes().all(|b| b.is_ascii_digit()) => batch,
            _ => text.as_str(),
        };
        Id::parse(chosen)?;
        Ok(Self(text))
    }
}

/// The id of a coupon request to look up: chosen by a client, or `draw:{jackpot}:{entry}`, which the service derived,
/// with `~{epoch}` appended from epoch 2 on.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct RequestRef(String);

impl RequestRef {
    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for RequestRef {
    type Error = InvalidId;

    fn try_from(text: String) -> Result<Self, InvalidId> {
        match text.strip_prefix("draw:").and_then(|rest| rest.split_once(':')) {
            Some((jackpot, entry)) => {
                Id::check(jackpot)?;
                let (entry, epoch) = entry.split_once('~').unwrap_or((entry, "1"));
                epoch.parse::<u64>().map_err(|_| InvalidId)?;
                EntryRef::try_from(entry.to_owned())?;
            }
            None => Id::check(&text)?,
        }
        Ok(Self(text))
    }
}

/// An invalid client seed. The message states the rule.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("must be null or match [A-Za-z0-9._-]{{1,64}}")]
pub struct InvalidClientSeed;

/// A player's own input of a draw: `[A-Za-z0-9._-]{1,64}`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ClientSeed(String);

impl ClientSeed {
    /// Parses a seed that a client sent.
    pub fn parse(text: &str) -> Result<Self, InvalidClientSeed> {
        Self::check(text).map(|()| Self(text.to_owned()))
    }

    pub fn check(text: &str) -> Result<(), InvalidClientSeed> {
        if (1..=MAX_ID_LEN).contains(&text.len()) && text.bytes().all(is_id_byte) {
            Ok(())
        } else {
            Err(InvalidClientSeed)
        }
    }

    /// The seed as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for ClientSeed {
    type Error = InvalidClientSeed;

    fn try_from(text: String) -> Result<Self, InvalidClientSeed> {
        Self::parse(&text)
    }
}

impl From<ClientSeed> for String {
    fn from(seed: ClientSeed) -> Self {
        seed.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_what_the_contract_says() {
        for good in ["a", "0", "round-8812-p7", "A.b_c-d", &"x".repeat(64)] {
            assert!(Id::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "-a", ".a", "a b", "a:b", "ä", "a\n", &"x".repeat(65)] {
            assert_eq!(Id::parse(bad), Err(InvalidId), "{bad}");
        }
    }

    #[test]
    fn a_person_is_named_by_an_identity_provider() {
        let longest = format!("auth0|a.b+c=d@example.org:{}", "9".repeat(102));
        for good in ["p", "a:b", "a@b.c", &longest] {
            assert!(PersonId::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "|a",
            ":a",
            "a b",
            "a/b",
            "a;b",
            "a,b",
            "ü",
            "a\n",
            &format!("{longest}9"),
        ] {
            assert_eq!(PersonId::parse(bad), Err(InvalidPersonId), "{bad}");
        }
    }

    #[test]
    fn a_batch_id_leaves_room_for_an_index() {
        assert!(BatchId::parse(&"x".repeat(56)).is_ok());
        for bad in ["", "a:b", &"x".repeat(57)] {
            assert_eq!(BatchId::parse(bad), Err(InvalidBatchId), "{bad}");
        }
    }

    #[test]
    fn an_entry_is_named_by_its_own_id_or_by_its_place_in_a_batch() {
        for good in [
            "e-1",
            "b1:1",
            "b1:10000",
            &BatchId::parse("b1").expect("an id").entry_id(7),
        ] {
            let entry = EntryRef::try_from(good.to_owned());
            assert_eq!(entry.as_ref().map(EntryRef::as_str), Ok(good));
        }
        for bad in ["", "b1:", "b1:x", "b1:1:1", ":1", "b1:-1"] {
            assert_eq!(EntryRef::try_from(bad.to_owned()), Err(InvalidId), "{bad}");
        }
    }

    #[test]
    fn ids_are_texts_in_json_and_in_maps() {
        let id: Id = serde_json::from_str("\"spring\"").expect("an id");
        assert_eq!(serde_json::to_string(&id).expect("JSON"), "\"spring\"");
        assert_eq!((id.to_string().as_str(), &*id.shared()), ("spring", "spring"));
        assert_eq!(std::collections::BTreeSet::from([id.clone()]).get("spring"), Some(&id));
        let wrong = |json: &str| serde_json::from_str::<Id>(json).expect_err(json).to_string();
        assert!(wrong("7").contains("expected a string") && wrong("\"a b\"").contains("must match"));
        let seed = ClientSeed::try_from("s-1".to_owned()).expect("a seed");
        assert_eq!((seed.as_str(), String::from(seed.clone())), ("s-1", "s-1".to_owned()));
        let batch = BatchId::try_from("b1".to_owned()).expect("an id");
        assert_eq!((batch.as_str(), batch.entry_id(2)), ("b1", "b1:2".to_owned()));
    }

    #[test]
    fn a_request_is_a_client_s_or_a_draw_s() {
        for good in [
            "r-1",
            "draw",
            "draw:spring:e-1",
            "draw:spring:b1:17",
            "draw:spring:b1:17~3",
        ] {
            let request = RequestRef::try_from(good.to_owned());
            assert_eq!(request.as_ref().map(RequestRef::as_str), Ok(good));
        }
        for bad in [
            "",
            "r:1",
            "draw:",
            "draw:spring",
            "draw::e",
            "draw:spring:",
            "draw:spring:b1:x",
            "draw:spring:e~x",
            "e~2",
            "other:spring:e",
        ] {
            assert_eq!(RequestRef::try_from(bad.to_owned()), Err(InvalidId), "{bad}");
        }
    }

    #[test]
    fn a_client_seed_may_start_with_any_of_its_characters() {
        assert!(ClientSeed::parse("-").is_ok());
        for bad in ["", "a b", "*", &"x".repeat(65)] {
            assert_eq!(ClientSeed::parse(bad), Err(InvalidClientSeed), "{bad}");
        }
    }
}

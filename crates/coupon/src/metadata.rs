//! The user of a request with the texts that its client keeps with it. Pure.

use std::collections::BTreeMap;
use std::ops::Deref;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jackpot_core::ids::PersonId;
use jackpot_core::text::is_plain;
use jackpot_core::wire::Field;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use thiserror::Error;

/// Most texts of a request.
pub const MAX_TEXTS: usize = 16;
/// Longest metadata, in bytes of its JSON without spaces.
pub const MAX_BYTES: usize = 1_024;
/// Longest name, in characters.
const MAX_NAME_CHARS: usize = 64;

/// Texts of the client by their names: at least one, at most [`MAX_TEXTS`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<String, String>", into = "BTreeMap<String, String>")]
pub struct Metadata(BTreeMap<String, String>);

/// Why texts are no metadata. The message states the rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum InvalidMetadata {
    #[error("must have 1 to {MAX_TEXTS} texts")]
    Count,
    #[error("its names must have 1 to {MAX_NAME_CHARS} characters, and names and texts no control characters")]
    Characters,
    #[error("must have at most {MAX_BYTES} bytes as JSON without spaces")]
    Bytes,
}

impl TryFrom<BTreeMap<String, String>> for Metadata {
    type Error = InvalidMetadata;

    fn try_from(texts: BTreeMap<String, String>) -> Result<Self, InvalidMetadata> {
        if !(1..=MAX_TEXTS).contains(&texts.len()) {
            return Err(InvalidMetadata::Count);
        }
        let is_name = |name: &str| (1..=MAX_NAME_CHARS).contains(&name.chars().count());
        let is_fit = |(name, text): (&String, &String)| is_name(name) && name.chars().chain(text.chars()).all(is_plain);
        if !texts.iter().all(is_fit) {
            return Err(InvalidMetadata::Characters);
        }
        let metadata = Self(texts);
        if metadata.json().len() > MAX_BYTES {
            return Err(InvalidMetadata::Bytes);
        }
        Ok(metadata)
    }
}

impl From<Metadata> for BTreeMap<String, String> {
    fn from(metadata: Metadata) -> Self {
        metadata.0
    }
}

impl Metadata {
    /// JSON without spaces, by name: what two requests are compared by.
    pub fn json(&self) -> String {
        serde_json::to_string(&self.0).expect("texts are JSON")
    }

    /// Reads that JSON; `None` for any other.
    pub fn parse(json: &str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    /// Reads what a request brings. No text at all is no metadata.
    pub fn of_request<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Self>, D::Error> {
        let texts = Option::<BTreeMap<String, String>>::deserialize(from)?;
        let texts = texts.filter(|texts| !texts.is_empty());
        texts.map(Self::try_from).transpose().map_err(D::Error::custom)
    }
}

/// The user of a request, and its metadata. They are one word in records and events, `user` or `user/metadata`: no id has
/// a `/`. So a request without metadata has the text that it had before there was any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asker {
    pub user: PersonId,
    pub metadata: Option<Metadata>,
}

impl From<PersonId> for Asker {
    fn from(user: PersonId) -> Self {
        Self { user, metadata: None }
    }
}

impl Deref for Asker {
    type Target = PersonId;

    fn deref(&self) -> &PersonId {
        &self.user
    }
}

/// The user alone.
impl std::fmt::Display for Asker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.user.fmt(f)
    }
}

impl Field for Asker {
    const TYPE: &'static str = "id, or id`/`metadata: JSON as base64url without padding";
    const PATTERN: &'static str = "%S+";

    fn read(text: &str) -> Option<Self> {
        let (user, word) = match text.split_once('/') {
            Some((user, word)) => (user, Some(word)),
            None => (text, None),
        };
        let metadata = |word: &str| {
            let json = URL_SAFE_NO_PAD.decode(word).ok()?;
            Metadata::parse(std::str::from_utf8(&json).ok()?)
        };
        Some(Self {
            user: PersonId::parse(user).ok()?,
            metadata: match word {
                Some(word) => Some(metadata(word)?),
                None => None,
            },
        })
    }

    fn write(&self, out: &mut String) {
        out.push_str(self.user.as_str());
        if let Some(metadata) = &self.metadata {
            out.push('/');
            URL_SAFE_NO_PAD.encode_string(metadata.json(), out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(pairs: &[(&str, &str)]) -> Result<Metadata, InvalidMetadata> {
        let pairs = pairs
            .iter()
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        pairs.collect::<BTreeMap<_, _>>().try_into()
    }

    #[test]
    fn an_asker_is_one_word_and_comes_back_from_it() {
        let user = PersonId::parse("u-1").expect("an id");
        let metadata = texts(&[("order", "8812 / 7"), ("매장", "서울")]).expect("metadata");
        for metadata in [None, Some(metadata)] {
            let asker = Asker {
                user: user.clone(),
                metadata,
            };
            let word = asker.text();
            assert!(word.bytes().all(|byte| byte.is_ascii_graphic()), "{word}");
            assert_eq!(Asker::read(&word), Some(asker));
        }
        assert_eq!(Asker::from(user).text(), "u-1");
        for word in ["u-1/", "u-1/e30", "u-1/x", "/eyJhIjoiYiJ9", "u~1", ""] {
            assert_eq!(Asker::read(word), None, "{word}");
        }
    }

    #[test]
    fn what_is_too_much_is_refused_with_its_rule() {
        assert_eq!(texts(&[]), Err(InvalidMetadata::Count));
        let names: Vec<_> = (0..17).map(|n| format!("n{n}")).collect();
        let many: Vec<_> = names.iter().map(|name| (name.as_str(), "")).collect();
        assert_eq!(texts(&many), Err(InvalidMetadata::Count));
        assert!(texts(&many[..16]).is_ok());
        for (name, text) in [("", "x"), ("a\u{0}", "x"), ("a", "\n"), (&*"n".repeat(65), "x")] {
            assert_eq!(texts(&[(name, text)]), Err(InvalidMetadata::Characters), "{name:?}");
        }
        // {"a":"…"}: 8 bytes around the text.
        assert!(texts(&[("a", &"x".repeat(MAX_BYTES - 8))]).is_ok());
        assert_eq!(texts(&[("a", &"x".repeat(MAX_BYTES - 7))]), Err(InvalidMetadata::Bytes));
    }
}

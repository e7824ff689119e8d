//! The use of a unit: the caller's reference, and how answers show it. Pure.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jackpot_api::coupon::Redeemed;
use jackpot_core::clock::rfc3339;
use jackpot_core::text::Text;
use jackpot_core::wire::Field;
use serde::{Deserialize, Serialize};

use super::record::Redemption;

/// Longest reference, in characters.
pub const MAX_REFERENCE_CHARS: usize = 200;

/// The caller's text about a redemption, such as the number of a receipt. Records and events have it as base64url without
/// padding, because their fields are separated by spaces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Reference(Text<MAX_REFERENCE_CHARS>);

impl Reference {
    /// Reads a text; `None` for an invalid one.
    pub fn parse(text: &str) -> Option<Self> {
        Text::parse(text).ok().map(Self)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl Field for Reference {
    const TYPE: &'static str = "text, base64url without padding";
    const PATTERN: &'static str = "%S+";

    fn read(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        Self::parse(std::str::from_utf8(&bytes).ok()?)
    }

    fn write(&self, out: &mut String) {
        URL_SAFE_NO_PAD.encode_string(self.as_str(), out);
    }
}

impl From<&Redemption> for Redeemed {
    fn from(of: &Redemption) -> Self {
        Self {
            redemption_id: of.redemption.to_string(),
            reference: of.reference.as_str().to_owned(),
            at: rfc3339(of.redeemed_ms),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_one_word_and_comes_back_from_it() {
        for text in ["x", "receipt 8812", "Bon 7: 2 × Kaffee", "-", "영수증 1"] {
            let reference = Reference::parse(text).expect("a reference");
            let word = reference.text();
            assert!(
                !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_graphic()),
                "{word}"
            );
            assert_eq!(Reference::read(&word), Some(reference));
        }
        assert_eq!(Reference::parse(&"x".repeat(201)), None);
        for text in ["", "a\nb", "\u{202e}"] {
            assert_eq!(Reference::parse(text), None, "{text:?}");
        }
        for word in ["-", "=", "eA==", "_w", "Cg"] {
            assert_eq!(Reference::read(word), None, "{word}: no text");
        }
    }
}

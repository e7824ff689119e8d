//! Texts: what clients and operators may send, and how other texts are stored and shown. Pure.
//!
//! PostgreSQL refuses U+0000 in a text, SQLite accepts it. Other control characters change what a terminal, a log or a
//! spreadsheet shows. So every incoming free text is a [`Text`], from any source. Events in Redis may be older than
//! that rule, or written by hand. [`storable`] makes their column text, the same for both databases. The chained body
//! of an event escapes U+0000 as JSON does, and keeps every byte.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Longest reason of an operator, in characters.
pub const MAX_REASON_CHARS: usize = 500;

/// A text for people: 1 to `MAX` characters, each of which [`is_plain`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Text<const MAX: usize>(String);

/// The reason of an operator's action.
pub type Reason = Text<MAX_REASON_CHARS>;

/// An invalid text. The message states the rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "must be 1 to {max} characters, none of them a control character (U+0000 to U+001F, U+007F to U+009F), a line or \
     paragraph separator (U+2028, U+2029) or a control of writing direction (U+202A to U+202E, U+2066 to U+2069)"
)]
pub struct InvalidText {
    max: usize,
}

impl<const MAX: usize> Text<MAX> {
    /// Checks an incoming text.
    pub fn parse(text: &str) -> Result<Self, InvalidText> {
        check(text, MAX).map(|()| Self(text.to_owned()))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text as a `String`.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }
}

impl<const MAX: usize> TryFrom<String> for Text<MAX> {
    type Error = InvalidText;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        check(&text, MAX).map(|()| Self(text))
    }
}

impl<const MAX: usize> From<Text<MAX>> for String {
    fn from(text: Text<MAX>) -> Self {
        text.0
    }
}

impl<const MAX: usize> FromStr for Text<MAX> {
    type Err = InvalidText;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

/// Whether a text has 1 to `max` characters, each of which [`is_plain`].
pub fn check(text: &str, max: usize) -> Result<(), InvalidText> {
    let fits = (1..=max).contains(&text.chars().count());
    if fits && text.chars().all(is_plain) {
        Ok(())
    } else {
        Err(InvalidText { max })
    }
}

/// Whether a character is plain within a line of text: no control character, no line end, and nothing that reorders the
/// characters after it.
#[must_use]
pub fn is_plain(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text for a column of either database: U+0000 becomes the six characters `\u0000`.
#[must_use]
pub fn storable(text: &str) -> Cow<'_, str> {
    // Every text of every row passes here, so this looks at 32 bytes at a time.
    let has_nul = |bytes: &[u8]| bytes.iter().fold(u8::MAX, |least, byte| least.min(*byte)) == 0;
    if text.as_bytes().chunks(32).any(has_nul) {
        Cow::Owned(text.replace('\0', "\\u0000"))
    } else {
        Cow::Borrowed(text)
    }
}

/// The text for one line of a terminal: at most its first `max` characters, with every character that is not plain, and
/// every backslash, escaped.
#[must_use]
pub fn printable(text: &str, max: usize) -> String {
    let mut shown = String::new();
    let mut rest = text.chars();
    for c in rest.by_ref().take(max) {
        if c == '\\' {
            shown.push_str("\\\\");
        } else if is_plain(c) {
            shown.push(c);
        } else {
            // Writing to a string does not fail.
            let _ = write!(shown, "\\u{:04x}", u32::from(c));
        }
    }
    let left = rest.count();
    if left > 0 {
        let _ = write!(shown, "… ({left} more characters)");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_stands_on_one_line_in_the_order_in_which_it_is_read() {
        for good in ["a", "한국어", "é 😀", "=1+1", "a\u{a0}b", &"x".repeat(500)] {
            assert!(Reason::parse(good).is_ok(), "{good}");
        }
        let text = Reason::parse("late").expect("a text");
        assert_eq!((text.as_str(), text.clone().into_string()), ("late", "late".to_owned()));
        assert_eq!(
            (String::from(text.clone()), "late".parse()),
            ("late".to_owned(), Ok(text.clone()))
        );
        assert_eq!(Reason::try_from("late".to_owned()), Ok(text));
        let long = "x".repeat(501);
        let controls = (0..=0x1f).chain(0x7f..=0x9f).chain([0x2028, 0x2029]);
        let controls = controls.chain(0x202a..=0x202e).chain(0x2066..=0x2069);
        let controls = controls.filter_map(char::from_u32).map(|c| format!("a{c}b"));
        for bad in controls.chain([String::new(), long]) {
            let error = Reason::parse(&bad).expect_err(&bad).to_string();
            assert!(error.starts_with("must be 1 to 500 characters, none"), "{error}");
        }
    }

    #[test]
    fn what_is_stored_has_no_nul_and_what_is_shown_nothing_odd() {
        assert_eq!(storable("a\0\u{1}"), "a\\u0000\u{1}");
        assert!(matches!(storable("a\\u0000"), Cow::Borrowed(_)));
        assert_eq!(
            printable("a\0\n\\\u{1b}[1m\u{202e}é", 100),
            "a\\u0000\\u000a\\\\\\u001b[1m\\u202eé"
        );
        assert_eq!(printable("abcde", 3), "abc… (2 more characters)");
    }
}

//! Reading the fields of an event.

use thiserror::Error;

use crate::fields::EventFields;

/// Hexadecimal digits of a history.
pub const HISTORY_DIGITS: usize = 16;

/// An event that none of our scripts wrote.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("event {n}: field '{field}' is missing or unreadable")]
pub struct Unreadable {
    /// Number of the event, as far as it can be read.
    pub n: String,
    pub field: &'static str,
}

/// The fields of an event of any kind.
pub struct Fields<'a>(pub &'a EventFields);

impl Fields<'_> {
    pub fn wrong(&self, field: &'static str) -> Unreadable {
        Unreadable {
            n: self.0.get("n").unwrap_or_default().to_owned(),
            field,
        }
    }

    pub fn text(&self, field: &'static str) -> Result<&str, Unreadable> {
        self.0.get(field).ok_or_else(|| self.wrong(field))
    }

    pub fn parse<T: std::str::FromStr>(&self, field: &'static str) -> Result<T, Unreadable> {
        self.text(field)?.parse().map_err(|_| self.wrong(field))
    }

    pub fn optional<T: std::str::FromStr>(&self, field: &'static str) -> Result<Option<T>, Unreadable> {
        match self.0.get(field) {
            None | Some("") => Ok(None),
            Some(text) => text.parse().map(Some).map_err(|_| self.wrong(field)),
        }
    }

    /// The history that the event belongs to.
    pub fn history(&self) -> Result<String, Unreadable> {
        self.hex("history", HISTORY_DIGITS)
    }

    /// Exactly `digits` lower-case hexadecimal digits.
    pub fn hex(&self, field: &'static str, digits: usize) -> Result<String, Unreadable> {
        self.read(field, |text| hex(text, digits))
    }

    /// The field, read by a function that returns `None` for what it can't read.
    pub fn read<T>(&self, field: &'static str, read: impl FnOnce(&str) -> Option<T>) -> Result<T, Unreadable> {
        read(self.text(field)?).ok_or_else(|| self.wrong(field))
    }
}

/// Digits of hexadecimal text, lower-case.
pub fn hex(text: &str, digits: usize) -> Option<String> {
    let hex = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    (hex && text.len() == digits).then(|| text.to_owned())
}

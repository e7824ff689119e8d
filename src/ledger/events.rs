//! What events of all kinds have in common: reading their fields, and checking that one follows from the last. Pure.

use std::collections::BTreeMap;

use jackpot_core::ids::Id;
use thiserror::Error;

/// Hexadecimal digits of a history.
const HISTORY_DIGITS: usize = 16;
/// PUTs whose repeats Redis recognizes (`lua/subject/puts.lua`).
const MAX_PUTS: usize = 16;

/// An event that none of our scripts wrote.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("event {n}: field '{field}' is missing or unreadable")]
pub struct Unreadable {
    /// Number of the event, as far as it can be read.
    pub n: String,
    pub field: &'static str,
}

/// The fields of an event of any kind.
pub struct Fields<'a>(pub &'a BTreeMap<String, String>);

impl Fields<'_> {
    pub fn wrong(&self, field: &'static str) -> Unreadable {
        Unreadable {
            n: self.0.get("n").cloned().unwrap_or_default(),
            field,
        }
    }

    pub fn text(&self, field: &'static str) -> Result<&str, Unreadable> {
        self.0.get(field).map(String::as_str).ok_or_else(|| self.wrong(field))
    }

    pub fn parse<T: std::str::FromStr>(&self, field: &'static str) -> Result<T, Unreadable> {
        self.text(field)?.parse().map_err(|_| self.wrong(field))
    }

    pub fn optional<T: std::str::FromStr>(&self, field: &'static str) -> Result<Option<T>, Unreadable> {
        match self.0.get(field).map(String::as_str) {
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
        self.read(field, |text| {
            let hex = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
            (hex && text.len() == digits).then(|| text.to_owned())
        })
    }

    /// The field, read by a function that returns `None` for what it can't read.
    pub fn read<T>(&self, field: &'static str, read: impl FnOnce(&str) -> Option<T>) -> Result<T, Unreadable> {
        read(self.text(field)?).ok_or_else(|| self.wrong(field))
    }
}

/// Reads lines of the form `name value`.
pub fn parse_held(text: &str) -> Option<BTreeMap<String, String>> {
    let line = |line: &str| {
        let (name, value) = line.split_once(' ')?;
        Some((name.to_owned(), value.to_owned()))
    };
    text.split('\n').map(line).collect()
}

/// An event that does not follow from those before it.
#[derive(Debug, Clone, Error, PartialEq, Eq)]
pub enum FoldError {
    /// Its number is not the next one.
    #[error("event {got} comes after event {last}")]
    Gap {
        /// Last number.
        last: u64,
        /// Number of the event that came.
        got: u64,
    },
    /// Its changes make or lose money.
    #[error("event {n}: the changes of tier '{tier}' do not sum to zero: {millionths} millionths")]
    Unbalanced {
        n: u64,
        tier: Id,
        /// What was made (negative: lost).
        millionths: i128,
    },
    /// A meter would be below zero.
    #[error("event {n}: {meter} of tier '{tier}' falls below zero")]
    BelowZero { n: u64, tier: Id, meter: String },
    /// It names something that is not there.
    #[error("event {n}: {what}")]
    Unexpected {
        n: u64,
        /// What is wrong.
        what: &'static str,
    },
}

/// Does what `remember_put` of `lua/subject/puts.lua` does.
pub fn remember_put(puts: &str, nonce: &str, mode: &str, version: u64) -> String {
    let all = puts.split_inclusive(';').collect::<Vec<_>>();
    let kept = all[(all.len() + 1).saturating_sub(MAX_PUTS)..].concat();
    format!("{kept}{nonce} {mode} {version};")
}

/// Checks that an event comes right after the last one.
pub fn follows(last: u64, got: u64) -> Result<(), FoldError> {
    if got == last + 1 {
        Ok(())
    } else {
        Err(FoldError::Gap { last, got })
    }
}

/// Checks that an event belongs to the current history, or begins a new one where one may begin.
pub fn go_on_in_history(n: u64, history: &mut String, got: &str, begins: bool) -> Result<(), FoldError> {
    if begins {
        expect(n, history != got, "it begins the history that goes on")?;
        got.clone_into(history);
    }
    expect(n, history == got, "it belongs to another history")
}

/// Checks that a condition holds at event `n`.
pub fn expect(n: u64, holds: bool, what: &'static str) -> Result<(), FoldError> {
    if holds {
        Ok(())
    } else {
        Err(FoldError::Unexpected { n, what })
    }
}

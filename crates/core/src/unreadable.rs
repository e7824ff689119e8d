//! A record in Redis that cannot be read.

use thiserror::Error;

/// A record that no script of ours wrote.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the record '{0}' cannot be read")]
pub struct Unreadable(String);

impl Unreadable {
    /// This record.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self(text.to_owned())
    }
}

//! What operators and auditors ask of the ledger. Every list is read in pages by key, each page in a statement of its
//! own. So a long read holds no transaction open, and a page costs the same wherever it begins.

pub mod audit;
mod error;
mod key;
pub mod reconciliation;
pub mod scan;
pub mod scans;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use error::LedgerError;
pub use key::{Key, Listing, Value};

use crate::sql::Sql;

/// Runs the queries of operators and auditors that concern every kind of subject.
#[derive(Debug, Clone)]
pub struct Queries {
    sql: Sql,
}

impl Queries {
    pub fn new(sql: Sql) -> Self {
        Self { sql }
    }
}

/// A time range. Without a bound it is open at that end.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Between {
    /// First ms, inclusive.
    pub from: Option<i64>,
    /// End in ms, exclusive.
    pub to: Option<i64>,
}

impl Between {
    /// The first ms.
    pub fn from_ms(self) -> i64 {
        self.from.unwrap_or(i64::MIN)
    }

    /// The ms after the last.
    pub fn to_ms(self) -> i64 {
        self.to.unwrap_or(i64::MAX)
    }
}

/// Parses the JSON of a column.
pub fn json<T: DeserializeOwned>(text: &str, what: impl FnOnce() -> String) -> Result<T, LedgerError> {
    serde_json::from_str(text).map_err(|source| LedgerError::Unreadable { what: what(), source })
}

//! A position in a list, and the opaque text that a client sends back to go on from there.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jackpot_core::ids::{Id, PersonId};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::LedgerError;
use crate::subject::kinds;

/// Version of the cursor format: a cursor of another version is refused, never misread.
const VERSION: u8 = 1;

/// Bytes of the filters' digest in a cursor. The digest finds mistakes; it is no secret.
const DIGEST_BYTES: usize = 8;

/// A value of a column: the schema has no other types.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// BIGINT.
    Int(i64),
    /// TEXT.
    Text(String),
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<&Id> for Value {
    fn from(id: &Id) -> Self {
        Self::Text(id.to_string())
    }
}

impl From<&PersonId> for Value {
    fn from(id: &PersonId) -> Self {
        Self::Text(id.to_string())
    }
}

/// The position of a row in its list: a time in ms, and two columns that tell rows of the same time apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key(pub [Value; 3]);

impl Key {
    /// The position before all rows of a time, in a list whose second column is an id.
    pub fn before_id(at_ms: i64) -> Self {
        Self([Value::Int(at_ms), Value::Text(String::new()), Value::Int(0)])
    }

    /// The position before all rows of a time, in a list whose columns are numbers from 0 and 1.
    pub fn before_number(at_ms: i64) -> Self {
        Self([Value::Int(at_ms), Value::Int(0), Value::Int(0)])
    }

    /// The time, ms.
    pub fn at_ms(&self) -> i64 {
        match self.0[0] {
            Value::Int(at_ms) => at_ms,
            Value::Text(_) => 0,
        }
    }

    /// Whether its columns have the types of the other's, and hold what a row could.
    fn is_like(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|pair| match pair {
            (Value::Int(_), Value::Int(_)) => true,
            (Value::Text(text), Value::Text(_)) => text.is_empty() || kinds::is_subject(text),
            _ => false,
        })
    }
}

/// A list with its filters: a cursor of another list or with other filters is refused.
#[derive(Debug, Clone)]
pub struct Listing {
    name: &'static str,
    digest: String,
    like: Key,
}

#[derive(Serialize, Deserialize)]
struct Cursor(u8, String, String, Key);

impl Listing {
    /// `filters`: everything that decides which rows are in the list. `like`: a key with the list's types.
    ///
    /// # Panics
    /// Never: filters are plain data.
    pub fn new(name: &'static str, filters: &impl Serialize, like: Key) -> Self {
        let json = serde_json::to_vec(filters).expect("filters are JSON");
        let digest = hex::encode(&Sha256::digest(json)[..DIGEST_BYTES]);
        Self { name, digest, like }
    }

    /// Its name, as in the path.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The text for a position.
    ///
    /// # Panics
    /// Never: keys are plain data.
    pub fn cursor(&self, key: &Key) -> String {
        let cursor = Cursor(VERSION, self.name.to_owned(), self.digest.clone(), key.clone());
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(&cursor).expect("keys are JSON"))
    }

    /// The inverse of [`Listing::cursor`]; an error for a cursor of anything else.
    pub fn position(&self, cursor: &str) -> Result<Key, LedgerError> {
        let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| LedgerError::Cursor)?;
        let Cursor(version, name, digest, key) = serde_json::from_slice(&bytes).map_err(|_| LedgerError::Cursor)?;
        let known = version == VERSION && name == self.name && digest == self.digest;
        if known && key.is_like(&self.like) {
            Ok(key)
        } else {
            Err(LedgerError::Cursor)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_leads_back_and_only_in_its_own_list() {
        let like = Key::before_id(0);
        let listing = Listing::new("payouts", &("spring", 1), like.clone());
        let key = Key([7.into(), Value::Text("spring".to_owned()), 3.into()]);
        let cursor = listing.cursor(&key);
        assert_eq!(listing.position(&cursor).unwrap(), key);
        assert!(!cursor.contains(['+', '/', '=']), "{cursor}");
        let others = [
            Listing::new("payouts", &("spring", 2), like.clone()),
            Listing::new("audit", &("spring", 1), like.clone()),
            Listing::new("payouts", &("spring", 1), Key::before_number(0)),
        ];
        for other in others {
            assert!(other.position(&cursor).is_err(), "{other:?}");
        }
    }

    #[test]
    fn what_is_no_cursor_is_refused() {
        let listing = Listing::new("payouts", &(), Key::before_id(0));
        let made = |key: &str, version: u8| {
            let json = format!(r#"[{version},"payouts","{}",{key}]"#, listing.digest);
            URL_SAFE_NO_PAD.encode(json)
        };
        assert!(listing.position(&made(r#"[1,"a",2]"#, 1)).is_ok());
        let wrong = [
            made(r#"[1,"a",2]"#, 2),
            made(r#"[1,"a"]"#, 1),
            made("[1,2,3]", 1),
            made(r#"["1","a",3]"#, 1),
            made(r#"[1,"\u0000",3]"#, 1),
            made(r#"[1,"a",99999999999999999999]"#, 1),
            String::new(),
            "nonsense".to_owned(),
            "é".to_owned(),
        ];
        for cursor in wrong {
            assert!(listing.position(&cursor).is_err(), "{cursor}");
        }
    }
}

//! What a key is.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::subjects::Subjects;
use crate::random::{self, RandomError};

/// The role of a key. `operate` may do everything but approve, so that two people are needed for that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Entries, coupon issues, tickets; for game back ends.
    Play,
    /// All reads.
    Read,
    /// Everything but approvals.
    Operate,
    /// Approvals, and the payouts that wait for one.
    Approve,
}

impl Role {
    /// Whether a key of this role may make requests that need `needed`.
    pub fn allows(self, needed: Role) -> bool {
        self == needed || (self == Role::Operate && needed != Role::Approve)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Role::Play => "play",
            Role::Read => "read",
            Role::Operate => "operate",
            Role::Approve => "approve",
        })
    }
}

/// Name of a key: `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`. It is in the audit trail; the key itself never is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct KeyName(Arc<str>);

impl KeyName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name as shared text.
    pub fn shared(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }
}

impl FromStr for KeyName {
    type Err = String;

    fn from_str(text: &str) -> Result<KeyName, String> {
        let first = text.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric());
        let rest = text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
        if first && rest && text.len() <= 64 {
            Ok(KeyName(text.into()))
        } else {
            Err("a key's name has 1 to 64 letters, digits, . _ or -, and starts with a letter or digit".to_owned())
        }
    }
}

impl TryFrom<String> for KeyName {
    type Error = String;

    fn try_from(text: String) -> Result<KeyName, String> {
        text.parse()
    }
}

impl From<KeyName> for String {
    fn from(name: KeyName) -> String {
        name.0.as_ref().to_owned()
    }
}

/// A key in the key file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// Unique among the keys.
    pub name: KeyName,
    pub role: Role,
    /// SHA-256 of the key's text. Keys are 256 random bits, so a slow password hash would only add load.
    #[serde(with = "hex::serde")]
    pub sha256: [u8; 32],
    /// When it was made.
    pub created_at: Timestamp,
    /// From this time on it is refused like an unknown key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// The subjects that its requests may name; without it, all subjects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<Subjects>,
    /// Whether a `read` key sees the codes of coupons. The other roles always do.
    #[serde(default, skip_serializing_if = "is_false")]
    pub codes: bool,
    /// Who holds it; without it the key is its own owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<KeyName>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_false(value: &bool) -> bool {
    !value
}

impl Key {
    /// Whether its time has passed.
    pub fn is_over(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }

    /// Who holds it: what needs two people needs keys of two owners.
    pub fn owner(&self) -> &str {
        self.owner.as_ref().unwrap_or(&self.name).as_str()
    }

    /// Whether answers to it hold the codes of coupons.
    pub fn sees_codes(&self) -> bool {
        match self.role {
            Role::Play | Role::Operate => true,
            Role::Read => self.codes,
            Role::Approve => false,
        }
    }
}

/// The rights and the end of a new key. A role alone gives everything of the role, without an end, and no codes for
/// `read`.
#[derive(Debug, Clone)]
pub struct Rights {
    /// What it is for.
    pub role: Role,
    /// As in [`Key::only`].
    pub only: Option<Subjects>,
    /// As in [`Key::expires_at`].
    pub expires_at: Option<Timestamp>,
    /// As in [`Key::codes`].
    pub codes: bool,
    /// As in [`Key::owner`].
    pub owner: Option<KeyName>,
}

impl From<Role> for Rights {
    fn from(role: Role) -> Self {
        Self {
            role,
            only: None,
            expires_at: None,
            codes: false,
            owner: None,
        }
    }
}

/// The text of a key, as its holder sends it.
pub struct RawKey(String);

impl RawKey {
    /// A new key: `jpk_` (so that scanners for leaked secrets can find it) and 256 random bits in hexadecimal.
    ///
    /// # Errors
    /// When the operating system gives no random bytes.
    pub fn generate() -> Result<RawKey, RandomError> {
        Ok(RawKey(format!("jpk_{}", hex::encode(random::bytes::<32>()?))))
    }

    /// A key from its text.
    pub fn from_text(text: &str) -> RawKey {
        RawKey(text.to_owned())
    }

    /// The text to hand over, once.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The entry of the key file for this key.
    pub fn entry(&self, name: KeyName, rights: Rights) -> Key {
        let Rights {
            role,
            only,
            expires_at,
            codes,
            owner,
        } = rights;
        Key {
            name,
            role,
            sha256: sha256(&self.0),
            created_at: Timestamp::now(),
            expires_at,
            only,
            codes,
            owner,
        }
    }
}

/// SHA-256 of a key's text.
pub fn sha256(text: &str) -> [u8; 32] {
    Sha256::digest(text).into()
}

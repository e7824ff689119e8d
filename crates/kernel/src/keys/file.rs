//! The key file. Commands change it, running services read it; every change is one atomic step under a lock.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::model::{Key, KeyName, RawKey, Rights, Role};
use crate::durable_file;
use crate::random::RandomError;
use crate::secret_file::{self, Readers, SecretFileError};
use crate::settings::Settings;

/// Most keys: each request is compared with all of them, in constant time.
pub const MAX_KEYS: usize = 1_000;

/// More than `MAX_KEYS` entries of `MAX_SUBJECTS` subjects need. A larger file is something else.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// Larger than `operator.key` is.
const MAX_OPERATOR_BYTES: u64 = 4_096;

/// Name of the key that the first run makes.
const FIRST_KEY: &str = "operator";

const HEADER: &str = "# API keys of the service: names, rights and SHA-256 of the keys, which are kept nowhere.\n\
                      # Written by `jackpot key new` and `jackpot key revoke`; a running service follows within 2 s.\n\n";

/// Why keys can't be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    /// The file can't be read, or other users can read it.
    #[error(transparent)]
    Secret(#[from] SecretFileError),
    /// A system error.
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// It is not a key file.
    #[error("{}: {reason}", path.display())]
    Malformed { path: PathBuf, reason: String },
    /// A new key with a name that is taken.
    #[error("there is a key named {0} already; revoke it first, or choose another name")]
    Duplicate(String),
    /// The key to revoke does not exist.
    #[error("there is no key named {0}")]
    Unknown(String),
    /// The file has its limit of keys.
    #[error("there are {MAX_KEYS} keys already, more are not allowed; revoke some")]
    Full,
    /// The system gave no random bytes.
    #[error(transparent)]
    Random(#[from] RandomError),
}

/// The text of `operator.key`.
///
/// # Errors
/// A file that can't be read, or that other users can read.
pub fn read_operator_key(path: &Path) -> Result<Zeroizing<String>, SecretFileError> {
    secret_file::read(path, Readers::Owner, MAX_OPERATOR_BYTES)
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    key: Vec<Key>,
}

/// Where the keys are.
#[derive(Debug, Clone)]
pub struct KeyFile {
    path: PathBuf,
    readers: Readers,
    operator_key: PathBuf,
}

impl KeyFile {
    /// The key file that the settings name.
    pub fn of(settings: &Settings) -> KeyFile {
        let (path, readers) = match settings.auth.keys_file.as_str() {
            "" => (settings.data_dir.join("keys.toml"), Readers::Owner),
            file => (PathBuf::from(file), Readers::Group),
        };
        KeyFile {
            path,
            readers,
            operator_key: settings.data_dir.join("operator.key"),
        }
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All keys, in the order they were made.
    ///
    /// # Errors
    /// A missing, unreadable or malformed file, or one with two keys of a name.
    pub fn read(&self) -> Result<Vec<Key>, KeysError> {
        let text = secret_file::read(&self.path, self.readers, MAX_FILE_BYTES)?;
        // The parser's own text would repeat the wrong line.
        let keys = toml::from_str::<Document>(&text)
            .map_err(|e| self.malformed(e.message().to_owned()))?
            .key;
        if keys.len() > MAX_KEYS {
            return Err(self.malformed(format!("{} keys, more than {MAX_KEYS}", keys.len())));
        }
        for (i, key) in keys.iter().enumerate() {
            if keys[..i].iter().any(|other| other.name == key.name) {
                return Err(self.malformed(format!("two keys are named {}", key.name.as_str())));
            }
        }
        Ok(keys)
    }

    /// Makes the data directory, the file, and the first operator key with `operator.key`, where they are missing.
    ///
    /// # Errors
    /// When they can't be made, or what is there can't be read.
    pub fn initialise(&self) -> Result<(), KeysError> {
        // A file that is there is not locked: a mounted secret is on a read-only file system.
        if !self.path.try_exists().map_err(|e| self.io(e))? {
            self.change(|_| Ok(()))?;
        }
        // It may have been moved to a safe place. While it is here, it must be closed to others.
        match read_operator_key(&self.operator_key) {
            Err(error) if !error.is_missing() => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Adds a new key and returns its text.
    ///
    /// # Errors
    /// A name that is taken, a full file, or one that can't be read or written.
    pub fn add(&self, name: KeyName, rights: impl Into<Rights>) -> Result<RawKey, KeysError> {
        let raw = RawKey::generate()?;
        let entry = raw.entry(name, rights.into());
        self.change(|keys| {
            if keys.iter().any(|key| key.name == entry.name) {
                return Err(KeysError::Duplicate(entry.name.as_str().to_owned()));
            }
            if keys.len() >= MAX_KEYS {
                return Err(KeysError::Full);
            }
            keys.push(entry);
            Ok(())
        })?;
        Ok(raw)
    }

    /// Removes the key of that name.
    ///
    /// # Errors
    /// No such key, or a file that can't be read or written.
    pub fn revoke(&self, name: &KeyName) -> Result<(), KeysError> {
        self.change(|keys| match keys.iter().position(|key| key.name == *name) {
            Some(at) => {
                keys.remove(at);
                Ok(())
            }
            None => Err(KeysError::Unknown(name.as_str().to_owned())),
        })
        .map(|_| ())
    }

    fn change(&self, edit: impl FnOnce(&mut Vec<Key>) -> Result<(), KeysError>) -> Result<Vec<Key>, KeysError> {
        for file in [&self.path, &self.operator_key] {
            if let Some(directory) = file.parent() {
                durable_file::make_private_dir(directory).map_err(|e| KeysError::Io {
                    path: directory.to_owned(),
                    source: e,
                })?;
            }
        }
        let _lock = durable_file::lock(&self.path).map_err(|e| self.io(e))?;
        let exists = self.path.try_exists().map_err(|e| self.io(e))?;
        let before = if exists { self.read()? } else { vec![self.first_key()?] };
        let mut after = before.clone();
        let edited = edit(&mut after);
        // A refused change of a new file still leaves that file, with the operator's key in it.
        if !exists || (edited.is_ok() && after != before) {
            let text = toml::to_string(&Document { key: after.clone() }).map_err(|e| self.malformed(e.to_string()))?;
            durable_file::replace(&self.path, format!("{HEADER}{text}").as_bytes()).map_err(|e| self.io(e))?;
        }
        edited.map(|()| after)
    }

    /// The operator's key, which exists from the creation of the key file on. `operator.key` is written first. After a
    /// crash in between, the next start uses it.
    fn first_key(&self) -> Result<Key, KeysError> {
        let failed = |source| KeysError::Io {
            path: self.operator_key.clone(),
            source,
        };
        let fresh = RawKey::generate()?;
        durable_file::create_once(&self.operator_key, format!("{}\n", fresh.expose()).as_bytes()).map_err(failed)?;
        let text = read_operator_key(&self.operator_key)?;
        tracing::info!(key = FIRST_KEY, file = %self.operator_key.display(), "the first API key is made");
        let name = FIRST_KEY.parse().map_err(|reason| self.malformed(reason))?;
        Ok(RawKey::from_text(text.trim()).entry(name, Role::Operate.into()))
    }

    fn io(&self, source: io::Error) -> KeysError {
        KeysError::Io {
            path: self.path.clone(),
            source,
        }
    }

    fn malformed(&self, reason: String) -> KeysError {
        KeysError::Malformed {
            path: self.path.clone(),
            reason,
        }
    }
}

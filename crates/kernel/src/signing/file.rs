//! The file of signing keys: created once, extended by `jackpot key rotate-signing`, read by a running service.

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use jackpot_core::signing::{KeyPair, PublicKey, Seed};
use zeroize::Zeroizing;

use crate::durable_file;
use crate::random::{self, RandomError};
use crate::secret_file::{self, Readers, SecretFileError};

/// Most keys in the file: one a week for nineteen years. The public halves of removed lines stay in the ledger.
pub const MAX_KEYS: usize = 1_000;

/// Larger than `MAX_KEYS` lines with some comments. A larger file holds something else.
const MAX_FILE_BYTES: u64 = 1 << 18;

const HEADER: &str = "\
# Ed25519 keys that sign receipts and ledger heads. SECRET: who reads this file can forge both.
# One key a line, 64 hexadecimal digits (the seed of RFC 8032). The LAST line signs; the public keys of the others stay
# published at /v1/keys. `jackpot key rotate-signing` adds a line; a running service follows within 2 s.
";

/// Why there are no signing keys.
#[derive(Debug, thiserror::Error)]
pub enum SigningKeysError {
    /// The file can't be read, or other users can read it.
    #[error("signing keys {0}")]
    Secret(#[from] SecretFileError),
    /// The file can't be created or written.
    #[error("signing keys {}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    /// The file or the setting does not hold keys.
    #[error("signing keys from {origin}: {reason}")]
    Malformed {
        /// The file or the setting.
        origin: String,
        /// What is wrong. It never contains the content.
        reason: String,
    },
    /// The file has `MAX_KEYS` keys already.
    #[error("signing keys {}: {MAX_KEYS} already; take the oldest lines away, the ledger keeps their public keys", .0.display())]
    Full(PathBuf),
    /// There is no file to add to.
    #[error(
        "the setting ledger.signing_key gives the key: to rotate, set it to another one on all instances (64 hexadecimal \
         digits) and start them again; the ledger keeps the old public key"
    )]
    Configured,
    /// No key could be generated.
    #[error(transparent)]
    Random(#[from] RandomError),
}

/// The keys of one reading. Only the last one keeps its secret.
#[derive(Debug)]
pub(super) struct Ring {
    pub(super) signs: KeyPair,
    /// The keys before it, oldest first.
    pub(super) older: Vec<PublicKey>,
}

impl Ring {
    /// Parses the text of a setting.
    pub(super) fn configured(text: &str) -> Result<Self, SigningKeysError> {
        match seed(text) {
            Some(seed) => Ok(Self {
                signs: KeyPair::of(&seed),
                older: Vec::new(),
            }),
            None => Err(SigningKeysError::Malformed {
                origin: "the setting ledger.signing_key".to_owned(),
                reason: "must be 64 hexadecimal digits".to_owned(),
            }),
        }
    }

    /// Public keys: the one that signs first, then the newer before the older.
    pub(super) fn public(&self) -> impl Iterator<Item = &PublicKey> {
        std::iter::once(self.signs.public()).chain(self.older.iter().rev())
    }
}

/// The place of the signing keys.
#[derive(Debug, Clone)]
pub struct SigningFile {
    path: PathBuf,
}

impl SigningFile {
    /// The file that the settings name. Fails if a setting gives the key itself.
    pub fn of(configured: &str, data_dir: &Path) -> Result<Self, SigningKeysError> {
        if configured.is_empty() {
            Ok(Self::in_dir(data_dir))
        } else {
            Err(SigningKeysError::Configured)
        }
    }

    pub(super) fn in_dir(data_dir: &Path) -> Self {
        Self {
            path: data_dir.join("signing.keys"),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the keys. Creates the file with a first key if there is none.
    pub(super) fn read_or_make(&self) -> Result<Ring, SigningKeysError> {
        if !self.path.try_exists().map_err(|e| self.io(e))? {
            let _lock = self.lock()?;
            // A concurrent start may have created it meanwhile. The content of the file decides.
            durable_file::create_once(&self.path, with_line(HEADER, &new_seed()?).as_bytes())
                .map_err(|e| self.io(e))?;
        }
        self.read()
    }

    pub(super) fn read(&self) -> Result<Ring, SigningKeysError> {
        self.parse(&self.text()?)
    }

    /// Adds a new key, which signs from now on. Returns its public half.
    ///
    /// # Errors
    /// The file can't be read or written, or is full. Then it stays unchanged.
    pub fn rotate(&self) -> Result<PublicKey, SigningKeysError> {
        let _lock = self.lock()?;
        let before = if self.path.try_exists().map_err(|e| self.io(e))? {
            let text = self.text()?;
            if self.parse(&text)?.older.len() + 1 >= MAX_KEYS {
                return Err(SigningKeysError::Full(self.path.clone()));
            }
            text
        } else {
            Zeroizing::new(HEADER.to_owned())
        };
        let seed = new_seed()?;
        durable_file::replace(&self.path, with_line(&before, &seed).as_bytes()).map_err(|e| self.io(e))?;
        Ok(KeyPair::of(&seed).public().clone())
    }

    fn lock(&self) -> Result<File, SigningKeysError> {
        if let Some(directory) = self.path.parent() {
            durable_file::make_private_dir(directory).map_err(|e| self.io(e))?;
        }
        durable_file::lock(&self.path).map_err(|e| self.io(e))
    }

    /// The whole file. Fails if other users can read it.
    fn text(&self) -> Result<Zeroizing<String>, SigningKeysError> {
        Ok(secret_file::read(&self.path, Readers::Owner, MAX_FILE_BYTES)?)
    }

    fn parse(&self, text: &str) -> Result<Ring, SigningKeysError> {
        let mut older: Vec<PublicKey> = Vec::new();
        let mut last: Option<KeyPair> = None;
        let mut seen = HashSet::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = |what: &str| self.malformed(format!("line {}: {what}", index + 1));
            let key = KeyPair::of(&seed(line).ok_or_else(|| wrong("must be 64 hexadecimal digits"))?);
            if !seen.insert(key.public().id().to_owned()) {
                return Err(wrong("is there already"));
            }
            if seen.len() > MAX_KEYS {
                return Err(wrong(&format!("there are more than {MAX_KEYS} keys")));
            }
            older.extend(last.replace(key).map(|last| last.public().clone()));
        }
        match last {
            Some(signs) => Ok(Ring { signs, older }),
            None => Err(self.malformed("there is no key in it".to_owned())),
        }
    }

    fn io(&self, source: io::Error) -> SigningKeysError {
        SigningKeysError::File {
            path: self.path.clone(),
            source,
        }
    }

    fn malformed(&self, reason: String) -> SigningKeysError {
        SigningKeysError::Malformed {
            origin: self.path.display().to_string(),
            reason,
        }
    }
}

/// The text of a file with all existing keys; creates none. These are the keys in the data directory's file, followed
/// by the key of the setting, if that is the one that signs.
///
/// # Errors
/// Without a setting, also a missing file.
pub fn text_of_all(configured: &str, data_dir: &Path) -> Result<Zeroizing<String>, SigningKeysError> {
    let file = SigningFile::in_dir(data_dir);
    let there = file.path.try_exists().map_err(|e| file.io(e))?;
    let text = if there || configured.is_empty() {
        let text = file.text()?;
        file.parse(&text)?;
        text
    } else {
        Zeroizing::new(HEADER.to_owned())
    };
    if configured.is_empty() {
        return Ok(text);
    }
    let signs = Ring::configured(configured)?.signs;
    // The setting's key may be in the file too. A file must not contain a key twice.
    let is_other = |line: &&str| seed(line.trim()).is_none_or(|seed| KeyPair::of(&seed).public() != signs.public());
    let mut all = Zeroizing::new(String::with_capacity(text.len() + configured.len() + 2));
    for line in text.lines().filter(is_other) {
        all.push_str(line);
        all.push('\n');
    }
    all.push_str(configured);
    all.push('\n');
    Ok(all)
}

fn seed(text: &str) -> Option<Seed> {
    let mut seed = Seed::default();
    hex::decode_to_slice(text, &mut seed[..]).ok()?;
    Some(seed)
}

fn new_seed() -> Result<Seed, RandomError> {
    Ok(Zeroizing::new(random::bytes()?))
}

/// The text with one more line, in a buffer that never grows.
fn with_line(before: &str, seed: &Seed) -> Zeroizing<String> {
    let digits = Zeroizing::new(hex::encode(**seed));
    let mut text = Zeroizing::new(String::with_capacity(before.len() + digits.len() + 2));
    text.push_str(before);
    if !before.is_empty() && !before.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&digits);
    text.push('\n');
    text
}

#[cfg(test)]
mod tests;

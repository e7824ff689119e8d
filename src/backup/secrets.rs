//! Secrets and keys of a backup: read from the settings or the data directory, and written to a data directory again.
//!
//! | file | what |
//! | --- | --- |
//! | `master.secret` | the draw secret in force |
//! | `previous.secrets` | earlier draw secrets, if any |
//! | `signing.keys` | keys that signed, the current one last |
//! | `keys.toml` | API keys: names, roles, hashes |
//! | `operator.key` | the first operator's key, if the service still has it |

use std::io;
use std::path::{Path, PathBuf};

use jackpot_core::secret::MasterSecret;
use thiserror::Error;
use zeroize::Zeroizing;

use super::directory::{DirectoryError, Partial};
use super::inside;
use crate::durable_file;
use crate::keys::{KeyFile, KeysError};
use crate::master_secret::{self, MasterSecretError, PREVIOUS};
use crate::secret_file::{self, Readers, SecretFileError};
use crate::settings::Settings;
use crate::signing::{self, SigningKeys, SigningKeysError};

const MASTER: &str = "master.secret";
const SIGNING: &str = "signing.keys";
const KEYS: &str = "keys.toml";
const OPERATOR: &str = "operator.key";

/// Larger than any of these files can be.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// Why secrets can't be read or written.
#[derive(Debug, Error)]
pub enum SecretsError {
    /// There is no secret to read: a wrong data directory, or another user's settings.
    #[error(
        "there is no {what} at {}: run the command with the settings and the data directory of the service", path.display()
    )]
    Missing {
        /// Name of the secret.
        what: &'static str,
        /// The path that was read.
        path: PathBuf,
    },
    /// The draw secret is not usable.
    #[error(transparent)]
    Master(#[from] MasterSecretError),
    /// The signing keys are not usable.
    #[error(transparent)]
    Signing(#[from] SigningKeysError),
    /// The API keys are not usable.
    #[error("API keys: {0}")]
    Keys(#[from] KeysError),
    /// The backup's directory is not usable.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// The draw secret of the settings differs from that of the backup.
    #[error(
        "the setting fairness.master_secret is another secret ({configured}) than that of the backup ({backup}), under which \
         open epochs have to be finished. Leave it empty, and it is taken from {}; or add that one to \
         fairness.previous_secrets", path.display()
    )]
    OtherMaster {
        /// Id of the secret in the settings.
        configured: String,
        /// Id of the secret in the backup.
        backup: String,
        /// Path of the backup's secret.
        path: PathBuf,
    },
    /// A file exists with other content.
    #[error("{} exists and is not the backup's: move it away", .0.display())]
    Taken(PathBuf),
    /// A file can't be read, or other users can read it.
    #[error(transparent)]
    File(#[from] SecretFileError),
    /// An operation of the file system failed.
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// Secrets that were read.
pub struct Secrets {
    files: Vec<(&'static str, Zeroizing<Vec<u8>>)>,
}

/// Ids and names of a backup's secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    /// Ids of the draw secrets.
    pub secret_ids: Vec<String>,
    /// Ids of the keys that signed, the current one last.
    pub signing_key_ids: Vec<String>,
    /// Names of the API keys.
    pub api_keys: Vec<String>,
}

impl Secrets {
    /// Reads all secrets that a service with these settings uses. Creates none.
    ///
    /// # Errors
    /// A secret is missing or can't be read.
    pub fn take(settings: &Settings) -> Result<Self, SecretsError> {
        let mut files = Vec::new();
        let data = &settings.data_dir;
        let there = |what, path: PathBuf| {
            if exists(&path)? {
                Ok(path)
            } else {
                Err(SecretsError::Missing { what, path })
            }
        };
        if settings.fairness.master_secret.is_empty() {
            there("draw secret", data.join(MASTER))?;
        }
        let draw = master_secret::load(&settings.fairness, data)?;
        files.push((MASTER, lines_of(draw.iter().take(1))));
        if draw.iter().nth(1).is_some() {
            files.push((PREVIOUS, lines_of(draw.iter().skip(1))));
        }
        if settings.ledger.signing_key.is_empty() {
            there("signing key", data.join(SIGNING))?;
        }
        let text = signing::text_of_all(&settings.ledger.signing_key, data)?;
        files.push((SIGNING, Zeroizing::new(text.as_bytes().to_vec())));
        let keys = there("file of API keys", KeyFile::of(settings).path().to_owned())?;
        files.push((KEYS, read(&keys, Readers::Group)?));
        let operator = data.join(OPERATOR);
        if exists(&operator)? {
            files.push((OPERATOR, read(&operator, Readers::Owner)?));
        }
        Ok(Self { files })
    }

    /// Writes the secrets into a backup.
    ///
    /// # Errors
    /// An error of the file system.
    pub fn write(&self, into: &Partial) -> Result<(), SecretsError> {
        for (name, content) in &self.files {
            into.write(name, content)?;
        }
        Ok(())
    }

    pub fn files(&self) -> impl Iterator<Item = &'static str> {
        self.files.iter().map(|(name, _)| *name)
    }
}

fn exists(path: &Path) -> Result<bool, SecretsError> {
    path.try_exists().map_err(|source| SecretsError::Io {
        path: path.to_owned(),
        source,
    })
}

/// Reads the secrets of a backup as a service would. Returns their ids and names.
///
/// # Errors
/// A service could not read a secret.
pub fn names(settings: &Settings, backup: &Path) -> Result<Names, SecretsError> {
    let inside = inside(settings, backup);
    for (what, name) in [
        ("draw secret", MASTER),
        ("signing key", SIGNING),
        ("file of API keys", KEYS),
    ] {
        let path = backup.join(name);
        if !exists(&path)? {
            return Err(SecretsError::Missing { what, path });
        }
    }
    let draw = master_secret::load(&inside.fairness, backup)?;
    let signing = SigningKeys::load("", backup)?;
    let mut signing_key_ids: Vec<String> = signing.public().iter().map(|key| key.id().to_owned()).collect();
    signing_key_ids.reverse();
    let keys = KeyFile::of(&inside).read()?;
    Ok(Names {
        secret_ids: draw.iter().map(MasterSecret::id).collect(),
        signing_key_ids,
        api_keys: keys.iter().map(|key| key.name.as_str().to_owned()).collect(),
    })
}

/// The files to write, checked against the settings.
pub struct Laying {
    files: Vec<(PathBuf, Zeroizing<Vec<u8>>)>,
    /// For people: which secrets the settings give instead.
    pub remarks: Vec<String>,
}

impl Laying {
    /// Checks the settings and the data directory. Changes nothing.
    ///
    /// # Errors
    /// The settings have another draw secret, or a file exists with other content.
    pub fn plan(settings: &Settings, backup: &Path) -> Result<Self, SecretsError> {
        let data = &settings.data_dir;
        let (mut files, mut remarks) = (Vec::new(), Vec::new());
        let kept = master_secret::load(&inside(settings, backup).fairness, backup)?;
        let mut given = settings.fairness.clone();
        if given.master_secret.is_empty() {
            files.push((data.join(MASTER), lines_of(kept.iter().take(1))));
            given.master_secret = hex::encode(kept.current().bytes());
        } else {
            remarks.push("fairness.master_secret is set; master.secret is not written".to_owned());
        }
        let given = master_secret::load(&given, backup.join("none").as_path())?;
        if given.get(kept.current_id()).is_none() {
            return Err(SecretsError::OtherMaster {
                configured: given.current_id().to_owned(),
                backup: kept.current_id().to_owned(),
                path: backup.join(MASTER),
            });
        }
        // The settings give the others.
        let lacking = || kept.iter().filter(|secret| given.get(&secret.id()).is_none());
        if lacking().next().is_some() {
            files.push((data.join(PREVIOUS), lines_of(lacking())));
        }
        if settings.ledger.signing_key.is_empty() {
            files.push((data.join(SIGNING), read(&backup.join(SIGNING), Readers::Owner)?));
        } else {
            remarks.push(
                "ledger.signing_key signs; signing.keys is not written, the ledger has the older public keys"
                    .to_owned(),
            );
        }
        files.push((
            KeyFile::of(settings).path().to_owned(),
            read(&backup.join(KEYS), Readers::Owner)?,
        ));
        let operator = backup.join(OPERATOR);
        if exists(&operator)? {
            files.push((data.join(OPERATOR), read(&operator, Readers::Owner)?));
        }
        for (path, content) in &files {
            if exists(path)? && read(path, Readers::Group)? != *content {
                return Err(SecretsError::Taken(path.clone()));
            }
        }
        Ok(Self { files, remarks })
    }

    /// Writes the files for the owner of the data directory alone. Existing files already have the right content.
    ///
    /// # Errors
    /// An error of the file system.
    pub fn lay(&self) -> Result<(), SecretsError> {
        for (path, content) in &self.files {
            let failed = |source| SecretsError::Io {
                path: path.clone(),
                source,
            };
            if let Some(directory) = path.parent() {
                durable_file::make_private_dir(directory).map_err(failed)?;
            }
            if !durable_file::create_once(path, content).map_err(failed)? && read(path, Readers::Group)? != *content {
                return Err(SecretsError::Taken(path.clone()));
            }
        }
        Ok(())
    }
}

fn lines_of<'a>(secrets: impl Iterator<Item = &'a MasterSecret>) -> Zeroizing<Vec<u8>> {
    let mut lines = Zeroizing::new(Vec::new());
    for secret in secrets {
        lines.extend_from_slice(Zeroizing::new(hex::encode(secret.bytes())).as_bytes());
        lines.push(b'\n');
    }
    lines
}

/// Reads as a service would: a file that other users can read is not trusted.
fn read(path: &Path, readers: Readers) -> Result<Zeroizing<Vec<u8>>, SecretFileError> {
    let text = secret_file::read(path, readers, MAX_FILE_BYTES)?;
    Ok(Zeroizing::new(text.as_bytes().to_vec()))
}

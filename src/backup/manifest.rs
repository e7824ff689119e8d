//! `manifest.json`: what a backup holds. A directory without it, or with a file that differs from it, is not a backup.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

use super::directory::{DirectoryError, Partial};

/// Name of the manifest file.
pub const NAME: &str = "manifest.json";

/// The format version that this program writes and reads.
pub const FORMAT: u32 = 1;

/// Bytes of a file that are hashed at a time.
const CHUNK: usize = 1 << 16;

/// Why a directory is not a backup that this program can read.
#[derive(Debug, Error)]
pub enum ManifestError {
    /// There is no manifest, or it is malformed.
    #[error("{} is not a whole backup: {reason}", path.display())]
    NotOne { path: PathBuf, reason: String },
    /// The format version is another one.
    #[error("{} has format {found}, and this program reads format {FORMAT}: use the program that wrote it", path.display())]
    Format {
        path: PathBuf,
        /// The version in the manifest.
        found: u64,
    },
}

/// What a backup holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Manifest {
    /// Always [`FORMAT`].
    pub format: u32,
    /// Name and version of the program that wrote it.
    pub program: String,
    /// When it was finished.
    pub made_at: jiff::Timestamp,
    /// The kind of database it was copied from.
    pub database: String,
    pub ledger_id: String,
    /// The store that the ledger was used with, for information. A restore uses a new store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store_id: Option<String>,
    /// Whether the ledger had all events that Redis had at the start of the command.
    pub caught_up: bool,
    /// Ids of the draw secrets, the current one first.
    pub secret_ids: Vec<String>,
    /// Ids of the keys that signed, the current one last.
    pub signing_key_ids: Vec<String>,
    /// Names of the API keys.
    pub api_keys: Vec<String>,
    /// Every subject in the ledger.
    pub subjects: Vec<Held>,
    /// All files except the manifest.
    pub files: Vec<FileEntry>,
}

/// How far the ledger is with one subject.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// The name of the subject's kind.
    pub kind: String,
    /// The subject's id.
    pub id: String,
    /// Number of its last event.
    pub event: u64,
    /// Time of that event, by Redis' clock.
    pub at: jiff::Timestamp,
    /// Hash of that event in the chain.
    pub hash: String,
}

/// A file of a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    pub name: String,
    pub bytes: u64,
    /// SHA-256 in hexadecimal.
    pub sha256: String,
}

impl FileEntry {
    /// The entry of a file, from its present content.
    ///
    /// # Errors
    /// The file can't be read.
    pub fn of(directory: &Path, name: &str) -> io::Result<Self> {
        let mut file = File::open(directory.join(name))?;
        let (mut hash, mut bytes, mut chunk) = (Sha256::new(), 0, vec![0; CHUNK]);
        loop {
            let length = file.read(&mut chunk)?;
            if length == 0 {
                break;
            }
            hash.update(&chunk[..length]);
            bytes += length as u64;
        }
        Ok(Self {
            name: name.to_owned(),
            bytes,
            sha256: hex::encode(hash.finalize()),
        })
    }
}

impl Manifest {
    /// Writes the manifest, and thereby completes the backup.
    ///
    /// # Errors
    /// An error of the file system.
    pub fn write(&self, into: Partial) -> Result<(), DirectoryError> {
        let mut text = serde_json::to_vec_pretty(self).unwrap_or_default();
        text.push(b'\n');
        into.write(NAME, &text)?;
        let mut names: Vec<&str> = self.files.iter().map(|file| file.name.as_str()).collect();
        names.push(NAME);
        into.finish(&names)
    }

    /// Reads the manifest and checks all files that it names. Returns also the id of the backup: the SHA-256 of the
    /// manifest.
    ///
    /// # Errors
    /// A file is missing or different.
    pub fn verified(directory: &Path) -> Result<(Self, String), ManifestError> {
        let not_one = |reason: String| ManifestError::NotOne {
            path: directory.to_owned(),
            reason,
        };
        let text = std::fs::read(directory.join(NAME)).map_err(|error| not_one(format!("{NAME}: {error}")))?;
        let json: serde_json::Value =
            serde_json::from_slice(&text).map_err(|error| not_one(format!("{NAME}: {error}")))?;
        match json["format"].as_u64() {
            Some(found) if found == u64::from(FORMAT) => {}
            Some(found) => {
                let path = directory.to_owned();
                return Err(ManifestError::Format { path, found });
            }
            None => return Err(not_one(format!("{NAME} names no format"))),
        }
        let manifest: Self = serde_json::from_value(json).map_err(|error| not_one(format!("{NAME}: {error}")))?;
        for file in &manifest.files {
            if file.name.contains('/') {
                return Err(not_one(format!("{NAME} names a file outside of it")));
            }
            let found =
                FileEntry::of(directory, &file.name).map_err(|error| not_one(format!("{}: {error}", file.name)))?;
            if found != *file {
                return Err(not_one(format!(
                    "{} has {} bytes and SHA-256 {}; the manifest says {} bytes and {}",
                    file.name, found.bytes, found.sha256, file.bytes, file.sha256
                )));
            }
        }
        Ok((manifest, hex::encode(Sha256::digest(&text))))
    }
}

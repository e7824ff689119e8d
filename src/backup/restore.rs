//! Starts an empty data directory, database and Redis from a backup.
//!
//! | step | after a kill during the step |
//! | --- | --- |
//! | check everything: the backup is complete, all targets are empty, the settings fit | nothing has changed |
//! | write the mark `restore.unfinished`, with the backup's id | `serve` refuses; a repeat continues |
//! | write secrets and keys, each file atomically | a repeat accepts existing files that equal the backup's |
//! | write the ledger, in one transaction | a repeat finds the whole ledger or nothing |
//! | rebuild each jackpot, coupon and room in Redis | a repeat rebuilds the incomplete ones |
//! | remove the mark | the restore is done |
//!
//! So a repeat with the same backup finishes the restore. One with another backup is refused.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::LEDGER;
use super::manifest::{Manifest, ManifestError};
use super::secrets::{Laying, SecretsError};
use crate::durable_file;
use crate::settings::Settings;
use crate::sql::SqlError;
use crate::sql::copy::{self, Contents};

/// Name of the mark in the data directory.
const MARK: &str = "restore.unfinished";

/// Files that a service keeps in its data directory.
const KEPT: [&str; 7] = [
    "master.secret",
    "previous.secrets",
    "signing.keys",
    "keys.toml",
    "operator.key",
    "store.id",
    "redis",
];

/// Why a restore from a backup can't start or finish.
#[derive(Debug, Error)]
pub enum FromError {
    /// The backup is not usable.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The secrets of the backup or of the settings are not usable.
    #[error(transparent)]
    Secrets(#[from] SecretsError),
    /// The database can't be used.
    #[error(transparent)]
    Sql(#[from] SqlError),
    /// The data directory is in use.
    #[error("the data directory {} holds {found}: a backup is restored into an empty one; set data_dir to another", path.display())]
    DataDir {
        path: PathBuf,
        /// What was found in it.
        found: String,
    },
    /// The database is in use.
    #[error("the database holds ledger {0}: a backup is restored into an empty one; set ledger.url to another")]
    Database(String),
    /// Another restore was started here and not finished.
    #[error(
        "a restore of another backup ({}) was begun in {} and not ended: repeat that one, or remove the data directory, the \
         tables of the database and all keys of Redis", from.display(), path.display()
    )]
    OtherUnfinished {
        /// Path of that backup.
        from: PathBuf,
        path: PathBuf,
    },
    /// Another restore is running.
    #[error("another `jackpot restore --from` runs in {}", .0.display())]
    Busy(PathBuf),
    /// The restored ledger is not the one that the manifest names.
    #[error("the backup's ledger is {found}, and its manifest says {expected}")]
    OtherLedger {
        found: String,
        /// The id in the manifest.
        expected: String,
    },
    /// An operation of the file system failed.
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// Why no command but the restore may use the data directory.
#[derive(Debug, Error)]
pub enum Unfinished {
    /// A restore of a backup was started in the data directory and not finished.
    #[error(
        "a restore was begun here and not ended ({}): repeat `jackpot restore --from {}`", mark.display(), from.display()
    )]
    Begun { mark: PathBuf, from: PathBuf },
    /// The system does not say whether one was.
    #[error(
        "the data directory can't be read ({}: {source}): check the setting data_dir, the owner and mode of the directory, and \
         the disk", mark.display()
    )]
    Unreadable { mark: PathBuf, source: io::Error },
}

#[derive(Debug, Serialize, Deserialize)]
struct Mark {
    /// SHA-256 of the backup's manifest.
    backup: String,
    /// Path of the backup.
    from: PathBuf,
}

/// Fails on a data directory with an unfinished restore.
///
/// # Errors
/// The error names the command that finishes the restore, or the reason why the directory can't be read.
pub fn refuse_unfinished(data_dir: &Path) -> Result<(), Unfinished> {
    let mark = data_dir.join(MARK);
    match read_mark(&mark) {
        Ok(None) => Ok(()),
        Ok(Some(Mark { from, .. })) => Err(Unfinished::Begun { mark, from }),
        // The content only names the backup. The existence of the file decides.
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(Unfinished::Begun {
            mark,
            from: PathBuf::from("DIR"),
        }),
        Err(source) => Err(Unfinished::Unreadable { mark, source }),
    }
}

fn read_mark(path: &Path) -> io::Result<Option<Mark>> {
    match fs::read(path) {
        Ok(text) => serde_json::from_slice(&text)
            .map(Some)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// A restore in progress.
pub struct From {
    /// What the backup holds.
    pub manifest: Manifest,
    /// Whether it continues an unfinished restore.
    pub goes_on: bool,
    id: String,
    backup: PathBuf,
    laying: Laying,
    /// Whether the database has the ledger already.
    loaded: bool,
    /// Excludes other restores.
    _lock: fs::File,
}

impl From {
    /// Checks the backup, the settings, the data directory and the database. Changes nothing, except that it creates
    /// the data directory.
    ///
    /// # Errors
    /// The reason why the backup can't be restored here.
    pub async fn look(settings: &Settings, backup: &Path) -> Result<Self, FromError> {
        let (manifest, id) = Manifest::verified(backup)?;
        super::secrets::names(settings, backup)?;
        let data = &settings.data_dir;
        durable_file::make_private_dir(data).map_err(failed(data))?;
        let lock = Self::lock(data)?;
        let mark = data.join(MARK);
        let mark = read_mark(&mark).map_err(failed(&mark))?;
        let goes_on = match mark {
            Some(mark) if mark.backup == id => true,
            Some(Mark { from, .. }) => {
                let path = data.clone();
                return Err(FromError::OtherUnfinished { from, path });
            }
            None => {
                empty(settings)?;
                false
            }
        };
        let laying = Laying::plan(settings, backup)?;
        let loaded = match copy::contents(&settings.ledger, data).await? {
            Contents::Nothing => false,
            Contents::Ledger { id, .. } if goes_on && id == manifest.ledger_id => true,
            // The schema is created before the rows are inserted.
            Contents::Ledger { bare: true, .. } if goes_on => false,
            Contents::Ledger { id, .. } => return Err(FromError::Database(id)),
        };
        Ok(Self {
            manifest,
            goes_on,
            id,
            backup: fs::canonicalize(backup).map_err(failed(backup))?,
            laying,
            loaded,
            _lock: lock,
        })
    }

    fn lock(data: &Path) -> Result<fs::File, FromError> {
        // It locks the directory itself: a lock file would have to be removed in the end.
        let directory = fs::File::open(data).map_err(failed(data))?;
        match directory.try_lock() {
            Ok(()) => Ok(directory),
            Err(fs::TryLockError::WouldBlock) => Err(FromError::Busy(data.to_owned())),
            Err(fs::TryLockError::Error(source)) => Err(failed(data)(source)),
        }
    }

    /// Writes secrets and keys, and puts the ledger into the database. Returns remarks for people.
    ///
    /// # Errors
    /// After an error, a repeat continues.
    pub async fn begin(&self, settings: &Settings) -> Result<&[String], FromError> {
        let data = &settings.data_dir;
        let mark = data.join(MARK);
        let text = serde_json::to_vec(&Mark {
            backup: self.id.clone(),
            from: self.backup.clone(),
        });
        let text = text.unwrap_or_default();
        durable_file::create_once(&mark, &text).map_err(failed(&mark))?;
        self.laying.lay()?;
        if !self.loaded {
            let staging = copy::staging(&settings.ledger, data)?;
            self.stage(&staging)?;
            let found = copy::make_ready(&staging).await?;
            if found != self.manifest.ledger_id {
                let expected = self.manifest.ledger_id.clone();
                return Err(FromError::OtherLedger { found, expected });
            }
            copy::put(&settings.ledger, data, &staging).await?;
        }
        Ok(&self.laying.remarks)
    }

    /// Copies the backup's ledger and prepares the copy. The backup itself stays unchanged.
    fn stage(&self, staging: &Path) -> Result<(), FromError> {
        for suffix in ["", "-journal", "-wal", "-shm"] {
            let mut left = staging.as_os_str().to_owned();
            left.push(suffix);
            match fs::remove_file(&left) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(Path::new(&left))(error)),
                _ => {}
            }
        }
        let mut into = durable_file::open_private(staging).map_err(failed(staging))?;
        let from = self.backup.join(LEDGER);
        let mut source = fs::File::open(&from).map_err(failed(&from))?;
        io::copy(&mut source, &mut into).map_err(failed(staging))?;
        Ok(())
    }

    /// Finishes the restore.
    ///
    /// # Errors
    /// After an error, a repeat finishes it.
    pub fn end(self, settings: &Settings) -> Result<(), FromError> {
        let data = &settings.data_dir;
        let mark = data.join(MARK);
        fs::remove_file(&mark).map_err(failed(&mark))?;
        fs::File::open(data)
            .and_then(|data| data.sync_all())
            .map_err(failed(data))
    }
}

/// The data directory must hold no files of a service. Other files stay.
fn empty(settings: &Settings) -> Result<(), FromError> {
    let data = &settings.data_dir;
    let mut found = Vec::new();
    for entry in fs::read_dir(data).map_err(failed(data))? {
        let name = entry.map_err(failed(data))?.file_name();
        let name = name.to_string_lossy();
        // Includes the files that SQLite keeps beside the ledger.
        if name.starts_with(LEDGER) || KEPT.contains(&name.as_ref()) {
            found.push(name.into_owned());
        }
    }
    if found.is_empty() {
        return Ok(());
    }
    found.sort_unstable();
    Err(FromError::DataDir {
        path: data.clone(),
        found: found.join(", "),
    })
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> FromError {
    let path = path.to_owned();
    move |source| FromError::Io { path, source }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_directory_that_cannot_be_read_is_not_called_an_unfinished_restore() {
        let data = tempfile::tempdir().expect("a directory");
        let said = |path: &Path| refuse_unfinished(path).map_err(|error| error.to_string());
        assert_eq!(said(data.path()), Ok(()));
        assert_eq!(said(&data.path().join("none")), Ok(()), "before the first start");

        let file = data.path().join("file");
        fs::write(&file, "").expect("written");
        let broken = data.path().join("broken");
        fs::create_dir(&broken).expect("made");
        // The first page of a process is not mapped: EIO.
        symlink("/proc/self/mem", broken.join(MARK)).expect("linked");
        for (path, cause) in [(&file, "Not a directory"), (&broken, "Input/output error")] {
            let refused = said(path).expect_err(cause);
            assert!(refused.contains(cause) && refused.contains("data_dir"), "{refused}");
            assert!(!refused.contains("begun"), "{refused}");
        }

        for content in ["", "half a ma", "{}"] {
            fs::write(data.path().join(MARK), content).expect("written");
            let refused = said(data.path()).expect_err("a mark");
            assert!(refused.contains("begun here and not ended"), "{refused}");
        }
    }
}

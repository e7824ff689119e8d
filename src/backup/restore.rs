//! An empty data directory, database and Redis begun with a backup.
//!
//! | step | after a kill there |
//! | --- | --- |
//! | all is looked at: the backup is whole, everything is empty, the settings fit | nothing was changed |
//! | the mark `restore.unfinished` is written, with the backup's id | `serve` refuses; a repeat goes on |
//! | secrets and keys, each file at once | a repeat finds those that are there to be the backup's |
//! | the ledger, all of it in one step | a repeat finds it there, or nothing |
//! | each jackpot, coupon and room in Redis | a repeat rebuilds those that are not whole |
//! | the mark is removed | it is done |
//!
//! So a repeat with the same backup ends what was begun, and one with another backup is refused.

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

/// What a service keeps in its data directory.
const KEPT: [&str; 7] = [
    "master.secret",
    "previous.secrets",
    "signing.keys",
    "keys.toml",
    "operator.key",
    "store.id",
    "redis",
];

/// Why a backup is not begun with.
#[derive(Debug, Error)]
pub enum FromError {
    /// The backup.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// Its secrets, or those of the settings.
    #[error(transparent)]
    Secrets(#[from] SecretsError),
    /// The database.
    #[error(transparent)]
    Sql(#[from] SqlError),
    /// The data directory is in use.
    #[error("the data directory {} holds {found}: a backup is restored into an empty one; set data_dir to another", path.display())]
    DataDir {
        /// The directory.
        path: PathBuf,
        /// What is in it.
        found: String,
    },
    /// The database is in use.
    #[error("the database holds ledger {0}: a backup is restored into an empty one; set ledger.url to another")]
    Database(String),
    /// Another restore was begun and not ended.
    #[error(
        "a restore of another backup ({}) was begun in {} and not ended: repeat that one, or remove the data directory, the \
         tables of the database and all keys of Redis", from.display(), path.display()
    )]
    OtherUnfinished {
        /// Where that backup was.
        from: PathBuf,
        /// The data directory.
        path: PathBuf,
    },
    /// Another restore is at work.
    #[error("another `jackpot restore --from` is at work in {}", .0.display())]
    Busy(PathBuf),
    /// The ledger that was put in place is another one than the manifest says.
    #[error("the backup's ledger is {found}, and its manifest says {expected}")]
    OtherLedger {
        /// Its id.
        found: String,
        /// As the manifest says.
        expected: String,
    },
    /// The system refuses.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// A restore of a backup was begun in the data directory and not ended.
#[derive(Debug, Error)]
#[error(
    "a restore was begun here and not ended ({}): repeat `jackpot restore --from {}`", mark.display(), from.display()
)]
pub struct Unfinished {
    mark: PathBuf,
    from: PathBuf,
}

#[derive(Debug, Serialize, Deserialize)]
struct Mark {
    /// SHA-256 of the backup's manifest.
    backup: String,
    /// Where it was.
    from: PathBuf,
}

/// Refuses to work on a data directory in which a restore was not ended.
///
/// # Errors
/// With the command that ends it.
pub fn refuse_unfinished(data_dir: &Path) -> Result<(), Unfinished> {
    let mark = data_dir.join(MARK);
    match read_mark(&mark) {
        Ok(None) => Ok(()),
        Ok(Some(Mark { from, .. })) => Err(Unfinished { mark, from }),
        // Its content only says which: it is there.
        Err(_) => Err(Unfinished {
            mark,
            from: PathBuf::from("DIR"),
        }),
    }
}

fn read_mark(path: &Path) -> io::Result<Option<Mark>> {
    match fs::read(path) {
        Ok(text) => Ok(Some(serde_json::from_slice(&text)?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// A restore that has begun.
pub struct From {
    /// What the backup holds.
    pub manifest: Manifest,
    /// Whether an earlier try was not ended.
    pub goes_on: bool,
    id: String,
    backup: PathBuf,
    laying: Laying,
    /// Whether the database has the ledger already.
    loaded: bool,
    /// Keeps others out.
    _lock: fs::File,
}

impl From {
    /// Looks at the backup, the settings, the data directory and the database. Changes nothing but making the data
    /// directory.
    ///
    /// # Errors
    /// Whatever keeps the backup from being restored here.
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
            // The schema is made before the rows are put into it.
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
        // The directory itself: a file would have to be removed in the end.
        let directory = fs::File::open(data).map_err(failed(data))?;
        match directory.try_lock() {
            Ok(()) => Ok(directory),
            Err(fs::TryLockError::WouldBlock) => Err(FromError::Busy(data.to_owned())),
            Err(fs::TryLockError::Error(source)) => Err(failed(data)(source)),
        }
    }

    /// Lays down secrets and keys, and puts the ledger into the database. Remarks for people.
    ///
    /// # Errors
    /// Then a repeat goes on.
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

    /// A copy of the backup's ledger, which is made ready: the backup itself stays as it is.
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

    /// All is there.
    ///
    /// # Errors
    /// Then a repeat ends it.
    pub fn end(self, settings: &Settings) -> Result<(), FromError> {
        let data = &settings.data_dir;
        let mark = data.join(MARK);
        fs::remove_file(&mark).map_err(failed(&mark))?;
        fs::File::open(data)
            .and_then(|data| data.sync_all())
            .map_err(failed(data))
    }
}

/// Nothing of a service may be in the data directory. Whatever else is there stays.
fn empty(settings: &Settings) -> Result<(), FromError> {
    let data = &settings.data_dir;
    let mut found = Vec::new();
    for entry in fs::read_dir(data).map_err(failed(data))? {
        let name = entry.map_err(failed(data))?.file_name();
        let name = name.to_string_lossy();
        // With what SQLite keeps beside the file.
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

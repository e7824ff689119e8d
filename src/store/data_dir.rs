//! The lock on the data directory: one instance for each directory.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::durable_file::make_private_dir;

const LOCK_FILE: &str = "jackpot.lock";
/// More than the digits of any process id.
const LONGEST_PID: u64 = 20;

/// Why the data directory can't be locked.
#[derive(Debug, Error)]
pub enum DataDirError {
    /// Another instance holds it.
    #[error("the data directory {} is held by another instance (process {pid}): stop it, or set another data_dir", path.display())]
    Held {
        path: PathBuf,
        /// Process id in the lock file.
        pid: String,
    },
    /// The directory can't be made, opened or locked.
    #[error("can't use the data directory {}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// Held from start to stop. The kernel frees it when the process dies in any way.
pub(super) struct DataDirLock {
    _file: File,
}

impl DataDirLock {
    /// Makes the directory if it does not exist (mode 0700), locks it and writes this process' id into the lock.
    pub(super) fn take(data_dir: &Path) -> Result<Self, DataDirError> {
        let failed = |source| DataDirError::Io {
            path: data_dir.to_owned(),
            source,
        };
        make_private_dir(data_dir).map_err(failed)?;
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(data_dir.join(LOCK_FILE))
            .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(DataDirError::Held {
                    path: data_dir.to_owned(),
                    pid: holder(file),
                });
            }
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        file.set_len(0).and_then(|()| file.rewind()).map_err(failed)?;
        write!(file, "{}", std::process::id()).map_err(failed)?;
        Ok(Self { _file: file })
    }
}

fn holder(file: File) -> String {
    let mut pid = String::new();
    match file.take(LONGEST_PID).read_to_string(&mut pid) {
        Ok(length) if length > 0 => pid,
        _ => String::from("unknown"),
    }
}

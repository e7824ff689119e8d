//! The SQLite file: private, and one instance at a time.

use std::ffi::OsString;
use std::fs::{self, File, Permissions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::SqlError;
use crate::durable_file::{SECRET_MODE, make_private_dir, open_private};

/// More than any process id has digits.
const LONGEST_PID: u64 = 20;

/// What SQLite keeps beside the file.
const COMPANIONS: [&str; 3] = ["", "-wal", "-shm"];

/// The path without links, so that one file has one lock. Its directory must exist.
pub(super) fn resolve(path: &Path) -> Result<PathBuf, SqlError> {
    let failed = |source| failed(path, source);
    if let Ok(resolved) = fs::canonicalize(path) {
        return Ok(resolved);
    }
    let name = path
        .file_name()
        .ok_or(SqlError::Url("must name a file after sqlite://"))?;
    let directory = match path.parent() {
        Some(directory) if !directory.as_os_str().is_empty() => directory,
        _ => Path::new("."),
    };
    Ok(fs::canonicalize(directory).map_err(failed)?.join(name))
}

/// Makes the file's directory where there is none (mode 0700).
pub(super) fn make_directory(path: &Path) -> Result<(), SqlError> {
    match path.parent() {
        Some(directory) if !directory.as_os_str().is_empty() => {
            make_private_dir(directory).map_err(|source| failed(path, source))
        }
        _ => Ok(()),
    }
}

/// Held while the file is in use. The kernel frees it when the process dies, however it dies.
#[derive(Debug)]
pub(super) struct FileLock {
    _file: File,
}

impl FileLock {
    /// Takes the lock of `path`, a resolved one, and writes this process' id into it.
    ///
    /// Before the file itself is touched: who closes a file that SQLite has open in the same process takes its locks
    /// away (<https://www.sqlite.org/howtocorrupt.html>, 2.2).
    pub(super) fn take(path: &Path) -> Result<Self, SqlError> {
        let failed = |source| failed(path, source);
        let mut file = open_private(&beside(path, ".lock")).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(SqlError::Held {
                    path: path.to_owned(),
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

/// Makes the file where there is none, and closes it and what lies beside it to all but its owner. SQLite gives what
/// it makes beside it the same mode.
pub(super) fn make_private(path: &Path) -> Result<(), SqlError> {
    let failed = |source| failed(path, source);
    if !path.exists() {
        open_private(path).map_err(failed)?;
    }
    for suffix in COMPANIONS {
        let file = beside(path, suffix);
        match fs::metadata(&file) {
            Ok(found) if found.permissions().mode() & 0o077 != 0 => {
                fs::set_permissions(&file, Permissions::from_mode(SECRET_MODE)).map_err(failed)?;
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
    }
    Ok(())
}

pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

fn failed(path: &Path, source: io::Error) -> SqlError {
    SqlError::File {
        path: path.to_owned(),
        source,
    }
}

fn holder(file: File) -> String {
    let mut pid = String::new();
    match file.take(LONGEST_PID).read_to_string(&mut pid) {
        Ok(length) if length > 0 => pid,
        _ => String::from("unknown"),
    }
}

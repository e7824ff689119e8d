//! The SQLite file: private, and used by one instance at a time.

use std::ffi::OsString;
use std::fs::{self, File, Permissions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::SqlError;
use crate::durable_file::{SECRET_MODE, make_private_dir, open_private};

/// More than the digits of any process id.
const LONGEST_PID: u64 = 20;

/// The suffixes of the file and of the files that SQLite keeps beside it.
const COMPANIONS: [&str; 3] = ["", "-wal", "-shm"];

/// The path with links resolved, so that one file has one lock. Its directory must exist.
pub(super) fn resolve(path: &Path) -> Result<PathBuf, SqlError> {
    let failed = |source| failed(path, source);
    match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        resolved => return resolved.map_err(failed),
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

/// Creates the file's directory if it does not exist (mode 0700).
pub(super) fn make_directory(path: &Path) -> Result<(), SqlError> {
    match path.parent() {
        Some(directory) if !directory.as_os_str().is_empty() => {
            make_private_dir(directory).map_err(|source| failed(path, source))
        }
        _ => Ok(()),
    }
}

/// Held while the file is in use. The kernel frees it when the process dies in any way.
#[derive(Debug)]
pub(super) struct FileLock {
    _file: File,
}

impl FileLock {
    /// Locks `path`, which must be resolved, and writes this process' id into the lock.
    ///
    /// Call it before any access to the file itself. A process that closes a file which it also has open in SQLite
    /// loses SQLite's locks (<https://www.sqlite.org/howtocorrupt.html>, 2.2).
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

/// Creates the file if it does not exist, and makes it and its companion files accessible to its owner only. SQLite
/// gives new companion files the same mode.
pub(super) fn make_private(path: &Path) -> Result<(), SqlError> {
    let failed = |source| failed(path, source);
    if !path.try_exists().map_err(failed)? {
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

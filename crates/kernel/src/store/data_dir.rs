//! The lock on the data directory: one instance for each directory.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::durable_file::{self, make_private_dir};

/// Name of the processes that hold the lock.
const PROGRAM: &str = "jackpot";
const LOCK_FILE: &str = "jackpot.lock";
/// File with the number of the directory's format.
const FORMAT_FILE: &str = "format";
/// The format that this version reads and writes: which files there are, and what each holds. Version 0.1 wrote the same
/// without a number.
const FORMAT: u32 = 1;
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
    /// Another version wrote it.
    #[error(
        "the data directory {} has format {found}, and this version knows format {FORMAT}: start the version that wrote it, or \
         start with a backup of it in an empty data directory (jackpot restore --from)", path.display()
    )]
    Format { path: PathBuf, found: String },
    /// The directory can't be made, opened or locked.
    #[error("can't use the data directory {}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// Held from start to stop. The kernel frees it when the process dies in any way.
pub struct DataDirLock {
    _file: File,
}

impl DataDirLock {
    /// The process that holds the directory, as far as its file and the system say. It takes no lock: a service that starts
    /// meanwhile must find it free.
    ///
    /// # Errors
    /// The directory can't be read.
    pub fn holder(data_dir: &Path) -> io::Result<Option<String>> {
        let lock = match File::open(data_dir.join(LOCK_FILE)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        let pid = holder(lock);
        let program = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        Ok((program.trim_end() == PROGRAM).then_some(pid))
    }

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
        check_format(data_dir)?;
        file.set_len(0).and_then(|()| file.rewind()).map_err(failed)?;
        write!(file, "{}", std::process::id()).map_err(failed)?;
        Ok(Self { _file: file })
    }
}

/// Refuses a directory of another format, and marks one that has no number.
fn check_format(data_dir: &Path) -> Result<(), DataDirError> {
    let path = data_dir.join(FORMAT_FILE);
    let found = match std::fs::read(&path) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).trim().to_owned(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return durable_file::replace(&path, format!("{FORMAT}\n").as_bytes())
                .map_err(|source| DataDirError::Io { path, source });
        }
        Err(source) => return Err(DataDirError::Io { path, source }),
    };
    if found == FORMAT.to_string() {
        return Ok(());
    }
    Err(DataDirError::Format {
        path: data_dir.to_owned(),
        found: format!("{found:?}"),
    })
}

fn holder(file: File) -> String {
    let mut pid = String::new();
    match file.take(LONGEST_PID).read_to_string(&mut pid) {
        Ok(length) if length > 0 => pid,
        _ => String::from("unknown"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_of_another_format_is_refused_and_one_without_a_number_is_marked() {
        let data = tempfile::tempdir().expect("a directory");
        let path = data.path().join(FORMAT_FILE);
        let opened = || {
            DataDirLock::take(data.path())
                .map(drop)
                .map_err(|error| error.to_string())
        };
        assert_eq!(opened(), Ok(()));
        assert_eq!(std::fs::read_to_string(&path).expect("written"), "1\n");
        assert_eq!(opened(), Ok(()), "a second start");
        for found in ["2\n", "0", "", "one"] {
            std::fs::write(&path, found).expect("written");
            let refused = opened().expect_err("another format");
            assert!(refused.contains(&format!("format {:?}", found.trim())), "{refused}");
            assert!(refused.contains("jackpot restore --from"), "{refused}");
        }
    }
}

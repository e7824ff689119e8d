//! The directory of a backup. It is filled under the name `DIR.partial`, and renamed when it is complete and on disk.
//! So a kill, a full disk or a power loss leaves nothing that looks like a backup.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::durable_file::{SECRET_MODE, make_private_dir};

/// Why a backup has no directory.
#[derive(Debug, Error)]
pub enum DirectoryError {
    /// Something exists at the path.
    #[error("{} exists and is not an empty directory; a backup overwrites nothing: name one that does not exist", .0.display())]
    Taken(PathBuf),
    /// Another process writes a backup there now.
    #[error("another `jackpot backup` is writing {}", .0.display())]
    Busy(PathBuf),
    /// The path has no directory name.
    #[error("{} can't be the name of a new directory", .0.display())]
    Name(PathBuf),
    /// An operation of the file system failed.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        source: io::Error,
    },
}

/// An incomplete backup. It is removed on drop.
#[derive(Debug)]
pub struct Partial {
    target: PathBuf,
    path: PathBuf,
    /// Locked while the backup is written.
    directory: File,
    finished: bool,
}

impl Partial {
    /// Begins a backup that will be named `target`. Removes what a killed one left.
    ///
    /// # Errors
    /// The target exists, and is not an empty directory.
    pub fn begin(target: &Path) -> Result<Self, DirectoryError> {
        let name = target
            .file_name()
            .ok_or_else(|| DirectoryError::Name(target.to_owned()))?;
        let parent = parent(target);
        make_private_dir(parent).map_err(failed(parent))?;
        if !is_free(target).map_err(failed(target))? {
            return Err(DirectoryError::Taken(target.to_owned()));
        }
        let mut partial = name.to_owned();
        partial.push(".partial");
        let path = parent.join(partial);
        match DirBuilder::new().mode(0o700).create(&path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(&path)(error)),
            _ => {}
        }
        let directory = File::open(&path).map_err(failed(&path))?;
        match directory.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(DirectoryError::Busy(path)),
            Err(TryLockError::Error(source)) => return Err(failed(&path)(source)),
        }
        clear(&path).map_err(failed(&path))?;
        fs::set_permissions(&path, Permissions::from_mode(0o700)).map_err(failed(&path))?;
        Ok(Self {
            target: target.to_owned(),
            path,
            directory,
            finished: false,
        })
    }

    /// The path while it is incomplete.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file that only its owner can read.
    ///
    /// # Errors
    /// An error of the file system.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), DirectoryError> {
        let path = self.path.join(name);
        let write = || {
            let mut file = OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(SECRET_MODE)
                .open(&path)?;
            file.write_all(content)?;
            file.sync_all()
        };
        write().map_err(failed(&path))
    }

    /// Renames the directory to its final name. It then holds these files and nothing else.
    ///
    /// # Errors
    /// Also when something appeared at the target meanwhile.
    pub fn finish(mut self, files: &[&str]) -> Result<(), DirectoryError> {
        let path = self.path.clone();
        let only = || {
            for entry in fs::read_dir(&path)? {
                let name = entry?.file_name();
                if !files.iter().any(|file| name == *file) {
                    fs::remove_file(path.join(name))?;
                }
            }
            self.directory.sync_all()
        };
        only().map_err(failed(&path))?;
        fs::rename(&self.path, &self.target).map_err(|error| match error.kind() {
            io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
                DirectoryError::Taken(self.target.clone())
            }
            _ => failed(&self.target)(error),
        })?;
        self.finished = true;
        let parent = parent(&self.target);
        File::open(parent)
            .and_then(|parent| parent.sync_all())
            .map_err(failed(parent))
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.finished
            && let Err(error) = clear(&self.path).and_then(|()| fs::remove_dir(&self.path))
        {
            eprintln!("jackpot: {}: {error}; remove it", self.path.display());
        }
    }
}

fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn is_free(path: &Path) -> io::Result<bool> {
    match fs::read_dir(path) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(false),
        Err(error) => Err(error),
    }
}

/// Backups contain no directories. A directory found here belongs to someone else, and stays.
fn clear(path: &Path) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        fs::remove_file(entry?.path())?;
    }
    Ok(())
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> DirectoryError {
    let path = path.to_owned();
    move |source| DirectoryError::Io { path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_its_name_when_it_is_whole_and_never_before() {
        let outer = tempfile::tempdir().unwrap();
        let target = outer.path().join("one");
        let partial = Partial::begin(&target).unwrap();
        partial.write("a", b"secret").unwrap();
        partial.write("left.tmp", b"").unwrap();
        assert!(!target.exists());
        assert!(matches!(Partial::begin(&target), Err(DirectoryError::Busy(_))));
        partial.finish(&["a"]).unwrap();
        let names: Vec<_> = fs::read_dir(&target)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(names, ["a"]);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&target), mode(&target.join("a"))), (0o700, 0o600));
        assert!(matches!(Partial::begin(&target), Err(DirectoryError::Taken(_))));
        assert_eq!(fs::read_dir(outer.path()).unwrap().count(), 1, "nothing else is left");
    }

    #[test]
    fn one_that_was_given_up_or_killed_is_no_backup() {
        let outer = tempfile::tempdir().unwrap();
        let target = outer.path().join("one");
        let partial = Partial::begin(&target).unwrap();
        partial.write("a", b"half").unwrap();
        drop(partial);
        assert_eq!(fs::read_dir(outer.path()).unwrap().count(), 0);
        // The state after kill -9, readable by others.
        fs::create_dir(outer.path().join("one.partial")).unwrap();
        fs::write(outer.path().join("one.partial/a"), b"half").unwrap();
        fs::create_dir(&target).unwrap();
        let partial = Partial::begin(&target).unwrap();
        partial.write("a", b"whole").unwrap();
        partial.finish(&["a"]).unwrap();
        assert_eq!(fs::read(target.join("a")).unwrap(), b"whole");
        assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn what_is_there_is_not_overwritten() {
        let outer = tempfile::tempdir().unwrap();
        let target = outer.path().join("one");
        fs::write(&target, b"a file").unwrap();
        assert!(matches!(Partial::begin(&target), Err(DirectoryError::Taken(_))));
        fs::remove_file(&target).unwrap();
        let partial = Partial::begin(&target).unwrap();
        fs::create_dir(&target).unwrap();
        fs::write(target.join("theirs"), b"").unwrap();
        assert!(matches!(partial.finish(&[]), Err(DirectoryError::Taken(_))));
        assert!(target.join("theirs").exists());
    }
}

//! Small files that must be whole or absent after a crash: secrets and keys.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::process::{Gid, Uid};

/// Only the owner reads and writes.
pub const SECRET_MODE: u32 = 0o600;
/// Only the owner enters.
const PRIVATE_MODE: u32 = 0o700;

/// Creates a directory and its parents, for their owner alone. Existing ones stay unchanged.
pub fn make_private_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(PRIVATE_MODE).create(path)
}

/// Creates a directory and its parents, and restricts it to its owner, even if it exists.
pub fn make_or_close_dir(path: &Path) -> io::Result<()> {
    make_private_dir(path)?;
    if std::fs::metadata(path)?.permissions().mode() & 0o7777 == PRIVATE_MODE {
        return Ok(());
    }
    std::fs::set_permissions(path, Permissions::from_mode(PRIVATE_MODE))
}

/// Replaces `path` with `content` atomically: a reader sees the old or the new file, never a part.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let temporary = write_temporary(path, content)?;
    std::fs::rename(&temporary, path)?;
    sync_directory(path)
}

/// Creates `path` with `content` unless it exists. The second caller changes nothing and gets `false`.
pub fn create_once(path: &Path, content: &[u8]) -> io::Result<bool> {
    let temporary = write_temporary(path, content)?;
    // Unlike a rename, a link fails if the name is taken, so two processes can't both win.
    let linked = std::fs::hard_link(&temporary, path);
    std::fs::remove_file(&temporary)?;
    match linked {
        Ok(()) => sync_directory(path).map(|()| true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

/// Holds the lock beside `path` until the result is dropped. Waits for the current holder.
pub fn lock(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(SECRET_MODE)
        .open(beside(path, ".lock"))?;
    keep_owner(&file, path)?;
    file.lock()?;
    Ok(file)
}

/// Properties of a file that every replacement changes.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub struct Stamp {
    modified_s: i64,
    modified_ns: i64,
    length: u64,
    inode: u64,
}

impl Stamp {
    /// The stamp of the file now; `None` if it can't be read.
    pub async fn of(path: &Path) -> Option<Stamp> {
        let metadata = tokio::fs::metadata(path).await.ok()?;
        Some(Stamp {
            modified_s: metadata.mtime(),
            modified_ns: metadata.mtime_nsec(),
            length: metadata.len(),
            inode: metadata.ino(),
        })
    }
}

/// Opens `path` to read and write. If it does not exist, creates it for the owner of its directory alone.
pub fn open_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(SECRET_MODE);
    match options.clone().create_new(true).open(path) {
        Ok(file) => {
            keep_owner(&file, directory_of(path))?;
            sync_directory(path)?;
            Ok(file)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => options.open(path),
        Err(error) => Err(error),
    }
}

fn write_temporary(path: &Path, content: &[u8]) -> io::Result<PathBuf> {
    let temporary = beside(path, &format!(".{}.tmp", std::process::id()));
    // A crash of an earlier process with this id may have left a file that has been opened to others since.
    match std::fs::remove_file(&temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(SECRET_MODE)
        .open(&temporary)?;
    keep_owner(&file, path)?;
    file.write_all(content)?;
    file.sync_all()?;
    Ok(temporary)
}

/// Gives `file` to the owner of `path`, or of its directory if there is none: the service must still be able to read
/// what root changes.
fn keep_owner(file: &File, path: &Path) -> io::Result<()> {
    let model = match std::fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => std::fs::metadata(directory_of(path))?,
        other => other?,
    };
    let own = file.metadata()?;
    // Only root may give files away. Other users own what they can change here, or share it on purpose.
    if !rustix::process::geteuid().is_root() || (own.uid(), own.gid()) == (model.uid(), model.gid()) {
        return Ok(());
    }
    let (user, group) = (Uid::from_raw(model.uid()), Gid::from_raw(model.gid()));
    Ok(rustix::fs::fchown(file, Some(user), Some(group))?)
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(directory) if !directory.as_os_str().is_empty() => directory,
        _ => Path::new("."),
    }
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Without it, a power loss may lose the new name itself.
fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(directory_of(path))?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn the_first_writer_wins_and_the_file_is_private() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("secret");
        assert!(create_once(&path, b"first").unwrap());
        assert!(!create_once(&path, b"second").unwrap());
        assert_eq!(std::fs::read(&path).unwrap(), b"first");
        assert_eq!(mode(&path), 0o600);
        assert_eq!(
            std::fs::read_dir(directory.path()).unwrap().count(),
            1,
            "no temporary file is left"
        );
    }

    #[test]
    fn a_private_directory_is_closed_also_when_it_exists() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("outer/inner");
        make_private_dir(&path).unwrap();
        assert_eq!(mode(&path), 0o700);
        assert_eq!(mode(path.parent().unwrap()), 0o700);
        std::fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        make_private_dir(&path).unwrap();
        assert_eq!(mode(&path), 0o755);
        make_or_close_dir(&path).unwrap();
        assert_eq!(mode(&path), 0o700);
    }

    #[test]
    fn replacing_leaves_the_new_content_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("keys");
        replace(&path, b"a long first content").unwrap();
        replace(&path, b"second").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"second");
        assert_eq!(mode(&path), 0o600);
    }
}

//! Reads a file with a secret, or one that belongs to it: whole, small, and with the right permissions.

use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use zeroize::Zeroizing;

/// Who may read a secret besides the owner of its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// Nobody: the service made the file for itself.
    Owner,
    /// Its group: orchestrators mount secrets for the service's group.
    Group,
    /// Everybody: no secret, such as a certificate.
    Everyone,
}

impl Readers {
    /// Bits that a mode must not have.
    fn closed_to(self) -> u32 {
        match self {
            Self::Owner => 0o077,
            Self::Group => 0o007,
            Self::Everyone => 0,
        }
    }

    /// What to set a mode to.
    fn wanted(self) -> u32 {
        match self {
            Self::Owner => 0o600,
            Self::Group => 0o640,
            Self::Everyone => 0o644,
        }
    }
}

/// Why a secret was not read. It never contains the file's content.
#[derive(Debug, thiserror::Error)]
pub enum SecretFileError {
    /// The system refuses.
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// Other users may have read it.
    #[error(
        "{}: mode {mode:04o} lets others read it; run `chmod {wanted:o} {}`, and rotate the secret if others may have read it",
        path.display(), path.display()
    )]
    Open {
        path: PathBuf,
        /// Its permissions; for a symbolic link, its target's.
        mode: u32,
        /// The required permissions.
        wanted: u32,
    },
    /// It is not a small text.
    #[error("{}: must be {rule}", path.display())]
    Malformed {
        path: PathBuf,
        /// The expected content.
        rule: String,
    },
}

impl SecretFileError {
    /// Whether there is no file.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

/// The whole text of a file of at most `max_bytes`.
///
/// # Errors
/// A file that other users can read too, that is no regular file, too large, or not UTF-8.
pub fn read(path: &Path, readers: Readers, max_bytes: u64) -> Result<Zeroizing<String>, SecretFileError> {
    let failed = |source| SecretFileError::Io {
        path: path.to_owned(),
        source,
    };
    let malformed = |rule: String| SecretFileError::Malformed {
        path: path.to_owned(),
        rule,
    };
    // Does not wait at a pipe without a writer, which is refused below.
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)
        .map_err(failed)?;
    // Of the opened file, because the name may mean another one by now.
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(malformed("a regular file".to_owned()));
    }
    let mode = metadata.permissions().mode() & 0o7777;
    if mode & readers.closed_to() != 0 {
        return Err(SecretFileError::Open {
            path: path.to_owned(),
            mode,
            wanted: readers.wanted(),
        });
    }
    let too_large = || malformed(format!("a file of at most {max_bytes} bytes"));
    if metadata.len() > max_bytes {
        return Err(too_large());
    }
    // All at once, because a growing buffer leaves copies that nobody wipes.
    let capacity = usize::try_from(metadata.len()).unwrap_or_default() + 1;
    let mut bytes = Zeroizing::new(Vec::with_capacity(capacity));
    file.take(max_bytes + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > max_bytes {
        return Err(too_large());
    }
    // Some editors put a byte order mark before a text.
    if bytes.starts_with("\u{feff}".as_bytes()) {
        bytes.drain(.."\u{feff}".len());
    }
    let text = String::from_utf8(std::mem::take(&mut *bytes)).map_err(|error| {
        drop(Zeroizing::new(error.into_bytes()));
        malformed("text in UTF-8".to_owned())
    })?;
    Ok(Zeroizing::new(text))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::symlink;

    use super::*;

    fn with_mode(path: &Path, content: &[u8], mode: u32) {
        fs::write(path, content).unwrap();
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    fn said(path: &Path, readers: Readers) -> String {
        read(path, readers, 16).unwrap_err().to_string()
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_a_secret() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.secret");
        with_mode(&path, b"\xef\xbb\xbfhush", 0o600);
        assert_eq!(*read(&path, Readers::Owner, 16).unwrap(), "hush");
    }

    #[test]
    fn a_file_that_others_can_read_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.secret");
        for mode in [0o600, 0o400, 0o700] {
            with_mode(&path, b"hush", mode);
            assert_eq!(*read(&path, Readers::Owner, 16).unwrap(), "hush", "{mode:o}");
            fs::remove_file(&path).unwrap();
        }
        for mode in [0o640, 0o620, 0o604, 0o644, 0o666, 0o601] {
            with_mode(&path, b"hush", mode);
            let text = said(&path, Readers::Owner);
            let start = format!(
                "{}: mode {mode:04o} lets others read it; run `chmod 600 {}`",
                path.display(),
                path.display()
            );
            assert!(
                text.starts_with(&start) && text.contains("rotate") && !text.contains("hush"),
                "{text}"
            );
        }
        for mode in [0o640, 0o440, 0o660] {
            with_mode(&path, b"hush", mode);
            assert_eq!(*read(&path, Readers::Group, 16).unwrap(), "hush", "{mode:o}");
            fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        }
        for mode in [0o644, 0o444, 0o642] {
            with_mode(&path, b"hush", mode);
            assert!(said(&path, Readers::Group).contains("chmod 640"), "{mode:o}");
            assert_eq!(*read(&path, Readers::Everyone, 16).unwrap(), "hush", "{mode:o}");
            fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        }
    }

    #[test]
    fn what_a_link_leads_to_decides() {
        let directory = tempfile::tempdir().unwrap();
        let (path, link) = (directory.path().join("data"), directory.path().join("link"));
        symlink(&path, &link).unwrap();
        assert!(read(&link, Readers::Owner, 16).unwrap_err().is_missing());
        with_mode(&path, b"hush", 0o600);
        assert_eq!(*read(&link, Readers::Owner, 16).unwrap(), "hush");
        with_mode(&path, b"hush", 0o644);
        assert!(said(&link, Readers::Group).contains("mode 0644"));
    }

    #[test]
    fn what_is_no_small_text_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("secret");
        assert!(said(directory.path(), Readers::Owner).contains("regular file"));
        let pipe = directory.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        assert!(
            said(&pipe, Readers::Owner).contains("regular file"),
            "and nobody waits for a writer"
        );
        with_mode(&path, &[b'x'; 17], 0o600);
        assert!(said(&path, Readers::Owner).contains("at most 16 bytes"));
        with_mode(&path, b"\xff\xfe", 0o600);
        assert!(said(&path, Readers::Owner).contains("UTF-8"));
        with_mode(&path, b"", 0o600);
        assert_eq!(*read(&path, Readers::Owner, 16).unwrap(), "");
    }
}

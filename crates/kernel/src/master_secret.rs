//! The secret of every draw: from the settings, or created once in the data directory.

use std::io;
use std::path::{Path, PathBuf};

use jackpot_core::secret::{MasterSecret, Secrets};

use crate::durable_file;
use crate::random::{self, RandomError};
use crate::secret_file::{self, Readers, SecretFileError};
use crate::settings;

/// Why there is no draw secret.
#[derive(Debug, thiserror::Error)]
pub enum MasterSecretError {
    /// The file can't be read, or other users can read it.
    #[error("draw secret {0}")]
    Secret(#[from] SecretFileError),
    /// The file can't be made.
    #[error("draw secret {}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    /// The file or setting has other content.
    #[error("draw secret from {0}: must be 64 hexadecimal digits")]
    Malformed(String),
    /// The system gave no random bytes.
    #[error(transparent)]
    Random(#[from] RandomError),
}

/// Retired secrets in the data directory, one per line. `jackpot restore --from` writes secrets there that the settings
/// lack.
pub const PREVIOUS: &str = "previous.secrets";

/// Largest file: a thousand secrets.
const MAX_FILE_BYTES: u64 = 1 << 16;

/// The current secret, configured or from the data directory, and the retired ones, from both.
///
/// # Errors
/// A secret that can't be read is never replaced: with another one, closed epochs could not be verified.
pub fn load(settings: &settings::Fairness, data_dir: &Path) -> Result<Secrets, MasterSecretError> {
    let current = load_current(&settings.master_secret, data_dir)?;
    let previous = settings.previous_secrets.iter();
    let previous = previous.map(|text| parse(text, || "the setting fairness.previous_secrets".to_owned()));
    let mut previous = previous.collect::<Result<Vec<_>, _>>()?;
    let path = data_dir.join(PREVIOUS);
    match secret_file::read(&path, Readers::Owner, MAX_FILE_BYTES) {
        Ok(text) => {
            for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
                previous.push(parse(line, || path.display().to_string())?);
            }
        }
        Err(error) if error.is_missing() => {}
        Err(error) => return Err(error.into()),
    }
    Ok(Secrets::new(current, previous))
}

/// The configured secret, or the one in `<data_dir>/master.secret`, which is made if there is none.
fn load_current(configured: &str, data_dir: &Path) -> Result<MasterSecret, MasterSecretError> {
    if !configured.is_empty() {
        return parse(configured, || "the setting fairness.master_secret".to_owned());
    }
    let path = data_dir.join("master.secret");
    let failed = |source| MasterSecretError::File {
        path: path.clone(),
        source,
    };
    if !path.try_exists().map_err(failed)? {
        let text = format!("{}\n", hex::encode(random::bytes::<32>()?));
        // Another process may be making it too, so the file's content counts.
        durable_file::create_once(&path, text.as_bytes()).map_err(failed)?;
    }
    let text = secret_file::read(&path, Readers::Owner, MAX_FILE_BYTES)?;
    parse(text.trim_end(), || path.display().to_string())
}

fn parse(text: &str, origin: impl FnOnce() -> String) -> Result<MasterSecret, MasterSecretError> {
    let mut secret = [0; 32];
    match hex::decode_to_slice(text, &mut secret) {
        Ok(()) => Ok(MasterSecret::new(secret)),
        Err(_) => Err(MasterSecretError::Malformed(origin())),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn it_is_made_once_and_found_again() {
        let directory = tempfile::tempdir().unwrap();
        let first = load_current("", directory.path()).unwrap();
        assert_eq!(load_current("", directory.path()).unwrap().bytes(), first.bytes());
        assert_ne!(first.bytes(), &[0; 32]);
    }

    #[test]
    fn files_that_others_can_read_are_refused() {
        let settings = settings::Settings::load(None).unwrap().fairness;
        for name in ["master.secret", PREVIOUS] {
            let directory = tempfile::tempdir().unwrap();
            load(&settings, directory.path()).unwrap();
            let file = directory.path().join(name);
            durable_file::replace(&file, format!("{}\r\n", "5f".repeat(32)).as_bytes()).unwrap();
            load(&settings, directory.path()).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
            let said = load(&settings, directory.path()).unwrap_err().to_string();
            assert!(
                said.contains(name) && said.contains("mode 0640") && said.contains("chmod 600"),
                "{said}"
            );
            assert!(!said.contains("5f5f"), "{said}");
        }
    }

    #[test]
    fn the_setting_wins() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(
            load_current(&"5f".repeat(32), directory.path()).unwrap().bytes(),
            &[0x5f; 32]
        );
        assert!(!directory.path().join("master.secret").exists());
    }

    #[test]
    fn a_broken_file_is_refused_and_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("master.secret");
        durable_file::replace(&file, b"short\n").unwrap();
        assert!(matches!(
            load_current("", directory.path()),
            Err(MasterSecretError::Malformed(_))
        ));
        assert_eq!(
            std::fs::read_to_string(directory.path().join("master.secret")).unwrap(),
            "short\n"
        );
    }
}

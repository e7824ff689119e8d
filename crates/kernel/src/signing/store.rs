//! The signing keys of a running service: read at start, updated when the file changes.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use jackpot_core::signing::{KeyPair, PublicKey};

use super::file::{Ring, SigningFile, SigningKeysError};
use super::published::publish_all;
use crate::durable_file::Stamp;
use crate::sql::Sql;

/// Interval between checks of the file. A change takes effect within this, plus the time to read and to publish it.
const POLL: Duration = Duration::from_millis(500);

/// The key that signs now, and the public keys that signed before.
#[derive(Debug)]
pub struct SigningKeys {
    /// `None`: the key comes from a setting, and never changes.
    file: Option<SigningFile>,
    ring: ArcSwap<Ring>,
}

/// Why a changed file has no effect yet.
#[derive(Debug, thiserror::Error)]
enum NotFollowed {
    #[error(transparent)]
    Keys(#[from] SigningKeysError),
    #[error("the new public key is not in the ledger yet: {0}")]
    Sql(#[from] sqlx::Error),
    #[error("reading panicked: {0}")]
    Panic(#[from] tokio::task::JoinError),
}

impl SigningKeys {
    /// Loads the key of the setting `ledger.signing_key`, or else the keys of `<data_dir>/signing.keys`. Creates that
    /// file if there is none.
    ///
    /// # Errors
    /// Unreadable keys are never replaced: clients that trust the service's keys would refuse new ones.
    pub fn load(configured: &str, data_dir: &Path) -> Result<Self, SigningKeysError> {
        let (file, ring) = if configured.is_empty() {
            let file = SigningFile::in_dir(data_dir);
            let ring = file.read_or_make()?;
            (Some(file), ring)
        } else {
            (None, Ring::configured(configured)?)
        };
        let ring = ArcSwap::from_pointee(ring);
        Ok(Self { file, ring })
    }

    /// The key that signs now. Its id is part of the signed text, so take one key and use it for both.
    pub fn current(&self) -> CurrentKey {
        CurrentKey(self.ring.load_full())
    }

    /// The public keys, the one that signs now first.
    pub fn public(&self) -> Vec<PublicKey> {
        self.ring.load().public().cloned().collect()
    }

    /// The public key of an id, current or older.
    pub fn find(&self, id: &str) -> Option<PublicKey> {
        self.ring.load().public().find(|key| key.id() == id).cloned()
    }

    /// Follows the file while the future is polled. A new key signs only after its public half is in the ledger. Until
    /// then, and while the file is damaged or missing, the current keys stay in use.
    pub async fn follow(self: Arc<Self>, sql: Sql) {
        let Some(file) = self.file.clone() else {
            return;
        };
        let mut ticks = tokio::time::interval(POLL);
        // The file may have changed between `load` and the first stamp.
        let mut seen = None;
        let mut said = String::new();
        loop {
            ticks.tick().await;
            let now = Stamp::of(file.path()).await;
            if now.is_some() && now == seen {
                continue;
            }
            match self.take_over(&file, &sql).await {
                Ok(()) => {
                    seen = now;
                    said.clear();
                }
                Err(error) => {
                    let text = error.to_string();
                    // It retries at each tick, and logs each failure once.
                    if text != said {
                        tracing::error!(error = text, "signing keys not read; the earlier ones stay in force");
                        said = text;
                    }
                }
            }
        }
    }

    async fn take_over(&self, file: &SigningFile, sql: &Sql) -> Result<(), NotFollowed> {
        let file = file.clone();
        let ring = tokio::task::spawn_blocking(move || file.read()).await??;
        let before = self.public();
        let keys = ring.public().cloned().collect::<Vec<_>>();
        if keys == before {
            return Ok(());
        }
        let is_gone = |key: &PublicKey| !keys.contains(key);
        let gone = before.into_iter().filter(is_gone).collect::<Vec<_>>();
        publish_all(sql, &keys, &gone).await?;
        tracing::info!(key_id = ring.signs.public().id(), "signing with this key");
        self.ring.store(Arc::new(ring));
        Ok(())
    }
}

/// The key that signed at the time of the request. A later rotation does not change it.
#[derive(Debug, Clone)]
pub struct CurrentKey(Arc<Ring>);

impl std::ops::Deref for CurrentKey {
    type Target = KeyPair;

    fn deref(&self) -> &KeyPair {
        &self.0.signs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_wins_and_makes_no_file() {
        let directory = tempfile::tempdir().unwrap();
        let keys = SigningKeys::load(&"5f".repeat(32), directory.path()).unwrap();
        assert_eq!(keys.current().public().id(), keys.public()[0].id());
        assert_eq!(keys.public().len(), 1);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
        assert!(!format!("{keys:?}").contains("5f5f"));
    }

    #[test]
    fn a_setting_that_is_no_key_is_named_and_not_repeated() {
        let directory = tempfile::tempdir().unwrap();
        for text in ["5f".repeat(31), "5f".repeat(33), format!("{}zz", "5f".repeat(31))] {
            let said = SigningKeys::load(&text, directory.path()).unwrap_err().to_string();
            assert_eq!(
                said,
                "signing keys from the setting ledger.signing_key: must be 64 hexadecimal digits"
            );
        }
        let refused = SigningFile::of(&"5f".repeat(32), directory.path()).unwrap_err();
        assert!(matches!(refused, SigningKeysError::Configured));
    }

    #[test]
    fn a_key_that_was_taken_signs_on_while_others_are_added() {
        let directory = tempfile::tempdir().unwrap();
        let keys = SigningKeys::load("", directory.path()).unwrap();
        let again = SigningKeys::load("", directory.path()).unwrap();
        assert_eq!(again.public(), keys.public());
        let taken = keys.current();
        let signature = taken.sign("text");
        assert_eq!(signature.key_id, taken.public().id());
        assert_eq!(
            taken.public().verify("text", &signature.signature),
            Ok(()),
            "what it signs can be checked"
        );
    }
}

//! The secret of every draw, in memory. The service reads it from its settings or its data directory.

use std::fmt;
use std::sync::Arc;

use sha2::{Digest, Sha256};

/// 32 random bytes, from which every draw can be computed. They are in no log and in no answer.
#[derive(Clone)]
pub struct MasterSecret([u8; 32]);

impl MasterSecret {
    /// Takes the bytes as they are.
    #[must_use]
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes, as the HMAC key of an epoch's seed.
    #[must_use]
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Its public name: the first 16 hexadecimal digits of `SHA-256("jackpot-secret\n" || secret)`.
    #[must_use]
    pub fn id(&self) -> String {
        let digest = Sha256::new_with_prefix("jackpot-secret\n").chain_update(self.0);
        hex::encode(&digest.finalize()[..8])
    }
}

/// All secrets of this instance: the current one, for new epochs, and retired ones, to finish what was begun under
/// them.
#[derive(Debug, Clone)]
pub struct Secrets(Arc<[(String, MasterSecret)]>);

impl Secrets {
    /// The current secret and earlier ones.
    #[must_use]
    pub fn new(current: MasterSecret, previous: impl IntoIterator<Item = MasterSecret>) -> Self {
        let mut all = vec![(current.id(), current)];
        for secret in previous {
            let id = secret.id();
            if all.iter().all(|(known, _)| *known != id) {
                all.push((id, secret));
            }
        }
        Self(all.into())
    }

    /// The secret for new epochs.
    #[must_use]
    pub fn current(&self) -> &MasterSecret {
        &self.0[0].1
    }

    #[must_use]
    pub fn current_id(&self) -> &str {
        &self.0[0].0
    }

    /// All of them, the current one first.
    pub fn iter(&self) -> impl Iterator<Item = &MasterSecret> {
        self.0.iter().map(|(_, secret)| secret)
    }

    /// The secret with this id, if this instance has it.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&MasterSecret> {
        let found = self.0.iter().find(|(known, _)| known == id);
        found.map(|(_, secret)| secret)
    }
}

impl From<MasterSecret> for Secrets {
    fn from(current: MasterSecret) -> Self {
        Self::new(current, [])
    }
}

impl fmt::Debug for MasterSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MasterSecret(hidden)")
    }
}

#[cfg(test)]
mod tests {
    use super::{MasterSecret, Secrets};

    #[test]
    fn a_secret_is_named_by_its_published_id() {
        assert_eq!(MasterSecret::new([0x5f; 32]).id(), "abc44bcf0634a438");
    }
    #[test]
    fn secrets_are_found_by_id_and_each_is_there_once() {
        let [new, old, older] = [1, 2, 3].map(|byte| MasterSecret::new([byte; 32]));
        let all = Secrets::new(new.clone(), [old.clone(), new.clone(), older.clone(), old.clone()]);
        let bytes: Vec<_> = all.iter().map(|secret| secret.bytes()[0]).collect();
        assert_eq!(bytes, [1, 2, 3]);
        assert_eq!((all.current_id(), all.current().bytes()), (&*new.id(), new.bytes()));
        for secret in [&new, &old, &older] {
            assert_eq!(all.get(&secret.id()).map(MasterSecret::bytes), Some(secret.bytes()));
        }
        let only = Secrets::from(old);
        assert!(only.get(&new.id()).is_none() && only.iter().count() == 1);
    }
}

//! Tokens whose signature was checked, and what they say.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use sha2::{Digest, Sha256};

use super::pass::Claims;

/// Tokens of one generation: two of them are kept, some 20 MB.
const GENERATION: usize = 32_768;

/// SHA-256 of a token: nobody finds another text with the same.
pub type TokenDigest = [u8; 32];

/// Those that were checked lately.
#[derive(Debug, Default)]
pub struct Checked {
    generations: RwLock<Generations>,
}

#[derive(Debug, Default)]
struct Generations {
    young: HashMap<TokenDigest, Arc<Claims>>,
    old: HashMap<TokenDigest, Arc<Claims>>,
}

impl Checked {
    /// Of a token, signature and all.
    pub fn digest(token: &str) -> TokenDigest {
        Sha256::digest(token).into()
    }

    /// What a token says that was checked.
    pub fn get(&self, digest: &TokenDigest) -> Option<Arc<Claims>> {
        let generations = self.generations.read().unwrap_or_else(PoisonError::into_inner);
        let found = generations.young.get(digest).or_else(|| generations.old.get(digest));
        found.cloned()
    }

    /// Remembers one that was checked.
    pub fn keep(&self, digest: TokenDigest, claims: Arc<Claims>) {
        let mut generations = self.generations.write().unwrap_or_else(PoisonError::into_inner);
        if generations.young.len() >= GENERATION {
            generations.old = std::mem::take(&mut generations.young);
        }
        generations.young.insert(digest, claims);
    }
}

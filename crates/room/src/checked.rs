//! Tokens whose signature was checked, and their claims.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use sha2::{Digest, Sha256};

use super::pass::Claims;

/// Tokens of one generation. Two generations are kept, some 20 MB.
const GENERATION: usize = 32_768;

/// SHA-256 of a token; another text with the same hash cannot be found.
pub type TokenDigest = [u8; 32];

/// Tokens checked recently.
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
    /// Hashes a token with its signature.
    pub fn digest(token: &str) -> TokenDigest {
        Sha256::digest(token).into()
    }

    /// The claims of a checked token.
    pub fn get(&self, digest: &TokenDigest) -> Option<Arc<Claims>> {
        let generations = self.generations.read().unwrap_or_else(PoisonError::into_inner);
        let found = generations.young.get(digest).or_else(|| generations.old.get(digest));
        found.cloned()
    }

    /// Remembers a checked token.
    pub fn keep(&self, digest: TokenDigest, claims: Arc<Claims>) {
        let mut generations = self.generations.write().unwrap_or_else(PoisonError::into_inner);
        if generations.young.len() >= GENERATION {
            generations.old = std::mem::take(&mut generations.young);
        }
        generations.young.insert(digest, claims);
    }
}

//! Files that pages load. The name has a hash of the content, so a browser may keep a file for ever, and two versions of
//! the service never mix up theirs.

use std::sync::OnceLock;

use sha2::{Digest, Sha256};

/// A file in the program.
#[derive(Debug)]
pub struct Asset {
    name: &'static str,
    extension: &'static str,
    content: &'static str,
    path: OnceLock<String>,
}

/// Bytes of the hash in a path: enough to tell versions apart.
const HASH_BYTES: usize = 8;

impl Asset {
    /// `extension`: `css`, `js` or `svg`.
    #[must_use]
    pub const fn new(name: &'static str, extension: &'static str, content: &'static str) -> Self {
        Self {
            name,
            extension,
            content,
            path: OnceLock::new(),
        }
    }

    /// The path that serves it, such as `/assets/style-0123456789abcdef.css`.
    pub fn path(&self) -> &str {
        self.path.get_or_init(|| {
            let digest = Sha256::digest(self.content);
            let hash = hex::encode(&digest[..HASH_BYTES]);
            format!("/assets/{}-{hash}.{}", self.name, self.extension)
        })
    }

    #[must_use]
    pub fn content(&self) -> &'static str {
        self.content
    }

    #[must_use]
    pub fn media_type(&self) -> &'static str {
        match self.extension {
            "css" => "text/css; charset=utf-8",
            "js" => "text/javascript; charset=utf-8",
            _ => "image/svg+xml",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_changes_with_the_content() {
        let (one, other) = (Asset::new("a", "js", "1"), Asset::new("a", "js", "2"));
        assert_ne!(one.path(), other.path());
        assert!(one.path().starts_with("/assets/a-6b86b273ff34fce1"));
        assert!(one.media_type().starts_with("text/javascript"));
    }
}

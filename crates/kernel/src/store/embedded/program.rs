//! The program of the private server.

use std::env;
use std::path::{Path, PathBuf};

use super::EmbeddedError;

const NAMES: [&str; 2] = ["redis-server", "valkey-server"];

/// The configured program, a path or a name on PATH; or the first of the known ones that PATH has.
pub(super) fn find(configured: &str) -> Result<PathBuf, EmbeddedError> {
    if configured.contains('/') {
        let path = PathBuf::from(configured);
        return if path.is_file() {
            Ok(path)
        } else {
            Err(EmbeddedError::NoProgram(format!(
                "redis.server_program {configured} is no file"
            )))
        };
    }
    let names: &[&str] = if configured.is_empty() { &NAMES } else { &[configured] };
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).find_map(|dir| first_in(&dir, names)).ok_or_else(|| {
        EmbeddedError::NoProgram(format!(
            "no {} on PATH: install Redis 7.0 or Valkey 7.2 at least (for example: apt-get install redis-server), set redis.server_program, or use another redis.mode",
            names.join(" or ")
        ))
    })
}

fn first_in(dir: &Path, names: &[&str]) -> Option<PathBuf> {
    names.iter().map(|name| dir.join(name)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_is_named_with_what_to_do() {
        let error = find("no-such-redis-server").unwrap_err().to_string();
        assert!(
            error.contains("no-such-redis-server") && error.contains("redis.server_program"),
            "{error}"
        );
        assert!(find("/no/such/file").is_err());
    }
}

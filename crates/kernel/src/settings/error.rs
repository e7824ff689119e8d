//! Errors of settings. Each names the key to change, and the allowed values.

use std::path::PathBuf;

use super::load::FORMAT;

/// Why the service does not start with these settings.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The named file can't be read or is not TOML.
    #[error("settings file {}: {reason}", path.display())]
    File {
        path: PathBuf,
        /// The parser's or system's error, with its place. It does not repeat the line, which may hold a secret.
        reason: String,
    },
    /// The file is for another version.
    #[error(
        "settings file {}: format = {found}, and this version reads format {FORMAT}: start the version that the file is for, or \
         change it by docs/reference/settings.md", path.display()
    )]
    Format { path: PathBuf, found: i64 },
    /// `JACKPOT_ENV` is not a plain name.
    #[error("JACKPOT_ENV={0:?}: must be a name of letters, digits, - and _")]
    Environment(String),
    /// A variable whose value is not UTF-8.
    #[error("environment variable {0}: its value is not UTF-8")]
    NotUtf8(String),
    /// A key that does not exist.
    #[error("unknown setting {key} in {origin}")]
    UnknownKey {
        /// Full key, with dots.
        key: String,
        /// The file or the variable it came from.
        origin: String,
    },
    /// A value of another type.
    #[error("setting {key} in {origin}: expected {expected}, found {found}")]
    WrongType {
        /// Full key, with dots.
        key: String,
        /// The file or the variable it came from.
        origin: String,
        /// The type that the key has in `config/default.toml`.
        expected: &'static str,
        /// The type, or the value if it is no secret.
        found: String,
    },
    /// A value outside what `config/default.toml` documents.
    #[error("setting {key}{value}: must be {rule}")]
    OutOfRange {
        /// Full key, with dots.
        key: String,
        /// ` = value`, or empty if the value is secret.
        value: String,
        rule: String,
    },
    /// Two settings that can't go together.
    #[error("{0}")]
    Conflict(String),
    /// The layers fit the default but not the structs: a bug in this program.
    #[error("settings: {0}")]
    Internal(#[from] config::ConfigError),
}

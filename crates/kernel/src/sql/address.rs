//! The address of the database, and its name in messages, which never holds the password.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use sqlx::ConnectOptions as _;
use sqlx::any::AnyConnectOptions;

use super::SqlError;
use crate::settings;

/// Name of the file in the data directory.
const FILE: &str = "ledger.sqlite";

/// The kind of database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// SQLite: a file.
    Sqlite,
    /// PostgreSQL: a server.
    Postgres,
}

/// A database, before it is opened.
pub(super) enum Address {
    /// A file, by its path.
    Sqlite(PathBuf),
    /// A server, by its URL.
    Postgres(AnyConnectOptions),
}

impl Address {
    /// Reads the address from the settings.
    pub(super) fn of(settings: &settings::Ledger, data_dir: &Path) -> Result<Self, SqlError> {
        sqlx::any::install_default_drivers();
        let url = settings.url.as_str();
        if url.is_empty() {
            return Ok(Self::Sqlite(data_dir.join(FILE)));
        }
        if let Some(path) = url.strip_prefix("sqlite://") {
            return Ok(Self::Sqlite(PathBuf::from(path)));
        }
        // The parser's own error would not show the URL either, but it says less.
        let options: AnyConnectOptions = url
            .parse()
            .map_err(|_| SqlError::Url("must be postgres://user:password@host[:port]/database"))?;
        Ok(Self::Postgres(options.disable_statement_logging()))
    }

    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::Sqlite(_) => Kind::Sqlite,
            Self::Postgres(_) => Kind::Postgres,
        }
    }

    /// The name in messages, without user and password.
    pub(super) fn place(&self) -> String {
        match self {
            Self::Sqlite(path) => format!("SQLite {}", path.display()),
            Self::Postgres(options) => {
                let url = &options.database_url;
                let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
                format!("PostgreSQL {}{port}{}", url.host_str().unwrap_or_default(), url.path())
            }
        }
    }

    /// Options for the driver. [`super::file`] must have resolved the file's path.
    pub(super) fn options(&self, mode: Mode) -> Result<AnyConnectOptions, SqlError> {
        let path = match self {
            Self::Postgres(options) => return Ok(options.clone()),
            Self::Sqlite(path) => path,
        };
        // The driver decodes the path as UTF-8, and would open another file.
        let path = path
            .to_str()
            .ok_or(SqlError::Url("the path of the SQLite file must be UTF-8"))?;
        let mut url = String::from("sqlite://");
        for byte in path.bytes() {
            if byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte) {
                url.push(char::from(byte));
            } else {
                let _ = write!(url, "%{byte:02X}");
            }
        }
        url.push_str(match mode {
            Mode::Write | Mode::Hasty => "?mode=rw",
            Mode::Read => "?mode=ro",
        });
        let options: AnyConnectOptions = url
            .parse()
            .map_err(|_| SqlError::Url("the path of the SQLite file can't be used"))?;
        Ok(options.disable_statement_logging())
    }
}

/// What a connection may do to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Write,
    /// Writes without waiting for the disk.
    Hasty,
    Read,
}
